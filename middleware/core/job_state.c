/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of the process, the names of the functions that they call, and the end of the job by one of them.
 */
#include "middleware/core/job_state.h"

#include "base/log.h"
#include "pf_fn.h"

struct pf_job_state pf_job_state;

static const char *const fn_names[PF_FN_COUNT] = {
#define X(stem, route, group, smpi) "MPI_" #stem,
    PF_FN_LIST(X)
#undef X
};

const char *pf_fn_name(int fn)
{
    return fn >= 0 && fn < PF_FN_COUNT ? fn_names[fn] : "no MPI call";
}

void pf_job_leave(int status)
{
    pf_end_process(status & 0xff);
}

void pf_job_abort(int rank, int status)
{
    pf_end_because("rank %d ended the job with code %d", rank, status);
    pf_job_leave((status & 0xff) == 0 ? 1 : status);
}
