/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers: MPI 3.1 section 8.3. */
#include <stdio.h>
#include <stdlib.h>

#include "middleware/core/call.h"
#include "middleware/core/call_site.h"
#include "middleware/core/rank_objects.h"
#include "middleware/object/errhandler.h"
#include "middleware/core/job_state.h"

enum attached_to { TO_COMM, TO_WIN, TO_FILE };

struct pf_errhandler {
    struct pf_object object;
    struct pf_rank *owner;
    enum attached_to kind;
    union {
        MPI_Comm_errhandler_function *comm;
        MPI_Win_errhandler_function *win;
        MPI_File_errhandler_function *file;
    } function;
};

__attribute__((weak)) MPI_Errhandler *pf_win_errhandler(struct pf_rank *r, MPI_Win win)
{
    (void)r;
    (void)win;
    return NULL;
}

__attribute__((weak)) MPI_Errhandler *pf_file_errhandler(struct pf_rank *r, MPI_File file)
{
    (void)r;
    (void)file;
    return NULL;
}

static struct pf_errhandler *errhandler_of(MPI_Errhandler handle)
{
    return (struct pf_errhandler *)pf_object_of(handle, PF_KIND_ERRHANDLER);
}

void pf_errhandler_retain(MPI_Errhandler handle)
{
    struct pf_errhandler *errhandler = errhandler_of(handle);
    if (errhandler)
        errhandler->object.references++;
}

void pf_errhandler_release(MPI_Errhandler handle)
{
    struct pf_errhandler *errhandler = errhandler_of(handle);
    if (!errhandler || --errhandler->object.references > 0)
        return;
    errhandler->owner->live_objects--;
    errhandler->object.kind = PF_KIND_DEAD;
    pf_object_discard(errhandler);
}

static void fatal(struct pf_rank *r, int code) __attribute__((noreturn));
static void fatal(struct pf_rank *r, int code)
{
    char site[512];
    const char *text = pf_errhandler_text(code);
    fprintf(stderr,
            "parfocal: error: rank %d: %s, called at %s, failed: %s (code %d); MPI_ERRORS_ARE_FATAL ends the "
            "job\n",
            r->self.rank, pf_fn_name(r->call.fn), pf_call_site(r->call.site, site, sizeof site),
            text ? text : "unknown error code", code);
    pf_job_abort(r->self.rank, code);
}

/* Runs a handler; `handle` is the address of the object's handle. */
static int run(struct pf_rank *r, MPI_Errhandler handler, void *handle, int code)
{
    struct pf_errhandler *user = errhandler_of(handler);
    if (handler == MPI_ERRORS_RETURN)
        return code;
    if (!user)
        fatal(r, code);
    int passed = code;
    user->object.references++; /* the handler may free itself */
    if (user->kind == TO_COMM)
        user->function.comm((MPI_Comm *)handle, &passed);
    else if (user->kind == TO_WIN)
        user->function.win((MPI_Win *)handle, &passed);
    else
        user->function.file((MPI_File *)handle, &passed);
    pf_errhandler_release(handler);
    return code;
}

int pf_errhandler_raise(struct pf_rank *r, MPI_Comm handle, int code)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm) {
        handle = MPI_COMM_WORLD;
        comm = r->world;
    }
    return run(r, comm ? comm->errhandler : MPI_ERRORS_ARE_FATAL, &handle, code);
}

int pf_errhandler_raise_win(struct pf_rank *r, MPI_Win win, int code)
{
    MPI_Errhandler *slot = pf_win_errhandler(r, win);
    return slot ? run(r, *slot, &win, code) : pf_errhandler_raise(r, MPI_COMM_WORLD, code);
}

/* The handler of MPI_FILE_NULL is the one for errors without a file. */
static MPI_Errhandler *file_slot(struct pf_rank *r, MPI_File file)
{
    return file == MPI_FILE_NULL ? &pf_rank_objects(r)->file_errhandler : pf_file_errhandler(r, file);
}

int pf_errhandler_raise_file(struct pf_rank *r, MPI_File file, int code)
{
    MPI_Errhandler *slot = file_slot(r, file);
    if (!slot) {
        file = MPI_FILE_NULL;
        slot = file_slot(r, file);
    }
    return run(r, *slot, &file, code);
}

static int create(struct pf_rank *r, struct pf_errhandler model, const void *function, MPI_Errhandler *out)
{
    if (!function || !out)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    struct pf_errhandler *errhandler = malloc(sizeof *errhandler);
    if (!errhandler)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    *errhandler = model;
    errhandler->object.kind = PF_KIND_ERRHANDLER;
    errhandler->object.references = 1;
    errhandler->owner = r;
    r->live_objects++;
    *out = (MPI_Errhandler)(uintptr_t)errhandler;
    return pf_call_return(r, MPI_SUCCESS);
}

static bool fits(MPI_Errhandler handle, enum attached_to kind)
{
    struct pf_errhandler *errhandler = errhandler_of(handle);
    return handle == MPI_ERRORS_RETURN || handle == MPI_ERRORS_ARE_FATAL ||
           (errhandler && errhandler->kind == kind);
}

