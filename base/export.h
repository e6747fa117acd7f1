/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Everything is compiled with -fvisibility=hidden; what another library or the application may use says
 * so. */
#define PF_EXPORT __attribute__((visibility("default")))
