/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of objects of each rank, found by its number in the job. */

#include "base/memory.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/job_state.h"
#include "middleware/core/rank_objects.h"

/* Tags that every model can carry: the Portals match bits leave 24 to the tag, and a receive of
 * any tag looks at 23 of them only, because the highest is that of collectives. */
#define TAG_UPPER_BOUND ((1 << 23) - 1)

void (*pf_object_keep)(void *object);

static struct pf_rank_objects **tables;
static int table_count;

static void fill_constants(struct pf_rank_objects *o, const struct pf_rank *r)
{
    o->tag_ub = TAG_UPPER_BOUND;
    o->host = MPI_PROC_NULL;
    o->io = MPI_ANY_SOURCE;
    o->wtime_is_global = 1;
    o->universe_size = r->job->size;
    o->appnum = pf_job_program_of(r->self.rank) - pf_job_program_of(r->job->first);
    o->last_used_code = MPI_ERR_LASTCODE;
    o->file_errhandler = MPI_ERRORS_RETURN;
}

struct pf_rank_objects *pf_rank_objects(struct pf_rank *r)
{
    int rank = r->self.rank;
    PF_ARRAY_REACH(tables, table_count, rank);
    if (!tables[rank]) {
        tables[rank] = pf_calloc(1, sizeof *tables[rank]);
        fill_constants(tables[rank], r);
    }
    return tables[rank];
}
