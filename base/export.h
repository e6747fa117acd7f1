/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_BASE_EXPORT_H
#define PF_BASE_EXPORT_H

/* Everything is compiled with -fvisibility=hidden; what another library or the application may use says
 * so. */
#define PF_EXPORT __attribute__((visibility("default")))

#endif
