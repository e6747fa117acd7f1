/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, and the end of a job by one that is fatal: MPI 3.1 section 8.3. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "middleware/core/call_site.h"
#include "middleware/core/upcalls.h"
#include "middleware/core/errhandler.h"
#include "middleware/core/job_state.h"

struct pf_errhandler {
    struct pf_object object;
    struct pf_rank *owner;
    enum pf_errhandler_kind kind;
    union {
        MPI_Comm_errhandler_function *comm;
        MPI_Win_errhandler_function *win;
        MPI_File_errhandler_function *file;
        void (*any)(void);
    } function;
};

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
    char site[512], name[200];
    const char *text = pf_errhandler_text(code);
    fprintf(stderr,
            "parfocal: error: %s: %s, called at %s, failed: %s (code %d); MPI_ERRORS_ARE_FATAL ends the "
            "job\n",
            pf_workload_rank_name(r->self.rank, name, sizeof name), pf_fn_name(r->call.fn),
            pf_call_site_of(r, r->call.site, site, sizeof site), text ? text : "unknown error code", code);
    pf_job_blame(&r->self, code, "%s failed: %s", pf_fn_name(r->call.fn), text ? text : "unknown error code");
    pf_upcalls.fatal(r, text ? text : "unknown error code");
    /* A rank of this job that has left with an error is the reason more likely than not. */
    bool left = pf_job_state.left_status && pf_job_state.world_count == 1;
    pf_job_abort(r->self.rank, left ? pf_job_state.left_status : code);
}

int pf_errhandler_run(struct pf_rank *r, MPI_Errhandler handler, void *handle, int code)
{
    struct pf_errhandler *user = errhandler_of(handler);
    if (handler == MPI_ERRORS_RETURN)
        return code;
    if (!user)
        fatal(r, code);
    int passed = code;
    user->object.references++; /* the handler may free itself */
    if (user->kind == PF_ERRHANDLER_COMM)
        user->function.comm((MPI_Comm *)handle, &passed);
    else if (user->kind == PF_ERRHANDLER_WIN)
        user->function.win((MPI_Win *)handle, &passed);
    else
        user->function.file((MPI_File *)handle, &passed);
    pf_errhandler_release(handler);
    return code;
}

int pf_errhandler_raise(struct pf_rank *r, MPI_Comm handle, int code)
{
    MPI_Errhandler errhandler = pf_upcalls.errhandler_of(r, &handle);
    return pf_errhandler_run(r, errhandler, &handle, code);
}

MPI_Errhandler pf_errhandler_new(struct pf_rank *r, enum pf_errhandler_kind kind, void (*function)(void))
{
    struct pf_errhandler *errhandler = malloc(sizeof *errhandler);
    if (!errhandler)
        return MPI_ERRHANDLER_NULL;
    *errhandler = (struct pf_errhandler){.kind = kind, .owner = r, .function.any = function};
    errhandler->object.kind = PF_KIND_ERRHANDLER;
    errhandler->object.references = 1;
    r->live_objects++;
    return (MPI_Errhandler)(uintptr_t)errhandler;
}

static bool fits(MPI_Errhandler handle, enum pf_errhandler_kind kind)
{
    struct pf_errhandler *errhandler = errhandler_of(handle);
    return handle == MPI_ERRORS_RETURN || handle == MPI_ERRORS_ARE_FATAL ||
           (errhandler && errhandler->kind == kind);
}

int pf_errhandler_set(MPI_Errhandler *slot, MPI_Errhandler handle, enum pf_errhandler_kind kind)
{
    if (!fits(handle, kind))
        return MPI_ERR_ARG;
    pf_errhandler_retain(handle);
    pf_errhandler_release(*slot);
    *slot = handle;
    return MPI_SUCCESS;
}

int pf_errhandler_get(const MPI_Errhandler *slot, MPI_Errhandler *out)
{
    if (!out)
        return MPI_ERR_ARG;
    *out = *slot ? *slot : MPI_ERRORS_ARE_FATAL;
    pf_errhandler_retain(*out);
    return MPI_SUCCESS;
}

bool pf_errhandler_valid(MPI_Errhandler handle)
{
    return handle == MPI_ERRORS_RETURN || handle == MPI_ERRORS_ARE_FATAL || errhandler_of(handle);
}
