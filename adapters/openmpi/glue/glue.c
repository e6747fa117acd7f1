/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the adapter meets one rank's Open MPI: what it may ask of its inside. */
#include "ompi_config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/mca/timer/linux/timer_linux.h"
#include "opal/runtime/opal.h"
#include "opal/runtime/opal_progress.h"

#include "adapters/adapter.h"
#include "adapters/openmpi/glue/internal.h"
#include "adapters/openmpi/private/match_bits.h"
#include "adapters/openmpi/private/private.h"

/* Ids of communicators. Open MPI allocates from the bottom; its own limit is lowered so that shadows have the
 * upper half of those that its messages can carry (private/match_bits.h; 16 bits in pml/ob1). */
static int shadow_first;

/* Stock mtl/portals4 takes tags of 24 bits, but a receive of any tag ignores only 23: it would never meet a
 * message with the highest bit, which is that of the tags of collectives. */
enum { TAG_UPPER_BOUND = (1 << PF_OMPI_TAG_BITS) - 1 };

static opal_timer_t simulated_microseconds(void)
{
    return (opal_timer_t)(pf_glue_host->now(pf_glue_host->context) * 1e6);
}

static struct pf_glue glue;

static int instance_init(int *thread_level)
{
    int status = opal_init_util(NULL, NULL);
    if (status == OPAL_SUCCESS)
        status = pf_glue_plugins_install();
    if (status != OPAL_SUCCESS)
        return MPI_ERR_OTHER;
    /* The middleware answers for the thread level; Open MPI itself runs in one thread and needs no locks. */
    status = PMPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, thread_level);
    if (status != MPI_SUCCESS)
        return status;
    pf_glue_check();
    /* No file descriptor is ever ready: the event loop would only cost time. */
    opal_progress_set_event_flag(0);
    opal_timer_base_get_usec = simulated_microseconds;
    opal_timer_base_get_cycles = simulated_microseconds;
    shadow_first = (int)((mca_pml.pml_max_contextid < PF_OMPI_CONTEXTS ? mca_pml.pml_max_contextid + 1
                                                                       : PF_OMPI_CONTEXTS) /
                         2);
    mca_pml.pml_max_contextid = (uint32_t)shadow_first;
    glue.shadow_limit = shadow_first;
    mca_pml.pml_max_tag = TAG_UPPER_BOUND;
    pf_glue_progress_install();
    pf_glue_request_install();
    pf_glue_send_install();
    pf_glue_buffered_install();
    pf_glue_op_install();
    pf_glue_messages_install();
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    PMPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    return MPI_SUCCESS;
}

static int instance_progress(void)
{
    opal_progress();
    return 0;
}

/* The table of communicators reaches to the first shadow: its memory is untouched zeros, where
 * its own function would write all of them. */
static bool table_reaches_shadows(opal_pointer_array_t *table)
{
    if (table->size >= shadow_first)
        return true;
    void **at = calloc((size_t)shadow_first, sizeof *at);
    uint64_t *bits = calloc((size_t)shadow_first / 64, sizeof *bits);
    if (!at || !bits) {
        free(at);
        free(bits);
        return false;
    }
    memcpy(at, table->addr, (size_t)table->size * sizeof *at);
    memcpy(bits, table->free_bits, ((size_t)table->size + 63) / 64 * sizeof *bits);
    free(table->addr);
    free(table->free_bits);
    table->addr = at;
    table->free_bits = bits;
    table->number_free += shadow_first - table->size;
    table->size = shadow_first;
    return true;
}

/* Everything that ompi_comm_activate does, less its allreduce: the middleware vouches that all members use
 * the same id. */
static int activate(ompi_communicator_t *comm, int cid)
{
    if (opal_pointer_array_get_item(&ompi_mpi_communicators, cid))
        return MPI_ERR_INTERN; /* a shadow of the same id is still alive */
    pf_glue_comm_set_index(comm, (uint32_t)cid);
    if (!table_reaches_shadows(&ompi_mpi_communicators) ||
        opal_pointer_array_set_item(&ompi_mpi_communicators, cid, comm) != OPAL_SUCCESS)
        return MPI_ERR_NO_MEM;
    int status = MCA_PML_CALL(add_comm(comm));
    if (status != OMPI_SUCCESS)
        return MPI_ERR_INTERN;
    OMPI_COMM_SET_PML_ADDED(comm);
    return mca_coll_base_comm_select(comm) == OMPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_INTERN;
}

/* One without an id. */
static int comm_make(const int *world_ranks, int n, int me, ompi_communicator_t **result)
{
    ompi_communicator_t *comm = NULL;
    int status = pf_glue_comm_over(world_ranks, n, &comm);
    if (status != OMPI_SUCCESS)
        return MPI_ERR_INTERN;
    if (ompi_comm_rank(comm) != me) {
        OBJ_RELEASE(comm);
        return MPI_ERR_RANK;
    }
    *result = comm;
    return MPI_SUCCESS;
}

