/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performs collectives, one case after the other. Between two cases every rank sends an empty message to
 * itself, with the number of the case as its tag: in a log of messages this marks where a case begins.
 * Usage: traffic FILE [MODEL], with one case per line: COLLECTIVE BYTES TYPE ROOT OP COMMUNICATOR.
 * BYTES is the whole vector of a rank for bcast, reductions and scans, and a block for the others.
 * A simulation goes to MODEL when communicators and types have been made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#include <parfocal.h>

struct call {
    char name[32];
    MPI_Comm comm;
    int rank, size, root, count;
    MPI_Datatype type;
    MPI_Op op;
    char *send, *recv;
    int *counts, *starts;
    MPI_Datatype *types;
};

static MPI_Datatype pairs; /* two integers with a hole between them */
static MPI_Op commutative, ordered;
static MPI_Comm communicators[5];

/* The values do not matter here. The datatype has the extent of the memory. */
static void keep(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static MPI_Datatype type_named(const char *name)
{
    return !strcmp(name, "int")          ? MPI_INT
           : !strcmp(name, "double")     ? MPI_DOUBLE
           : !strcmp(name, "vector")     ? pairs
           : !strcmp(name, "double_int") ? MPI_DOUBLE_INT
                                         : MPI_CHAR;
}

static MPI_Op op_named(const char *name)
{
    return !strcmp(name, "max")           ? MPI_MAX
           : !strcmp(name, "minloc")      ? MPI_MINLOC
           : !strcmp(name, "commutative") ? commutative
           : !strcmp(name, "ordered")     ? ordered
                                          : MPI_SUM;
}

static MPI_Comm comm_named(const char *name)
{
    const char *const names[] = {"world", "dup", "half", "reverse", "most"};
    for (int i = 0; i < 5; i++)
        if (!strcmp(name, names[i]))
            return communicators[i];
    fprintf(stderr, "no communicator %s\n", name);
    exit(2);
}

static void make_objects(int rank, int size)
{
    MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Op_create(keep, 1, &commutative);
    MPI_Op_create(keep, 0, &ordered);
    communicators[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicators[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &communicators[2]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &communicators[3]);
    MPI_Comm_split(MPI_COMM_WORLD, rank == size / 2 ? MPI_UNDEFINED : 0, 0, &communicators[4]);
}

static int do_rooted(const struct call *c)
{
    if (!strcmp(c->name, "bcast"))
        return MPI_Bcast(c->send, c->count, c->type, c->root, c->comm);
    if (!strcmp(c->name, "reduce"))
        return MPI_Reduce(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm);
    if (!strcmp(c->name, "gather"))
        return MPI_Gather(c->send, c->count, c->type, c->recv, c->count, c->type, c->root, c->comm);
    if (!strcmp(c->name, "gatherv"))
        return MPI_Gatherv(c->send, c->count, c->type, c->recv, c->counts, c->starts, c->type, c->root,
                           c->comm);
    if (!strcmp(c->name, "scatter"))
        return MPI_Scatter(c->send, c->count, c->type, c->recv, c->count, c->type, c->root, c->comm);
    if (!strcmp(c->name, "scatterv"))
        return MPI_Scatterv(c->send, c->counts, c->starts, c->type, c->recv, c->count, c->type, c->root,
                            c->comm);
    return -1;
}

static int do_reduction(const struct call *c)
{
    if (!strcmp(c->name, "allreduce"))
        return MPI_Allreduce(c->send, c->recv, c->count, c->type, c->op, c->comm);
    if (!strcmp(c->name, "allreduce_in_place"))
        return MPI_Allreduce(MPI_IN_PLACE, c->recv, c->count, c->type, c->op, c->comm);
    if (!strcmp(c->name, "scan"))
        return MPI_Scan(c->send, c->recv, c->count, c->type, c->op, c->comm);
    if (!strcmp(c->name, "exscan"))
        return MPI_Exscan(c->send, c->recv, c->count, c->type, c->op, c->comm);
    if (!strcmp(c->name, "reduce_scatter_block"))
        return MPI_Reduce_scatter_block(c->send, c->recv, c->count, c->type, c->op, c->comm);
    if (strcmp(c->name, "reduce_scatter") != 0)
        return -1;
    for (int i = 0; i < c->size; i++) /* the vector, split evenly */
        c->counts[i] = c->count / c->size + (i < c->count % c->size);
    return MPI_Reduce_scatter(c->send, c->recv, c->counts, c->type, c->op, c->comm);
}

static int do_exchange(const struct call *c)
{
    if (!strcmp(c->name, "barrier"))
        return MPI_Barrier(c->comm);
    if (!strcmp(c->name, "allgather"))
        return MPI_Allgather(c->send, c->count, c->type, c->recv, c->count, c->type, c->comm);
    if (!strcmp(c->name, "allgather_in_place"))
        return MPI_Allgather(MPI_IN_PLACE, 0, c->type, c->recv, c->count, c->type, c->comm);
    if (!strcmp(c->name, "allgatherv"))
        return MPI_Allgatherv(c->send, c->count, c->type, c->recv, c->counts, c->starts, c->type, c->comm);
    if (!strcmp(c->name, "alltoall"))
        return MPI_Alltoall(c->send, c->count, c->type, c->recv, c->count, c->type, c->comm);
    if (!strcmp(c->name, "alltoall_in_place"))
        return MPI_Alltoall(MPI_IN_PLACE, 0, c->type, c->recv, c->count, c->type, c->comm);
    if (!strcmp(c->name, "alltoallv"))
        return MPI_Alltoallv(c->send, c->counts, c->starts, c->type, c->recv, c->counts, c->starts, c->type,
                             c->comm);
    if (strcmp(c->name, "alltoallw") != 0)
        return -1;
    MPI_Aint lower, extent;
    MPI_Type_get_extent(c->type, &lower, &extent);
    for (int i = 0; i < c->size; i++) {
        c->types[i] = c->type;
        c->starts[i] *= (int)extent;
    }
    return MPI_Alltoallw(c->send, c->counts, c->starts, c->types, c->recv, c->counts, c->starts, c->types,
                         c->comm);
}

static int do_nonblocking(const struct call *c)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int status = -1;
    if (!strcmp(c->name, "ibarrier"))
        status = MPI_Ibarrier(c->comm, &request);
    else if (!strcmp(c->name, "ibcast"))
        status = MPI_Ibcast(c->send, c->count, c->type, c->root, c->comm, &request);
    else if (!strcmp(c->name, "ireduce"))
        status = MPI_Ireduce(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm, &request);
    else if (!strcmp(c->name, "iallreduce"))
        status = MPI_Iallreduce(c->send, c->recv, c->count, c->type, c->op, c->comm, &request);
    else if (!strcmp(c->name, "iallgather"))
        status = MPI_Iallgather(c->send, c->count, c->type, c->recv, c->count, c->type, c->comm, &request);
    else if (!strcmp(c->name, "ialltoall"))
        status = MPI_Ialltoall(c->send, c->count, c->type, c->recv, c->count, c->type, c->comm, &request);
    return status == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : status;
}

static int do_persistent(const struct call *c)
{
    if (strcmp(c->name, "persistent") != 0)
        return -1;
    MPI_Request requests[2];
    int next = (c->rank + 1) % c->size, previous = (c->rank + c->size - 1) % c->size;
    MPI_Recv_init(c->recv, c->count, c->type, previous, 0, c->comm, &requests[0]);
    MPI_Send_init(c->send, c->count, c->type, next, 0, c->comm, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    return MPI_Request_free(&requests[1]);
}

/* Whether a buffer holds a block for each rank. Long vectors must not need that much. */
static int has_blocks(const char *name)
{
    static const char *const vectors[] = {"bcast",   "reduce",    "allreduce", "allreduce_in_place",
                                          "scan",    "exscan",    "ibcast",    "reduce_scatter",
                                          "ireduce", "iallreduce"};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        if (!strcmp(name, vectors[i]))
            return 0;
    return 1;
}

static void perform(struct call *c)
{
    static int (*const kinds[])(const struct call *) = {do_rooted, do_reduction, do_exchange, do_nonblocking,
                                                        do_persistent};
    MPI_Aint lower, extent;
    MPI_Comm_rank(c->comm, &c->rank);
    MPI_Comm_size(c->comm, &c->size);
    MPI_Type_get_extent(c->type, &lower, &extent);
    c->root %= c->size;
    size_t room = ((size_t)c->count + 1) * (size_t)extent * (size_t)(has_blocks(c->name) ? c->size : 1);
    c->send = calloc(1, room);
    c->recv = calloc(1, room);
    c->counts = calloc((size_t)c->size, sizeof *c->counts);
    c->starts = calloc((size_t)c->size, sizeof *c->starts);
    c->types = calloc((size_t)c->size, sizeof(MPI_Datatype));
    for (int i = 0; i < c->size; i++) {
        c->counts[i] = c->count;
        c->starts[i] = i * c->count;
    }
    int status = -1;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == -1; i++)
        status = kinds[i](c);
    if (status != MPI_SUCCESS) {
        fprintf(stderr, "%s failed with %d\n", c->name, status);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    free(c->send), free(c->recv), free(c->counts), free(c->starts), free(c->types);
}

static void mark(int rank, int number)
{
    MPI_Sendrecv(NULL, 0, MPI_CHAR, rank, number, NULL, 0, MPI_CHAR, rank, number, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    char type[32], op[32], comm[32];
    int rank, size, size_of_type, number = 0, bytes;
    struct call c;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file)
        MPI_Abort(MPI_COMM_WORLD, 2);
    make_objects(rank, size);
    if (argc > 2) /* a simulation that begins in another model */
        pf_model_switch(argv[2]);
    while (fscanf(file, "%31s %d %31s %d %31s %31s", c.name, &bytes, type, &c.root, op, comm) == 6) {
        c.comm = comm_named(comm);
        c.type = type_named(type);
        c.op = op_named(op);
        MPI_Type_size(c.type, &size_of_type);
        c.count = bytes / size_of_type;
        mark(rank, ++number);
        if (c.comm != MPI_COMM_NULL)
            perform(&c);
    }
    mark(rank, ++number);
    fclose(file);
    MPI_Finalize();
    return 0;
}
