/* SPDX-License-Identifier: BSD-3-Clause */
/* Set operations on lists of ranks. All are linear: a job may have many thousand ranks. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "middleware/comm/group_algebra.h"
#include "middleware/include/mpi.h"

/* Where each world rank stands in a list: index[world rank], or -1. */
struct inverse {
    int limit;
    int *index;
};

static struct inverse inverse_make(const int *ranks, int n)
{
    struct inverse inverse = {0, NULL};
    for (int i = 0; i < n; i++)
        if (ranks[i] >= inverse.limit)
            inverse.limit = ranks[i] + 1;
    inverse.index = pf_malloc((size_t)(inverse.limit ? inverse.limit : 1) * sizeof *inverse.index);
    for (int i = 0; i < inverse.limit; i++)
        inverse.index[i] = -1;
    for (int i = 0; i < n; i++)
        inverse.index[ranks[i]] = i;
    return inverse;
}

static int inverse_find(const struct inverse *inverse, int world_rank)
{
    return world_rank < inverse->limit ? inverse->index[world_rank] : -1;
}

int pf_ranks_translate(const int *from, int from_size, const int *ranks, int n, const int *to, int to_size,
                       int *out)
{
    for (int i = 0; i < n; i++)
        if (ranks[i] != MPI_PROC_NULL && (ranks[i] < 0 || ranks[i] >= from_size))
            return -MPI_ERR_RANK;
    struct inverse inverse = inverse_make(to, to_size);
    for (int i = 0; i < n; i++) {
        if (ranks[i] == MPI_PROC_NULL) {
            out[i] = MPI_PROC_NULL;
            continue;
        }
        int found = inverse_find(&inverse, from[ranks[i]]);
        out[i] = found >= 0 ? found : MPI_UNDEFINED;
    }
    free(inverse.index);
    return n;
}

int pf_ranks_compare(const int *a, int na, const int *b, int nb)
{
    if (na != nb)
        return MPI_UNEQUAL;
    if (na == 0 || memcmp(a, b, (size_t)na * sizeof *a) == 0)
        return MPI_IDENT;
    struct inverse inverse = inverse_make(b, nb);
    int result = MPI_SIMILAR;
    for (int i = 0; i < na && result == MPI_SIMILAR; i++)
        if (inverse_find(&inverse, a[i]) < 0)
            result = MPI_UNEQUAL;
    free(inverse.index);
    return result;
}

/* The members of `a` that are in `b` (or are not), in the order of `a`. */
static int filter(const int *a, int na, const int *b, int nb, bool wanted, int *out)
{
    struct inverse inverse = inverse_make(b, nb);
    int n = 0;
    for (int i = 0; i < na; i++)
        if ((inverse_find(&inverse, a[i]) >= 0) == wanted)
            out[n++] = a[i];
    free(inverse.index);
    return n;
}

int pf_ranks_union(const int *a, int na, const int *b, int nb, int *out)
{
    if (na)
        memcpy(out, a, (size_t)na * sizeof *a);
    return na + filter(b, nb, a, na, false, out + na);
}

int pf_ranks_intersection(const int *a, int na, const int *b, int nb, int *out)
{
    return filter(a, na, b, nb, true, out);
}

int pf_ranks_difference(const int *a, int na, const int *b, int nb, int *out)
{
    return filter(a, na, b, nb, false, out);
}

/* Marks the chosen indices of a list of `size`. Returns false when one is out of range or chosen twice. */
static bool mark(bool *marked, int size, const int *chosen, int n)
{
    memset(marked, 0, (size_t)size * sizeof *marked);
    for (int i = 0; i < n; i++) {
        if (chosen[i] < 0 || chosen[i] >= size || marked[chosen[i]])
            return false;
        marked[chosen[i]] = true;
    }
    return true;
}

static bool *new_marks(int size)
{
    bool *marked = pf_malloc(size ? (size_t)size * sizeof *marked : 1);
    return marked;
}

int pf_ranks_include(const int *a, int na, const int *chosen, int n, int *out)
{
    bool *marked = new_marks(na);
    bool valid = mark(marked, na, chosen, n);
    free(marked);
    if (!valid)
        return -MPI_ERR_RANK;
    for (int i = 0; i < n; i++)
        out[i] = a[chosen[i]];
    return n;
}

int pf_ranks_exclude(const int *a, int na, const int *chosen, int n, int *out)
{
    bool *marked = new_marks(na);
    int count = -MPI_ERR_RANK;
    if (mark(marked, na, chosen, n)) {
        count = 0;
        for (int i = 0; i < na; i++)
            if (!marked[i])
                out[count++] = a[i];
    }
    free(marked);
    return count;
}

int pf_ranks_expand(int ranges[][3], int n, int size, int *out)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        long first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
        if (stride == 0 || (first < last && stride < 0) || (first > last && stride > 0))
            return -MPI_ERR_ARG;
        for (long rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
            if (rank < 0 || rank >= size || count == size)
                return -MPI_ERR_RANK;
            out[count++] = (int)rank;
        }
    }
    return count;
}