static int instance_comm_shadow(const int *world_ranks, int n, int me, int id, void **result)
{
    ompi_communicator_t *comm;
    if (id < 0 || id >= shadow_first)
        return MPI_ERR_INTERN;
    int status = comm_make(world_ranks, n, me, &comm);
    if (status != MPI_SUCCESS)
        return status;
    status = activate(comm, shadow_first + id);
    if (status != MPI_SUCCESS) {
        OBJ_RELEASE(comm);
        return status;
    }
    *result = comm;
    return MPI_SUCCESS;
}

/* The groups of an intercommunicator that has none yet but its own one twice. */
static int set_others(ompi_communicator_t *comm, const int *ranks, int n)
{
    ompi_group_t *others;
    if (ompi_group_incl(ompi_mpi_comm_world.comm.c_local_group, n, (int *)(uintptr_t)ranks, &others) !=
        OMPI_SUCCESS)
        return MPI_ERR_INTERN;
    OBJ_RELEASE(comm->c_remote_group); /* the local one again */
    comm->c_remote_group = others;
    comm->c_flags |= OMPI_COMM_INTER;
    return MPI_SUCCESS;
}

/* ompi_comm_set_nb() would make the communicator of the own side by a collective call. */
static int instance_intercomm_shadow(const struct pf_intercomm_recipe *recipe, void **result)
{
    int side = recipe->side, id = recipe->id;
    ompi_communicator_t *comm;
    void *local;
    if (id < 0 || id >= shadow_first)
        return MPI_ERR_INTERN;
    int status = comm_make(recipe->ranks[side], recipe->size[side], recipe->me, &comm);
    if (status != MPI_SUCCESS)
        return status;
    status = set_others(comm, recipe->ranks[!side], recipe->size[!side]);
    if (status == MPI_SUCCESS)
        status = instance_comm_shadow(recipe->ranks[side], recipe->size[side], recipe->me, recipe->local_id,
                                      &local);
    if (status == MPI_SUCCESS) {
        comm->c_local_comm = local;
        status = activate(comm, shadow_first + id);
        if (status != MPI_SUCCESS)
            ompi_comm_free(&comm->c_local_comm);
    }
    if (status != MPI_SUCCESS) {
        OBJ_RELEASE(comm);
        return status;
    }
    *result = comm;
    return MPI_SUCCESS;
}

/*
 * Freeing a communicator is local in Open MPI; operations in progress keep it alive. An intercommunicator
 * whose id is lower than its parent's has one reference more, and the stock function goes on giving
 * references back until the id is free: those of operations in progress, too. Here it goes before, once.
 */
static void instance_comm_free(void *native)
{
    ompi_communicator_t *comm = native;
    if (OMPI_COMM_IS_EXTRA_RETAIN(comm)) {
        comm->c_flags &= ~(uint32_t)OMPI_COMM_EXTRA_RETAIN;
        OBJ_RELEASE(comm);
    }
    ompi_comm_free(&comm);
}

static bool instance_comm_kept(int id)
{
    return opal_pointer_array_get_item(&ompi_mpi_communicators, shadow_first + id) != NULL;
}

static void instance_comm_errors_return(void *native)
{
    PMPI_Comm_set_errhandler(native, MPI_ERRORS_RETURN);
}

static bool instance_request_done(const void *native)
{
    const ompi_request_t *request = native;
    return request->req_state == OMPI_REQUEST_INACTIVE ||
           REQUEST_COMPLETE((ompi_request_t *)(uintptr_t)request);
}

static struct pf_glue glue = {
    .size = sizeof glue,
    .init = instance_init,
    .progress = instance_progress,
    .comm_shadow = instance_comm_shadow,
    .intercomm_shadow = instance_intercomm_shadow,
    .comm_free = instance_comm_free,
    .comm_kept = instance_comm_kept,
    .comm_errors_return = instance_comm_errors_return,
    .request_done = instance_request_done,
    .mtl_repair = pf_glue_mtl_repair,
    .coll_repair = pf_glue_coll_repair,
    .coll_end = pf_glue_coll_end,
    .copy = pf_glue_copy,
    .commit = pf_glue_commit,
    .nbc_start = pf_glue_nbc_start,
    .nbc_progress = pf_glue_nbc_progress,
    .osc_receive = pf_glue_osc_receive,
    .osc_send = pf_glue_osc_send,
    .osc_repair = pf_glue_osc_repair,
    .osc_ucx_repair = pf_glue_osc_ucx_repair,
    .window_comm = pf_glue_window_comm,
    .window_shadow = pf_glue_window_shadow,
    .window_open = pf_glue_window_open,
    .window_free = pf_glue_window_free,
    .window_made = pf_glue_window_made,
    .window_gone = pf_glue_window_gone,
};

PF_GLUE_EXPORT const struct pf_glue *pf_glue_bind(const struct pf_glue_host *host);
const struct pf_glue *pf_glue_bind(const struct pf_glue_host *host)
{
    if (host->size != sizeof *host)
        return NULL;
    pf_glue_host = host;
    return &glue;
}
