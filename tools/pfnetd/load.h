/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TOOLS_PFNETD_LOAD_H
#define PF_TOOLS_PFNETD_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes SimGrid read a platform. False, with one line in `error`: it is none. */
bool load_platform(const char *file, char *error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
