/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "loader/elf_file.h"

/*
 * A library of the family of which each rank has its own: Open MPI's, and its plugins. The names of the
 * family's libraries in its dynamic section (its own DT_SONAME, its DT_NEEDED entries) end in five
 * characters, "so.40", which a copy replaces by the decimal number of the rank: the file keeps its size, and
 * the dynamic linker takes the libraries of two ranks for different ones.
 */
enum { PF_FAMILY_DIGITS = 5, PF_FAMILY_MAX_NAMES = 12, PF_FAMILY_MAX_RANK = 99999 };

struct pf_family {
    struct pf_elf elf;
    char *digits[PF_FAMILY_MAX_NAMES]; /* where the rank's number goes, in the bytes of `elf` */
    int digit_count;
    char *needed[PF_FAMILY_MAX_NAMES]; /* libraries that must be copied too, by their original names */
    int needed_count;
};

/* Reads the file and works out what a copy changes. On failure returns NULL and a reason in `why`. */
struct pf_family *pf_family_open(const char *path, char *why, size_t n);
void pf_family_close(struct pf_family *member);

/* Makes the bytes those of this rank's copy. False if the number is none that fits. */
bool pf_family_number(struct pf_family *member, int rank);
