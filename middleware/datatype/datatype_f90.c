/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types for Fortran kinds (MPI 3.1 section 17.2.6). Each stands for a predefined type, whose shadows are
 * its own, but has its own precision and range; the same kind always gives the same handle, and it cannot be
 * freed.
 */

#include "middleware/core/rank_objects.h"
#include "middleware/datatype/datatype.h"

/* Decimal precision and range of what the predefined types hold: gfortran's kinds 4, 8 and 10. */
struct kind {
    int precision, range;
    MPI_Datatype real, complex;
};

static const struct kind reals[] = {
    {6, 37, MPI_FLOAT, MPI_C_FLOAT_COMPLEX},
    {15, 307, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX},
    {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
};

static const struct {
    int range;
    MPI_Datatype type;
} integers[] = {{2, MPI_INT8_T}, {4, MPI_INT16_T}, {9, MPI_INT32_T}, {18, MPI_INT64_T}};

/* The smallest predefined type that is large enough; NULL when there is none. */
static MPI_Datatype base_type(int combiner, int precision, int range)
{
    if (combiner == MPI_COMBINER_F90_INTEGER) {
        for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
            if (range <= integers[i].range)
                return integers[i].type;
        return NULL;
    }
    if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED)
        return NULL;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (precision <= reals[i].precision && range <= reals[i].range)
            return combiner == MPI_COMBINER_F90_REAL ? reals[i].real : reals[i].complex;
    return NULL;
}

int pf_datatype_f90(struct pf_rank *r, int combiner, int precision, int range, MPI_Datatype *out)
{
    struct pf_rank_objects *objects = pf_rank_objects(r);
    bool integer = combiner == MPI_COMBINER_F90_INTEGER;
    int numbers[] = {integer ? range : precision, range};
    for (struct pf_datatype *known = objects->f90_types; known; known = known->next) {
        if (known->combiner == combiner && known->integers[0] == numbers[0] &&
            (integer || known->integers[1] == range)) {
            *out = (MPI_Datatype)(uintptr_t)known;
            return MPI_SUCCESS;
        }
    }
    MPI_Datatype base = base_type(combiner, precision, range);
    if (!base)
        return MPI_ERR_ARG;
    struct pf_recipe recipe = {.combiner = combiner, .integer_count = integer ? 1 : 2, .integers = numbers};
    MPI_Datatype made;
    int error = pf_datatype_make_standing_for(r, &recipe, base, &made);
    if (error)
        return error;
    struct pf_datatype *type = pf_datatype_of(made);
    type->committed = true;
    type->next = objects->f90_types;
    objects->f90_types = type;
    r->live_objects--; /* not the user's to free */
    *out = made;
    return MPI_SUCCESS;
}
