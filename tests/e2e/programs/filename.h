/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of MPI-IO: a file that all ranks know. */
#ifndef FILENAME_H
#define FILENAME_H

#include <unistd.h>

#include "check.h"

static char name[256];

/* A name that no other run has, in the directory for such things. */
static void choose_name(void)
{
    if (check_rank == 0) {
        const char *directory = getenv("TMPDIR");
        snprintf(name, sizeof name, "%.200s/pf-e2e-XXXXXX", directory ? directory : "/tmp");
        int fd = mkstemp(name);
        CHECK(fd >= 0);
        close(fd);
    }
    CHECK_OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
}

#endif
