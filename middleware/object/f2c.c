/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of Fortran: MPI 3.1 section 17.2.4. A predefined handle is its own small integer; the others get
 * numbers above them, in the order in which they are asked for. A number stays with an address: a later
 * object at the same address takes it over, so nothing needs to be removed when objects are freed.
 */
#include <stdlib.h>
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
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 16;
        table->by_number = pf_realloc(table->by_number, (size_t)table->capacity * sizeof *table->by_number);
    }
    known->handle = handle;
    known->number = FIRST_NUMBER + table->count;
    table->by_number[table->count++] = handle;
    HASH_ADD_PTR(table->by_handle, handle, known);
    return known->number;
}

static MPI_Fint to_fortran(const void *handle)
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

static void *to_c(MPI_Fint number, const void *null)
{
    if (number >= 0 && number < FIRST_NUMBER)
        return (void *)(uintptr_t)number;
    struct pf_fortran_table *table = table_of_caller();
    int index = number - FIRST_NUMBER;
    return (void *)(uintptr_t)(number < 0 || !table || index >= table->count ? null
                                                                             : table->by_number[index]);
}

MPI_Fint pf_PMPI_Comm_c2f(MPI_Comm comm)
{
    return to_fortran(comm);
}

MPI_Comm pf_PMPI_Comm_f2c(MPI_Fint comm)
{
    return (MPI_Comm)to_c(comm, MPI_COMM_NULL);
}

MPI_Fint pf_PMPI_Errhandler_c2f(MPI_Errhandler errhandler)
{
    return to_fortran(errhandler);
}

MPI_Errhandler pf_PMPI_Errhandler_f2c(MPI_Fint errhandler)
{
    return (MPI_Errhandler)to_c(errhandler, MPI_ERRHANDLER_NULL);
}

MPI_Fint pf_PMPI_File_c2f(MPI_File file)
{
    return to_fortran(file);
}

MPI_File pf_PMPI_File_f2c(MPI_Fint file)
{
    return (MPI_File)to_c(file, MPI_FILE_NULL);
}

MPI_Fint pf_PMPI_Group_c2f(MPI_Group group)
{
    return to_fortran(group);
}

MPI_Group pf_PMPI_Group_f2c(MPI_Fint group)
{
    return (MPI_Group)to_c(group, MPI_GROUP_NULL);
}

MPI_Fint pf_PMPI_Info_c2f(MPI_Info info)
{
    return to_fortran(info);
}

MPI_Info pf_PMPI_Info_f2c(MPI_Fint info)
{
    return (MPI_Info)to_c(info, MPI_INFO_NULL);
}

MPI_Fint pf_PMPI_Message_c2f(MPI_Message message)
{
    return to_fortran(message);
}

MPI_Message pf_PMPI_Message_f2c(MPI_Fint message)
{
    return (MPI_Message)to_c(message, MPI_MESSAGE_NULL);
}

MPI_Fint pf_PMPI_Op_c2f(MPI_Op op)
{
    return to_fortran(op);
}

MPI_Op pf_PMPI_Op_f2c(MPI_Fint op)
{
    return (MPI_Op)to_c(op, MPI_OP_NULL);
}

MPI_Fint pf_PMPI_Request_c2f(MPI_Request request)
{
    return to_fortran(request);
}

MPI_Request pf_PMPI_Request_f2c(MPI_Fint request)
{
    return (MPI_Request)to_c(request, MPI_REQUEST_NULL);
}

MPI_Fint pf_PMPI_Type_c2f(MPI_Datatype datatype)
{
    return to_fortran(datatype);
}

MPI_Datatype pf_PMPI_Type_f2c(MPI_Fint datatype)
{
    return (MPI_Datatype)to_c(datatype, MPI_DATATYPE_NULL);
}

MPI_Fint pf_PMPI_Win_c2f(MPI_Win win)
{
    return to_fortran(win);
}

MPI_Win pf_PMPI_Win_f2c(MPI_Fint win)
{
    return (MPI_Win)to_c(win, MPI_WIN_NULL);
}
