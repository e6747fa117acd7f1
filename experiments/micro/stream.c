/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: the first rank of a pair sends WINDOW messages at once, the other answers when all are there. What
 * begins with multi_ keeps all pairs busy.
 */
#include "micro.h"

enum { TAG = 7 };

static void fill_window(struct bench *b)
{
    for (int i = 0; i < WINDOW; i++)
        bench_fill(b, b->send + i * b->words, b->words, b->iteration, b->rank, i);
}

static void check_window(struct bench *b)
{
    for (int i = 0; i < WINDOW; i++)
        bench_check(b, b->receive + i * b->words, b->words, b->iteration, b->pair, 1, i);
}

static void check_window_one_way(struct bench *b)
{
    if (!b->first)
        check_window(b);
}

static void post_sends(struct bench *b, MPI_Request *requests)
{
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(b->send + i * b->words, b->words, MPI_UINT64_T, b->pair, TAG, b->comm, &requests[i]);
}

static void post_receives(struct bench *b, MPI_Request *requests)
{
    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(b->receive + i * b->words, b->words, MPI_UINT64_T, b->pair, TAG, b->comm, &requests[i]);
}

static void answer(struct bench *b)
{
    if (b->first)
        MPI_Recv(NULL, 0, MPI_UINT64_T, b->pair, TAG + 1, b->comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_UINT64_T, b->pair, TAG + 1, b->comm);
}

static void bandwidth(struct bench *b)
{
    if (b->first)
        post_sends(b, b->requests);
    else
        post_receives(b, b->requests);
    MPI_Waitall(WINDOW, b->requests, MPI_STATUSES_IGNORE);
    answer(b);
}

static void bandwidth_both(struct bench *b)
{
    post_receives(b, b->requests);
    post_sends(b, b->requests + WINDOW);
    MPI_Waitall(2 * WINDOW, b->requests, MPI_STATUSES_IGNORE);
    answer(b);
}

static void open_bandwidth_persistent(struct bench *b)
{
    bench_open_pair(b);
    for (int i = 0; i < WINDOW; i++)
        if (b->first)
            MPI_Send_init(b->send + i * b->words, b->words, MPI_UINT64_T, b->pair, TAG, b->comm,
                          &b->requests[i]);
        else
            MPI_Recv_init(b->receive + i * b->words, b->words, MPI_UINT64_T, b->pair, TAG, b->comm,
                          &b->requests[i]);
}

static void bandwidth_persistent(struct bench *b)
{
    MPI_Startall(WINDOW, b->requests);
    MPI_Waitall(WINDOW, b->requests, MPI_STATUSES_IGNORE);
    answer(b);
}

static void close_bandwidth_persistent(struct bench *b)
{
    for (int i = 0; i < WINDOW; i++)
        MPI_Request_free(&b->requests[i]);
}

#define STREAM(name, open, function, check, close)                                                           \
    {                                                                                                        \
        name, "point-to-point", 1, 0, open, fill_window, function, check, close                              \
    }

const struct operation stream_operations[] = {
    STREAM("bw", bench_open_pair, bandwidth, check_window_one_way, bench_nothing),
    STREAM("bibw", bench_open_pair, bandwidth_both, check_window, bench_nothing),
    STREAM("multi_bw", bench_nothing, bandwidth, check_window_one_way, bench_nothing),
    STREAM("bw_persistent", open_bandwidth_persistent, bandwidth_persistent, check_window_one_way,
           close_bandwidth_persistent),
    {.name = NULL},
};
