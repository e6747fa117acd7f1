/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * A column of loader/libc.def as a table. The includer defines PF_LIBC so that it takes the policy of its
 * column to PF_LIBC_<policy>, and those so that all but `own` make an entry with PF_LIBC_ENTRY.
 */
struct pf_libc_function {
    const char *name;
    void (*function)(void);
};

#define PF_LIBC_ENTRY(name, prefix) {#name, (void (*)(void))prefix##name},

/* The function of a column, NULL where the C library's own is right. */
void *pf_libc_find(const struct pf_libc_function *column, const char *name);

/* That for an instance of Open MPI. */
void *pf_libc_of_instance(const char *name);

/* Finds the instance of the calling actor. */
struct pf_libc_host {
    void (*exit)(int status);                /* ends the simulated process; does not return */
    const char *(*getenv)(const char *name); /* asks the real environment itself where that decides */
    void (*setenv)(const char *name, const char *value);
    /* It has read or written so many bytes of an open file (-1: an error). NULL: that takes no time. */
    void (*moved)(int descriptor, ssize_t bytes, bool writes);
};
void pf_libc_set_host(const struct pf_libc_host *host);
