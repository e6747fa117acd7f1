/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_OPENMPI_ELF_H
#define PF_OPENMPI_ELF_H

#include <stddef.h>
#include <stdint.h>

/*
 * A shared object on disk from which renamed copies ("clones") are made, one per rank. The names of the Open
 * MPI libraries in its dynamic section (its own DT_SONAME, its DT_NEEDED entries) end in five characters,
 * "so.40", which a copy replaces by the decimal number of the rank: the file keeps its size, and the dynamic
 * linker takes the libraries of two ranks for different ones.
 */
enum { PF_ELF_SUFFIX = 5, PF_ELF_MAX_PATCHES = 12, PF_ELF_MAX_RANK = 99999 };

struct pf_elf_patch {
    size_t offset;    /* in the file */
    const char *stem; /* text to write before the number, NULL to write only the number */
};

struct pf_elf {
    char *path;
    const uint8_t *data; /* a private read-only mapping of the file */
    size_t size;
    int patch_count;
    struct pf_elf_patch patches[PF_ELF_MAX_PATCHES];
    size_t retag_offset; /* of a dynamic entry that a clone turns into DT_NEEDED; 0: none */
    size_t retag_string; /* the name it needs then, in the string table; 0: the one it has */
    int family_count;
    const char
        *family[PF_ELF_MAX_PATCHES]; /* needed libraries that must be cloned too, by their original names */
};

/* Maps the file and works out its patches. On failure returns NULL and a reason in `why`. */
struct pf_elf *pf_elf_open(const char *path, char *why, size_t n);
void pf_elf_close(struct pf_elf *elf);

/* Writes the clone for `rank` to the open file `fd`. Returns 0 or an errno value. */
int pf_elf_write_clone(const struct pf_elf *elf, int rank, int fd);

/* The text of an exported read-only string such as ompi_version_string, NULL when there is none. */
const char *pf_elf_string_symbol(const struct pf_elf *elf, const char *name);

#endif
