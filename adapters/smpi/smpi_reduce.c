/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking reductions and scans whose result SMPI gets wrong (see smpi_functions.h). SMPI still does the
 * communication, message for message and byte for byte, hence in the same simulated time; but it
 * reduces packed bytes by an operation of ours. SMPI calls that once for each other rank's contribution, in
 * the order of the ranks, after all messages of the request have been delivered. It unpacks the contributions
 * and combines them by the user's operation.
 *
 * What ends a reduction is its last contribution. A rank that gets none from others needs no help: SMPI does
 * it right.
 */
#include "adapters/smpi/smpi_functions.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <smpi/smpi.h>

#include "adapters/local/types.h"
#include "adapters/smpi/smpi_packed.h"
#include "adapters/smpi/smpi_shadow.h"
#include "base/memory.h"
#include "pf_own.h"

struct reduction {
    MPI_Op op; /* the user's */
    MPI_Datatype type;
    int count;       /* items of the result */
    void *receive;   /* the user's buffer */
    int lower;       /* how many of the other contributions come before this rank's own */
    int expected;    /* other contributions in all */
    int seen;        /* of them */
    const char *own; /* this rank's contribution to its result, packed; NULL when it has no part in it */
    void *room;      /* of the two below */
    char *result;    /* laid out as the type says; NULL before the first contribution */
    char *next;      /* the same for the contribution to combine with it */
    char target[];   /* where SMPI believes the result is; the address by which our operation finds this */
};

/* Adds the contribution of the next rank. */
static void combine(struct reduction *r, const void *contribution)
{
    if (!r->room) {
        r->room = pf_smpi_packed_arrays(r->type, r->count, &r->result, &r->next);
        pf_local_type_unpack(r->type, r->count, contribution, r->result);
        return;
    }
    pf_local_type_unpack(r->type, r->count, contribution, r->next);
    pf_local_op_apply(r->op, r->type, r->count, r->result, r->next);
    char *before = r->result;
    r->result = r->next;
    r->next = before;
}

static void reduction_free(struct reduction *r)
{
    pf_local_drop(r->op, r->type);
    free(r->room);
    free(r);
}

/* The operation that SMPI knows; an MPI_User_function. */
static void contribute(void *in, void *inout, int *length, MPI_Datatype *type)
{
    struct reduction *r = (struct reduction *)((char *)inout - offsetof(struct reduction, target));
    if (r->own && r->seen == r->lower)
        combine(r, r->own);
    combine(r, in);
    if (++r->seen < r->expected)
        return;
    if (r->own && r->seen == r->lower)
        combine(r, r->own);
    pf_local_type_copy(r->type, r->count, r->result, r->receive);
    reduction_free(r);
}

/* One call, as the six functions describe it. */
struct call {
    const void *send; /* or MPI_IN_PLACE */
    void *receive;
    MPI_Datatype type;
    MPI_Op op;
    int rank, size;
    int count;     /* items of the result */
    int64_t total; /* items of this rank's contribution */
    int64_t own;   /* the first of them that is for this rank's result, -1 when none is */
    int lower, expected;
    /* The arguments for SMPI. */
    struct reduction *reduction;
    void *packed;
    void *target;
    int unit; /* what an item counts */
    MPI_Datatype unit_type;
    MPI_Op unit_op;
};

/* Fills in the participants; false when SMPI has to report wrong arguments. */
static bool is_sound(struct call *c, const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm, const MPI_Request *request)
{
    *c = (struct call){
        .send = send, .receive = receive, .type = type, .op = op, .count = count, .total = count};
    if (count < 0 || (count > 0 && (!send || !receive)))
        return false;
    return comm != MPI_COMM_NULL && request && pf_local_can_reduce(op, type) &&
           PMPI_Comm_rank(comm, &c->rank) == MPI_SUCCESS && PMPI_Comm_size(comm, &c->size) == MPI_SUCCESS;
}

static bool commutes(MPI_Op op)
{
    int commutative = 1;
    PMPI_Op_commutative(op, &commutative);
    return commutative;
}

/* Does SMPI lose or spoil such a result? */
static bool needs_help(const struct call *c)
{
    if (c->expected == 0)
        return false;
    return pf_local_type_is_derived(c->type) || !commutes(c->op) || c->send == MPI_IN_PLACE;
}

/* Nothing is reduced, but the messages are sent. Our operation, because SMPI checks that operations suit
 * types. */
static void describe_empty(struct call *c)
{
    static char nothing;
    c->packed = c->target = &nothing;
    c->unit = 0;
    c->unit_type = MPI_BYTE;
}

