/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

/* Error codes between Parfocal's own layers (not MPI's and not Portals'). */
#define PF_ERROR_LIST(X)                                                                                     \
    X(PF_SUCCESS, "success")                                                                                 \
    X(PF_ERR_UNSUPPORTED, "not supported")                                                                   \
    X(PF_ERR_ARG, "invalid argument")                                                                        \
    X(PF_ERR_VERSION, "wrong version of a component")                                                        \
    X(PF_ERR_IO, "file system error")                                                                        \
    X(PF_ERR_LIMIT, "a limit of the system is too low")                                                      \
    X(PF_ERR_NATIVE, "the MPI implementation returned an error")

enum pf_error {
#define X(code, text) code,
    PF_ERROR_LIST(X)
#undef X
};

/* The text of a code, never NULL. */
PF_EXPORT const char *pf_error_text(int code);
