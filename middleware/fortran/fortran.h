/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"
#include "mpi.h" /* the middleware's; in libmpi_mpifh Open MPI's (../ompi_abi/) */

/*
 * What libparfocal has for the Fortran interface. The interface itself is an archive that pff90 links into
 * the application (README.md): its special addresses are private to a rank then.
 */

/* A procedure of Fortran, whatever its arguments are. */
typedef void pf_fortran_procedure(void);

/* What it is called for. */
enum pf_fortran_callback {
    PF_FORTRAN_OP,
    PF_FORTRAN_COMM_COPY,
    PF_FORTRAN_TYPE_COPY,
    PF_FORTRAN_WIN_COPY,
    PF_FORTRAN_MPI1_COPY, /* with default INTEGERs for state and values */
    PF_FORTRAN_COMM_DELETE,
    PF_FORTRAN_TYPE_DELETE,
    PF_FORTRAN_WIN_DELETE,
    PF_FORTRAN_MPI1_DELETE,
    PF_FORTRAN_COMM_ERROR,
    PF_FORTRAN_WIN_ERROR,
    PF_FORTRAN_FILE_ERROR,
    PF_FORTRAN_QUERY, /* of a generalized request */
    PF_FORTRAN_FREE,
    PF_FORTRAN_CANCEL,
    PF_FORTRAN_EXTENT, /* of a data representation */
    PF_FORTRAN_CONVERSION,
    PF_FORTRAN_CALLBACK_COUNT
};

/* A function of C that calls a procedure of Fortran with Fortran's handles; to be cast to the type that the
 * callback has. The same procedure always gets the same function, which is never freed. */
PF_EXPORT pf_fortran_procedure *pf_fortran_function(enum pf_fortran_callback kind,
                                                    pf_fortran_procedure *procedure);

/* Where the application's Fortran calls MPI, for diagnoses; counts for the caller's next call only. */
PF_EXPORT void pf_fortran_called_from(const void *site);

/* The same where what is called is a function of C that itself says where it is called. A site in Open MPI's
 * module mpi_f08 is replaced by that module's caller. */
PF_EXPORT void pf_fortran_called_through(const void *site);

/* Around a call that creates a keyval, or sets or gets an attribute, with numbers where C has addresses. */
PF_EXPORT void pf_fortran_attribute(int begins);

/* With how many members the caller exchanges data in an all-to-all; 0 if that is no communicator. */
PF_EXPORT int pf_fortran_peers(MPI_Comm comm);

/* The caller's neighbours in the topology of `comm`, to which it sends or from which it receives; 0 if there
 * is none. */
PF_EXPORT int pf_fortran_neighbors(MPI_Comm comm, int sends);
