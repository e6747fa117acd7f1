/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <setjmp.h>
#include <stddef.h>

#include "base/export.h"

/* Where main() of one rank was called. Lives on that rank's stack. */
struct pf_program_frame {
    sigjmp_buf here;
    int status;
};

/* That of the calling rank, NULL when main() has returned. */
void pf_program_set_frame(struct pf_program_frame *frame);

/* main() in the copy that the calling rank has loaded, NULL: none that pfcc has linked. */
int (*pf_program_of_rank(void))(int, char **, char **);

/* The stack of the calling rank is at `stack`: where what is called in its place may begin. In the middle of
 * the stack if it has ended, or the rank is beyond it; NULL: outside of main(). */
PF_EXPORT void *pf_program_room(const void *stack);

/* Ends the run if the calling rank has reached beyond its stack, past the page that guards it. */
void pf_program_check_stack(int rank);
