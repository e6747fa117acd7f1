/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of files. */
#include "middleware/comm/routing.h"
#include "middleware/core/rank_objects.h"
#include "middleware/io/file.h"
#include "middleware/object/errhandler_calls.h"

/* The handler of MPI_FILE_NULL is the one for errors without a file. */
static MPI_Errhandler *file_slot(struct pf_rank *r, MPI_File file)
{
    struct pf_file *opened = pf_file_of(file);
    if (file == MPI_FILE_NULL)
        return &pf_rank_objects(r)->file_errhandler;
    return opened ? &opened->errhandler : NULL;
}

int pf_file_raise(struct pf_rank *r, MPI_File file, int code)
{
    MPI_Errhandler *slot = file_slot(r, file);
    if (!slot) {
        file = MPI_FILE_NULL;
        slot = file_slot(r, file);
    }
    return pf_errhandler_run(r, *slot, &file, code);
}

int pf_PMPI_File_create_errhandler(MPI_File_errhandler_function *function, MPI_Errhandler *errhandler)
{
    return pf_errhandler_create(PF_ENTER(File_create_errhandler), PF_ERRHANDLER_FILE,
                                (void (*)(void))function, errhandler);
}

int pf_PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    struct pf_rank *r = PF_ENTER(File_set_errhandler);
    MPI_Errhandler *slot = file_slot(r, file);
    return pf_errhandler_finish(
        r, MPI_COMM_WORLD, slot ? pf_errhandler_set(slot, errhandler, PF_ERRHANDLER_FILE) : MPI_ERR_FILE);
}

int pf_PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    struct pf_rank *r = PF_ENTER(File_get_errhandler);
    MPI_Errhandler *slot = file_slot(r, file);
    return pf_errhandler_finish(r, MPI_COMM_WORLD, slot ? pf_errhandler_get(slot, errhandler) : MPI_ERR_FILE);
}

int pf_PMPI_File_call_errhandler(MPI_File file, int errorcode)
{
    struct pf_rank *r = PF_ENTER(File_call_errhandler);
    if (!file_slot(r, file))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_FILE);
    (void)pf_file_raise(r, file, errorcode);
    return pf_call_return(r, MPI_SUCCESS);
}
