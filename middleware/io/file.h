/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/comm/comm.h"

/*
 * A file is always Open MPI's (its io/ompio), whatever model is in force: SMPI simulates a disk of its own
 * and lacks half of the calls. The bytes are in the real file system. The messages of collective accesses
 * travel over the simulated network; the disk itself costs no simulated time.
 */
struct pf_file {
    struct pf_object object;
    struct pf_instance *in;
    struct pf_comm *comm; /* with a reference */
    MPI_Errhandler errhandler;
    MPI_Info info;                /* the latest hints, the middleware's own */
    MPI_Datatype etype, filetype; /* of the view, with references */
    int amode;
};

/* The file behind a handle, NULL when it is none. */
static inline struct pf_file *pf_file_of(MPI_File handle)
{
    return (struct pf_file *)pf_object_of(handle, PF_KIND_FILE);
}

/* Before the native call of an access: counts it as a fallback call when another model is in force. */
struct pf_instance *pf_file_begin(struct pf_rank *r, struct pf_file *file);

/* An error of a call on a file: the handler of the file. Ends the call. */
int pf_file_failed(struct pf_rank *r, MPI_File file, int error_class);

/* Runs the error handler of the file, of MPI_FILE_NULL when it is none. Returns the code. */
int pf_file_raise(struct pf_rank *r, MPI_File file, int code);

/* Ends a native call on a file and the call. */
int pf_file_leave(struct pf_rank *r, struct pf_instance *in, MPI_File file, int code);

/* The implementation's value of MPI_SEEK_SET and its relatives. */
int pf_native_whence(const struct pf_instance *in, int whence);
