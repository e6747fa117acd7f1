/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Groups as lists of distinct world ranks, without objects (MPI 3.1 section 6.3.2). Results go to `out`,
 * which has room for the largest possible result; the functions return its length, or a negated MPI error
 * class.
 */

/* For each of the n ranks of `from`, its index in `to`, or MPI_UNDEFINED; MPI_PROC_NULL stays. */
int pf_ranks_translate(const int *from, int from_size, const int *ranks, int n, const int *to, int to_size,
                       int *out);

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int pf_ranks_compare(const int *a, int na, const int *b, int nb);

int pf_ranks_union(const int *a, int na, const int *b, int nb, int *out);
int pf_ranks_intersection(const int *a, int na, const int *b, int nb, int *out);
int pf_ranks_difference(const int *a, int na, const int *b, int nb, int *out);
int pf_ranks_include(const int *a, int na, const int *chosen, int n, int *out);
int pf_ranks_exclude(const int *a, int na, const int *chosen, int n, int *out);

/* Writes the indices that the triplets (first, last, stride) name, in order; at most `size` of them can be
 * distinct. */
int pf_ranks_expand(int ranges[][3], int n, int size, int *out);
