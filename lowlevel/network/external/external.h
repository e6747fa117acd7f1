/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/*
 * The network `external`: messages between NICs go to a simulator in another process, at
 * PARFOCAL_NET_EXTERNAL or where PARFOCAL_NET_MODEL=external:ADDRESS says (address.h). README.md has the
 * design.
 */

/* Sets the platform of HELLO: the file that SimGrid has read, whose text a peer may want. Copies the name. */
PF_EXPORT void pf_external_set_platform(const char *file);

/* Connects to the peer, or starts it, unless that is done: so that errors end the process with one line
 * before the run. The first message does it too. */
PF_EXPORT void pf_external_open(void);

/* At the end of the run, once or more often: ends the conversation, and waits for its end if we have
 * started it. False: it ended badly, and a message has been printed. */
PF_EXPORT bool pf_external_finish(void);

/*
 * The other side: serves one client over a connected socket with the network `name` of this process (flow,
 * ideal or packet), until the client has finished. `load` makes the platform known to SimGrid when the client
 * has sent HELLO: its text, of `length` bytes (none: the client has no file), and the number of its nodes.
 * False: the line in `error` says why the conversation has failed; the client gets it too if possible.
 */
typedef bool pf_external_load(const char *text, size_t length, int nodes, char *error, size_t error_size);
PF_EXPORT bool pf_external_serve(int fd, const char *name, pf_external_load *load, char *error,
                                 size_t error_size);
