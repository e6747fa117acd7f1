/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of Fortran: MPI 3.1 section 17.2.4. A predefined handle is its own small integer; the others get
 * numbers above them, in the order in which they are asked for. A number stays with an address: a later
 * object at the same address takes it over, so nothing needs to be removed when objects are freed.
 */
#include "middleware/object/f2c.h"

#include <uthash.h>

#include "base/memory.h"
#include "middleware/core/call.h"
#include "middleware/core/rank_objects.h"

#define FIRST_NUMBER 0x1000

struct known {
    const void *handle;
    int number;
    UT_hash_handle hh;
};

struct pf_fortran_table {
    struct known *by_handle;
    const void **by_number; /* from FIRST_NUMBER on */
    int count, capacity;
};

/* Conversions need no running rank, only one that has made objects. */
static struct pf_fortran_table *table_of_caller(void)
{
    pf_self_t *self = pf_job_self();
    if (!self || !self->mpi)
        return NULL;
    struct pf_rank_objects *objects = pf_rank_objects(self->mpi);
    if (!objects->fortran)
        objects->fortran = pf_calloc(1, sizeof *objects->fortran);
    return objects->fortran;
}

static int add(struct pf_fortran_table *table, const void *handle)
{
    struct known *known = pf_malloc(sizeof *known);
    PF_ARRAY_ROOM(table->by_number, table->capacity, table->count + 1);
    known->handle = handle;
    known->number = FIRST_NUMBER + table->count;
    table->by_number[table->count++] = handle;
    HASH_ADD_PTR(table->by_handle, handle, known);
    return known->number;
}

MPI_Fint pf_fortran_number(const void *handle)
{
    if ((uintptr_t)handle < FIRST_NUMBER)
        return (MPI_Fint)(uintptr_t)handle;
    struct pf_fortran_table *table = table_of_caller();
    if (!table)
        return 0;
    struct known *known;
    HASH_FIND_PTR(table->by_handle, &handle, known);
    return known ? known->number : add(table, handle);
}

void *pf_fortran_handle(MPI_Fint number, const void *null)
{
    if (number >= 0 && number < FIRST_NUMBER)
        return (void *)(uintptr_t)number;
    struct pf_fortran_table *table = table_of_caller();
    int index = number - FIRST_NUMBER;
    return (void *)(uintptr_t)(number < 0 || !table || index >= table->count ? null
                                                                             : table->by_number[index]);
}
