/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <uthash.h>

/* What one rank's file has said up to its present call. */

/* A request or a group, by DUMPI's number. */
struct dumpi_request {
    int self;
    int number; /* in our lines: the least that was free */
    bool persists;
    long fields; /* of a receive with a wildcard: where source and tag are to be written; -1: none */
    UT_hash_handle hh;
};

struct dumpi_group {
    int self;
    int count;
    int *ranks; /* of the world */
    UT_hash_handle hh;
};

/* The members of a communicator, where they are known without the other ranks' files. */
struct dumpi_comm {
    int self;
    bool is_world; /* all ranks in their order */
    UT_hash_handle hh;
};

/* A datatype that was made, or whose size the file has in its table. */
struct dumpi_type {
    int self;
    int64_t size;
    UT_hash_handle hh;
};

struct dumpi_op {
    int self;
    bool commutes;
    UT_hash_handle hh;
};

/* One rank's file, and the call that is being read: `fields` are its lines `TYPE NAME=VALUE`. */
struct dumpi {
    const char *path;
    FILE *file, *out;
    long line;
    int rank, ranks;
    char *text; /* the present line */
    size_t room;

    char function[64];
    char **fields;
    int field_count, field_room;

    struct dumpi_request *requests;
    struct dumpi_group *groups;
    struct dumpi_comm *comms;
    struct dumpi_type *types, *sizes; /* made in this file; of its table */
    struct dumpi_op *ops;
    bool begun, ended;
    uint8_t *taken; /* numbers of requests */
    int taken_room;
};

/* Ends the process with one line that says where. */
void dumpi_die(const struct dumpi *d, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* The value of a field of the call; NULL: there is none. */
const char *dumpi_field(const struct dumpi *d, const char *name);

/* A number in front of a value; what is missing ends the process. */
long dumpi_number(const struct dumpi *d, const char *name);

/* The numbers of `[1, 2]`, which the caller frees; none for <IGNORED>. */
int *dumpi_array(const struct dumpi *d, const char *name, int *count);

/* Writes the lines of the call that has been read. */
void dumpi_call(struct dumpi *d);

/* Follows what takes no time: datatypes, operations and groups. False: the function is none of these. */
bool dumpi_object(struct dumpi *d);

/* Writes a datatype as our lines have it. */
void dumpi_type_put(const struct dumpi *d, int type);

/* The group's members as ranks of the world; what is not known ends the process. */
const struct dumpi_group *dumpi_group_of(const struct dumpi *d, const char *field);

/* What has been made is forgotten. */
void dumpi_objects_free(struct dumpi *d);