static void describe(struct call *c)
{
    size_t size = pf_local_type_size(c->type);
    /* The target is followed by all that this rank contributes. */
    struct reduction *r = pf_calloc(1, sizeof *r + ((size_t)c->count + (size_t)c->total) * size);
    char *packed = r->target + (size_t)c->count * size;
    pf_local_type_pack(c->type, (int)c->total, c->send == MPI_IN_PLACE ? c->receive : c->send, packed);
    r->op = c->op;
    r->type = c->type;
    r->count = c->count;
    r->receive = c->receive;
    r->lower = commutes(c->op) ? 0 : c->lower; /* SMPI begins with the rank's own, and floats show it */
    r->expected = c->expected;
    r->own = c->own < 0 ? NULL : packed + (size_t)c->own * size;
    pf_local_keep(r->op, r->type);
    c->reduction = r;
    c->packed = packed;
    c->target = r->target;
    c->unit = pf_local_type_is_derived(c->type) ? (int)size : 1;
    c->unit_type = pf_local_type_is_derived(c->type) ? MPI_BYTE : c->type;
}

/* Packs the contribution, outside the time that SMPI measures for the application, as its own packing is. */
static int begin(struct call *c)
{
    size_t size = pf_local_type_size(c->type);
    if ((size_t)c->total * size > INT_MAX)
        return MPI_ERR_COUNT; /* SMPI counts the bytes that we send in an int */
    smpi_bench_end();
    if (c->count == 0 || size == 0)
        describe_empty(c);
    else
        describe(c);
    PMPI_Op_create(contribute, 1, &c->unit_op);
    smpi_bench_begin();
    return MPI_SUCCESS;
}

static int end(struct call *c, int code)
{
    PMPI_Op_free(&c->unit_op); /* the request keeps it */
    if (code != MPI_SUCCESS && c->reduction)
        reduction_free(c->reduction);
    return code;
}

/* For a rank that gets nothing: sends from the user's own buffer, which stays as it is. */
static const void *send_buffer(const void *send, const void *receive)
{
    return send == MPI_IN_PLACE ? receive : send;
}

static int ireduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm comm, MPI_Request *request)
{
    struct call c;
    if (!is_sound(&c, send, receive, count, type, op, comm, request) || c.rank != root)
        return PMPI_Ireduce(send, receive, count, type, op, root, comm, request);
    c.lower = c.rank;
    c.expected = c.size - 1;
    if (!needs_help(&c))
        return PMPI_Ireduce(send_buffer(send, receive), receive, count, type, op, root, comm, request);
    int code = begin(&c);
    if (code != MPI_SUCCESS)
        return code;
    return end(&c,
               PMPI_Ireduce(c.packed, c.target, count * c.unit, c.unit_type, c.unit_op, root, comm, request));
}

static int iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request *request)
{
    struct call c;
    if (!is_sound(&c, send, receive, count, type, op, comm, request))
        return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
    c.lower = c.rank;
    c.expected = c.size - 1;
    if (!needs_help(&c))
        return PMPI_Iallreduce(send_buffer(send, receive), receive, count, type, op, comm, request);
    int code = begin(&c);
    if (code != MPI_SUCCESS)
        return code;
    return end(&c,
               PMPI_Iallreduce(c.packed, c.target, count * c.unit, c.unit_type, c.unit_op, comm, request));
}

static int iscan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 MPI_Request *request)
{
    struct call c;
    if (!is_sound(&c, send, receive, count, type, op, comm, request))
        return PMPI_Iscan(send, receive, count, type, op, comm, request);
    c.lower = c.expected = c.rank;
    if (!needs_help(&c))
        return PMPI_Iscan(send_buffer(send, receive), receive, count, type, op, comm, request);
    int code = begin(&c);
    if (code != MPI_SUCCESS)
        return code;
    return end(&c, PMPI_Iscan(c.packed, c.target, count * c.unit, c.unit_type, c.unit_op, comm, request));
}

static int iexscan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    struct call c;
    if (!is_sound(&c, send, receive, count, type, op, comm, request))
        return PMPI_Iexscan(send, receive, count, type, op, comm, request);
    c.own = -1;
    c.lower = c.expected = c.rank;
    if (c.rank == 0)
        return PMPI_Iexscan(send_buffer(send, receive), receive, count, type, op, comm, request);
    int code = begin(&c);
    if (code != MPI_SUCCESS)
        return code;
    return end(&c, PMPI_Iexscan(c.packed, c.target, count * c.unit, c.unit_type, c.unit_op, comm, request));
}

