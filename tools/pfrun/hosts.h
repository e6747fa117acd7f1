/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A hostfile, one entry per rank it has room for. */
struct hosts {
    char **names;
    int *lines; /* where each entry came from, for messages */
    int count;
};

/* Reads a hostfile: per line `host`, `host:N` or `host slots=N`; # starts a comment. Ends the process with
 * one line on bad input. */
void hosts_read(struct hosts *hosts, const char *file);

/* Adds an entry, with a copy of the name. */
void hosts_add(struct hosts *hosts, const char *name, int line);

/* Writes it in the one form that SMPI understands: one host per line, repeated. */
void hosts_write(const struct hosts *hosts, const char *file);
