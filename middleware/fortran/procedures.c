/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_DUP_FN and the like: a program passes them on, and may also call them. What they do with a value is the
 * same for communicators, datatypes and windows.
 */
#include "middleware/fortran/convert.h"

#define NULL_COPY(name, integer)                                                                             \
    void name(const MPI_Fint *object, const MPI_Fint *keyval, const integer *state, const integer *in,       \
              integer *out, MPI_Fint *flag, MPI_Fint *ierror)                                                \
    {                                                                                                        \
        *flag = 0;                                                                                           \
        *ierror = MPI_SUCCESS;                                                                               \
    }

#define DUP(name, integer)                                                                                   \
    void name(const MPI_Fint *object, const MPI_Fint *keyval, const integer *state, const integer *in,       \
              integer *out, MPI_Fint *flag, MPI_Fint *ierror)                                                \
    {                                                                                                        \
        *out = *in;                                                                                          \
        *flag = 1;                                                                                           \
        *ierror = MPI_SUCCESS;                                                                               \
    }

#define NULL_DELETE(name, integer)                                                                           \
    void name(const MPI_Fint *object, const MPI_Fint *keyval, const integer *value, const integer *state,    \
              MPI_Fint *ierror)                                                                              \
    {                                                                                                        \
        *ierror = MPI_SUCCESS;                                                                               \
    }

NULL_COPY(mpi_null_copy_fn_, MPI_Fint)
NULL_COPY(mpi_comm_null_copy_fn_, MPI_Aint)
NULL_COPY(mpi_type_null_copy_fn_, MPI_Aint)
NULL_COPY(mpi_win_null_copy_fn_, MPI_Aint)
DUP(mpi_dup_fn_, MPI_Fint)
DUP(mpi_comm_dup_fn_, MPI_Aint)
DUP(mpi_type_dup_fn_, MPI_Aint)
DUP(mpi_win_dup_fn_, MPI_Aint)
NULL_DELETE(mpi_null_delete_fn_, MPI_Fint)
NULL_DELETE(mpi_comm_null_delete_fn_, MPI_Aint)
NULL_DELETE(mpi_type_null_delete_fn_, MPI_Aint)
NULL_DELETE(mpi_win_null_delete_fn_, MPI_Aint)

/* Never called: it says that there is no conversion. */
void mpi_conversion_fn_null_(void)
{
}

pf_fortran_procedure *pf_f_procedure(enum pf_fortran_callback kind, pf_fortran_procedure *procedure)
{
    static void (*const none[])(void) = {
        (pf_fortran_procedure *)mpi_null_copy_fn_,        (pf_fortran_procedure *)mpi_comm_null_copy_fn_,
        (pf_fortran_procedure *)mpi_type_null_copy_fn_,   (pf_fortran_procedure *)mpi_win_null_copy_fn_,
        (pf_fortran_procedure *)mpi_null_delete_fn_,      (pf_fortran_procedure *)mpi_comm_null_delete_fn_,
        (pf_fortran_procedure *)mpi_type_null_delete_fn_, (pf_fortran_procedure *)mpi_win_null_delete_fn_,
        (pf_fortran_procedure *)mpi_conversion_fn_null_};
    static void (*const duplicates[])(void) = {
        (pf_fortran_procedure *)mpi_dup_fn_, (pf_fortran_procedure *)mpi_comm_dup_fn_,
        (pf_fortran_procedure *)mpi_type_dup_fn_, (pf_fortran_procedure *)mpi_win_dup_fn_};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (procedure == none[i])
            return NULL; /* as in C: MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, MPI_CONVERSION_FN_NULL */
    for (size_t i = 0; i < sizeof duplicates / sizeof duplicates[0]; i++)
        if (procedure == duplicates[i])
            return (pf_fortran_procedure *)MPI_DUP_FN;
    return pf_fortran_function(kind, procedure);
}
