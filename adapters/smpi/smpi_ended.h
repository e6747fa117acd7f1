/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

/*
 * SimGrid 3.32 keeps a list of the communications of each actor. A wait that ends one takes it out of the
 * list, a test does not (ActivityImpl::test), and so it stays there with its memory until the actor ends.
 * Each later wait, and each computation, searches the whole list: a program that tests its requests costs
 * more wall-clock the longer it runs, in SMPI and, if its computation is simulated, in every model that
 * follows. What has ended can leave at any time: only the end of the actor looks at what is left. The
 * layout of the list is lowlevel/simgrid's.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* The list of the calling actor, which must not have any communication yet. NULL when it does not look as
 * expected: then there is nothing to do for it. */
void *pf_smpi_communications(void);

/* Takes out what has ended once the list has grown to `*limit`, and sets the next limit: constant cost in the
 * long run. Called by the actor itself. No simulated time. */
void pf_smpi_forget_ended(void *communications, size_t *limit);

/*
 * Messages that no rank waits for, such as short ones, stand in a list of SimGrid's kernel, which it searches
 * whole whenever one of them ends: with a thousand ranks and more, most of the processor time. From now on
 * they are taken out of it whenever the clock moves, before any can end, and kept until they have ended.
 * Called once.
 */
void pf_smpi_forget_detached(void);

#ifdef __cplusplus
}
#endif
