/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "tools/pfreplay/source.h"

/*
 * A format that cannot be read in the order in which ranks need it is rewritten, when it is opened, into
 * lines of our superset: in a nameless file in $TMPDIR, rank by rank, so that memory does not grow with the
 * trace.
 */
struct replay_text {
    FILE *out;
    char path[64]; /* a name for it, in this process */
};

/* Ends the process with one line if there is no room. The first line is the title. */
void replay_text_begin(struct replay_text *text, int ranks);

/* Plays it; messages call it `name`, and count its lines. */
void replay_text_end(struct replay_text *text, struct replay_source *source, const char *name);

/* The operations of such a source, once it is open: those of the format of text. */
char *replay_ti_next(struct replay_source *source, int rank);
const char *replay_ti_file(const struct replay_source *source, int rank);
long replay_ti_line(const struct replay_source *source, int rank);

/* All ranks begin once more. */
void replay_ti_rewind(struct replay_source *source);

/* A file that a list names, relative to where the user is, as under smpirun, or else to the list. The caller
 * frees it. */
char *replay_ti_name(const char *list, const char *name);

/* A file with the lines of all ranks; `name` is what it is called, NULL: its path. */
void replay_ti_open_file(struct replay_source *source, const char *path, const char *name);
