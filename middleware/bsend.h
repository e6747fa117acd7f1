/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_BSEND_H
#define PF_MIDDLEWARE_BSEND_H

#include "middleware/rank.h"

/* Only one implementation has the user's buffer at a time. A buffered send in another one first takes it away
 * from the holder, which blocks until the holder's messages have left, as MPI_Buffer_detach does (MPI 3.1
 * section 3.6). */
void pf_bsend_prepare(struct pf_rank *r, struct pf_instance *in);

#endif
