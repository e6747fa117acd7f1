/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <setjmp.h>
#include <stddef.h>

#include "base/export.h"

/* Where main() of one rank was called. Lives on that rank's stack. */
struct pf_program_frame {
    sigjmp_buf here;
    int status;
    int (*program)(int, char **, char **);
};

/* That of an actor by its number, NULL when main() has returned. */
void pf_program_set_frame(size_t actor, struct pf_program_frame *frame);

/* The stack of the calling rank is at `stack`: where what is called in its place may begin. In the middle of
 * the stack if it has ended, or the rank is beyond it; NULL: outside of main(). */
PF_EXPORT void *pf_program_room(const void *stack);

/* Ends the run if the calling rank has reached beyond its stack, past the page that guards it. */
void pf_program_check_stack(int rank);
