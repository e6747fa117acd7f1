/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/p2p/request.h"

/* The requests of one wait or test call, and room for the native call. Small sets live on the caller's
 * stack. */
#define PF_WAIT_STACK 64

struct pf_wait_set {
    struct pf_rank *rank;
    int count;
    MPI_Request *handles;
    struct pf_request **requests;     /* NULL for a null handle */
    pf_native_request_t *natives;     /* of one owner's part */
    int *index;                       /* where the parts came from */
    int parts;                        /* their number */
    union pf_native_status *statuses; /* native: pf_native_status_at() */
    int active;                       /* requests that wait for something */
    int own;                          /* active ones that the middleware completes, when the set was opened */
    int done;                         /* requests that the middleware has seen complete */
    MPI_Comm failed;                  /* whose error handler is to be called, of the last delivered error */
    struct pf_instance *owner;        /* of the active ones; NULL when there is none or more than one */
    void *heap;
    struct pf_request *stack_requests[PF_WAIT_STACK];
    pf_native_request_t stack_natives[PF_WAIT_STACK];
    int stack_index[PF_WAIT_STACK];
    union pf_native_status stack_statuses[PF_WAIT_STACK];
};

/* Fills the set. Returns MPI_SUCCESS or the middleware's class of what is wrong with the arguments. */
int pf_wait_set_open(struct pf_wait_set *set, struct pf_rank *r, int count, MPI_Request handles[]);
void pf_wait_set_close(struct pf_wait_set *set);

/* The owner of the first active request in an implementation, whichever of its models: they are waited for by
 * one native call. NULL when there is none. */
struct pf_instance *pf_wait_set_owner(const struct pf_wait_set *set, int impl);

/* Collects the active requests of the implementation of `in` into natives and index; returns their number. */
int pf_wait_set_part(struct pf_wait_set *set, const struct pf_instance *in);

/* `request` has completed natively, with native status number `i` of the set: notes it in the request. `code`
 * is native. */
void pf_wait_set_complete(struct pf_wait_set *set, struct pf_instance *in, struct pf_request *request, int i,
                          int code);

/* The same for element `i` of the part, whose status has the same number. */
void pf_wait_set_done(struct pf_wait_set *set, struct pf_instance *in, int i, int code);

/* Hands a done request to the application: status, handle. Returns the middleware's error class of the
 * operation. */
int pf_wait_set_deliver(struct pf_wait_set *set, int i, MPI_Status *status);

/* Waits for all requests of the set. */
void pf_wait_set_block(struct pf_wait_set *set);

/* Waits for all requests that the middleware completes. */
void pf_wait_set_block_own(struct pf_wait_set *set);

/* Tests them, and notes those that are complete. */
void pf_wait_set_try_own(struct pf_wait_set *set);

/* Blocks until at least one active request would complete at once; the owners differ. */
void pf_wait_mixed(struct pf_wait_set *set);

/* Waits for one request of an implementation, inside a native call, and notes it as done. */
void pf_request_finish(struct pf_request *request);

/* Is it complete natively? Then notes it as done. */
void pf_request_try(struct pf_request *request);
