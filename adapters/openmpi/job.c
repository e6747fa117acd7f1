/* SPDX-License-Identifier: BSD-3-Clause */
/* All Open MPI instances of a run: made together, found by rank, left together. */
#include "adapters/openmpi/openmpi.h"

#include <stdio.h>
#include <stdlib.h>

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
#include "adapters/openmpi/stack.h"
#include "adapters/openmpi/waits.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/libc.h"
#include "lowlevel/engine/chain.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/portals/runtime.h"
#include "lowlevel/storage/storage.h"
#include "lowlevel/ucx/runtime.h"

static struct pf_ompi_stack *const stacks[] = {&pf_ompi_portals, &pf_ompi_ucx};

/* The instances of one stack are made at a time. */
static struct pf_ompi_stack *creating;

/* By rank: which of its instances its own actor has entered last. */
static struct pf_ompi_instance **inside;

static struct pf_ompi_instance *instance_in(const struct pf_ompi_stack *stack, const pf_self_t *self)
{
    return stack->instances && self->rank < stack->job.size ? &stack->instances[self->rank] : NULL;
}

/* A helper may be inside one instance of the rank while the rank is inside another. */
static struct pf_ompi_instance *instance_of_caller(void)
{
    const pf_self_t *self = inside ? pf_self() : NULL;
    for (int i = 0; self && i < PF_OMPI_STACKS; i++) {
        struct pf_ompi_instance *inst = instance_in(stacks[i], self);
        if (inst && inst->helper == sg_actor_self())
            return inst;
    }
    return self ? inside[self->rank] : NULL;
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
        inst->stack->job.on_abort(inst->self->rank, status);
}

/* What the calls of Portals ask for the caller's instance over it, of which there is one: they come from it.
 */

static bool caller_first_search(void)
{
    struct pf_ompi_instance *inst = instance_in(&pf_ompi_portals, pf_self());
    bool first = inst && !inst->searched;
    if (inst)
        inst->searched = true;
    return first;
}

static void caller_progress(void)
{
    instance_in(&pf_ompi_portals, pf_self())->glue->progress();
}

/* Open MPI's own work takes simulated time in the calls of its rank; not while it is initialised, and not in
 * a helper's progress. */
static void pay(struct pf_ompi_instance *inst, double seconds)
{
    if (seconds > 0 && inst && inst->ready && !inst->helper)
        pf_engine_pay(&inst->owed, seconds);
}

static void portals_pay(double seconds)
{
    pay(instance_in(&pf_ompi_portals, pf_self()), seconds);
}

static void ucx_pay(pf_self_t *self, double seconds)
{
    pay(instance_in(&pf_ompi_ucx, self), seconds);
}

static void host_combined(void *context, size_t bytes)
{
    pay(context, (double)bytes / pf_config.openmpi_combine_bw);
}

static void host_copied(void *context, size_t bytes)
{
    pay(context, (double)bytes / pf_config.openmpi_copy_bw);
}

static void host_typed(void *context)
{
    pay(context, pf_config.openmpi_type_time);
}

static void host_started(void *context, size_t count)
{
    pay(context, (double)count * pf_config.openmpi_start_time);
}

/* What the glue asks, see struct pf_glue_host. */

static void host_fence(void *context)
{
    sg_barrier_wait(((struct pf_ompi_instance *)context)->stack->fence);
}

static void host_put(void *context, const char *key, int type, const void *data, size_t n)
{
    const struct pf_ompi_instance *inst = context;
    pf_modex_put(&inst->stack->modex, inst->self->rank, key, type, data, n);
}

static bool host_get(void *context, int rank, const char *key, int *type, const void **data, size_t *n)
{
    const struct pf_ompi_stack *stack = ((struct pf_ompi_instance *)context)->stack;
    return pf_modex_get(stack->modex, rank, key, type, data, n);
}

static const char *host_name_of_host(void *context, int rank)
{
    const struct pf_ompi_job *job = &((struct pf_ompi_instance *)context)->stack->job;
    return rank < job->size ? sg_host_get_name(job->ranks[rank]->host) : NULL;
}

static void host_abort(void *context, int status)
{
    const struct pf_ompi_instance *inst = context;
    if (!inst->ready)
        pf_die("Open MPI could not be initialised for rank %d; its own message is above", inst->self->rank);
    inst->stack->job.on_abort(inst->self->rank, status);
    pf_end_process(status ? status : 1);
}

static void host_refuse(void *context, const char *what, long long found, long long expected)
{
    pf_die("this Open MPI is not the " PF_OMPI_VERSION " that Parfocal was built for: %s is %lld, but %lld "
           "was expected; install the package " PF_OMPI_PACKAGE
           " of the distribution, or build Parfocal again",
           what, found, expected);
}

static double host_now(void *context)
{
    return simgrid_get_clock();
}

