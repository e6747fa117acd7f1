/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* SimGrid 3.32; private.h says what each of these is. */

#define PF_SIMGRID_MAJOR           3
#define PF_SIMGRID_MINOR           32
#define PF_SIMGRID_PACKAGE         "libsimgrid3.32"
#define PF_SIMGRID_TURNS           on_state_change_cb

#define PF_SIMGRID_ACTIVITY_HEAD   1 /* of virtual functions */
#define PF_SIMGRID_ACTOR_WAITING   1
#define PF_SIMGRID_REQUEST_MESSAGE unsigned
#define PF_SIMGRID_COMMUNICATIONS  std::list
/* The first, the last, how many. */
#define PF_SIMGRID_UNTOUCHED(words) (words[0] == this && words[1] == this && words[2] == nullptr)
