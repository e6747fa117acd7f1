/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "loader/elf_file.h"

/*
 * One rank's copy of a program or library: the file as it is in memory, with the names that the caller has
 * changed there, is written to a place on disk, opened, and unlinked at once. Of one that begins late
 * (pf_elf_keep_begin()) only what the dynamic linker reads and what a rank writes is copied, to memory; the
 * rest is mapped from the library itself.
 *
 * What is loaded is known by an opaque pointer. Callers ask it through pf_copy_symbol() and loader/imports.h,
 * and never the dynamic linker: another way of loading (one image of all libraries, which is mapped and
 * relocated for each rank) then changes this folder only.
 */
struct pf_copy {
    const struct pf_elf *elf;
    const char *path; /* where to write it; the dynamic linker knows the library by its path */
    bool keep;        /* the file stays, for debuggers */
    bool replace;     /* an old file there is no error */
    int flags;        /* of dlopen: pf_copy_flags(), unless the program asks for others */
    void *(*open)(const char *path, int flags); /* instead of dlopen; or NULL */
    const char *of; /* the file that it is a copy of, with which it shares code and constants; or NULL */
};

/* The flags of dlopen for a copy: its own definitions come before the simulator's, which exports some of the
 * same names. Where the address sanitizer is in the process it refuses that, and pf_copy_is_deep() is false:
 * names then resolve in the ordinary order, which is good enough for tests, and an image is no choice either,
 * for the sanitizer hears of a copy's variables from the dynamic linker. */
bool pf_copy_is_deep(void);
int pf_copy_flags(void);

enum pf_copy_fault { PF_COPY_GOOD, PF_COPY_UNWRITTEN, PF_COPY_UNOPENED };

/* The two steps (the first does nothing for what is copied to memory): 0 or what errno says; what is loaded,
 * or NULL and a text in dlerror(). */
int pf_copy_write(const struct pf_copy *copy);
void *pf_copy_open(const struct pf_copy *copy);

/* Both. A fault comes with the reason in `why`, and leaves `loaded` as it is; when the file could not be
 * written, errno says so too. */
enum pf_copy_fault pf_copy_load(const struct pf_copy *copy, void **loaded, char *why, size_t n);

/* Calls the functions of its beginning if pf_elf_keep_begin() has kept them. */
void pf_copy_begin(void *loaded);

/* What the library exports under this name, NULL when it exports no such thing. */
void *pf_copy_symbol(void *loaded, const char *name);
