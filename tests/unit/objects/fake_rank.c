/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for SimGrid and for the rest of the middleware. */
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <string.h>

#include "fake_rank.h"
#include "middleware/compute/compute.h"
#include "middleware/core/upcalls.h"
#include "middleware/core/call_site.h"
#include "middleware/core/job_state.h"

uint64_t pf_account_mark;
void (*pf_account_returns)(void);
struct pf_account *pf_account_computing;
bool pf_compute_on;
uint64_t pf_compute_threshold = UINT64_MAX;
int fake_aborted;
struct pf_job_state pf_job_state;

static struct pf_rank rank;
static struct pf_world job;
static struct pf_instance instance;
static struct pf_account account;
static struct pf_account_slot slot;
static struct pf_comm world, alone;
static struct pf_comm_shared world_shared, alone_shared;

void *sg_actor_self_get_data(void)
{
    return &rank.self;
}

sg_actor_t sg_actor_self(void)
{
    return NULL;
}

aid_t sg_actor_self_get_pid(void)
{
    return 1;
}

bool pf_compute_point(struct pf_rank *r, const void *site, bool asks)
{
    (void)r, (void)site, (void)asks;
    return false;
}

void pf_compute_pay(struct pf_rank *r)
{
    (void)r;
}

void pf_compute_inject(struct pf_rank *r)
{
    (void)r;
}

const char *pf_workload_rank_name(int number, char *text, size_t size)
{
    snprintf(text, size, "rank %d", number);
    return text;
}

void pf_job_blame(const pf_self_t *self, int status, const char *format, ...)
{
    (void)self, (void)status, (void)format;
}

void pf_job_abort(int rank, int status)
{
    (void)rank;
    fake_aborted = status;
    exit(99);
}

void pf_world_stay(void)
{
    exit(98);
}

const char *pf_fn_name(int fn)
{
    (void)fn;
    return "MPI_Tested";
}

const char *pf_call_site_of(const struct pf_rank *r, const void *address, char *buffer, size_t size)
{
    (void)r;
    (void)address;
    (void)size;
    return strcpy(buffer, "?");
}

void *pf_object_materialize(struct pf_instance *in, struct pf_object *object)
{
    (void)object;
    return in->values->datatype_null;
}

void *pf_object_predefined(struct pf_instance *in, const void *handle)
{
    (void)in, (void)handle;
    return NULL;
}

static void make_comm(struct pf_comm *comm, struct pf_comm_shared *shared, int size, int me)
{
    shared->size = size;
    free(shared->world_ranks); /* of the rank before */
    shared->world_ranks = malloc((size_t)size * sizeof *shared->world_ranks);
    for (int i = 0; i < size; i++)
        shared->world_ranks[i] = size == 1 ? rank.self.rank : i;
    comm->object.kind = PF_KIND_COMM;
    comm->shared = shared;
    comm->owner = &rank;
    comm->me = me;
    pf_upcalls.errhandler_of = pf_comm_errhandler;
    comm->errhandler = MPI_ERRORS_RETURN;
}

struct pf_rank *fake_rank(int number, int size)
{
    pf_job_state.thread = pthread_self();
    rank.self.rank = number;
    rank.self.size = size;
    rank.self.mpi = &rank;
    job.size = size;
    rank.job = &job;
    rank.state = PF_RANK_RUNNING;
    rank.account = &account;
    rank.active = &instance;
    account.slot = &slot;
    rank.call.model = PF_MODEL_NONE;
    rank.world = &world;
    rank.alone = &alone;
    make_comm(&world, &world_shared, size, number);
    make_comm(&alone, &alone_shared, 1, 0);
    return &rank;
}
