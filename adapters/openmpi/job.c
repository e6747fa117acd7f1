/* SPDX-License-Identifier: BSD-3-Clause */
/* All Open MPI instances of a run: made together, found by rank, left together. */
#include "adapters/openmpi/openmpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/engine.h>
#include <simgrid/semaphore.h>

#include "adapters/openmpi/clone.h"
#include "adapters/openmpi/hooks.h"
#include "adapters/openmpi/image.h"
#include "adapters/openmpi/instance.h"
#include "adapters/openmpi/job_limits.h"
#include "adapters/openmpi/message_log.h"
#include "adapters/openmpi/modex.h"
#include "adapters/openmpi/private/private.h"
#include "adapters/openmpi/settings.h"
#include "adapters/openmpi/waits.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/libc.h"
#include "lowlevel/portals/runtime.h"

static struct {
    struct pf_ompi_job job;
    struct pf_ompi_instance *instances;
    enum { CLOSED, OPEN, CREATING, READY, FAILED } state;
    sg_bar_t fence;
    sg_sem_t initialised; /* released once by every helper, or by the first that fails */
    sg_sem_t created;     /* for callers that find the creation under way */
    int waiting;
    char why[512];
} job;

static struct pf_ompi_instance *instance_of_caller(void)
{
    const pf_self_t *self = job.instances ? pf_self() : NULL;
    return self && self->rank < job.job.size ? &job.instances[self->rank] : NULL;
}

/* What the hooks ask for the calling actor's instance. */

static const char *caller_getenv(const char *name)
{
    struct pf_ompi_instance *inst = instance_of_caller();
    return inst ? pf_ompi_instance_getenv(inst, name) : getenv(name);
}

static void caller_setenv(const char *name, const char *value)
{
    struct pf_ompi_instance *inst = instance_of_caller();
    if (inst)
        pf_ompi_instance_setenv(inst, name, value);
}

static void caller_exit(int status)
{
    const struct pf_ompi_instance *inst = instance_of_caller();
    if (inst && inst->ready)
        job.job.on_abort(inst->self->rank, status);
}

static bool caller_first_search(void)
{
    struct pf_ompi_instance *inst = instance_of_caller();
    bool first = inst && !inst->searched;
    if (inst)
        inst->searched = true;
    return first;
}

static void caller_progress(void)
{
    instance_of_caller()->glue->progress();
}

/* SimGrid's accuracy of dates (s), below which it warns. */
#define SHORTEST_SLEEP 1e-9

/* Open MPI's own work takes simulated time in the calls of its rank; not while it is initialised, and not in
 * a helper's progress. */
static void caller_pay(double seconds)
{
    struct pf_ompi_instance *inst = instance_of_caller();
    if (seconds <= 0 || !inst || !inst->ready || inst->helped)
        return;
    inst->owed += seconds;
    if (inst->owed < SHORTEST_SLEEP)
        return;
    seconds = inst->owed;
    inst->owed = 0;
    sg_actor_sleep_for(seconds);
}

static void host_combined(void *context, size_t bytes)
{
    (void)context;
    caller_pay((double)bytes / pf_config.openmpi_combine_bw);
}

/* What the glue asks, see struct pf_glue_host. */

static void host_fence(void *context)
{
    (void)context;
    sg_barrier_wait(job.fence);
}

static void host_put(void *context, const char *key, int type, const void *data, size_t n)
{
    const struct pf_ompi_instance *inst = context;
    pf_modex_put(inst->self->rank, key, type, data, n);
}

static bool host_get(void *context, int rank, const char *key, int *type, const void **data, size_t *n)
{
    (void)context;
    return pf_modex_get(rank, key, type, data, n);
}

static const char *host_name_of_host(void *context, int rank)
{
    (void)context;
    return rank < job.job.size ? sg_host_get_name(job.job.ranks[rank]->host) : NULL;
}

static void host_abort(void *context, int status)
{
    const struct pf_ompi_instance *inst = context;
    if (!inst->ready)
        pf_die("Open MPI could not be initialised for rank %d; its own message is above", inst->self->rank);
    job.job.on_abort(inst->self->rank, status);
    pf_end_process(status ? status : 1);
}

static void host_refuse(void *context, const char *what, long long found, long long expected)
{
    (void)context;
    pf_die("this Open MPI is not the " PF_OMPI_VERSION " that Parfocal was built for: %s is %lld, but %lld "
           "was expected; install the package " PF_OMPI_PACKAGE
           " of the distribution, or build Parfocal again",
           what, found, expected);
}

static double host_now(void *context)
{
    (void)context;
    return simgrid_get_clock();
}

/* The offloading components have queues and counters of their own, for which they wait in other ways: they
 * keep the stock progress. */
