/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef E2E_LINES_H
#define E2E_LINES_H

/* The lines of a program that are compared with those under mpirun: one or more for each case. Rank 0 prints
 * its own, then those of rank 1. */
#include <stdarg.h>

static char *lines_text;
static size_t lines_length, lines_room;
static char lines_case[200];

static inline void name_case(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void name_case(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(lines_case, sizeof lines_case, format, list);
    va_end(list);
    if (getenv("E2E_VERBOSE")) /* where it crashes */
        fprintf(stderr, "%d %s\n", check_rank, lines_case);
}

#define LINE(...) add_line(__VA_ARGS__)
static inline void add_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void add_line(const char *format, ...)
{
    va_list list;

    if (lines_room < lines_length + 1000)
        lines_text = realloc(lines_text, lines_room = 2 * lines_room + 2000);
    va_start(list, format);
    lines_length += sprintf(lines_text + lines_length, "%d %s: ", check_rank, lines_case);
    lines_length += vsprintf(lines_text + lines_length, format, list);
    va_end(list);
    lines_text[lines_length++] = '\n';
}

static inline const char *class_of(int code)
{
    static const struct {
        int class;
        const char *name;
    } known[] = {{MPI_SUCCESS, "ok"},
                 {MPI_ERR_TRUNCATE, "TRUNCATE"},
                 {MPI_ERR_IN_STATUS, "IN_STATUS"},
                 {MPI_ERR_PENDING, "PENDING"},
                 {MPI_ERR_COUNT, "COUNT"},
                 {MPI_ERR_TYPE, "TYPE"},
                 {MPI_ERR_TAG, "TAG"},
                 {MPI_ERR_RANK, "RANK"},
                 {MPI_ERR_COMM, "COMM"},
                 {MPI_ERR_REQUEST, "REQUEST"},
                 {MPI_ERR_ARG, "ARG"},
                 {MPI_ERR_BUFFER, "BUFFER"},
                 {MPI_ERR_ROOT, "ROOT"},
                 {MPI_ERR_OP, "OP"}};
    int class = code;

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].class == class)
            return known[i].name;
    return "other";
}

static inline void print_lines(void)
{
    int length = (int)lines_length;

    if (check_rank == 0) {
        fwrite(lines_text, 1, lines_length, stdout);
        MPI_Recv(&length, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        lines_text = realloc(lines_text, (size_t)length + 1);
        MPI_Recv(lines_text, length, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fwrite(lines_text, 1, (size_t)length, stdout);
        fflush(stdout);
    } else if (check_rank == 1) {
        MPI_Send(&length, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Send(lines_text, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    free(lines_text);
}

#endif
