/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_TOLD_H
#define PF_MIDDLEWARE_SAMPLING_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What copies of the process tell the original through a pipe or a socket. */

#define PF_TOLD_ALL 0xffffffffu

/* One thing that is told: of a window the dates, or why they do not come (then also of PF_TOLD_ALL: of all
 * windows of which nothing has been told); or that the copy has ended, and how badly. */
struct pf_told {
    unsigned window;
    bool ended;          /* nothing comes after it */
    double cost;         /* s of processor time */
    const double *dates; /* `count` of them; with `failure` NULL */
    size_t count;
    const char *failure; /* what has happened to the copy: follows "its copy "; NULL: nothing bad */
};

/* Writes it. Returns false when nobody listens. */
bool pf_told_write(int fd, const struct pf_told *told);

/* What has come so far. All zeros at the beginning; pf_told_free() frees it. */
struct pf_told_buffer {
    char *bytes;
    size_t used, room, taken;
};

/* Reads what there is. Returns false when nothing will come any more. */
bool pf_told_read(struct pf_told_buffer *buffer, int fd);

/* The next thing that has come as a whole; it points into the buffer, until that is read into or freed. */
bool pf_told_next(struct pf_told_buffer *buffer, struct pf_told *told);
void pf_told_free(struct pf_told_buffer *buffer);

#endif