/* Waits for the messages one after the other, as a stock blocking scan does then, then for the whole. */
static int wait_in_order(MPI_Request *request)
{
    MPI_Request part;
    for (size_t i = 0; (part = pf_smpi_request_part(*request, i)); i++)
        PMPI_Wait(&part, MPI_STATUS_IGNORE);
    return PMPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Stock combines nothing in a scan whose operation does not commute. Its messages are those of the
 * nonblocking call. */
static int scan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct call c;
    MPI_Request request;
    if (!is_sound(&c, send, receive, count, type, op, comm, &request) || commutes(op))
        return pf_smpi_packed_scan(true, send, receive, count, type, op, comm);
    int code = iscan(send, receive, count, type, op, comm, &request);
    return code == MPI_SUCCESS ? wait_in_order(&request) : code;
}

static int exscan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct call c;
    MPI_Request request;
    if (!is_sound(&c, send, receive, count, type, op, comm, &request) || commutes(op))
        return pf_smpi_packed_scan(false, send, receive, count, type, op, comm);
    int code = iexscan(send, receive, count, type, op, comm, &request);
    return code == MPI_SUCCESS ? wait_in_order(&request) : code;
}

/* Blocks of the contribution; false when SMPI has to say what is wrong with the counts. */
static bool add_blocks(struct call *c, const int *counts)
{
    for (int i = 0; i < c->size; i++) {
        if (counts[i] < 0)
            return false;
        if (i == c->rank)
            c->own = c->total;
        c->total += counts[i];
    }
    c->count = counts[c->rank];
    c->lower = c->rank;
    c->expected = c->size - 1;
    return c->total == 0 || (c->send && c->receive);
}

/* A rank without a result gets empty messages; SMPI forgets to free the buffers that it made for them when
 * the type is derived. */
static int only_send_blocks(const void *send, void *receive, const int *counts, const struct call *c,
                            MPI_Comm comm, MPI_Request *request)
{
    int code = PMPI_Ireduce_scatter(send, receive, counts, c->type, c->op, comm, request);
    if (code == MPI_SUCCESS && pf_local_type_is_derived(c->type))
        pf_smpi_request_free_parts(*request);
    return code;
}

static int ireduce_scatter(const void *send, void *receive, const int *counts, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, MPI_Request *request)
{
    struct call c;
    if (!counts || !is_sound(&c, send, receive, 0, type, op, comm, request) || !add_blocks(&c, counts))
        return PMPI_Ireduce_scatter(send, receive, counts, type, op, comm, request);
    if (!needs_help(&c))
        return PMPI_Ireduce_scatter(send_buffer(send, receive), receive, counts, type, op, comm, request);
    if (c.count == 0 && c.total > 0 && pf_local_type_size(type) > 0)
        return only_send_blocks(send_buffer(send, receive), receive, counts, &c, comm, request);
    int *units = pf_malloc((size_t)c.size * sizeof *units);
    int code = begin(&c);
    if (code == MPI_SUCCESS) {
        for (int i = 0; i < c.size; i++)
            units[i] = counts[i] * c.unit;
        code =
            end(&c, PMPI_Ireduce_scatter(c.packed, c.target, units, c.unit_type, c.unit_op, comm, request));
    }
    free(units);
    return code;
}

static int ireduce_scatter_block(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm, MPI_Request *request)
{
    struct call c;
    if (!is_sound(&c, send, receive, count, type, op, comm, request))
        return PMPI_Ireduce_scatter_block(send, receive, count, type, op, comm, request);
    c.total = (int64_t)count * c.size;
    c.own = (int64_t)count * c.rank;
    c.lower = c.rank;
    c.expected = c.size - 1;
    if (!needs_help(&c))
        return PMPI_Ireduce_scatter_block(send_buffer(send, receive), receive, count, type, op, comm,
                                          request);
    int code = begin(&c);
    if (code != MPI_SUCCESS)
        return code;
    return end(&c, PMPI_Ireduce_scatter_block(c.packed, c.target, count * c.unit, c.unit_type, c.unit_op,
                                              comm, request));
}

void pf_smpi_reduce_install(struct pf_own_fn *fn)
{
    fn->Scan = scan;
    fn->Exscan = exscan;
    fn->Ireduce = ireduce;
    fn->Iallreduce = iallreduce;
    fn->Iscan = iscan;
    fn->Iexscan = iexscan;
    fn->Ireduce_scatter = ireduce_scatter;
    fn->Ireduce_scatter_block = ireduce_scatter_block;
}
