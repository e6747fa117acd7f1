/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <mpi.h>

#include "tools/pfreplay/source.h"

/*
 * One rank of a replayed job. Each rank has a copy of this program, but reads from the one source in the
 * launcher.
 */

/* An operation that a trace knows by its ends only, as SMPI's do. */
struct play_pending {
    int source, destination, tag;
    MPI_Request request; /* MPI_REQUEST_NULL: a test has completed it */
};

struct play {
    struct replay_source *from;
    int rank, size;
    char *at;           /* the rest of the line */
    const char *action; /* its word */
    MPI_Datatype plain; /* of a count without a type */
    MPI_Op op;          /* for reductions that say no operation */
    MPI_Op ordered;     /* one that does not commute */
    bool begun, ended;  /* init, finalize */

    struct play_pending *pending;
    int pending_count, pending_room;

    /* By number in the trace. What is not there is NULL. Communicators do not move: MPI fills them in later.
     */
    MPI_Comm **comms;
    MPI_Request *requests;
    MPI_Win *wins;
    MPI_Message *messages;
    int comm_room, request_room, win_room, message_room;

    /* Contiguous bytes, by size. */
    struct play_type {
        long size;
        MPI_Datatype type;
    } * types;
    int type_count;
    long largest; /* of them */

    int *numbers; /* of arrays in a line: those of one call, one behind the other */
    size_t number_count, number_room;
    bool numbers_stay; /* those of the last action are in use until the end of the process */
};

extern struct play play;

/* Ends the run with one line that says where in the trace. */
void play_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* What an MPI call has returned. */
void play_check(int code);

/* The next word of the line; what is missing ends the run. */
char *play_word(const char *what);
long play_long(const char *what);
double play_double(const char *what);
int play_int(const char *what);
/* From 0. */
int play_count(const char *what);

/* The next word, if there is one and it is no KEY=VALUE. */
bool play_more(void);

/* The value of KEY=VALUE in the rest of the line; NULL if it is not there. */
const char *play_key(const char *key);
int play_key_int(const char *key, int otherwise);

/* A rank of the communicator, or one of the three that are none; a tag. */
int play_rank(const char *what);
int play_tag(const char *what);

/* A datatype by SMPI's number, or "*SIZE"; if the line has no more words, the one for counts without. */
MPI_Datatype play_type(void);
MPI_Datatype play_type_or_plain(void);
MPI_Datatype play_bytes(long size);
MPI_Op play_op(const char *name);

MPI_Comm play_comm(int number);
MPI_Comm *play_comm_slot(int number);
MPI_Request *play_request(int number);
MPI_Win *play_win(int number);
MPI_Message *play_message(int number);

/* So many numbers from the line, or zeros; valid until the end of the action, those of nonblocking calls
 * until the end of the process. */
int *play_ints(int count, const char *what);
int *play_zeros(int count);

/* Where so many elements may be sent from, and received. */
void *play_send_buffer(double count, MPI_Datatype type);
void *play_receive_buffer(double count, MPI_Datatype type);

/* Computes for so many flops of the trace; also where computation is not simulated, as that of a reduction in
 * SMPI's replay. */
void play_compute(double flops);

/* Completes what is pending by its ends. */
void play_wait_pending(void);

/* Actions of SMPI's format, and of ours; of one MPI function each (generated). The index of the first row of
 * that name, or -1. */
struct play_action {
    const char *name;
    void (*play)(void);
};
extern const struct play_action play_actions[], play_calls[];
