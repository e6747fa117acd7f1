/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/rank.h"

struct pf_keyval;
struct pf_error_table;
struct pf_fortran_table;
struct pf_native_type;
struct pf_named_state;
struct pf_datatype;

/*
 * What a rank knows about its objects of the middleware besides the objects themselves. Each rank has its own
 * tables, so that numbers visible to the application (keyvals, error codes, Fortran handles) do not depend on
 * what other ranks did before.
 */
struct pf_rank_objects {
    struct pf_keyval *keyvals; /* attribute.c */
    int last_keyval;
    struct pf_error_table *errors;    /* error_code.c */
    struct pf_fortran_table *fortran; /* f2c.c */
    struct pf_native_type
        *natives[PF_IMPL_COUNT];       /* datatype_native.c: native handle to handle of the middleware */
    bool named_indexed[PF_IMPL_COUNT]; /* the predefined ones are in it */
    struct pf_named_state *named;      /* datatype_name.c: names and attributes of predefined datatypes */
    struct pf_datatype *f90_types;     /* datatype_f90.c */
    MPI_Errhandler file_errhandler;    /* default of new files, set through MPI_FILE_NULL */
    int tag_ub, host, io, wtime_is_global, universe_size, appnum, last_used_code;
};

/* The tables of a rank, made at first use. */
struct pf_rank_objects *pf_rank_objects(struct pf_rank *r);

/* Around a native call that the middleware makes for its own ends. Such calls also happen while the rank is
 * already inside the implementation (a shadow is made between enter and leave); they then need no second
 * enter. Returns what end needs. */
static inline int pf_middleware_native_begin(struct pf_rank *r, struct pf_instance *in)
{
    int before = r->call.model;
    if (pf_model_impl(before) != in->impl)
        in->ops->enter(in);
    r->call.model = in->model;
    return before;
}

static inline void pf_middleware_native_end(struct pf_rank *r, struct pf_instance *in, int before)
{
    if (pf_model_impl(before) != in->impl)
        in->ops->leave(in);
    r->call.model = before;
}
