/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_IMPL_H
#define FAKE_IMPL_H

#include "../objects/fake_rank.h"
#include "middleware/p2p/request.h"

/*
 * Two MPI implementations that do nothing but complete requests when the test says so: a test double behind
 * the adapter interface. They differ in all that implementations may differ in: null handles, values of
 * wildcards, error codes, the size and the layout of statuses.
 */
struct fake_op {
    int impl;
    bool complete;
    bool gone; /* completed natively and taken away; any further use is a fault of the middleware */
    int source, tag, bytes;
    int error; /* the middleware's class of the operation's failure */
};

struct fake {
    struct pf_instance instance;
    int calls[PF_FN_COUNT]; /* native calls by function */
    int largest;            /* most requests that one native call had */
    int idles;              /* tests that the middleware has charged */
    int inside;             /* enter less leave */
    bool overlooks;         /* as SMPI: tests of several overlook what is complete, or take it away early */
};

/* Native error codes: this and the middleware's class. */
#define FAKE_CODE_BASE(impl) ((impl) == PF_IMPL_SMPI ? 1000 : 7000)

extern struct fake fakes[PF_IMPL_COUNT];

/* A rank with both implementations loaded; `active` is the one in force. Counters restart. */
struct pf_rank *fake_setup(enum pf_impl active);

/* An active request of the application over a new operation of `impl`. */
MPI_Request fake_request(struct pf_rank *r, enum pf_impl impl, int tag, struct fake_op **op);

/* What happens while a rank waits: called by the doubles of a mixed wait and of native waits. NULL when
 * nothing can happen, so that waiting is a fault. */
extern void (*fake_step)(void);

extern int fake_mixed_waits;     /* calls of pf_wait_mixed */
extern int fake_idles;           /* calls of pf_call_idle */
extern int fake_comm_references; /* by requests */
extern int fake_operations;      /* of the user, held by requests */

#endif
