/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* What the launcher wants to know about an application or a shared library before it is loaded. */
struct binary_facts {
    bool parfocal;      /* needs our library, MPI or Portals */
    bool abi;           /* an executable of the standard ABI of MPI 5.0, */
    bool openmpi;       /* or of Open MPI's, or of none: what it opens may call MPI */
    char other_mpi[64]; /* the library of another MPI it needs, or empty */
    char sanitizer[64]; /* AddressSanitizer's library, if it was built with that, or empty */
};

/* Reads a file. Returns NULL, or the reason why it cannot be loaded, which follows "it"; `facts` is filled as
 * far as possible. */
const char *binary_read(const char *path, struct binary_facts *facts);