static const uint64_t *host_changes(void *context)
{
    if (*pf_config.openmpi_coll || strcmp(pf_config_osc(), "portals4") == 0)
        return NULL;
    return pf_portals_changes(((struct pf_ompi_instance *)context)->self);
}

static void host_idle_pass(void *context)
{
    pf_portals_idle_pass(((struct pf_ompi_instance *)context)->self);
}

static void host_idle_at_least(void *context, long passes)
{
    pf_portals_idle_at_least(((struct pf_ompi_instance *)context)->self, passes);
}

static void host_send_needs_ack(void *context, bool on)
{
    pf_portals_send_needs_ack(((struct pf_ompi_instance *)context)->self, on);
}

static void host_keep_events(void *context, const struct pf_glue_waits *waits)
{
    if (pf_config.openmpi_receive_time > 0)
        return; /* each event costs its rank time when it comes */
    pf_portals_keep_events(((struct pf_ompi_instance *)context)->self, pf_ompi_keeps_event, waits);
}

static int host_use_network(void *context, int network)
{
    pf_self_t *self = ((struct pf_ompi_instance *)context)->self;
    return network == PF_GLUE_SAME_NETWORK ? pf_portals_network_now(self)
                                           : pf_portals_network_use(self, network);
}

static void host_message(void *context, int to, size_t bytes, int tag)
{
    const struct pf_ompi_instance *inst = context;
    pf_message_log_write(inst->self->rank, to, bytes, tag);
}

/* Ranks on the same simulated host, in mpirun's form. */
static char *local_peers(int rank, int *local_rank, int *local_size)
{
    size_t room = 16, length = 0;
    char *text = pf_calloc(1, room);
    *local_rank = *local_size = 0;
    for (int other = 0; other < job.job.size; other++) {
        if (job.job.ranks[other]->host != job.job.ranks[rank]->host)
            continue;
        if (other < rank)
            ++*local_rank;
        if (length + 16 > room)
            text = pf_realloc(text, room *= 2);
        length += (size_t)snprintf(text + length, room - length, "%s%d", *local_size ? "," : "", other);
        ++*local_size;
    }
    return text;
}

static void prepare_instance(int rank)
{
    struct pf_ompi_instance *inst = &job.instances[rank];
    int local_rank, local_size;
    inst->self = job.job.ranks[rank];
    inst->local_peers = local_peers(rank, &local_rank, &local_size);
    inst->host = (struct pf_glue_host){
        .size = sizeof inst->host,
        .context = inst,
        .rank = rank,
        .job_size = job.job.size,
        .local_rank = local_rank,
        .local_size = local_size,
        .local_peers = inst->local_peers,
        .host_name = sg_host_get_name(inst->self->host),
        .fence = host_fence,
        .put = host_put,
        .get = host_get,
        .name_of_host = host_name_of_host,
        .abort = host_abort,
        .refuse = host_refuse,
        .now = host_now,
        .log_messages = pf_message_log_wanted(),
        .message = host_message,
        .combined = pf_config.openmpi_combine_bw > 0 ? host_combined : NULL,
        .buffered_max = pf_config.openmpi_buffered_max,
        .plugin_list = pf_ompi_plugin_list,
        .plugin_open = pf_ompi_plugin_open,
        .plugin_symbol = pf_ompi_plugin_symbol,
        .changes = host_changes,
        .idle_pass = host_idle_pass,
        .idle_at_least = host_idle_at_least,
        .send_needs_ack = host_send_needs_ack,
        .keep_events = host_keep_events,
        .use_network = host_use_network,
    };
}

static bool initialise(struct pf_ompi_instance *inst)
{
    int thread_level;
    if (!pf_ompi_instance_load(inst, job.why, sizeof job.why))
        return false;
    int status = inst->glue->init(&thread_level);
    if (status != 0)
        snprintf(job.why, sizeof job.why, "Open MPI's MPI_Init failed for rank %d with error %d",
                 inst->self->rank, status);
    return status == 0;
}

/* Body of the helper that initialises one rank's instance: it is the rank, as far as Open MPI and the NIC can
 * see. */
static void init_actor(int argc, char **argv)
{
    struct pf_ompi_instance *inst = instance_of_caller();
    (void)argc;
    (void)argv;
    pf_portals_free_mode(inst->self, true);
    inst->ready = initialise(inst);
    pf_portals_free_mode(inst->self, false);
    pf_ompi_image_fetch(inst->self);
    if (!inst->ready)
        job.state = FAILED;
    sg_sem_release(job.initialised);
}

/* Memory maps of a rank: its libraries, large blocks of malloc, the helper's stack with its guard. */
static size_t maps_of_rank(bool in_image)
{
    enum { IMAGE = 1, BESIDE_IMAGE = 4, BESIDE_CLONES = 20 };
    return in_image ? IMAGE + BESIDE_IMAGE : pf_parts_maps() + BESIDE_CLONES;
}

