/* SPDX-License-Identifier: BSD-3-Clause */
#include "adapters/openmpi/hooks.h"

#include <aio.h>
#include <errno.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

#include "base/config.h"
#include "base/imports.h"
#include "base/log.h"
#include "base/self.h"
#include "lowlevel/portals/include/portals4.h"
#include "lowlevel/portals/runtime.h"

void (*pf_hooks_exit)(int status);
const char *(*pf_hooks_getenv)(const char *name);
void (*pf_hooks_setenv)(const char *name, const char *value);
bool (*pf_hooks_first_search)(void);
void (*pf_hooks_progress)(void);

static int hook_gethostname(char *name, size_t length)
{
    const pf_self_t *self = pf_self();
    if (!self)
        return gethostname(name, length);
    snprintf(name, length, "%s", sg_host_get_name(self->host));
    return 0;
}

static __attribute__((noreturn)) void hook_exit(int status)
{
    if (pf_hooks_exit)
        pf_hooks_exit(status);
    pf_end_process(status ? status : 1);
}

static __attribute__((noreturn)) void hook_abort(void)
{
    hook_exit(128 + 6);
}

static char *hook_getenv(const char *name)
{
    const char *value = pf_hooks_getenv ? pf_hooks_getenv(name) : NULL;
    return value ? (char *)(uintptr_t)value : getenv(name);
}

static int hook_setenv(const char *name, const char *value, int overwrite)
{
    if (pf_hooks_setenv && (overwrite || !hook_getenv(name)))
        pf_hooks_setenv(name, value);
    return 0;
}

static int hook_unsetenv(const char *name)
{
    if (pf_hooks_setenv)
        pf_hooks_setenv(name, NULL);
    return 0;
}

/*
 * Two thread keys per instance would use up the 1,024 of the process with 512 ranks. All ranks live in one
 * thread, so a key is an index into one array of values. Destructors would run when the thread ends, which is
 * the end of the process.
 */
static struct {
    void **values;
    unsigned count, capacity;
} keys;

static int hook_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    (void)destructor;
    if (keys.count == keys.capacity) {
        unsigned capacity = keys.capacity ? 2 * keys.capacity : 64;
        void **values = realloc(keys.values, capacity * sizeof *values);
        if (!values)
            return ENOMEM;
        keys.values = values;
        keys.capacity = capacity;
    }
    keys.values[keys.count] = NULL;
    *key = keys.count++;
    return 0;
}

static int hook_key_delete(pthread_key_t key)
{
    return key < keys.count ? 0 : EINVAL;
}

static void *hook_getspecific(pthread_key_t key)
{
    return key < keys.count ? keys.values[key] : NULL;
}

static int hook_setspecific(pthread_key_t key, const void *value)
{
    if (key >= keys.count)
        return EINVAL;
    keys.values[key] = (void *)(uintptr_t)value;
    return 0;
}

/* Simulated time, so that no timeout or back-off of Open MPI depends on the machine that simulates. */
static void split_clock(long *seconds, long *nanoseconds)
{
    double now = simgrid_get_clock();
    *seconds = (long)floor(now);
    *nanoseconds = (long)((now - floor(now)) * 1e9);
}

static int hook_gettimeofday(struct timeval *restrict value, void *restrict zone)
{
    long nanoseconds;
    (void)zone;
    split_clock(&value->tv_sec, &nanoseconds);
    value->tv_usec = nanoseconds / 1000;
    return 0;
}

static int hook_clock_gettime(clockid_t clock, struct timespec *value)
{
    (void)clock;
    split_clock(&value->tv_sec, &value->tv_nsec);
    return 0;
}

static time_t hook_time(time_t *result)
{
    time_t now = (time_t)simgrid_get_clock();
    if (result)
        *result = now;
    return now;
}

static int hook_usleep(useconds_t microseconds)
{
    sg_actor_sleep_for(microseconds * 1e-6);
    return 0;
}

static unsigned hook_sleep(unsigned seconds)
{
    sg_actor_sleep_for(seconds);
    return 0;
}

static int hook_nanosleep(const struct timespec *request, struct timespec *rest)
{
    (void)rest;
    sg_actor_sleep_for((double)request->tv_sec + (double)request->tv_nsec * 1e-9);
    return 0;
}

