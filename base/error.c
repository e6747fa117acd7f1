/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts of Parfocal's own error codes. */
#include "base/error.h"

#include <stddef.h>

const char *pf_error_text(int code)
{
    static const char *const texts[] = {
#define X(name, text) text,
        PF_ERROR_LIST(X)
#undef X
    };
    if (code < 0 || (size_t)code >= sizeof texts / sizeof texts[0])
        return "unknown error";
    return texts[code];
}
