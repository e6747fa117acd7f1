/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_PRIVATE_ELF_H
#define PF_MIDDLEWARE_PRIVATE_ELF_H

#include <stdbool.h>
#include <stddef.h>

/* A shared object in memory: which libraries it names, and where, so that copies can name others. */
struct pf_elf {
    char *bytes; /* the whole file */
    size_t size;
    const char *search; /* its RUNPATH or RPATH, or NULL */
    const char *soname; /* its own name, by which the dynamic linker knows it once it is loaded, or NULL */
    struct pf_elf_name {
        char *text;  /* inside `bytes` */
        bool needed; /* loads this library; otherwise its own name, or one in the table of versions */
    } * names;
    int name_count;
};

/* Reads a file; false if it is no shared object that we understand. */
bool pf_elf_read(struct pf_elf *elf, const char *path);

/* Writes it, with the names as they are now. False with errno on failure. */
bool pf_elf_write(const struct pf_elf *elf, const char *path);

void pf_elf_free(struct pf_elf *elf);

#endif
