/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* SimGrid 4.0; private.h says what each of these is. */

#define PF_SIMGRID_MAJOR           4
#define PF_SIMGRID_MINOR           0
#define PF_SIMGRID_PACKAGE         "libsimgrid4.0"
#define PF_SIMGRID_TURNS           on_onoff_cb

#define PF_SIMGRID_ACTIVITY_HEAD   2 /* of virtual functions; the actor that the model checker asks about */
#define PF_SIMGRID_ACTOR_WAITING   3
#define PF_SIMGRID_REQUEST_MESSAGE std::vector<unsigned>
#define PF_SIMGRID_COMMUNICATIONS  std::set
/* Of the head: its root, first, last. */
#define PF_SIMGRID_UNTOUCHED(words)                                                                          \
    (words[2] == nullptr && words[3] == words + 1 && words[4] == words + 1 && words[5] == nullptr)
