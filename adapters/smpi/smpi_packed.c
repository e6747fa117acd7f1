/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of packed items (see smpi_packed.h). */
#include "adapters/smpi/smpi_packed.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include <smpi/smpi.h>

#include "adapters/local/types.h"
#include "base/memory.h"
#include "pf_own.h"

/* Malloc's alignment; data in the copies of an array are aligned as in the array. */
enum { ALIGNMENT = _Alignof(max_align_t) };

static ptrdiff_t round_down(ptrdiff_t n)
{
    ptrdiff_t rest = n % ALIGNMENT;
    return n - (rest < 0 ? rest + ALIGNMENT : rest);
}

void *pf_smpi_packed_arrays(void *type, int count, char **one, char **other)
{
    ptrdiff_t first, last, others = (count - 1) * pf_local_type_extent(type);
    pf_local_type_span(type, &first, &last);
    *(others < 0 ? &first : &last) += others;
    first = round_down(first);
    size_t span = (size_t)(round_down(last + ALIGNMENT) - first);
    void *room = pf_calloc(2, span);
    *one = (char *)((intptr_t)room - first);
    *other = (char *)((intptr_t)*one + (intptr_t)span);
    return room;
}

/* The data of an item are not where its extent is, and this is a reduction that SMPI would do. */
static bool is_needed(void *op, void *type)
{
    ptrdiff_t first, last;
    if (!pf_local_can_reduce(op, type) || !pf_local_type_is_derived(type) || pf_local_type_size(type) == 0)
        return false;
    pf_local_type_span(type, &first, &last);
    return first < 0 || last > pf_local_type_extent(type);
}

/* One call. The packed type has it as an attribute. */
struct packed {
    MPI_Op op; /* the user's */
    MPI_Datatype type;
    size_t size;
    void *receive;
    char *data, *result;
    MPI_Op unit_op; /* what SMPI is given */
    MPI_Datatype unit;
};

static int key(void)
{
    static int made = MPI_KEYVAL_INVALID;
    if (made == MPI_KEYVAL_INVALID)
        PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, NULL);
    return made;
}

/* The operation that SMPI knows; an MPI_User_function. */
static void combine(void *in, void *inout, int *length, MPI_Datatype *unit)
{
    const struct packed *p = NULL;
    int known = 0;
    char *one, *other;
    PMPI_Type_get_attr(*unit, key(), &p, &known);
    if (!known || *length <= 0)
        return;
    void *room = pf_smpi_packed_arrays(p->type, *length, &one, &other);
    pf_local_type_unpack(p->type, *length, in, one);
    pf_local_type_unpack(p->type, *length, inout, other);
    pf_local_op_apply(p->op, p->type, *length, one, other);
    pf_local_type_pack(p->type, *length, other, inout);
    free(room);
}

/* So many items are sent, and as many are at most the result. Outside the time that SMPI measures for the
 * application, as its own copies are. */
static int begin(struct packed *p, const void *send, void *receive, int64_t items, MPI_Datatype type,
                 MPI_Op op)
{
    int commutative = 1;
    *p = (struct packed){.op = op, .type = type, .size = pf_local_type_size(type), .receive = receive};
    if (items * (int64_t)p->size > INT_MAX)
        return MPI_ERR_COUNT;
    smpi_bench_end();
    p->data = pf_malloc(2 * (size_t)items * p->size + 1);
    p->result = p->data + (size_t)items * p->size;
    pf_local_type_pack(type, (int)items, send == MPI_IN_PLACE ? receive : send, p->data);
    PMPI_Op_commutative(op, &commutative);
    PMPI_Op_create(combine, commutative, &p->unit_op);
    PMPI_Type_contiguous((int)p->size, MPI_BYTE, &p->unit);
    PMPI_Type_commit(&p->unit);
    PMPI_Type_set_attr(p->unit, key(), p);
    smpi_bench_begin();
    return MPI_SUCCESS;
}

/* So many items of the result are the caller's. */
static int end(struct packed *p, int code, int count)
{
    smpi_bench_end();
    if (code == MPI_SUCCESS && count > 0)
        pf_local_type_unpack(p->type, count, p->result, p->receive);
    PMPI_Type_free(&p->unit);
    PMPI_Op_free(&p->unit_op);
    free(p->data);
    smpi_bench_begin();
    return code;
}

/* Whatever is wrong with the other arguments SMPI says. */
static bool is_ours(const void *send, int64_t items, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return items > 0 && send && comm != MPI_COMM_NULL && is_needed(op, type);
}

#define PACKED(p) (p).data, (p).result
#define UNIT(p)   (p).unit, (p).unit_op

static int reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm)
{
    struct packed p;
    int me = -1;
    if (!is_ours(send, count, type, op, comm))
        return PMPI_Reduce(send, receive, count, type, op, root, comm);
    PMPI_Comm_rank(comm, &me);
    int code = begin(&p, send, receive, count, type, op);
    return code ? code : end(&p, PMPI_Reduce(PACKED(p), count, UNIT(p), root, comm), me == root ? count : 0);
}

static int allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct packed p;
    if (!is_ours(send, count, type, op, comm))
        return PMPI_Allreduce(send, receive, count, type, op, comm);
    int code = begin(&p, send, receive, count, type, op);
    return code ? code : end(&p, PMPI_Allreduce(PACKED(p), count, UNIT(p), comm), count);
}

int pf_smpi_packed_scan(bool inclusive, const void *send, void *receive, int count, void *type, void *op,
                        void *comm)
{
    struct packed p;
    int me = 0;
    int (*call)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm) =
        inclusive ? PMPI_Scan : PMPI_Exscan;
    if (!is_ours(send, count, type, op, comm))
        return call(send, receive, count, type, op, comm);
    PMPI_Comm_rank(comm, &me);
    int code = begin(&p, send, receive, count, type, op);
    return code ? code : end(&p, call(PACKED(p), count, UNIT(p), comm), inclusive || me > 0 ? count : 0);
}

static int reduce_scatter(const void *send, void *receive, const int *counts, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    struct packed p;
    int me = 0, n = 0;
    int64_t items = 0;
    if (counts && comm != MPI_COMM_NULL) {
        PMPI_Comm_rank(comm, &me);
        PMPI_Comm_size(comm, &n);
    }
    for (int i = 0; i < n; i++)
        items = counts[i] < 0 || items < 0 ? -1 : items + counts[i];
    if (n == 0 || !is_ours(send, items, type, op, comm))
        return PMPI_Reduce_scatter(send, receive, counts, type, op, comm);
    int code = begin(&p, send, receive, items, type, op);
    return code ? code : end(&p, PMPI_Reduce_scatter(PACKED(p), counts, UNIT(p), comm), counts[me]);
}

static int reduce_scatter_block(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm)
{
    struct packed p;
    int n = 0;
    if (!is_ours(send, count, type, op, comm))
        return PMPI_Reduce_scatter_block(send, receive, count, type, op, comm);
    PMPI_Comm_size(comm, &n);
    int code = begin(&p, send, receive, (int64_t)count * n, type, op);
    return code ? code : end(&p, PMPI_Reduce_scatter_block(PACKED(p), count, UNIT(p), comm), count);
}

void pf_smpi_packed_install(struct pf_own_fn *fn)
{
    fn->Reduce = reduce;
    fn->Allreduce = allreduce;
    fn->Reduce_scatter = reduce_scatter;
    fn->Reduce_scatter_block = reduce_scatter_block;
}
