/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What messages and collectives take in some model, in simulated time: the program that pfinfo --fit runs.
 *
 *   measure fit          what the parameters of model analytic are made from: sizes 0 and powers of two
 *   measure between      one-way times of sizes between the powers of two
 *   measure paths        one-way times of empty messages alone
 *   measure steps        one-way times of as many sizes as their piecewise linear curve needs, tests and
 * probes measure aligned [B]  collectives that all ranks begin at the same simulated time, from B bytes on
 *   measure machine [N]  the medians of at most N rounds on a real machine, warm, with data just written
 *
 * Lines of output: WHAT TRANSPORT SIZE SECONDS, with TRANSPORT memory (ranks of one node), near or far.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 4 << 20, WINDOW = 16, TAG = 7, LATE_US = 20000 };

static int rank, ranks;
static char *out_buffer, *in_buffer;
static int *counts, *places; /* of the blocks of each rank */
static double clock_time;    /* simulated time of MPI_Wtime itself */

struct transport {
    const char *name;
    int peer; /* of rank 0; 0: there is none */
};

static double since(double begin)
{
    return MPI_Wtime() - begin - clock_time;
}

/* Rank 0 and its peer begin together; the others wait at the next barrier. */
static void together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(50); /* longer than the barrier's last messages are under way */
}

static void report(const char *what, const char *transport, long bytes, double seconds)
{
    if (rank == 0)
        printf("%s %s %ld %.12g\n", what, transport, bytes, seconds);
}

