/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of this folder share: a check that names its place. */
#ifndef CHECK_H
#define CHECK_H

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("PE %d: %s:%d: not so: %s\n", shmem_my_pe(), __FILE__, __LINE__, #condition);             \
            fflush(stdout);                                                                                  \
            shmem_global_exit(1);                                                                            \
        }                                                                                                    \
    } while (0)

/* The last line of a program in which all was well. */
static inline void pass(void)
{
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("PASS\n");
    shmem_finalize();
}

#endif
