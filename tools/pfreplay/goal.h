/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/pfreplay/text.h"

/* GOAL schedules while they are read, rank by rank: the text (goal_text.c) and LogGOPSim's binary form
 * (goal_binary.c). */

enum goal_kind { GOAL_SEND, GOAL_RECV, GOAL_CALC };

struct goal_edge {
    int on, of;    /* the operation that is required, and the one that requires it */
    bool finished; /* it must have ended; else it must have begun */
    int next;      /* of the same operation; -1: the last */
    int next_on;   /* on the same operation */
};

struct goal_operation {
    size_t label; /* where it is in `names` */
    enum goal_kind kind;
    bool begun, finished;
    uint8_t cpu, nic;
    int peer;            /* -1: any */
    int edges, edges_on; /* the first edge of it, and on it; -1: none */
    int unmet, unbegun;  /* edges of it that do not hold yet; those on what has not begun */
    long size, tag;      /* tag -1: any */
};

struct goal {
    struct replay_source *source;
    const char *path;
    FILE *file;
    long line;
    char *text, *rest; /* of the line, and what it has behind a brace; NULL: nothing */
    size_t room;
    int ranks, rank;
    bool *seen; /* by rank */
    struct goal_operation *operations;
    struct goal_edge *edges;
    int count, operation_room, edge_count, edge_room;
    char *names; /* labels of the rank, one behind the other */
    size_t names_used, names_room;
    int *labelled, labelled_room; /* operations by a hash of their labels, plus 1; a power of two, or 0 */
    uint64_t *ready;              /* a bit for each operation: can begin without waiting */
    bool streams;                 /* a rank has operations on several processors */
    bool nics;                    /* or on another NIC than the first */
    struct replay_text *lines;    /* of all ranks, or */
    struct an_rank_program *program;
};

/* Ends the process: the file, in text the line, and the rank. */
_Noreturn void goal_wrong(const struct goal *goal, const char *what);

/* How many ranks there are is known: called once. */
void goal_begin(struct goal *goal, long ranks);

/* A rank begins, with operations that are added in order, then edges, both by their numbers in the rank; and
 * ends. */
void goal_begin_rank(struct goal *goal, long rank);
struct goal_operation *goal_add(struct goal *goal, enum goal_kind kind, long size, long cpu, long nic);
void goal_set_peer(struct goal *goal, struct goal_operation *operation, long peer, long tag);
void goal_require(struct goal *goal, int of, int on, bool finished);
void goal_end_rank(struct goal *goal);

/* Whether a file that begins so is binary; reads it. */
bool goal_is_binary(const char *head);
void goal_read_binary(struct goal *goal);
