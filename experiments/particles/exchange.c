/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "particles.h"

enum { TAG = 2300 };

struct sent {
    MPI_Request request;
    struct particle *buffer;
};

/* Of this rank. */
static enum done done;
static enum receives receives;
static int capacity; /* particles in a message */
static struct particle *arriving[NFACE];
static MPI_Request posted[NFACE];
static struct sent *sent;
static int sent_count, sent_room;
static MPI_Request sum_request;
static int64_t sum_mine[2], sum_all[2];

static void *allocate(void *old, size_t size)
{
    void *new = realloc(old, size);

    if (!new) {
        fprintf(stderr, "particles: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return new;
}

static void post(const struct domain *domain, int face)
{
    MPI_Irecv(arriving[face], capacity * (int)sizeof(struct particle), MPI_BYTE, domain->peer[face], TAG,
              MPI_COMM_WORLD, &posted[face]);
}

static void post_all(const struct domain *domain)
{
    for (int face = 0; face < NFACE; face++)
        if (domain->peer[face] >= 0)
            post(domain, face);
}

/* The posted receives have no message to wait for any more. */
static void cancel_all(void)
{
    for (int face = 0; face < NFACE; face++) {
        MPI_Status status;
        int cancelled = 1;
        if (posted[face] == MPI_REQUEST_NULL)
            continue;
        MPI_Cancel(&posted[face]);
        MPI_Wait(&posted[face], &status);
        MPI_Test_cancelled(&status, &cancelled);
        if (!cancelled) {
            fprintf(stderr, "particles: a message came after the end of a cycle\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

void exchange_begin(const struct domain *domain, enum done how, enum receives which, int most)
{
    done = how;
    receives = which;
    capacity = most;
    for (int face = 0; face < NFACE; face++) {
        posted[face] = MPI_REQUEST_NULL;
        if (domain->peer[face] >= 0)
            arriving[face] = allocate(NULL, (size_t)capacity * sizeof(struct particle));
    }
    if (receives == RECEIVES_KEEP)
        post_all(domain);
}

void exchange_end(void)
{
    cancel_all();
    for (int face = 0; face < NFACE; face++)
        free(arriving[face]);
    free(sent);
}

static void forget_sent(int i)
{
    free(sent[i].buffer);
    sent[i] = sent[--sent_count];
}

/* Sends what fits into one message; the rest waits for the next pass. */
static void send_face(struct domain *domain, int face, struct traffic *traffic)
{
    struct list *leaving = &domain->leaving[face];
    long count = leaving->count < capacity ? leaving->count : capacity;
    size_t size = (size_t)count * sizeof(struct particle);

    if (sent_count == sent_room) {
        sent_room = 2 * sent_room + 16;
        sent = allocate(sent, (size_t)sent_room * sizeof *sent);
    }
    struct sent *new = &sent[sent_count++];
    new->buffer = allocate(NULL, size + 1);
    leaving->count -= count;
    if (count)
        memcpy(new->buffer, leaving->p + leaving->count, size);
    MPI_Isend(new->buffer, (int)size, MPI_BYTE, domain->peer[face], TAG, MPI_COMM_WORLD, &new->request);
    traffic->messages++;
}

static void send_all(struct domain *domain, struct traffic *traffic)
{
    for (int face = 0; face < NFACE; face++) {
        if (!domain->leaving[face].count)
            continue;
        send_face(domain, face, traffic);
        for (int i = sent_count - 1; i >= 0; i--) {
            int flag = 0;
            MPI_Test(&sent[i].request, &flag, MPI_STATUS_IGNORE);
            traffic->tests++;
            if (flag)
                forget_sent(i);
        }
    }
}

static void wait_for_sends(void)
{
    while (sent_count) {
        MPI_Wait(&sent[sent_count - 1].request, MPI_STATUS_IGNORE);
        forget_sent(sent_count - 1);
    }
}

static void unpack(struct domain *domain, int face, const MPI_Status *status)
{
    int size;

    MPI_Get_count(status, MPI_BYTE, &size);
    for (size_t i = 0; i < (size_t)size / sizeof(struct particle); i++)
        list_add(&domain->flying, &arriving[face][i]);
}

static void receive_probed(struct domain *domain, int face, struct traffic *traffic)
{
    MPI_Status status;
    int flag = 0;

    MPI_Iprobe(domain->peer[face], TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    traffic->tests++;
    if (!flag)
        return;
    MPI_Recv(arriving[face], capacity * (int)sizeof(struct particle), MPI_BYTE, domain->peer[face], TAG,
             MPI_COMM_WORLD, &status);
    unpack(domain, face, &status);
}

static void receive_posted(struct domain *domain, int face, struct traffic *traffic)
{
    MPI_Status status;
    int flag = 0;

    MPI_Test(&posted[face], &flag, &status);
    traffic->tests++;
    if (!flag)
        return;
    unpack(domain, face, &status);
    post(domain, face);
}

static void receive_all(struct domain *domain, struct traffic *traffic)
{
    for (int face = 0; face < NFACE; face++) {
        if (domain->peer[face] < 0)
            continue;
        if (receives == RECEIVES_PROBE)
            receive_probed(domain, face, traffic);
        else
            receive_posted(domain, face, traffic);
    }
}

static void gains_and_losses(const struct domain *domain)
{
    const int64_t *count = domain->count;

    sum_mine[0] = count[STARTED] + count[BORN] + count[SPLIT];
    sum_mine[1] = count[ROULETTE] + count[ABSORBED] + count[CENSUS];
}

/* A particle in a message has been gained by its sender and not lost yet: equal sums mean the end. */
static int all_done(const struct domain *domain)
{
    gains_and_losses(domain);
    MPI_Allreduce(sum_mine, sum_all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum_all[0] == sum_all[1];
}

/* The sums of a moment that differs between ranks: a rank that finds them equal asks again, all together. */
static int perhaps_done(const struct domain *domain, struct traffic *traffic)
{
    int flag = 1;

    if (sum_request != MPI_REQUEST_NULL) {
        MPI_Test(&sum_request, &flag, MPI_STATUS_IGNORE);
        traffic->tests++;
        if (!flag)
            return 0;
        if (sum_all[0] == sum_all[1] && all_done(domain))
            return 1;
    }
    gains_and_losses(domain);
    MPI_Iallreduce(sum_mine, sum_all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &sum_request);
    return 0;
}

static void compute(struct domain *domain, double cost)
{
    int64_t before = domain->count[SEGMENTS];

    physics_track(domain);
    double seconds = cost * (double)(domain->count[SEGMENTS] - before);
    if (seconds > 0) {
        struct timespec span = {.tv_sec = (time_t)seconds};
        span.tv_nsec = (long)((seconds - (double)span.tv_sec) * 1e9);
        nanosleep(&span, NULL);
    }
}

/* Without polling: each rank sends one message to each neighbour, and waits for theirs. */
static void round_trip(struct domain *domain, struct traffic *traffic)
{
    post_all(domain);
    for (int face = 0; face < NFACE; face++)
        if (domain->peer[face] >= 0)
            send_face(domain, face, traffic);
    for (int face = 0; face < NFACE; face++) {
        MPI_Status status;
        if (domain->peer[face] < 0)
            continue;
        MPI_Wait(&posted[face], &status);
        unpack(domain, face, &status);
    }
    wait_for_sends();
}

struct traffic exchange_cycle(struct domain *domain, double cost)
{
    struct traffic traffic = {0};
    int over;

    sum_request = MPI_REQUEST_NULL;
    if (receives == RECEIVES_CANCEL && done != DONE_ROUNDS)
        post_all(domain);
    do {
        traffic.passes++;
        compute(domain, cost);
        if (done == DONE_ROUNDS) {
            round_trip(domain, &traffic);
        } else {
            send_all(domain, &traffic);
            receive_all(domain, &traffic);
        }
        over = done == DONE_IALLREDUCE ? perhaps_done(domain, &traffic) : all_done(domain);
    } while (!over);
    wait_for_sends();
    if (receives == RECEIVES_CANCEL)
        cancel_all();
    return traffic;
}
