/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>

#include "lowlevel/portals/runtime.h"
#include "tests/e2e/openmpi/job.h"

/* What needs no network. */
void scenario_local(struct rank *rank)
{
    int size = -1, me = -1, value = rank->self.rank + 1, got = 0, length;
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Status status;
    MPI_Comm self = pf_ompi_symbol(rank->inst, "ompi_mpi_comm_self");
    MPI_Request request;
    CHECK(rank, CALL(rank, Comm_size)(rank->world, &size) == MPI_SUCCESS && size == rank->self.size);
    CHECK(rank, CALL(rank, Comm_rank)(rank->world, &me) == MPI_SUCCESS && me == rank->self.rank);
    CHECK(rank, CALL(rank, Get_processor_name)(name, &length) == MPI_SUCCESS);
    CHECK(rank, strcmp(name, sg_host_get_name(rank->self.host)) == 0);
    CHECK(rank, CALL(rank, Isend)(&value, 1, rank->type_int, 0, 5, self, &request) == MPI_SUCCESS);
    CHECK(rank, CALL(rank, Recv)(&got, 1, rank->type_int, 0, 5, self, &status) == MPI_SUCCESS);
    CHECK(rank, CALL(rank, Wait)(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(rank, got == value && status.MPI_TAG == 5);
    CHECK(rank, CALL(rank, Send)(&value, 1, rank->type_int, 99, 0, self) != MPI_SUCCESS);
}

void scenario_ring(struct rank *rank)
{
    int size = rank->self.size, me = rank->self.rank;
    for (int round = 0; round < 3; round++) {
        int sent = 100 * round + me, got = -1;
        MPI_Status status;
        CHECK(rank,
              CALL(rank, Sendrecv)(&sent, 1, rank->type_int, (me + 1) % size, round, &got, 1, rank->type_int,
                                   (me + size - 1) % size, round, rank->world, &status) == MPI_SUCCESS);
        CHECK(rank, got == 100 * round + (me + size - 1) % size);
        CHECK(rank, status.MPI_SOURCE == (me + size - 1) % size && status.MPI_TAG == round);
    }
}

/* Long messages, one of them unexpected, to the partner rank. */
void scenario_rendezvous(struct rank *rank)
{
    enum { BYTES = 4 << 20 };
    int me = rank->self.rank, partner = me ^ 1, count = -1;
    char *out = malloc(BYTES), *in = malloc(BYTES);
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < BYTES; i++)
        out[i] = (char)(i * 7 + me);
    memset(in, 0x55, BYTES);
    if (partner < rank->self.size) {
        CHECK(rank, CALL(rank, Isend)(out, BYTES, rank->type_char, partner, 3, rank->world, &request) ==
                        MPI_SUCCESS);
        if (me & 1)
            sg_actor_sleep_for(1e-3);
        CHECK(rank,
              CALL(rank, Recv)(in, BYTES, rank->type_char, partner, 3, rank->world, &status) == MPI_SUCCESS);
        CHECK(rank, CALL(rank, Wait)(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(rank, CALL(rank, Get_count)(&status, rank->type_char, &count) == MPI_SUCCESS && count == BYTES);
        for (int i = 0; i < BYTES; i++)
            CHECK(rank, in[i] == (char)(i * 7 + partner));
    }
    free(in);
    free(out);
}

/* The same with a type that has holes: pml/ob1 cannot let the receiver fetch it and sends fragments. */
void scenario_strided(struct rank *rank)
{
    enum { COUNT = 100000 };
    int me = rank->self.rank, partner = me ^ 1;
    int *out = calloc(2 * COUNT, sizeof *out), *in = calloc(2 * COUNT, sizeof *in);
    MPI_Datatype every_other;
    MPI_Request request;
    CHECK(rank, CALL(rank, Type_vector)(COUNT, 1, 2, rank->type_int, &every_other) == MPI_SUCCESS);
    CHECK(rank, CALL(rank, Type_commit)(&every_other) == MPI_SUCCESS);
    for (int i = 0; i < 2 * COUNT; i++)
        out[i] = 3 * i + me;
    if (partner < rank->self.size) {
        CHECK(rank, CALL(rank, Isend)(out, 1, every_other, partner, 4, rank->world, &request) == MPI_SUCCESS);
        CHECK(rank, CALL(rank, Recv)(in, 1, every_other, partner, 4, rank->world, MPI_STATUS_IGNORE) ==
                        MPI_SUCCESS);
        CHECK(rank, CALL(rank, Wait)(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        for (int i = 0; i < COUNT; i++)
            CHECK(rank, in[2 * i] == 3 * 2 * i + partner && in[2 * i + 1] == 0);
    }
    CHECK(rank, CALL(rank, Type_free)(&every_other) == MPI_SUCCESS);
    free(in);
    free(out);
}

static void check_collectives(struct rank *rank, MPI_Comm comm)
{
    int size, me, value, sum = -1;
    CHECK(rank, CALL(rank, Comm_size)(comm, &size) == MPI_SUCCESS);
    CHECK(rank, CALL(rank, Comm_rank)(comm, &me) == MPI_SUCCESS);
    value = me + 1;
    CHECK(rank, CALL(rank, Allreduce)(&value, &sum, 1, rank->type_int, rank->sum, comm) == MPI_SUCCESS);
    CHECK(rank, sum == size * (size + 1) / 2);
    value = me == size - 1 ? 4711 : 0;
    CHECK(rank, CALL(rank, Bcast)(&value, 1, rank->type_int, size - 1, comm) == MPI_SUCCESS && value == 4711);
    CHECK(rank, CALL(rank, Barrier)(comm) == MPI_SUCCESS);
    int *all = calloc((size_t)size, sizeof *all);
    value = 3 * me;
    CHECK(rank,
          CALL(rank, Allgather)(&value, 1, rank->type_int, all, 1, rank->type_int, comm) == MPI_SUCCESS);
    for (int i = 0; i < size; i++)
        CHECK(rank, all[i] == 3 * i);
    free(all);
}

void scenario_collectives(struct rank *rank)
{
    enum { LENGTH = 20000 };
    double *out = malloc(LENGTH * sizeof *out), *in = malloc(LENGTH * sizeof *in);
    int size = rank->self.size;
    check_collectives(rank, rank->world);
    for (int i = 0; i < LENGTH; i++)
        out[i] = i + rank->self.rank;
    CHECK(rank,
          CALL(rank, Allreduce)(out, in, LENGTH, rank->type_double, rank->sum, rank->world) == MPI_SUCCESS);
    for (int i = 0; i < LENGTH; i++)
        CHECK(rank, in[i] == (double)size * i + (double)size * (size - 1) / 2);
    free(in);
    free(out);
}

void scenario_communicators(struct rank *rank)
{
    MPI_Comm half, copy;
    CHECK(rank,
          CALL(rank, Comm_split)(rank->world, rank->self.rank % 2, -rank->self.rank, &half) == MPI_SUCCESS);
    check_collectives(rank, half);
    CHECK(rank, CALL(rank, Comm_dup)(half, &copy) == MPI_SUCCESS);
    check_collectives(rank, copy);
    CHECK(rank, CALL(rank, Comm_free)(&half) == MPI_SUCCESS);
    check_collectives(rank, copy);
    CHECK(rank, CALL(rank, Comm_free)(&copy) == MPI_SUCCESS);
}

/* Nonblocking collectives that are polled: each failed test costs simulated time, as the middleware will
 * charge it. */
void scenario_nonblocking(struct rank *rank)
{
    int value = rank->self.rank, sum = -1, flag = 0, polls = 0;
    MPI_Request requests[2];
    CHECK(rank, CALL(rank, Iallreduce)(&value, &sum, 1, rank->type_int, rank->sum, rank->world,
                                       &requests[0]) == MPI_SUCCESS);
    CHECK(rank, CALL(rank, Ibarrier)(rank->world, &requests[1]) == MPI_SUCCESS);
    for (int i = 0; i < 2; i++)
        for (flag = 0; !flag; polls++) {
            bool done = pf_ompi_glue(rank->inst)->request_done(requests[i]);
            CHECK(rank, CALL(rank, Test)(&requests[i], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(rank, flag || !done);
            if (!flag)
                sg_actor_sleep_for(1e-7);
            CHECK(rank, polls < 1000000);
        }
    CHECK(rank, sum == rank->self.size * (rank->self.size - 1) / 2);
}

void scenario_probe(struct rank *rank)
{
    int me = rank->self.rank, size = rank->self.size;
    if (size < 2 || (me != 0 && me != size - 1))
        return;
    if (me == size - 1) {
        int values[3] = {1, 2, 3};
        sg_actor_sleep_for(1e-5);
        CHECK(rank, CALL(rank, Send)(values, 3, rank->type_int, 0, 9, rank->world) == MPI_SUCCESS);
        CHECK(rank, CALL(rank, Send)(values, 2, rank->type_int, 0, 10, rank->world) == MPI_SUCCESS);
        return;
    }
    int flag = 0, values[3], count;
    MPI_Status status;
    for (int polls = 0; !flag; polls++) {
        CHECK(rank,
              CALL(rank, Iprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, rank->world, &flag, &status) == MPI_SUCCESS);
        if (!flag)
            sg_actor_sleep_for(1e-7);
        CHECK(rank, polls < 1000000);
    }
    CHECK(rank, CALL(rank, Get_count)(&status, rank->type_int, &count) == MPI_SUCCESS && count == 3);
    CHECK(rank, status.MPI_SOURCE == size - 1 && status.MPI_TAG == 9);
    CHECK(rank, CALL(rank, Recv)(values, 3, rank->type_int, size - 1, 9, rank->world, MPI_STATUS_IGNORE) ==
                    MPI_SUCCESS);
    CHECK(rank, values[0] == 1 && values[2] == 3);
    CHECK(rank, CALL(rank, Probe)(size - 1, 10, rank->world, &status) == MPI_SUCCESS);
    CHECK(rank, CALL(rank, Get_count)(&status, rank->type_int, &count) == MPI_SUCCESS && count == 2);
    CHECK(rank, CALL(rank, Recv)(values, 3, rank->type_int, MPI_ANY_SOURCE, 10, rank->world,
                                 MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

/* Shadow number `id`: all ranks of the world, those of one parity, or all in reverse order. */
static MPI_Comm make_shadow(struct rank *rank, int id)
{
    int size = rank->self.size, n = 0, me = -1, *members = calloc((size_t)size, sizeof *members);
    for (int i = 0; i < size; i++) {
        int member = id % 3 == 2 ? size - 1 - i : i;
        if (id % 3 == 1 && member % 2 != rank->self.rank % 2)
            continue;
        if (member == rank->self.rank)
            me = n;
        members[n++] = member;
    }
    void *comm = NULL;
    double before = simgrid_get_clock();
    /* The two communicators of one parity each are different communicators of the middleware and have
     * different ids. */
    int hub_id = 2 * id + (id % 3 == 1 ? rank->self.rank % 2 : 0);
    CHECK(rank, pf_ompi_glue(rank->inst)->comm_shadow(members, n, me, hub_id, &comm) == MPI_SUCCESS);
    CHECK(rank, simgrid_get_clock() == before);
    free(members);
    return comm;
}

/*
 * Every rank makes its shadows in an order of its own, some before and some after communicators of Open
 * MPI's, and messages arrive on shadows that their receiver has yet to make.
 */
void scenario_shadows(struct rank *rank)
{
    enum { SHADOWS = 6 };
    MPI_Comm shadows[SHADOWS], nested, copy, own;
    int me, size;
    for (int i = 0; i < SHADOWS; i++) {
        int id = (i + rank->self.rank) % SHADOWS;
        shadows[id] = make_shadow(rank, id);
        if (i == 2)
            CHECK(rank, CALL(rank, Comm_dup)(rank->world, &own) == MPI_SUCCESS);
    }
    for (int id = 0; id < SHADOWS; id++)
        check_collectives(rank, shadows[id]);
    check_collectives(rank, own);
    CHECK(rank, CALL(rank, Comm_split)(shadows[2], rank->self.rank % 3, 0, &nested) == MPI_SUCCESS);
    check_collectives(rank, nested);
    CHECK(rank, CALL(rank, Comm_dup)(shadows[1], &copy) == MPI_SUCCESS);
    check_collectives(rank, copy);
    pf_ompi_glue(rank->inst)->comm_free(shadows[0]);
    pf_ompi_glue(rank->inst)->comm_free(nested);

    /* A message on a shadow that does not exist at its receiver yet. */
    CHECK(rank, CALL(rank, Barrier)(rank->world) == MPI_SUCCESS);
    if (rank->self.rank % 2)
        sg_actor_sleep_for(1e-4);
    MPI_Comm late = make_shadow(rank, SHADOWS);
    CHECK(rank, CALL(rank, Comm_size)(late, &size) == MPI_SUCCESS);
    CHECK(rank, CALL(rank, Comm_rank)(late, &me) == MPI_SUCCESS);
    int value = me, got = -1;
    CHECK(rank, CALL(rank, Sendrecv)(&value, 1, rank->type_int, (me + 1) % size, 1, &got, 1, rank->type_int,
                                     (me + size - 1) % size, 1, late, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(rank, got == (me + size - 1) % size);
    check_collectives(rank, late);
    pf_ompi_glue(rank->inst)->comm_free(late);

    /* An id may be used again after its communicator is gone everywhere. */
    CHECK(rank, CALL(rank, Barrier)(rank->world) == MPI_SUCCESS);
    check_collectives(rank, shadows[0] = make_shadow(rank, 0));
    const struct pf_glue *glue = pf_ompi_glue(rank->inst);
    void *refused;
    int all = rank->self.rank;
    CHECK(rank, glue->comm_shadow(&all, 1, 0, glue->shadow_limit, &refused) != MPI_SUCCESS);
    CHECK(rank, glue->comm_shadow(&all, 1, 0, 0, &refused) != MPI_SUCCESS);
    for (int id = 0; id < SHADOWS; id++)
        glue->comm_free(shadows[id]);
    glue->comm_free(copy);
    CHECK(rank, CALL(rank, Comm_free)(&own) == MPI_SUCCESS);
}

/* Body of a helper that makes progress for a rank that is busy elsewhere. */
struct helper {
    struct rank *rank;
    sg_sem_t wake;
    bool stop;
};

static void helper_main(int argc, char **argv)
{
    const struct rank *rank = (const struct rank *)pf_self();
    const struct helper *helper = rank->helper;
    (void)argc;
    (void)argv;
    for (;;) {
        sg_sem_acquire(helper->wake);
        if (helper->stop)
            return;
        pf_ompi_progress(helper->rank->inst);
    }
}

static void wake_helper(void *arg)
{
    struct helper *helper = arg;
    sg_sem_release(helper->wake);
}

/*
 * The last rank starts a nonblocking collective and then blocks for a second outside Open MPI. The others
 * must not notice, as long as a helper makes progress for it.
 */
void scenario_progress(struct rank *rank)
{
    int value = 1, sum = 0, last = rank->self.size - 1;
    MPI_Request request;
    struct helper *helper = NULL;
    double start = simgrid_get_clock();
    CHECK(rank, CALL(rank, Iallreduce)(&value, &sum, 1, rank->type_int, rank->sum, rank->world, &request) ==
                    MPI_SUCCESS);
    if (rank->self.rank == last) {
        helper = calloc(1, sizeof *helper);
        *helper = (struct helper){.rank = rank, .wake = sg_sem_init(1)};
        sg_actor_t actor = sg_actor_init("helper", rank->self.host);
        sg_actor_set_data(actor, &rank->self);
        rank->helper = helper;
        sg_actor_start(actor, helper_main, 0, NULL);
        pf_portals_set_notify(&rank->self, wake_helper, helper);
        sg_actor_sleep_for(1.0);
        pf_portals_set_notify(&rank->self, NULL, NULL);
        helper->stop = true;
        sg_sem_release(helper->wake);
        CHECK(rank, pf_ompi_glue(rank->inst)->request_done(request));
    }
    CHECK(rank, CALL(rank, Wait)(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(rank, sum == rank->self.size);
    CHECK(rank, rank->self.rank == last || simgrid_get_clock() < start + 0.01);
    CHECK(rank, CALL(rank, Barrier)(rank->world) == MPI_SUCCESS);
}

/* The largest tag that pml/cm keeps apart from collectives' negative ones, also for a receive of any tag. */
void scenario_tags(struct rank *rank)
{
    int value = 17, got = 0, tag = (1 << 23) - 1;
    MPI_Status status;
    if (rank->self.rank == 0 && rank->self.size > 1)
        CHECK(rank, CALL(rank, Send)(&value, 1, rank->type_int, 1, tag, rank->world) == MPI_SUCCESS);
    if (rank->self.rank == 1) {
        CHECK(rank, CALL(rank, Recv)(&got, 1, rank->type_int, MPI_ANY_SOURCE, MPI_ANY_TAG, rank->world,
                                     &status) == MPI_SUCCESS);
        CHECK(rank, got == 17 && status.MPI_TAG == tag && status.MPI_SOURCE == 0);
    }
}

/* Ranks on the same simulated host find each other. */
void scenario_shared(struct rank *rank)
{
    MPI_Comm local;
    MPI_Info none = pf_ompi_symbol(rank->inst, "ompi_mpi_info_null");
    int size, expected = 0;
    CHECK(rank,
          CALL(rank, Comm_split_type)(rank->world, MPI_COMM_TYPE_SHARED, 0, none, &local) == MPI_SUCCESS);
    CHECK(rank, CALL(rank, Comm_size)(local, &size) == MPI_SUCCESS);
    for (int other = 0; other < rank->self.size; other++)
        expected += other % (int)sg_host_count() == rank->self.rank % (int)sg_host_count();
    CHECK(rank, size == expected);
    check_collectives(rank, local);
    CHECK(rank, CALL(rank, Comm_free)(&local) == MPI_SUCCESS);
}

void scenario_window(struct rank *rank)
{
    int memory[4] = {-1, -1, -1, -1}, me = rank->self.rank, size = rank->self.size, value = 10 + me, got = -1;
    MPI_Info none = pf_ompi_symbol(rank->inst, "ompi_mpi_info_null");
    MPI_Win window;
    CHECK(rank, CALL(rank, Win_create)(memory, sizeof memory, sizeof(int), none, rank->world, &window) ==
                    MPI_SUCCESS);
    CHECK(rank, CALL(rank, Win_fence)(0, window) == MPI_SUCCESS);
    CHECK(rank, CALL(rank, Put)(&value, 1, rank->type_int, (me + 1) % size, 2, 1, rank->type_int, window) ==
                    MPI_SUCCESS);
    CHECK(rank, CALL(rank, Win_fence)(0, window) == MPI_SUCCESS);
    CHECK(rank, memory[2] == 10 + (me + size - 1) % size && memory[1] == -1);
    CHECK(rank, CALL(rank, Get)(&got, 1, rank->type_int, (me + 1) % size, 2, 1, rank->type_int, window) ==
                    MPI_SUCCESS);
    CHECK(rank, CALL(rank, Win_fence)(0, window) == MPI_SUCCESS);
    CHECK(rank, got == 10 + me);
    CHECK(rank, CALL(rank, Win_free)(&window) == MPI_SUCCESS);
}

/*
 * More unexpected messages than fit the buffers for them: flow control, and no message lost. Recovery needs
 * all ranks, so those that have nothing more to send wait inside Open MPI.
 */
void scenario_unexpected(struct rank *rank)
{
    enum { MESSAGES = 600, LENGTH = 400 };
    int *values = calloc(LENGTH, sizeof *values), size = rank->self.size;
    if (rank->self.rank > 0) {
        for (int i = 0; i < MESSAGES; i++) {
            values[0] = values[LENGTH - 1] = i;
            CHECK(rank, CALL(rank, Send)(values, LENGTH, rank->type_int, 0, 1, rank->world) == MPI_SUCCESS);
        }
    } else {
        sg_actor_sleep_for(0.01);
        for (int source = size - 1; source > 0; source--)
            for (int i = 0; i < MESSAGES; i++) {
                CHECK(rank, CALL(rank, Recv)(values, LENGTH, rank->type_int, source, 1, rank->world,
                                             MPI_STATUS_IGNORE) == MPI_SUCCESS);
                CHECK(rank, values[0] == i && values[LENGTH - 1] == i);
            }
    }
    CHECK(rank, CALL(rank, Barrier)(rank->world) == MPI_SUCCESS);
    free(values);
}

/* A line of one of the kernel's accounts of this process, in KiB. */
static long memory(const char *file, const char *key)
{
    char line[200];
    long found = -1;
    FILE *in = fopen(file, "r");
    while (in && found < 0 && fgets(line, sizeof line, in))
        if (strncmp(line, key, strlen(key)) == 0)
            found = strtol(line + strlen(key), NULL, 10);
    if (in)
        fclose(in);
    return found;
}

/* What no other process shares: anonymous memory and the tables of pages. A rank takes about 1.2 MB of it,
 * however many there are; 0.3 MB more when all know each other from the start, 0.25 when buffers are touched
 * that nothing enters. */
void scenario_memory(struct rank *rank)
{
    CHECK(rank, CALL(rank, Barrier)(rank->world) == MPI_SUCCESS);
    if (rank->self.rank > 0) /* a long list of maps takes milliseconds to read */
        return;
    long anonymous = memory("/proc/self/smaps_rollup", "Anonymous:");
    long tables = memory("/proc/self/status", "VmPTE:");
    fprintf(stderr, "%ld KiB per rank, %ld of them tables of pages\n", (anonymous + tables) / rank->self.size,
            tables / rank->self.size);
    CHECK(rank, anonymous > 0 && tables > 0 && (anonymous + tables) / rank->self.size <= 1350);
}

/* For measuring wall-clock: 10,000 round trips of 8 bytes between pairs of ranks. */
void scenario_pingpong(struct rank *rank)
{
    double value = 1.0;
    int me = rank->self.rank, partner = me ^ 1;
    if (partner >= rank->self.size)
        return;
    for (int i = 0; i < 10000; i++) {
        if (me & 1)
            CALL(rank, Recv)(&value, 1, rank->type_double, partner, 1, rank->world, MPI_STATUS_IGNORE);
        CALL(rank, Send)(&value, 1, rank->type_double, partner, 1, rank->world);
        if (!(me & 1))
            CALL(rank, Recv)(&value, 1, rank->type_double, partner, 1, rank->world, MPI_STATUS_IGNORE);
    }
    CHECK(rank, value == 1.0);
}

void scenario_abort(struct rank *rank)
{
    if (rank->self.rank == rank->self.size - 1)
        CALL(rank, Abort)(rank->world, 42);
    CHECK(rank, CALL(rank, Barrier)(rank->world) == MPI_SUCCESS);
}
