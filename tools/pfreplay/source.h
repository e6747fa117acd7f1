/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A recorded job: for each rank a stream of actions, one line of text each, in the grammar of docs/replay.md.
 * Every format is a table of operations that yields such lines, so the player knows one grammar only. Nothing
 * is read before it is needed, and what has been read is forgotten: memory does not grow with a
 * trace.
 *
 * The launcher opens traces and hands an array of them to the program that plays one, which is in the same
 * process, as all its ranks are; its argument is the number of the trace.
 */
struct an_program;
struct replay_source {
    /* Plays it without ranks, in one actor; NULL: each rank makes its calls. */
    void (*play_alone)(void);
    const struct replay_source_ops *ops;
    void *state; /* the format's own */
    int ranks;
    struct an_program *program; /* open() may fill it in, and read no lines; NULL: it must not */
    const char *refused;        /* why it could not */
    bool complete;   /* written by us: a receive of nothing receives nothing, a request has its number */
    bool computes;   /* computation takes time */
    double scale;    /* of all computation */
    bool warned;     /* a rank has printed what the format lacks */
    bool *done;      /* by rank: has come to the end of its lines */
    char *memory[2]; /* what is sent, and where it is received: each `room` long, and never looked at */
    size_t room;     /* bytes */
};

struct replay_source_ops {
    size_t size;      /* of this table */
    const char *name; /* of the format */
    /* Whether a file whose first bytes are `head`, with a zero behind, is in this format. */
    bool (*knows)(const char *path, const char *head);
    /* Sets `ranks` and what else is known. Ends the process with one line on a file that cannot be right. */
    void (*open)(struct replay_source *source, const char *path);
    /* The next action of the rank, without a number of the rank in front: the source's, which may be
     * altered, until the next call for that rank. NULL: there are no more. Ends the process as open does. */
    char *(*next)(struct replay_source *source, int rank);
    /* Where that line stands: the file, and its line or record. */
    const char *(*file)(const struct replay_source *source, int rank);
    long (*line)(const struct replay_source *source, int rank);
};

/* SMPI's numbers for ranks and tags, in all traces. */
enum { REPLAY_ANY_SOURCE = -555, REPLAY_ANY_TAG = -444, REPLAY_NO_RANK = -666, REPLAY_ROOT = -777 };

extern const struct replay_source_ops replay_ti, replay_goal, replay_dumpi, replay_paraver;
#ifdef PF_HAVE_OTF2
extern const struct replay_source_ops replay_otf2;
#endif

/* Opens a trace in the format that its first bytes show. Ends the process with one line when there is none.
 * The source stays until the end of the run. `program` may be NULL, see there. */
struct replay_source *replay_source_open(const char *path, struct an_program *program);
