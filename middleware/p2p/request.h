/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/p2p/ledger.h"
#include "middleware/core/object.h"
#include "middleware/core/rank.h"
#include "pf_fn.h"

enum pf_request_kind {
    PF_REQUEST_SEND,
    PF_REQUEST_RECV,
    PF_REQUEST_COLLECTIVE,
    PF_REQUEST_RMA,
    PF_REQUEST_FILE,
    PF_REQUEST_PERSISTENT,
    PF_REQUEST_OWN
};

/* What a persistent request does when it is started (MPI 3.1 section 3.9): the arguments of its _init
 * call. */
struct pf_persistent {
    int fn; /* enum pf_fn of the _init function */
    const void *buffer;
    int count;
    MPI_Datatype datatype; /* with a reference */
    int peer, tag;
};

/* What a nonblocking collective uses until it completes, although the application may free it before:
 * implementations do not keep all of it by themselves. Zero where there is nothing. */
struct pf_request_operands {
    void *memory[3];
    MPI_Op op;
    MPI_Datatype datatypes[2];
    MPI_Datatype *more; /* those of arrays of types */
    int more_count;
    bool any; /* is there something? The rest is not set if not */
};

struct pf_request;

/*
 * A request that no native one stands for (kind PF_REQUEST_OWN): the middleware itself completes it. No slot
 * is NULL.
 */
struct pf_request_own {
    size_t size;
    bool (*ready)(struct pf_request *request);  /* would finish without waiting? No side effect */
    void (*finish)(struct pf_request *request); /* when ready: status, error, done */
    void (*test)(
        struct pf_request *request); /* the application looks, and pays for it; finishes when ready */
    bool (*wait)(struct pf_request *request);    /* blocks until done; false when only pf_wait_mixed can */
    void (*abandon)(struct pf_request *request); /* the application has freed it while it was active */
    int (*cancel)(struct pf_request *request);   /* returns an error class */
    void (*release)(struct pf_request *request); /* frees own_data */
};

/*
 * A request of the application. While it is active it belongs to the implementation that runs it; an inactive
 * persistent request has no owner (NULL). `done` means that the middleware has seen its completion
 * already, in a call that could not yet return it (a Testall over several owners): the status is kept here.
 */
struct pf_request {
    struct pf_object object;
    struct pf_instance *owner;
    pf_native_request_t native; /* of the owner, the one that waits */
    struct pf_rank *rank;
    struct pf_request_operands operands;
    struct pf_comm *comm; /* with a reference; NULL when the call's was not valid */
    struct pf_persistent *persistent;
    struct pf_ledger_side side;       /* of a message; all zero when the ledger has nothing to do with it */
    const struct pf_request_own *own; /* NULL unless the middleware completes it */
    void *own_data;
    enum pf_request_kind kind;
    bool done;
    bool abandoned; /* freed by the user while active */
    int error; /* of a done request, the middleware's class; before, of a collective that has failed when it
                  began */
    MPI_Status status; /* of a done request */
    struct pf_request *next_free;
    struct pf_request *next_get, **get_link; /* in the list of a window, see win_order.h; NULL in none */
    const void *site; /* where the application started it, and what the call was about */
    int fn, peer, tag;
};

/* A new request on `comm`, from the rank's pool; active in `in`, or inactive when that is NULL. */
struct pf_request *pf_request_new(struct pf_rank *r, struct pf_instance *in, enum pf_request_kind kind,
                                  MPI_Comm comm);

/* The request is over: back to the pool. */
void pf_request_release(struct pf_request *request);

/* The implementation has completed the operation at once and gave its null handle (SMPI, for
 * MPI_PROC_NULL). */
void pf_request_was_null(struct pf_request *request);

/* Ends a call that starts an operation: hands out the request, or releases it after an error. */
int pf_request_started(struct pf_rank *r, struct pf_instance *in, struct pf_request *request, MPI_Comm comm,
                       int code, MPI_Request *handle);

/* A test for requests whose implementation does not know of them. */
void pf_request_own_test(struct pf_request *request);

/* A new request that consists of native ones of `in`, and room for them: they complete together. */
struct pf_request *pf_request_new_parts(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int count,
                                        pf_native_request_t **natives);

/* Ends the call that has started it, after as many parts as `count` says. */
int pf_request_parts_started(struct pf_rank *r, struct pf_instance *in, struct pf_request *request, int count,
                             MPI_Comm comm, int code, MPI_Request *handle);

/* Keeps what the operation uses until the request completes: handles by a reference, memory to be freed
 * then. */
void pf_request_keep_op(struct pf_request *request, MPI_Op op);
void pf_request_keep_datatype(struct pf_request *request, MPI_Datatype datatype);
/* All derived types of an array of `n`. */
void pf_request_keep_datatypes(struct pf_request *request, const MPI_Datatype *datatypes, int n);
void pf_request_keep_memory(struct pf_request *request, void *memory);

/* The owner has completed it: what remains of the handle (a persistent request becomes inactive). */
void pf_request_completed(struct pf_request *request, MPI_Request *handle);

/* Frees the native persistent requests and the recipe. */
void pf_persistent_release(struct pf_request *request);

static inline struct pf_request *pf_request_of(MPI_Request handle)
{
    return (struct pf_request *)pf_object_of(handle, PF_KIND_REQUEST);
}

static inline bool pf_request_receives(const struct pf_request *request)
{
    return request->kind == PF_REQUEST_RECV ||
           (request->persistent && request->persistent->fn == PF_FN_Recv_init);
}

/* A request that waits for something: neither null nor inactive nor already seen done. */
static inline bool pf_request_is_active(const struct pf_request *request)
{
    return request && request->owner && !request->done;
}

/* The request of an MPI_Rget leaves the list of its window (rma/win_order.h), if it is in one. */
static inline void pf_request_forget_get(struct pf_request *request)
{
    if (!request->get_link)
        return;
    *request->get_link = request->next_get;
    if (request->next_get)
        request->next_get->get_link = request->get_link;
    request->get_link = NULL;
}
