/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/export.h"

/*
 * Where a simulator is: a path or unix:PATH, tcp:HOST:PORT, or exec:COMMAND, which is started with a socket
 * as its standard input and ends with this process at the latest.
 */

/* Connects. Returns a descriptor, and in `child` the process that was started, 0 without one; -1 with a line
 * in `error`. */
int pf_external_connect(const char *address, pid_t *child, char *error, size_t error_size);

/* Listens at a path (mode 0600, its file is `unlink`ed by the caller) or at a TCP port ("PORT" or
 * "HOST:PORT"; without a host, only this machine reaches it). -1 with a line in `error`. */
PF_EXPORT int pf_external_listen_unix(const char *path, char *error, size_t error_size);
PF_EXPORT int pf_external_listen_tcp(const char *place, char *error, size_t error_size);