static double one_way(int peer, int bytes, int rounds)
{
    double begin = 0;
    together();
    for (int i = -1; i < rounds; i++) {
        if (i == 0)
            begin = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(out_buffer, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
            MPI_Recv(in_buffer, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == peer) {
            MPI_Recv(in_buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out_buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
        }
    }
    return since(begin) / rounds / 2;
}

/* How long the call of a nonblocking send takes, and from its beginning to the end of its wait, with a
 * receive that is posted long before. */
static void send_times(int peer, int bytes, double *call, double *safe)
{
    *call = *safe = 0;
    together();
    if (rank == peer)
        MPI_Recv(in_buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        return;
    MPI_Request request;
    usleep(LATE_US);
    double begin = MPI_Wtime();
    MPI_Isend(out_buffer, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, &request);
    *call = since(begin);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    *safe = since(begin) - clock_time;
}

/* From a receive that is posted long after the send to its end; whether the sender had to wait for it. */
static double late_receive(int peer, int bytes, bool *waits)
{
    double times[2] = {0, 0}; /* the receive, the send */
    together();
    double begin = MPI_Wtime();
    if (rank == 0) {
        MPI_Send(out_buffer, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
        times[1] = since(begin);
        MPI_Recv(&times[0], 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == peer) {
        usleep(LATE_US);
        begin = MPI_Wtime();
        MPI_Recv(in_buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        times[0] = since(begin);
        MPI_Send(&times[0], 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
    }
    *waits = times[1] > 0.9e-6 * LATE_US;
    return times[0];
}

/* The call that posts a receive. */
static double irecv_call(int bytes)
{
    MPI_Request request;
    together();
    double begin = MPI_Wtime();
    MPI_Irecv(in_buffer, bytes, MPI_CHAR, rank, TAG, MPI_COMM_WORLD, &request);
    double call = since(begin);
    MPI_Send(out_buffer, 1, MPI_CHAR, rank, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return call;
}

/* Messages that follow each other at once, all expected: the time of one of the later ones. */
static double stream(int peer, int bytes)
{
    MPI_Request requests[2 * WINDOW];
    double ends[2] = {0, 0};
    for (int half = 0; half < 2; half++) {
        int count = half ? 2 * WINDOW : WINDOW;
        together();
        double begin = MPI_Wtime();
        if (rank == 0) {
            usleep(LATE_US);
            for (int i = 0; i < count; i++)
                MPI_Isend(out_buffer, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(&ends[half], 1, MPI_DOUBLE, peer, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == peer) {
            for (int i = 0; i < count; i++)
                MPI_Irecv(in_buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
            ends[half] = since(begin);
            MPI_Send(&ends[half], 1, MPI_DOUBLE, 0, TAG + 1, MPI_COMM_WORLD);
        }
    }
    return (ends[1] - ends[0]) / WINDOW;
}

/* Two large messages of rank 0 at once, to two ranks: the time until the first is there in those until both
 * are. About 1/2 when the second waits for the first, about 1 when they share the NIC. */
static double share(int one, int other)
{
    enum { BYTES = 1 << 20 };
    MPI_Request requests[2];
    double begin = 0, times[2] = {0, 0}, all[2];
    together();
    if (rank == one || rank == other)
        MPI_Recv(in_buffer, BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == one || rank == other)
        times[rank == other] = MPI_Wtime();
    if (rank == 0) {
        usleep(LATE_US);
        begin = MPI_Wtime();
        MPI_Isend(out_buffer, BYTES, MPI_CHAR, one, TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out_buffer, BYTES, MPI_CHAR, other, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Allreduce(times, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double first = all[0] < all[1] ? all[0] : all[1], last = all[0] < all[1] ? all[1] : all[0];
    return (first - begin) / (last - begin);
}

static void find_transports(struct transport transports[3])
{
    char own[MPI_MAX_PROCESSOR_NAME] = "", *names = calloc((size_t)ranks, MPI_MAX_PROCESSOR_NAME);
    double nearest = 0, farthest = 0;
    int length, peers[3] = {0, 0, 0};
    if (!names)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Get_processor_name(own, &length);
    MPI_Gather(own, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0,
               MPI_COMM_WORLD);
    for (int peer = 1; peer < ranks; peer++) {
        bool local = strcmp(own, names + (size_t)peer * MPI_MAX_PROCESSOR_NAME) == 0;
        double seconds = one_way(peer, 8, 2);
        if (rank != 0)
            continue;
        if (local && !peers[0])
            peers[0] = peer;
        if (!local && (!peers[1] || seconds < nearest * 0.999)) {
            peers[1] = peer;
            nearest = seconds;
        }
        if (!local && (!peers[2] || seconds > farthest * 1.001)) {
            peers[2] = peer;
            farthest = seconds;
        }
    }
    /* One distance needs to be measured only once. */
    if (farthest < nearest * 1.002)
        peers[2] = 0;
    free(names);
    MPI_Bcast(peers, 3, MPI_INT, 0, MPI_COMM_WORLD);
    transports[0] = (struct transport){"memory", peers[0]};
    transports[1] = (struct transport){"near", peers[1]};
    transports[2] = (struct transport){"far", peers[2]};
}

/* The largest message whose sender does not wait for the receive; -1 when none does. */
static long threshold(int peer)
{
    bool waits;
    long low = 0, high = LARGEST;
    late_receive(peer, LARGEST, &waits);
    MPI_Bcast(&waits, 1, MPI_C_BOOL, 0, MPI_COMM_WORLD);
    if (!waits)
        return -1;
    while (high - low > 1) {
        long middle = (low + high) / 2;
        late_receive(peer, (int)middle, &waits);
        MPI_Bcast(&waits, 1, MPI_C_BOOL, 0, MPI_COMM_WORLD);
        *(waits ? &high : &low) = middle;
    }
    return low;
}

static void measure_point(const struct transport *transport, int bytes)
{
    double call, safe;
    bool waits;
    report("oneway", transport->name, bytes, one_way(transport->peer, bytes, 4));
    if (strcmp(transport->name, "far") == 0)
        return;
    send_times(transport->peer, bytes, &call, &safe);
    report("sendcall", transport->name, bytes, call);
    report("safe", transport->name, bytes, safe);
    report("late", transport->name, bytes, late_receive(transport->peer, bytes, &waits));
    report("stream", transport->name, bytes, stream(transport->peer, bytes));
}

static void measure_paths(void)
{
    struct transport transports[3];
    find_transports(transports);
    for (int i = 0; i < 3; i++) {
        if (!transports[i].peer)
            continue;
        report("peer", transports[i].name, transports[i].peer, 0);
        report("oneway", transports[i].name, 0, one_way(transports[i].peer, 0, 2));
    }
}

static void measure_fit(void)
{
    struct transport transports[3];
    find_transports(transports);
    report("call", "any", 0, irecv_call(1));
    report("post", "any", 0, irecv_call(LARGEST));
    if (transports[1].peer && transports[2].peer)
        report("share", "any", 0, share(transports[1].peer, transports[2].peer));
    for (int i = 0; i < 3; i++) {
        if (!transports[i].peer)
            continue;
        report("peer", transports[i].name, transports[i].peer, 0);
        if (i < 2)
            report("threshold", transports[i].name, threshold(transports[i].peer), 0);
        measure_point(&transports[i], 0);
        for (int bytes = 1; bytes <= LARGEST; bytes *= 2)
            measure_point(&transports[i], bytes);
    }
}

/* Sizes between two until straight lines through them are near enough. */
static void refine(const struct transport *transport, int low, double low_time, int high, double high_time)
{
    if (high - low < 2)
        return;
    int middle = low + (high - low) / 2;
    double seconds = one_way(transport->peer, middle, 4);
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    report("oneway", transport->name, middle, seconds);
    double line = low_time + (high_time - low_time) * (middle - low) / (high - low);
    if (line < 0.997 * seconds || line > 1.003 * seconds) {
        refine(transport, low, low_time, middle, seconds);
        refine(transport, middle, seconds, high, high_time);
    }
}

/* A test and a probe that find nothing. */
static void measure_polls(void)
{
    enum { POLLS = 32 };
    MPI_Request request;
    int found;
    MPI_Irecv(in_buffer, 1, MPI_CHAR, rank, TAG, MPI_COMM_WORLD, &request);
    together();
    double begin = MPI_Wtime();
    for (int i = 0; i < POLLS; i++)
        MPI_Test(&request, &found, MPI_STATUS_IGNORE);
    report("test", "any", 0, since(begin) / POLLS);
    begin = MPI_Wtime();
    for (int i = 0; i < POLLS; i++)
        MPI_Iprobe(rank, TAG + 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    report("probe", "any", 0, since(begin) / POLLS);
    MPI_Send(out_buffer, 1, MPI_CHAR, rank, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void measure_steps(void)
{
    struct transport transports[3];
    find_transports(transports);
    measure_polls();
    for (int i = 1; i < 3; i++) {
        int low = 0;
        double low_time, high_time;
        if (!transports[i].peer)
            continue;
        report("peer", transports[i].name, transports[i].peer, 0);
        if (i == 1)
            report("threshold", transports[i].name, threshold(transports[i].peer), 0);
        low_time = one_way(transports[i].peer, 0, 4);
        MPI_Bcast(&low_time, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        report("oneway", transports[i].name, 0, low_time);
        for (int high = 1; high <= LARGEST; low = high, low_time = high_time, high *= 2) {
            high_time = one_way(transports[i].peer, high, 4);
            MPI_Bcast(&high_time, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            report("oneway", transports[i].name, high, high_time);
            refine(&transports[i], low, low_time, high, high_time);
        }
    }
}

static void measure_between(void)
{
    struct transport transports[3];
    find_transports(transports);
    for (int i = 0; i < 3; i++) {
        for (int bytes = 3; transports[i].peer && bytes * 5 / 4 <= LARGEST; bytes *= 2) {
            report("oneway", transports[i].name, bytes, one_way(transports[i].peer, bytes, 4));
            report("oneway", transports[i].name, bytes * 5 / 4,
                   one_way(transports[i].peer, bytes * 5 / 4, 4));
        }
    }
}

/* ---- a real machine ---- */

enum { MOST_ROUNDS = 21, APART = 16, LARGEST_APART = LARGEST / APART, COPIED = 2 << 20 };

/* One round of something between rank 0 and its peer. Sets what is known here, the other one the rest. */
typedef void trial(int peer, int bytes, double delay, double times[2]);

/* Between two rounds: longer than a barrier's last messages are under way, and about as long as a program
 * computes between two messages. */
static const double PAUSE = 15e-6;

static int most_rounds = MOST_ROUNDS;

/* Without a sleep: a processor that wakes up is slow, and its caches are cold. */
static void spin(double seconds)
{
    double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < seconds)
        ;
}

/* [0]: half of a round trip. */
static void try_round_trip(int peer, int count, MPI_Datatype type, double delay, double times[2])
{
    if (rank == 0) {
        spin(delay);
        double begin = MPI_Wtime();
        MPI_Send(out_buffer, count, type, peer, TAG, MPI_COMM_WORLD);
        MPI_Recv(in_buffer, count, type, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        times[0] = since(begin) / 2;
    } else {
        MPI_Recv(in_buffer, count, type, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out_buffer, count, type, 0, TAG, MPI_COMM_WORLD);
    }
}

static void try_one_way(int peer, int bytes, double delay, double times[2])
{
    try_round_trip(peer, bytes, MPI_CHAR, delay, times);
}

/* The same of doubles that are far from each other, as in a column of a matrix. */
static void try_apart(int peer, int bytes, double delay, double times[2])
{
    MPI_Datatype column;
    MPI_Type_vector(bytes / 8, 1, APART, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    try_round_trip(peer, 1, column, delay, times);
    MPI_Type_free(&column);
}

/* Both send to each other: [0] and [1] are what it takes each, one of which has begun too early. */
static void try_exchange(int peer, int bytes, double delay, double times[2])
{
    MPI_Request requests[2];
    int other = rank ? 0 : peer;
    spin(delay);
    double begin = MPI_Wtime();
    MPI_Irecv(in_buffer, bytes, MPI_CHAR, other, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out_buffer, bytes, MPI_CHAR, other, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    times[rank > 0] = since(begin);
}

/* With a receive that waits: [0] the call of a nonblocking send, [1] from there to the end of its wait. */
static void try_send(int peer, int bytes, double delay, double times[2])
{
    MPI_Request request;
    if (rank == 0) {
        spin(delay);
        double begin = MPI_Wtime();
        MPI_Isend(out_buffer, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, &request);
        times[0] = since(begin);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        times[1] = since(begin) - clock_time;
    } else {
        MPI_Recv(in_buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* With a receive that comes long after: [0] the send, which may have to wait for it, [1] the receive. */
static void try_late(int peer, int bytes, double delay, double times[2])
{
    if (rank == 0) {
        double begin = MPI_Wtime();
        MPI_Send(out_buffer, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
        times[0] = since(begin);
    } else {
        spin(delay);
        double begin = MPI_Wtime();
        MPI_Recv(in_buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        times[1] = since(begin);
    }
}

/* [0] the call that posts a receive. */
static void try_post(int peer, int bytes, double delay, double times[2])
{
    MPI_Request request;
    if (rank == 0) {
        spin(delay);
        double begin = MPI_Wtime();
        MPI_Irecv(in_buffer, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, &request);
        times[0] = since(begin);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        spin(2 * delay);
        MPI_Send(out_buffer, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    }
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* [0]: to copy what has just been written. */
static void try_copy(int peer, int bytes, double delay, double times[2])
{
    (void)peer, (void)delay;
    double begin = MPI_Wtime();
    memcpy(in_buffer, out_buffer, (size_t)bytes);
    times[rank > 0] = since(begin);
}

/* The medians of several rounds, known to all. What is sent has just been written, as in a program: on the
 * other processor it is in no cache yet. */
static void repeat(trial *run, int peer, int bytes, double delay, double medians[2])
{
    double times[2][MOST_ROUNDS], all[MOST_ROUNDS];
    int rounds = bytes > 65536 && most_rounds > 5 ? 5 : most_rounds;
    memset(times, 0, sizeof times);
    for (int i = -2; i < rounds; i++) { /* the first ones warm up */
        double now[2] = {0, 0};
        memset(out_buffer, i & 127, (size_t)bytes * (run == try_apart ? APART : 1));
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 || rank == peer)
            run(peer, bytes, delay, now);
        for (int k = 0; k < 2 && i >= 0; k++)
            times[k][i] = now[k];
    }
    for (int k = 0; k < 2; k++) {
        MPI_Allreduce(times[k], all, rounds, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        qsort(all, (size_t)rounds, sizeof *all, compare);
        medians[k] = all[rounds / 2];
    }
}

/* Long after a message of this size was sent. */
static double late_for(int peer, int bytes)
{
    double times[2];
    repeat(try_one_way, peer, bytes, PAUSE, times);
    return 2 * PAUSE + 4 * times[0];
}

static bool sender_waits(int peer, int bytes)
{
    double times[2], delay = late_for(peer, bytes);
    repeat(try_late, peer, bytes, delay, times);
    return times[0] > 0.75 * delay;
}

/* As threshold() does, warm. */
static long machine_threshold(int peer)
{
    long low = 0, high = LARGEST;
    if (!sender_waits(peer, LARGEST))
        return -1;
    while (high - low > 8 + low / 50) {
        long middle = (low + high) / 2;
        *(sender_waits(peer, (int)middle) ? &high : &low) = middle;
    }
    return low;
}

static void machine_point(const struct transport *transport, int bytes, bool all)
{
    double times[2];
    repeat(try_one_way, transport->peer, bytes, PAUSE, times);
    report("oneway", transport->name, bytes, times[0]);
    if (!all)
        return;
    repeat(try_exchange, transport->peer, bytes, PAUSE, times);
    if (bytes >= 512 && bytes <= LARGEST_APART) {
        double apart[2];
        repeat(try_apart, transport->peer, bytes, PAUSE, apart);
        report("apart", transport->name, bytes, apart[0]);
    }
    report("exchange", transport->name, bytes, (times[0] + times[1]) / 2);
    repeat(try_send, transport->peer, bytes, PAUSE, times);
    report("sendcall", transport->name, bytes, times[0]);
    report("safe", transport->name, bytes, times[1]);
    repeat(try_late, transport->peer, bytes, late_for(transport->peer, bytes), times);
    report("late", transport->name, bytes, times[1]);
}

/* The first reading is a slow one. */
static void warm_clock(void)
{
    for (int i = 0; i < 1000; i++) {
        double begin = MPI_Wtime(), took = MPI_Wtime() - begin;
        clock_time = took < clock_time ? took : clock_time;
    }
}

static void measure_machine(void)
{
    struct transport transports[3];
    double times[2];
    warm_clock();
    find_transports(transports);
    for (int i = 0; i < 3; i++) {
        if (!transports[i].peer)
            continue;
        if (i < 2) {
            repeat(try_copy, transports[i].peer, COPIED, 0, times);
            report("copy", "any", COPIED, times[0]);
            repeat(try_post, transports[i].peer, 1, PAUSE, times);
            report("call", "any", 0, times[0]);
            report("threshold", transports[i].name, machine_threshold(transports[i].peer), 0);
        }
        report("peer", transports[i].name, transports[i].peer, 0);
        machine_point(&transports[i], 0, i < 2);
        for (int bytes = 1; bytes <= LARGEST; bytes *= 2)
            machine_point(&transports[i], bytes, i < 2);
        for (int bytes = 3; bytes < LARGEST; bytes *= 2)
            machine_point(&transports[i], bytes, false);
    }
}

/* ---- collectives ---- */

typedef void collective(int bytes);

static void barrier(int bytes)
{
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int bytes)
{
    MPI_Bcast(out_buffer, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void reduce(int bytes)
{
    MPI_Reduce(out_buffer, in_buffer, bytes / 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(int bytes)
{
    MPI_Allreduce(out_buffer, in_buffer, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(int bytes)
{
    MPI_Gather(out_buffer, bytes, MPI_CHAR, in_buffer, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void scatter(int bytes)
{
    MPI_Scatter(out_buffer, bytes, MPI_CHAR, in_buffer, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void allgather(int bytes)
{
    MPI_Allgather(out_buffer, bytes, MPI_CHAR, in_buffer, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void alltoall(int bytes)
{
    MPI_Alltoall(out_buffer, bytes, MPI_CHAR, in_buffer, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void scan(int bytes)
{
    MPI_Scan(out_buffer, in_buffer, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* The same blocks for all. */
static void allgatherv(int bytes)
{
    for (int i = 0; i < ranks; i++)
        counts[i] = bytes, places[i] = i * bytes;
    MPI_Allgatherv(out_buffer, bytes, MPI_CHAR, in_buffer, counts, places, MPI_CHAR, MPI_COMM_WORLD);
}

static void alltoallv(int bytes)
{
    for (int i = 0; i < ranks; i++)
        counts[i] = bytes, places[i] = i * bytes;
    MPI_Alltoallv(out_buffer, counts, places, MPI_CHAR, in_buffer, counts, places, MPI_CHAR, MPI_COMM_WORLD);
}

static void reduce_scatter(int bytes)
{
    MPI_Reduce_scatter_block(out_buffer, in_buffer, bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* All ranks go on at the same simulated time: what a barrier takes to let one rank go after the other would
 * be in the time of a short collective. */
static void at_once(void)
{
    double now = MPI_Wtime(), last;
    MPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double pause = last + 200e-6 - MPI_Wtime();
    struct timespec time = {0, (long)(pause * 1e9 + 0.5)};
    nanosleep(&time, NULL);
}

/* The times of the slowest rank and of the mean one, the second time. */
static void measure_collective(const char *name, collective *run, int bytes)
{
    double longest = 0, sum = 0;
    for (int i = 0; i < 2; i++) {
        at_once();
        double own = MPI_Wtime();
        run(bytes);
        own = since(own);
        MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    report(name, "all", bytes, longest);
    report(name, "mean", bytes, sum / ranks);
}

static void measure_collectives(int smallest)
{
    static const struct {
        const char *name;
        collective *run;
        bool blocks; /* a block per rank */
    } kinds[] = {
        {"bcast", bcast, false},
        {"reduce", reduce, false},
        {"allreduce", allreduce, false},
        {"scan", scan, false},
        {"gather", gather, true},
        {"scatter", scatter, true},
        {"allgather", allgather, true},
        {"alltoall", alltoall, true},
        {"reduce_scatter_block", reduce_scatter, true},
        {"allgatherv", allgatherv, true},
        {"alltoallv", alltoallv, true},
    };
    measure_collective("barrier", barrier, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (int bytes = smallest; bytes <= (kinds[i].blocks ? LARGEST / ranks : LARGEST / 4); bytes *= 4)
            measure_collective(kinds[i].name, kinds[i].run, bytes);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "fit";
    MPI_Init(&argc, &argv);
    if (argc > 2 && atoi(argv[2]) > 0 && atoi(argv[2]) < MOST_ROUNDS)
        most_rounds = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out_buffer = calloc(1, LARGEST);
    in_buffer = calloc(1, LARGEST);
    counts = calloc(2 * (size_t)ranks, sizeof *counts);
    if (ranks < 2 || !out_buffer || !in_buffer || !counts)
        MPI_Abort(MPI_COMM_WORLD, 1);
    places = counts + ranks;
    clock_time = MPI_Wtime();
    clock_time = MPI_Wtime() - clock_time;
    if (strcmp(what, "between") == 0)
        measure_between();
    else if (strcmp(what, "aligned") == 0)
        measure_collectives(argc > 2 ? atoi(argv[2]) : 8);
    else if (strcmp(what, "steps") == 0)
        measure_steps();
    else if (strcmp(what, "paths") == 0)
        measure_paths();
    else if (strcmp(what, "machine") == 0)
        measure_machine();
    else
        measure_fit();
    free(counts);
    free(in_buffer);
    free(out_buffer);
    return MPI_Finalize();
}
