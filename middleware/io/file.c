/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: MPI 3.1 chapter 13. What only reads or writes is generated (surface/wrappers.py). */
#include "middleware/io/file.h"

#include <stdlib.h>

#include "middleware/agree/switch.h"
#include "middleware/comm/group.h"
#include "middleware/comm/routing.h"
#include "middleware/core/rank_objects.h"
#include "middleware/core/errhandler.h"
#include "middleware/core/upcalls.h"
#include "middleware/object/info.h"
#include "base/memory.h"

int pf_file_failed(struct pf_rank *r, MPI_File file, int error_class)
{
    return pf_call_return(r, pf_file_raise(r, file, error_class));
}

int pf_file_leave(struct pf_rank *r, struct pf_instance *in, MPI_File file, int code)
{
    pf_call_native_end(r, in);
    if (PF_UNLIKELY(code != MPI_SUCCESS))
        code = pf_file_raise(r, file, in->ops->error_class(in, code));
    return pf_call_return(r, code);
}

int pf_native_whence(const struct pf_instance *in, int whence)
{
    switch (whence) {
    case MPI_SEEK_SET:
        return in->values->seek_set;
    case MPI_SEEK_CUR:
        return in->values->seek_cur;
    case MPI_SEEK_END:
        return in->values->seek_end;
    default:
        return -1;
    }
}

/* The middleware's bits of an access mode in the order of the values table. */
static const int mode_bits[PF_FILE_MODES] = {
    MPI_MODE_APPEND, MPI_MODE_CREATE,     MPI_MODE_DELETE_ON_CLOSE, MPI_MODE_EXCL,  MPI_MODE_RDONLY,
    MPI_MODE_RDWR,   MPI_MODE_SEQUENTIAL, MPI_MODE_UNIQUE_OPEN,     MPI_MODE_WRONLY};

static int native_mode(const struct pf_instance *in, int mode)
{
    int native = 0;
    for (int i = 0; i < PF_FILE_MODES; i++)
        native |= mode & mode_bits[i] ? in->values->file_modes[i] : 0;
    return native;
}

struct pf_instance *pf_file_begin(struct pf_rank *r, struct pf_file *file)
{
    if (file->in != r->active)
        pf_account_promoted(r->account);
    return pf_call_native_begin(r, file->in);
}

/* MPI_File_open takes what the program has set for MPI_FILE_NULL. */
static struct pf_file *new_file(struct pf_rank *r, struct pf_comm *comm, int amode, MPI_Info info)
{
    struct pf_file *file = pf_calloc(1, sizeof *file);
    file->object.kind = PF_KIND_FILE;
    file->object.references = 1;
    file->comm = pf_comm_retain(comm);
    file->errhandler = pf_rank_objects(r)->file_errhandler;
    pf_errhandler_retain(file->errhandler);
    file->info = pf_info_copy(r, info);
    file->etype = file->filetype = MPI_BYTE;
    file->amode = amode;
    return file;
}

static void destroy(struct pf_file *file)
{
    pf_datatype_release(file->etype);
    pf_datatype_release(file->filetype);
    pf_info_release(file->info);
    pf_errhandler_release(file->errhandler);
    pf_comm_release(file->comm);
    file->object.kind = PF_KIND_DEAD;
    pf_object_discard(file);
}

int pf_PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *handle)
{
    struct pf_rank *r = PF_ENTER(File_open);
    struct pf_comm *c = pf_comm_of(r, comm);
    if (!c || !handle || !filename)
        return pf_file_failed(r, MPI_FILE_NULL, c ? MPI_ERR_ARG : MPI_ERR_COMM);
    struct pf_file *file = new_file(r, c, amode, info);
    struct pf_instance *in = file->in = pf_call_native_begin(r, pf_switch_promote(r));
    pf_native_file_t native = NULL;
    char *name = pf_upcalls.file_name(filename);
    int code =
        in->fn->File_open(pf_native(in, comm), name, native_mode(in, amode), pf_native(in, info), &native);
    if (name != filename)
        free(name);
    if (code == MPI_SUCCESS) {
        file->object.native[in->impl] = native;
        r->live_objects++;
        *handle = (MPI_File)(uintptr_t)file;
    } else {
        destroy(file);
    }
    return pf_file_leave(r, in, MPI_FILE_NULL, code);
}

int pf_PMPI_File_close(MPI_File *handle)
{
    struct pf_rank *r = PF_ENTER(File_close);
    struct pf_file *file = handle ? pf_file_of(*handle) : NULL;
    if (!file)
        return pf_file_failed(r, MPI_FILE_NULL, handle ? MPI_ERR_FILE : MPI_ERR_ARG);
    struct pf_instance *in = pf_file_begin(r, file);
    int code = in->fn->File_close(&(pf_native_file_t){file->object.native[in->impl]});
    if (code != MPI_SUCCESS)
        return pf_file_leave(r, in, *handle, code);
    destroy(file);
    r->live_objects--;
    *handle = MPI_FILE_NULL;
    return pf_file_leave(r, in, MPI_FILE_NULL, code);
}

