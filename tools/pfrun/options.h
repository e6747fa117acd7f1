/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* What the command line says, besides what goes straight into pf_config. */
struct options {
    int np;               /* of all programs; 0: not given */
    const char *platform; /* NULL: not given */
    const char *hostfile;
    const char *tmpdir;
    const char *wrapper;  /* a command that runs pfrun itself */
    const char *app_file; /* holds the programs; NULL: they are on the command line */
    const char *workload; /* holds the jobs, each with its programs; NULL: there is one job */
    bool goes_on;         /* of those, when one fails */
    const char *replay;   /* a trace that is played instead of a program; NULL: none */
    double replay_scale;  /* of its computation */
    bool keep_temps, quiet, map, no_privatize;
    char **simgrid; /* --cfg=... and --log=..., in order */
    int simgrid_count;
    struct part {
        int np;     /* 0: not given, for the only one */
        char **app; /* the application and its arguments, NULL-terminated */
        int app_argc;
        const char *shown; /* its name in reports; NULL: that of the file */
    } * parts;             /* the programs of the job, at least one, in the order of their ranks */
    int part_count;
    char **rest; /* of the command line, from the first program on; NULL: it holds none */
};

/* Reads the command line, and the file of -app, not that of -workload; ends the process with one line on bad
 * input, or after -help and -version. */
void options_parse(struct options *options, int argc, char **argv);

/* Adds programs of the words, "program arguments : -np N program arguments". `np` is for the first, 0: it has
 * a number of its own; `where` begins a message. */
void options_add_programs(struct options *options, char **words, int count, int np, const char *where);

/* The words of a line, which stay; quotes and backslashes are as in a shell, # begins a comment. `where`
 * begins a message. NULL-terminated. */
char **options_cut_line(const char *line, int *count, const char *where);

/* A factor of -replay-scale; the same. */
double options_parse_scale(const char *text);

/* The arguments that run pfrun again without its -wrapper. */
char **options_without_wrapper(int argc, char **argv);