/* A polling loop has nobody to yield to: the poll itself blocks in the simulated NIC. */
/*
 * The C library would read and write in threads of its own, and Open MPI would poll for their end, which is
 * no event of the simulation. The access happens at once, and aio_error() and aio_return() find its outcome
 * where the C library looks for it.
 */
static int finish_access(struct aiocb *control, ssize_t moved)
{
    control->__error_code = moved < 0 ? errno : 0;
    control->__return_value = moved;
    return 0;
}

static int hook_aio_read(struct aiocb *control)
{
    return finish_access(control, pread(control->aio_fildes, (void *)(uintptr_t)control->aio_buf,
                                        control->aio_nbytes, control->aio_offset));
}

static int hook_aio_write(struct aiocb *control)
{
    return finish_access(control, pwrite(control->aio_fildes, (const void *)(uintptr_t)control->aio_buf,
                                         control->aio_nbytes, control->aio_offset));
}

static int hook_sched_yield(void)
{
    return 0;
}

/*
 * Stock btl/portals4 has no flow control: what finds no buffer or no place in the event queue is lost. It
 * looks neither at the error of an acknowledgement or reply nor at an event that comes with the news, and the
 * job would stand still or compute with wrong data. (mtl/portals4 recovers, or reports an error of its own.)
 */
static void die_of_losses(int status, const ptl_event_t *event, const pf_self_t *self)
{
    if (strcmp(pf_config.openmpi_pml, "ob1") != 0)
        return;
    if (status == PTL_EQ_DROPPED)
        pf_die("rank %d: the event queue of btl/portals4 has overflowed, which has no flow control: make it "
               "longer with OMPI_MCA_btl_portals4_eq_recv_size (4096 events unless set)",
               self->rank);
    if (event->type == PTL_EVENT_ACK && event->ni_fail_type == PTL_NI_DROPPED)
        pf_die("rank %d has sent a message whose receiver had no buffer left, and btl/portals4 has no flow "
               "control: give it more with OMPI_MCA_btl_portals4_recv_md_num (8 of 256 KiB unless set)",
               self->rank);
    bool again = event->ni_fail_type == PTL_NI_PERM_VIOLATION; /* the one failure that it handles */
    if (event->type == PTL_EVENT_ACK || (event->type == PTL_EVENT_REPLY && !again))
        pf_die("rank %d: the network has lost a message of btl/portals4, which does not notice", self->rank);
}

/*
 * The head of a long message has filled the buffer that it found. Stock mtl/portals4 then fetches the rest,
 * which is nothing, and waits for that without end. With the mark of a short message it completes the
 * receive, and its length tells that the message was truncated.
 */
static void end_truncated(ptl_event_t *event)
{
    const ptl_match_bits_t long_message = 2ULL << 60, short_message = 1ULL << 60; /* see mtl_portals4.h */
    if (strcmp(pf_config.openmpi_pml, "cm") == 0 && (event->match_bits & long_message))
        event->match_bits |= short_message;
}

/*
 * The components drain their event queues until they find nothing, and only then look at what an event has
 * told them. A poll that blocks right after such an event (see lowlevel/portals: these two kinds do not count
 * as news, or a blocking MPI_Probe would spin) would never let them look: the link event that lets a long
 * receive return, and the answer to the first search of a call, which MPI_Iprobe waits for.
 */
static int hook_eq_poll(const ptl_handle_eq_t *queues, unsigned size, ptl_time_t timeout, ptl_event_t *event,
                        unsigned *which)
{
    int status = PtlEQPoll(queues, size, timeout, event, which);
    pf_self_t *self = pf_self();
    if ((status != PTL_OK && status != PTL_EQ_DROPPED) || !self)
        return status;
    if (status == PTL_EQ_DROPPED || event->ni_fail_type != PTL_NI_OK)
        die_of_losses(status, event, self);
    if (event->type == PTL_EVENT_PUT && event->mlength < event->rlength)
        end_truncated(event);
    bool missed = event->type == PTL_EVENT_SEARCH && event->ni_fail_type == PTL_NI_NO_MATCH;
    if (event->type == PTL_EVENT_LINK || (missed && pf_hooks_first_search && pf_hooks_first_search()))
        pf_portals_idle_reset(self);
    return status;
}

