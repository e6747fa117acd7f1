/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point. The pairs are rank r and r + half of the ranks. What begins with multi_ keeps all pairs
 * busy, the ring all ranks, the rest the pair of rank 0 alone.
 */
#include "micro.h"

enum { TAG = 3 };

void bench_open_pair(struct bench *b)
{
    b->idle = b->rank % (b->ranks / 2) != 0;
}

/* A ping-pong: what I send, and what I got. */
static void fill_pair(struct bench *b)
{
    bench_fill(b, b->send, b->words, b->iteration, b->rank, b->pair);
}

static void check_pair(struct bench *b)
{
    bench_check(b, b->receive, b->words, b->iteration, b->pair, 1, b->rank);
}

typedef void transfer(struct bench *b);

static void ping_pong(struct bench *b, transfer *send, transfer *receive)
{
    if (b->first) {
        send(b);
        receive(b);
    } else {
        receive(b);
        send(b);
    }
}

static void send(struct bench *b)
{
    MPI_Send(b->send, b->words, MPI_UINT64_T, b->pair, TAG, b->comm);
}

static void ssend(struct bench *b)
{
    MPI_Ssend(b->send, b->words, MPI_UINT64_T, b->pair, TAG, b->comm);
}

static void receive(struct bench *b)
{
    MPI_Recv(b->receive, b->words, MPI_UINT64_T, b->pair, TAG, b->comm, MPI_STATUS_IGNORE);
}

static void receive_any(struct bench *b)
{
    MPI_Recv(b->receive, b->words, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, b->comm, MPI_STATUS_IGNORE);
}

static void isend(struct bench *b)
{
    MPI_Isend(b->send, b->words, MPI_UINT64_T, b->pair, TAG, b->comm, b->requests);
    MPI_Wait(b->requests, MPI_STATUS_IGNORE);
}

static void irecv(struct bench *b)
{
    MPI_Irecv(b->receive, b->words, MPI_UINT64_T, b->pair, TAG, b->comm, b->requests);
    MPI_Wait(b->requests, MPI_STATUS_IGNORE);
}

static void start_send(struct bench *b)
{
    MPI_Start(&b->requests[0]);
    MPI_Wait(&b->requests[0], MPI_STATUS_IGNORE);
}

static void start_receive(struct bench *b)
{
    MPI_Start(&b->requests[1]);
    MPI_Wait(&b->requests[1], MPI_STATUS_IGNORE);
}

static void probe(struct bench *b)
{
    MPI_Status status;
    int words;
    MPI_Probe(b->pair, TAG, b->comm, &status);
    MPI_Get_count(&status, MPI_UINT64_T, &words);
    bench_expect(b, words == b->words);
    MPI_Recv(b->receive, words, MPI_UINT64_T, status.MPI_SOURCE, TAG, b->comm, MPI_STATUS_IGNORE);
}

static void mprobe(struct bench *b)
{
    MPI_Message message;
    MPI_Mprobe(b->pair, TAG, b->comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(b->receive, b->words, MPI_UINT64_T, &message, MPI_STATUS_IGNORE);
}

static void receive_strided(struct bench *b)
{
    MPI_Recv(b->receive, 1, b->strided, b->pair, TAG, b->comm, MPI_STATUS_IGNORE);
}

static void latency(struct bench *b)
{
    ping_pong(b, send, receive);
}

static void latency_ssend(struct bench *b)
{
    ping_pong(b, ssend, receive);
}

static void latency_any(struct bench *b)
{
    ping_pong(b, send, receive_any);
}

static void latency_isend(struct bench *b)
{
    ping_pong(b, isend, irecv);
}

static void latency_persistent(struct bench *b)
{
    ping_pong(b, start_send, start_receive);
}

static void latency_probe(struct bench *b)
{
    ping_pong(b, send, probe);
}

static void latency_mprobe(struct bench *b)
{
    ping_pong(b, send, mprobe);
}

static void latency_strided(struct bench *b)
{
    ping_pong(b, send, receive_strided);
}

static void open_persistent(struct bench *b)
{
    bench_open_pair(b);
    MPI_Send_init(b->send, b->words, MPI_UINT64_T, b->pair, TAG, b->comm, &b->requests[0]);
    MPI_Recv_init(b->receive, b->words, MPI_UINT64_T, b->pair, TAG, b->comm, &b->requests[1]);
}

static void close_persistent(struct bench *b)
{
    MPI_Request_free(&b->requests[0]);
    MPI_Request_free(&b->requests[1]);
}

static void open_strided(struct bench *b)
{
    bench_open_pair(b);
    MPI_Type_vector(b->words, 1, 2, MPI_UINT64_T, &b->strided);
    MPI_Type_commit(&b->strided);
}

static void check_strided(struct bench *b)
{
    for (int i = 0; i < b->words; i++)
        b->receive[i] = b->receive[2 * i];
    check_pair(b);
}

static void close_strided(struct bench *b)
{
    MPI_Type_free(&b->strided);
}

static void fill_ring(struct bench *b)
{
    bench_fill(b, b->send, b->words, b->iteration, b->rank, b->next);
}

static void ring(struct bench *b)
{
    MPI_Sendrecv(b->send, b->words, MPI_UINT64_T, b->next, TAG, b->receive, b->words, MPI_UINT64_T, b->before,
                 TAG, b->comm, MPI_STATUS_IGNORE);
}

static void check_ring(struct bench *b)
{
    bench_check(b, b->receive, b->words, b->iteration, b->before, 1, b->rank);
}

#define PING_PONG(name, function)                                                                            \
    {                                                                                                        \
        name, "point-to-point", 1, 0, bench_open_pair, fill_pair, function, check_pair, bench_nothing        \
    }

const struct operation p2p_operations[] = {
    PING_PONG("latency", latency),
    {"multi_latency", "point-to-point", 1, 0, bench_nothing, fill_pair, latency, check_pair, bench_nothing},
    PING_PONG("latency_ssend", latency_ssend),
    PING_PONG("latency_any", latency_any),
    PING_PONG("latency_isend", latency_isend),
    {"latency_persistent", "point-to-point", 1, 0, open_persistent, fill_pair, latency_persistent, check_pair,
     close_persistent},
    PING_PONG("latency_probe", latency_probe),
    PING_PONG("latency_mprobe", latency_mprobe),
    {"latency_strided", "point-to-point", 1, 0, open_strided, fill_pair, latency_strided, check_strided,
     close_strided},
    {"ring_sendrecv", "point-to-point", 1, 0, bench_nothing, fill_ring, ring, check_ring, bench_nothing},
    {.name = NULL},
};