int pf_PMPI_File_delete(const char *filename, MPI_Info info)
{
    struct pf_rank *r = PF_ENTER(File_delete);
    if (!filename)
        return pf_file_failed(r, MPI_FILE_NULL, MPI_ERR_ARG);
    struct pf_instance *in = pf_call_native_begin(r, pf_switch_promote(r));
    char *name = pf_upcalls.file_name(filename);
    int code = in->fn->File_delete(name, pf_native(in, info));
    if (name != filename)
        free(name);
    return pf_file_leave(r, in, MPI_FILE_NULL, code);
}

int pf_PMPI_File_get_amode(MPI_File handle, int *amode)
{
    struct pf_rank *r = PF_ENTER(File_get_amode);
    const struct pf_file *file = pf_file_of(handle);
    if (!file || !amode)
        return pf_file_failed(r, handle, file ? MPI_ERR_ARG : MPI_ERR_FILE);
    *amode = file->amode;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_File_get_group(MPI_File handle, MPI_Group *group)
{
    struct pf_rank *r = PF_ENTER(File_get_group);
    const struct pf_file *file = pf_file_of(handle);
    if (!file || !group)
        return pf_file_failed(r, handle, file ? MPI_ERR_ARG : MPI_ERR_FILE);
    *group = pf_group_new(r, file->comm->shared->world_ranks, file->comm->shared->size);
    return pf_call_return(r, MPI_SUCCESS);
}

static void keep_type(MPI_Datatype *kept, MPI_Datatype datatype)
{
    pf_datatype_retain(datatype);
    pf_datatype_release(*kept);
    *kept = datatype;
}

int pf_PMPI_File_set_view(MPI_File handle, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                          const char *datarep, MPI_Info info)
{
    struct pf_rank *r = PF_ENTER(File_set_view);
    struct pf_file *file = pf_file_of(handle);
    if (!file || !datarep)
        return pf_file_failed(r, handle, file ? MPI_ERR_ARG : MPI_ERR_FILE);
    struct pf_instance *in = pf_file_begin(r, file);
    if (disp == MPI_DISPLACEMENT_CURRENT)
        disp = in->values->displacement_current;
    int code = in->fn->File_set_view(pf_native(in, handle), disp, pf_native(in, etype),
                                     pf_native(in, filetype), datarep, pf_native(in, info));
    if (code == MPI_SUCCESS) {
        keep_type(&file->etype, etype);
        keep_type(&file->filetype, filetype);
    }
    return pf_file_leave(r, in, handle, code);
}

/* What a get_view hands out is the caller's: a derived type is a duplicate, to be freed. */
static int hand_out_type(MPI_Datatype datatype, MPI_Datatype *out)
{
    if (!pf_is_predefined(datatype))
        return pf_PMPI_Type_dup(datatype, out);
    *out = datatype;
    return MPI_SUCCESS;
}

int pf_PMPI_File_get_view(MPI_File handle, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                          char *datarep)
{
    struct pf_rank *r = PF_ENTER(File_get_view);
    struct pf_file *file = pf_file_of(handle);
    if (!file || !disp || !etype || !filetype || !datarep)
        return pf_file_failed(r, handle, file ? MPI_ERR_ARG : MPI_ERR_FILE);
    pf_native_datatype_t native_etype, native_filetype;
    struct pf_instance *in = pf_file_begin(r, file);
    int code = in->fn->File_get_view(pf_native(in, handle), disp, &native_etype, &native_filetype, datarep);
    pf_call_native_end(r, in);
    if (code != MPI_SUCCESS)
        return pf_file_failed(r, handle, in->ops->error_class(in, code));
    code = hand_out_type(file->etype, etype);
    return pf_call_return(r, code == MPI_SUCCESS ? hand_out_type(file->filetype, filetype) : code);
}

int pf_PMPI_File_set_info(MPI_File handle, MPI_Info info)
{
    struct pf_rank *r = PF_ENTER(File_set_info);
    struct pf_file *file = pf_file_of(handle);
    if (!file)
        return pf_file_failed(r, handle, MPI_ERR_FILE);
    struct pf_instance *in = pf_file_begin(r, file);
    int code = in->fn->File_set_info(pf_native(in, handle), pf_native(in, info));
    pf_call_native_end(r, in);
    if (code != MPI_SUCCESS)
        return pf_file_failed(r, handle, in->ops->error_class(in, code));
    pf_info_release(file->info);
    file->info = pf_info_copy(r, info);
    return pf_call_return(r, MPI_SUCCESS);
}

/* The hints that the program has given; what the implementation makes of them stays its own. */
int pf_PMPI_File_get_info(MPI_File handle, MPI_Info *info)
{
    struct pf_rank *r = PF_ENTER(File_get_info);
    const struct pf_file *file = pf_file_of(handle);
    if (!file || !info)
        return pf_file_failed(r, handle, file ? MPI_ERR_ARG : MPI_ERR_FILE);
    if (file->info == MPI_INFO_NULL)
        return pf_call_return(r, pf_PMPI_Info_create(info));
    *info = pf_info_copy(r, file->info);
    return pf_call_return(r, MPI_SUCCESS);
}