/*
 * coll/portals4 and osc/portals4 drain a queue in the same manner; osc waits for link events. They poll once
 * in each pass of opal_progress, as mtl/portals4 does: only its polls count, or the number of passes until
 * the rank sleeps would depend on the components that are in use.
 */
static int hook_eq_get(ptl_handle_eq_t queue, ptl_event_t *event)
{
    pf_self_t *self = pf_self();
    if (self)
        pf_portals_count_polls(self, false);
    int status = PtlEQGet(queue, event);
    if (self)
        pf_portals_count_polls(self, true);
    if ((status == PTL_OK || status == PTL_EQ_DROPPED) && self && event->type == PTL_EVENT_LINK)
        pf_portals_idle_reset(self);
    return status;
}

static int look_at_counter(const ptl_handle_ct_t *counter, const ptl_size_t *test, ptl_ct_event_t *event)
{
    unsigned int which;
    pf_self_t *self = pf_self();
    if (self)
        pf_portals_count_polls(self, false);
    int status = PtlCTPoll(counter, test, 1, 0, event, &which);
    if (self)
        pf_portals_count_polls(self, true);
    return status;
}

/*
 * A blocking collective of coll/portals4, or a flush of osc/portals4, waits here for a counter. Stock Open
 * MPI makes no progress meanwhile: a rank that has posted a long receive and then enters a barrier would
 * never fetch the message, and its sender would never come to the barrier.
 */
static int hook_ct_wait(ptl_handle_ct_t counter, ptl_size_t test, ptl_ct_event_t *event)
{
    if (!pf_hooks_progress)
        return PtlCTWait(counter, test, event);
    for (;;) {
        int status = look_at_counter(&counter, &test, event);
        if (status != PTL_CT_NONE_REACHED)
            return status;
        pf_hooks_progress(); /* whose polls count */
    }
}

static const struct {
    const char *name;
    void *function;
} hooks[] = {
    {"PtlCTWait", (void *)hook_ct_wait},
    {"PtlEQGet", (void *)hook_eq_get},
    {"PtlEQPoll", (void *)hook_eq_poll},
    {"gethostname", (void *)hook_gethostname},
    {"exit", (void *)hook_exit},
    {"_exit", (void *)hook_exit},
    {"abort", (void *)hook_abort},
    {"getenv", (void *)hook_getenv},
    {"secure_getenv", (void *)hook_getenv},
    {"setenv", (void *)hook_setenv},
    {"unsetenv", (void *)hook_unsetenv},
    {"pthread_key_create", (void *)hook_key_create},
    {"pthread_key_delete", (void *)hook_key_delete},
    {"pthread_getspecific", (void *)hook_getspecific},
    {"pthread_setspecific", (void *)hook_setspecific},
    {"gettimeofday", (void *)hook_gettimeofday},
    {"clock_gettime", (void *)hook_clock_gettime},
    {"time", (void *)hook_time},
    {"aio_read", (void *)hook_aio_read},
    {"aio_write", (void *)hook_aio_write},
    {"usleep", (void *)hook_usleep},
    {"sleep", (void *)hook_sleep},
    {"nanosleep", (void *)hook_nanosleep},
    {"sched_yield", (void *)hook_sched_yield},
};

static void *hook_for(const char *name)
{
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return hooks[i].function;
    return NULL;
}

static bool hook_or_mpi(const char *name, bool undefined, const void *libmpi, void **value)
{
    *value = NULL;
    if (libmpi && (strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0))
        *value = dlsym((void *)(uintptr_t)libmpi, name);
    else if (undefined)
        *value = hook_for(name);
    return *value != NULL;
}

struct binding {
    const char *prefix;
    void *provider;
};

static bool of_provider(const char *name, bool undefined, const void *arg, void **value)
{
    const struct binding *binding = arg;
    if (!undefined || strncmp(name, binding->prefix, strlen(binding->prefix)) != 0)
        return false;
    *value = dlsym(binding->provider, name);
    return *value != NULL;
}

int pf_hooks_install(void *library, void *libmpi)
{
    return pf_imports_replace(library, hook_or_mpi, libmpi);
}

int pf_hooks_bind(void *library, const char *prefix, void *provider)
{
    const struct binding binding = {prefix, provider};
    return pf_imports_replace(library, of_provider, &binding);
}