static const uint64_t *host_changes(void *context)
{
    const struct pf_ompi_instance *inst = context;
    return inst->stack->ops->changes(inst->self);
}

static void host_idle_pass(void *context)
{
    pf_portals_idle_pass(((struct pf_ompi_instance *)context)->self);
}

static void host_idle_at_least(void *context, long passes)
{
    const struct pf_ompi_instance *inst = context;
    inst->stack->ops->idle_at_least(inst->self, passes);
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
    const struct pf_ompi_instance *inst = context;
    const struct pf_ompi_stack_ops *ops = inst->stack->ops;
    return network == PF_GLUE_SAME_NETWORK ? ops->network_now(inst->self)
                                           : ops->network_use(inst->self, network);
}

static void host_message(void *context, int to, size_t bytes, int tag)
{
    const struct pf_ompi_instance *inst = context;
    pf_message_log_write(inst->self->rank, to, bytes, tag);
}

/* Ranks on the same simulated host, in mpirun's form. */
static char *local_peers(const struct pf_ompi_job *job, int rank, int *local_rank, int *local_size)
{
    size_t room = 16, length = 0;
    char *text = pf_calloc(1, room);
    *local_rank = *local_size = 0;
    for (int other = 0; other < job->size; other++) {
        if (job->ranks[other]->host != job->ranks[rank]->host)
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

static void prepare_instance(struct pf_ompi_stack *stack, int rank)
{
    struct pf_ompi_instance *inst = &stack->instances[rank];
    int local_rank, local_size;
    inst->stack = stack;
    inst->self = stack->job.ranks[rank];
    inst->local_peers = local_peers(&stack->job, rank, &local_rank, &local_size);
    inst->host = (struct pf_glue_host){
        .size = sizeof inst->host,
        .context = inst,
        .rank = rank,
        .job_size = stack->job.size,
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
        .copied = pf_config.openmpi_copy_bw > 0 ? host_copied : NULL,
        .typed = pf_config.openmpi_type_time > 0 ? host_typed : NULL,
        .started = pf_config.openmpi_start_time > 0 ? host_started : NULL,
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
    struct pf_ompi_stack *stack = inst->stack;
    int thread_level;
    if (!pf_ompi_instance_load(inst, stack->why, sizeof stack->why))
        return false;
    int status = inst->glue->init(&thread_level);
    if (status != 0)
        snprintf(stack->why, sizeof stack->why, "Open MPI's MPI_Init failed for rank %d with error %d",
                 inst->self->rank, status);
    return status == 0;
}

/* Body of the helper that initialises one rank's instance: it is the rank, as far as Open MPI and the NIC can
 * see. */
static void init_actor(int argc, char **argv)
{
    struct pf_ompi_stack *stack = creating;
    struct pf_ompi_instance *inst = instance_in(stack, pf_self());
    inst->helper = sg_actor_self();
    stack->ops->free_mode(inst->self, true);
    inst->ready = initialise(inst);
    stack->ops->free_mode(inst->self, false);
    inst->helper = NULL;
    pf_ompi_image_fetch(stack, inst->self);
    if (!inst->ready)
        stack->state = PF_OMPI_FAILED;
    sg_sem_release(stack->initialised);
}

/* Memory maps of a rank: its libraries, large blocks of malloc, the helper's stack with its guard. */
static size_t maps_of_rank(const struct pf_ompi_stack *stack, bool in_image)
{
    enum { IMAGE = 1, BESIDE_IMAGE = 4, BESIDE_CLONES = 20 };
    return in_image ? IMAGE + BESIDE_IMAGE : stack->maps + BESIDE_CLONES;
}

static bool check_limits(struct pf_ompi_stack *stack, int size, char *why, size_t n, int *error)
{
    *error = PF_ERR_VERSION;
    if (!pf_parts_find(stack, why, n))
        return false;
    *error = PF_ERR_LIMIT;
    int most = (PF_FAMILY_MAX_RANK + 1) / (stack->number + 1);
    if (size > most) {
        snprintf(why, n, "%d ranks are more than Open MPI can have copies (%d)", size, most);
        return false;
    }
    return pf_limits_check(size, maps_of_rank(stack, pf_ompi_image_wanted()), why, n);
}

int pf_ompi_probe(struct pf_ompi_stack *stack, int size, char *why, size_t n)
{
    int error;
    return check_limits(stack, size, why, n, &error) ? PF_SUCCESS : error;
}

int pf_ompi_open(struct pf_ompi_stack *stack, const struct pf_ompi_job *given, char *why, size_t n)
{
    int error;
    if (stack->state != PF_OMPI_CLOSED)
        return PF_SUCCESS;
    if (!check_limits(stack, given->size, why, n, &error))
        return error;
    if (!pf_message_log_open(why, n))
        return PF_ERR_IO;
    stack->job = *given;
    stack->state = PF_OMPI_OPEN;
    return PF_SUCCESS;
}

/* An image of all libraries, or else a place for clones of them. */
static bool prepare_loading(struct pf_ompi_stack *stack)
{
    char refused[400];
    pf_settings_of_process();
    if (pf_ompi_image_wanted()) {
        if (pf_ompi_image_make(stack, stack->job.size, refused, sizeof refused))
            return true;
        pf_warn("Open MPI is loaded the slow way (PARFOCAL_OPENMPI_LOADING=clones): %s", refused);
        if (!pf_limits_check(stack->job.size, maps_of_rank(stack, false), stack->why, sizeof stack->why))
            return false;
    }
    return pf_clone_dir_open(stack->bytes * (size_t)stack->job.size, stack->why, sizeof stack->why);
}

static void start_helpers(struct pf_ompi_stack *stack)
{
    for (int rank = 0; rank < stack->job.size; rank++) {
        char name[32];
        snprintf(name, sizeof name, "openmpi-init-%d", rank);
        sg_actor_t helper = sg_actor_init(name, stack->job.ranks[rank]->host);
        sg_actor_set_data(helper, stack->job.ranks[rank]);
        if (pf_chain_on)
            pf_chain_help(stack->job.ranks[rank], false);
        sg_actor_start(helper, init_actor, 0, NULL);
    }
    for (int done = 0; done < stack->job.size && stack->state != PF_OMPI_FAILED; done++)
        sg_sem_acquire(stack->initialised);
}

/* A nonblocking access may begin 2,048 pieces in each poll, which has not been in vain. */
static void caller_moved(int descriptor, ssize_t bytes, bool writes)
{
    struct pf_ompi_instance *inst = instance_of_caller();
    if (inst)
        inst->stack->ops->idle_reset(inst->self);
    pf_storage_access(descriptor, (size_t)bytes, writes);
}

static void set_hooks(void)
{
    static const struct pf_libc_host host = {caller_exit, caller_getenv, caller_setenv, caller_moved};
    pf_libc_set_host(&host);
    pf_hooks_first_search = caller_first_search;
    pf_hooks_progress = caller_progress;
    if (pf_config.openmpi_send_time > 0 || pf_config.openmpi_receive_time > 0)
        pf_hooks_pay = portals_pay;
    pf_ucx_set_pay(PF_UCX_OPENMPI, ucx_pay);
}

static void create(struct pf_ompi_stack *stack)
{
    size_t size = (size_t)stack->job.size;
    creating = stack;
    stack->state = PF_OMPI_CREATING;
    stack->instances = pf_calloc(size, sizeof *stack->instances);
    if (!inside)
        inside = pf_calloc(size, sizeof(struct pf_ompi_instance *));
    for (int rank = 0; rank < stack->job.size; rank++)
        prepare_instance(stack, rank);
    stack->fence = sg_barrier_init((unsigned)size);
    stack->initialised = sg_sem_init(0);
    stack->created = sg_sem_init(0);
    set_hooks();
    if (prepare_loading(stack))
        start_helpers(stack);
    else
        stack->state = PF_OMPI_FAILED;
    pf_clone_dir_close();
    if (stack->state == PF_OMPI_CREATING)
        stack->state = PF_OMPI_READY;
    creating = NULL;
    while (stack->waiting > 0) {
        stack->waiting--;
        sg_sem_release(stack->created);
    }
}

static void wait_for(struct pf_ompi_stack *stack)
{
    stack->waiting++;
    sg_sem_acquire(stack->created);
}

int pf_ompi_instances_create(struct pf_ompi_stack *stack, char *why, size_t n)
{
    if (stack->state == PF_OMPI_CLOSED) {
        snprintf(why, n, "pf_ompi_open comes first");
        return PF_ERR_ARG;
    }
    while (creating)
        wait_for(creating);
    if (stack->state == PF_OMPI_OPEN)
        create(stack);
    if (stack->state == PF_OMPI_READY)
        return PF_SUCCESS;
    snprintf(why, n, "%s", stack->why);
    return PF_ERR_NATIVE;
}

struct pf_ompi_instance *pf_ompi_instance(const struct pf_ompi_stack *stack, int rank)
{
    return stack->state == PF_OMPI_READY && rank >= 0 && rank < stack->job.size ? &stack->instances[rank]
                                                                                : NULL;
}

void pf_ompi_enter(struct pf_ompi_instance *inst, int network)
{
    inst->searched = false;
    inside[inst->self->rank] = inst;
    inst->stack->ops->enter(inst->self, network);
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
    inst->helper = sg_actor_self();
    for (int i = 0; i < PASSES; i++) {
        inst->stack->ops->idle_reset(inst->self);
        inst->glue->progress();
    }
    inst->helper = NULL;
}
