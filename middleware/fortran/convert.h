/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Arguments of Fortran to those of C and back, for the entry points (surface/fortran_calls.py). Part of the
 * application, so addresses of common blocks are constants.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "middleware/fortran/fortran.h"
#include "base/memory.h"

/* The common blocks of mpif.h: only their addresses mean something. */
extern MPI_Fint pf_mpi_bottom_[], pf_mpi_in_place_[], pf_mpi_status_ignore_[], pf_mpi_statuses_ignore_[],
    pf_mpi_errcodes_ignore_[], pf_mpi_unweighted_[], pf_mpi_weights_empty_[];
extern char pf_mpi_argv_null_[], pf_mpi_argvs_null_[];

/* Handles: predefined ones are the same number in both languages, in the middleware. */
#ifndef PF_F_PREDEFINED
#define PF_F_PREDEFINED 0x1000
#endif

/* Open MPI's module mpi_f08 passes the lengths of strings as int. */
#ifdef OPEN_MPI
typedef int pf_f_length;
#define PF_F_CALLED pf_fortran_called_through
#else
#define PF_F_CALLED pf_fortran_called_from
typedef size_t pf_f_length;
#endif

/* The caller in Fortran, for diagnoses: the next call of MPI comes from here. */
#define PF_F_SITE() PF_F_CALLED(__builtin_return_address(0))

#define PF_F_HANDLE(kind, type, stem)                                                                        \
    static inline type pf_f_##kind(MPI_Fint number)                                                          \
    {                                                                                                        \
        return (uint32_t)number < PF_F_PREDEFINED ? (type)(uintptr_t)number : pf_PMPI_##stem##_f2c(number);  \
    }                                                                                                        \
    static inline MPI_Fint pf_f_from_##kind(type handle)                                                     \
    {                                                                                                        \
        return (uintptr_t)handle < PF_F_PREDEFINED ? (MPI_Fint)(uintptr_t)handle                             \
                                                   : pf_PMPI_##stem##_c2f(handle);                           \
    }

PF_F_HANDLE(comm, MPI_Comm, Comm)
PF_F_HANDLE(type, MPI_Datatype, Type)
PF_F_HANDLE(errhandler, MPI_Errhandler, Errhandler)
PF_F_HANDLE(file, MPI_File, File)
PF_F_HANDLE(group, MPI_Group, Group)
PF_F_HANDLE(info, MPI_Info, Info)
PF_F_HANDLE(message, MPI_Message, Message)
PF_F_HANDLE(op, MPI_Op, Op)
PF_F_HANDLE(request, MPI_Request, Request)
PF_F_HANDLE(win, MPI_Win, Win)

/* An array of handles of C; short ones need no memory. */
struct pf_f_array {
    int count;
    void **all;
    void *room[64];
};

static inline void pf_f_array_open(struct pf_f_array *array, int count)
{
    array->count = count > 0 ? count : 0;
    array->all = array->room;
    if (array->count > (int)(sizeof array->room / sizeof array->room[0]))
        array->all = pf_malloc((size_t)array->count * sizeof *array->all);
}

static inline void pf_f_array_close(struct pf_f_array *array)
{
    if (array->all != array->room)
        free(array->all);
}

static inline void *pf_f_buffer(const void *buffer)
{
    if (__builtin_expect(buffer == pf_mpi_bottom_, 0))
        return MPI_BOTTOM;
    return __builtin_expect(buffer == pf_mpi_in_place_, 0) ? MPI_IN_PLACE : (void *)(uintptr_t)buffer;
}

/* A status has the same words in both languages. */
static inline MPI_Status *pf_f_status(const MPI_Fint *status)
{
    if (status == pf_mpi_status_ignore_ || status == pf_mpi_statuses_ignore_)
        return MPI_STATUS_IGNORE;
    return (MPI_Status *)(uintptr_t)status;
}

/* With the module mpi_f08 it is optional. */
static inline void pf_f_ierror(MPI_Fint *ierror, int code)
{
    if (ierror)
        *ierror = code;
}

static inline int *pf_f_weights(const MPI_Fint *weights)
{
    if (weights == pf_mpi_unweighted_)
        return MPI_UNWEIGHTED;
    return weights == pf_mpi_weights_empty_ ? MPI_WEIGHTS_EMPTY : (int *)(uintptr_t)weights;
}

/* A string without the blanks behind it, on request also without those before it. To be freed. */
char *pf_f_string(const char *text, size_t length, bool leading);

/* Room for a string that MPI returns. To be freed. */
char *pf_f_room(int size);

/* Copies a string of C and fills up with blanks. */
void pf_f_give(char *text, size_t length, const char *from);

/* Addresses of MPI-1, to be freed. */
MPI_Aint *pf_f_widen(const MPI_Fint *values, int count);

/* What Fortran sees of an attribute: a number, where C sees the address of a predefined one. */
MPI_Aint pf_f_attribute(int keyval, void *value, bool of_window);

/* The function of C for a procedure; MPI's own procedures have their own functions. */
pf_fortran_procedure *pf_f_procedure(enum pf_fortran_callback kind, pf_fortran_procedure *procedure);
