/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_PFRUN_ELF_H
#define PF_PFRUN_ELF_H

#include <stdbool.h>

/* What the launcher wants to know about an application before it loads it. */
struct elf_facts {
    bool parfocal;      /* needs our library, MPI or Portals */
    char other_mpi[64]; /* the library of another MPI it needs, or empty */
};

/* Reads a file. Returns NULL, or the reason why it cannot be loaded; `facts` is filled as far as possible. */
const char *elf_read(const char *path, struct elf_facts *facts);

#endif