/* Replaces the handler in a slot. Returns an MPI error class. */
static int set(MPI_Errhandler *slot, MPI_Errhandler handle, enum attached_to kind)
{
    if (!fits(handle, kind))
        return MPI_ERR_ARG;
    pf_errhandler_retain(handle);
    pf_errhandler_release(*slot);
    *slot = handle;
    return MPI_SUCCESS;
}

/* The caller frees what it gets. */
static int get(const MPI_Errhandler *slot, MPI_Errhandler *out)
{
    if (!out)
        return MPI_ERR_ARG;
    *out = *slot ? *slot : MPI_ERRORS_ARE_FATAL;
    pf_errhandler_retain(*out);
    return MPI_SUCCESS;
}

static int finish(struct pf_rank *r, MPI_Comm comm, int error)
{
    return error ? pf_call_error(r, comm, error) : pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    struct pf_errhandler model = {.kind = TO_COMM, .function.comm = function};
    return create(PF_ENTER(Comm_create_errhandler), model, (const void *)function, errhandler);
}

int pf_PMPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    struct pf_errhandler model = {.kind = TO_COMM, .function.comm = function};
    return create(PF_ENTER(Errhandler_create), model, (const void *)function, errhandler);
}

int pf_PMPI_Win_create_errhandler(MPI_Win_errhandler_function *function, MPI_Errhandler *errhandler)
{
    struct pf_errhandler model = {.kind = TO_WIN, .function.win = function};
    return create(PF_ENTER(Win_create_errhandler), model, (const void *)function, errhandler);
}

int pf_PMPI_File_create_errhandler(MPI_File_errhandler_function *function, MPI_Errhandler *errhandler)
{
    struct pf_errhandler model = {.kind = TO_FILE, .function.file = function};
    return create(PF_ENTER(File_create_errhandler), model, (const void *)function, errhandler);
}

static int comm_set(struct pf_rank *r, MPI_Comm handle, MPI_Errhandler errhandler)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    return finish(r, handle, comm ? set(&comm->errhandler, errhandler, TO_COMM) : MPI_ERR_COMM);
}

static int comm_get(struct pf_rank *r, MPI_Comm handle, MPI_Errhandler *errhandler)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    return finish(r, handle, comm ? get(&comm->errhandler, errhandler) : MPI_ERR_COMM);
}

int pf_PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return comm_set(PF_ENTER(Comm_set_errhandler), comm, errhandler);
}

int pf_PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return comm_set(PF_ENTER(Errhandler_set), comm, errhandler);
}

int pf_PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return comm_get(PF_ENTER(Comm_get_errhandler), comm, errhandler);
}

int pf_PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return comm_get(PF_ENTER(Errhandler_get), comm, errhandler);
}

int pf_PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    struct pf_rank *r = PF_ENTER(Win_set_errhandler);
    MPI_Errhandler *slot = pf_win_errhandler(r, win);
    return finish(r, MPI_COMM_WORLD, slot ? set(slot, errhandler, TO_WIN) : MPI_ERR_WIN);
}

int pf_PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    struct pf_rank *r = PF_ENTER(Win_get_errhandler);
    MPI_Errhandler *slot = pf_win_errhandler(r, win);
    return finish(r, MPI_COMM_WORLD, slot ? get(slot, errhandler) : MPI_ERR_WIN);
}

int pf_PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    struct pf_rank *r = PF_ENTER(File_set_errhandler);
    MPI_Errhandler *slot = file_slot(r, file);
    return finish(r, MPI_COMM_WORLD, slot ? set(slot, errhandler, TO_FILE) : MPI_ERR_FILE);
}

int pf_PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    struct pf_rank *r = PF_ENTER(File_get_errhandler);
    MPI_Errhandler *slot = file_slot(r, file);
    return finish(r, MPI_COMM_WORLD, slot ? get(slot, errhandler) : MPI_ERR_FILE);
}

/* The function itself succeeds when the handler returns, whatever the code. */
int pf_PMPI_Comm_call_errhandler(MPI_Comm handle, int errorcode)
{
    struct pf_rank *r = PF_ENTER(Comm_call_errhandler);
    if (!pf_comm_of(r, handle))
        return pf_call_error(r, handle, MPI_ERR_COMM);
    (void)pf_errhandler_raise(r, handle, errorcode);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    struct pf_rank *r = PF_ENTER(Win_call_errhandler);
    if (!pf_win_errhandler(r, win))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_WIN);
    (void)pf_errhandler_raise_win(r, win, errorcode);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_File_call_errhandler(MPI_File file, int errorcode)
{
    struct pf_rank *r = PF_ENTER(File_call_errhandler);
    if (!file_slot(r, file))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_FILE);
    (void)pf_errhandler_raise_file(r, file, errorcode);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Errhandler_free(MPI_Errhandler *handle)
{
    struct pf_rank *r = PF_ENTER(Errhandler_free);
    if (!handle || !fits(*handle, errhandler_of(*handle) ? errhandler_of(*handle)->kind : TO_COMM))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    pf_errhandler_release(
        *handle); /* predefined ones stay: a program frees what MPI_Comm_get_errhandler gave it */
    *handle = MPI_ERRHANDLER_NULL;
    return pf_call_return(r, MPI_SUCCESS);
}