static bool check_limits(int size, char *why, size_t n, int *error)
{
    *error = PF_ERR_VERSION;
    if (!pf_parts_find(why, n))
        return false;
    *error = PF_ERR_LIMIT;
    if (size > PF_FAMILY_MAX_RANK + 1) {
        snprintf(why, n, "%d ranks are more than the portals models can name (%d)", size,
                 PF_FAMILY_MAX_RANK + 1);
        return false;
    }
    return pf_limits_check(size, maps_of_rank(pf_ompi_image_wanted()), why, n);
}

int pf_ompi_probe(int size, char *why, size_t n)
{
    int error;
    return check_limits(size, why, n, &error) ? PF_SUCCESS : error;
}

int pf_ompi_open(const struct pf_ompi_job *given, char *why, size_t n)
{
    int error;
    if (job.state != CLOSED)
        return PF_SUCCESS;
    if (!check_limits(given->size, why, n, &error))
        return error;
    if (!pf_message_log_open(why, n))
        return PF_ERR_IO;
    job.job = *given;
    job.state = OPEN;
    return PF_SUCCESS;
}

/* An image of all libraries, or else a place for clones of them. */
static bool prepare_loading(void)
{
    char refused[400];
    pf_settings_of_process();
    if (pf_ompi_image_wanted()) {
        if (pf_ompi_image_make(job.job.size, refused, sizeof refused))
            return true;
        pf_warn("Open MPI is loaded the slow way (PARFOCAL_OPENMPI_LOADING=clones): %s", refused);
        if (!pf_limits_check(job.job.size, maps_of_rank(false), job.why, sizeof job.why))
            return false;
    }
    return pf_clone_dir_open(pf_parts_bytes() * (size_t)job.job.size, job.why, sizeof job.why);
}

static void start_helpers(void)
{
    for (int rank = 0; rank < job.job.size; rank++) {
        char name[32];
        snprintf(name, sizeof name, "openmpi-init-%d", rank);
        sg_actor_t helper = sg_actor_init(name, job.job.ranks[rank]->host);
        sg_actor_set_data(helper, job.job.ranks[rank]);
        sg_actor_start(helper, init_actor, 0, NULL);
    }
    for (int done = 0; done < job.job.size && job.state != FAILED; done++)
        sg_sem_acquire(job.initialised);
}

static void create(void)
{
    job.state = CREATING;
    job.instances = pf_calloc((size_t)job.job.size, sizeof *job.instances);
    for (int rank = 0; rank < job.job.size; rank++)
        prepare_instance(rank);
    job.fence = sg_barrier_init((unsigned)job.job.size);
    job.initialised = sg_sem_init(0);
    job.created = sg_sem_init(0);
    static const struct pf_libc_host host = {caller_exit, caller_getenv, caller_setenv};
    pf_libc_set_host(&host);
    pf_hooks_first_search = caller_first_search;
    pf_hooks_progress = caller_progress;
    if (pf_config.openmpi_send_time > 0 || pf_config.openmpi_receive_time > 0)
        pf_hooks_pay = caller_pay;
    if (prepare_loading())
        start_helpers();
    else
        job.state = FAILED;
    pf_clone_dir_close();
    if (job.state == CREATING)
        job.state = READY;
    while (job.waiting > 0) {
        job.waiting--;
        sg_sem_release(job.created);
    }
}

int pf_ompi_instances_create(char *why, size_t n)
{
    if (job.state == OPEN) {
        create();
    } else if (job.state == CREATING) {
        job.waiting++;
        sg_sem_acquire(job.created);
    } else if (job.state == CLOSED) {
        snprintf(why, n, "pf_ompi_open comes first");
        return PF_ERR_ARG;
    }
    if (job.state == READY)
        return PF_SUCCESS;
    snprintf(why, n, "%s", job.why);
    return PF_ERR_NATIVE;
}

struct pf_ompi_instance *pf_ompi_instance(int rank)
{
    return job.state == READY && rank >= 0 && rank < job.job.size ? &job.instances[rank] : NULL;
}

void pf_ompi_enter(struct pf_ompi_instance *inst, int network)
{
    inst->searched = false;
    pf_portals_enter(inst->self, network);
}

const struct pf_glue *pf_ompi_glue(const struct pf_ompi_instance *inst)
{
    return inst->glue;
}

void pf_ompi_progress(struct pf_ompi_instance *inst)
{
    /* One NIC event may need several passes: the first completes a request, the next lets the nonblocking
     * collective that waited for it start its next round. Rounds that wait for the network end in events of
     * their own. A pass polls each component once, which must not count up to a block. */
    enum { PASSES = 8 };
    inst->helped = true;
    for (int i = 0; i < PASSES; i++) {
        pf_portals_idle_reset(inst->self);
        inst->glue->progress();
    }
    inst->helped = false;
}
