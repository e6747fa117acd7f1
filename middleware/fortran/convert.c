/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings and logicals of Fortran to those of C, and back. */
#include "middleware/fortran/convert.h"
#include "base/memory.h"

#include <string.h>

/* With the alignment that gfortran gives to common blocks. */
#define PLACE(type, name, size) type name[size] __attribute__((aligned(32)))
PLACE(MPI_Fint, pf_mpi_bottom_, 1);
PLACE(MPI_Fint, pf_mpi_in_place_, 1);
PLACE(MPI_Fint, pf_mpi_status_ignore_, MPI_F_STATUS_SIZE);
PLACE(MPI_Fint, pf_mpi_statuses_ignore_, MPI_F_STATUS_SIZE);
PLACE(MPI_Fint, pf_mpi_errcodes_ignore_, 1);
PLACE(MPI_Fint, pf_mpi_unweighted_, 1);
PLACE(MPI_Fint, pf_mpi_weights_empty_, 1);
PLACE(char, pf_mpi_argv_null_, 1);
PLACE(char, pf_mpi_argvs_null_, 1);

char *pf_f_string(const char *text, size_t length, bool leading)
{
    while (length && text[length - 1] == ' ')
        length--;
    for (; leading && length && *text == ' '; length--)
        text++;
    char *copy = pf_malloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *pf_f_room(int size)
{
    return pf_calloc((size_t)(size > 0 ? size : 1), 1);
}

void pf_f_give(char *text, size_t length, const char *from)
{
    size_t used = strnlen(from, length);
    memcpy(text, from, used);
    memset(text + used, ' ', length - used);
}

MPI_Aint *pf_f_widen(const MPI_Fint *values, int count)
{
    MPI_Aint *wide = pf_malloc((size_t)(count > 0 ? count : 1) * sizeof *wide);
    for (int i = 0; i < count; i++)
        wide[i] = values[i];
    return wide;
}

/* MPI 3.1 section 17.2.7: predefined attributes are integers in Fortran, except the address of a window. */
MPI_Aint pf_f_attribute(int keyval, void *value, bool of_window)
{
    if (!of_window && keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE)
        return *(int *)value;
    if (of_window && keyval == MPI_WIN_SIZE)
        return *(MPI_Aint *)value;
    if (of_window && keyval > MPI_WIN_BASE && keyval <= MPI_WIN_MODEL)
        return *(int *)value;
    return (MPI_Aint)value;
}
