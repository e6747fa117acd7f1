/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of Open MPI that would leave the simulated world, and where they are led instead. */
#include "adapters/openmpi/hooks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "adapters/openmpi/texts.h"
#include "adapters/openmpi/private/private.h"
#include "base/config.h"
#include "base/log.h"
#include "base/self.h"
#include "loader/calls.h"
#include "loader/copy.h"
#include "loader/image.h"
#include "loader/imports.h"
#include "loader/libc.h"
#include "lowlevel/portals/include/portals4.h"
#include "lowlevel/portals/runtime.h"

bool (*pf_hooks_first_search)(void);
void (*pf_hooks_progress)(void);
void (*pf_hooks_pay)(double seconds);

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
 * receive, and its length shows that the message was truncated. A synchronous send waits for more than such
 * an acknowledgement, which never comes: the message was received, as far as it could be.
 */
static void end_truncated(ptl_event_t *event)
{
    if (strcmp(pf_config.openmpi_pml, "cm") != 0)
        return;
    if (event->type == PTL_EVENT_ACK)
        event->mlength = event->rlength;
    else if (event->match_bits & PF_OMPI_MTL_LONG)
        event->match_bits |= PF_OMPI_MTL_SHORT;
}

/* Whether the data of a receive are there with this event. A long message that came before its receive is
 * fetched, and the reply has them. */
static bool has_received(const ptl_event_t *event)
{
    return event->type == PTL_EVENT_PUT || event->type == PTL_EVENT_REPLY ||
           (event->type == PTL_EVENT_PUT_OVERFLOW && (event->match_bits & PF_OMPI_MTL_SHORT));
}

/* Whatever Open MPI sends by its processor. */
static int hook_put(ptl_handle_md_t md, ptl_size_t offset, ptl_size_t length, ptl_ack_req_t ack,
                    ptl_process_t target, ptl_pt_index_t table, ptl_match_bits_t bits,
                    ptl_size_t remote_offset, void *user, ptl_hdr_data_t header)
{
    if (pf_hooks_pay)
        pf_hooks_pay(pf_config.openmpi_send_time);
    return PtlPut(md, offset, length, ack, target, table, bits, remote_offset, user, header);
}

/*
 * The components drain their event queues until they find nothing, and only then look at an event's
 * contents. A poll that blocks right after such an event (see lowlevel/portals: these two kinds do not count
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
    if ((event->type == PTL_EVENT_PUT || event->type == PTL_EVENT_ACK) && event->mlength < event->rlength)
        end_truncated(event);
    bool missed = event->type == PTL_EVENT_SEARCH && event->ni_fail_type == PTL_NI_NO_MATCH;
    if (event->type == PTL_EVENT_LINK || (missed && pf_hooks_first_search && pf_hooks_first_search()))
        pf_portals_idle_reset(self);
    if (status == PTL_OK && pf_hooks_pay && has_received(event))
        pf_hooks_pay(pf_config.openmpi_receive_time);
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

struct hook {
    const char *name;
    void *function;
};

static void *find(const struct hook *hooks, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (*hooks[i].name == *name && strcmp(hooks[i].name, name) == 0)
            return hooks[i].function;
    return NULL;
}

void *pf_hooks_portals(const char *name)
{
    static const struct hook hooks[] = {
        {"PtlCTWait", (void *)hook_ct_wait},
        {"PtlEQGet", (void *)hook_eq_get},
        {"PtlEQPoll", (void *)hook_eq_poll},
        {"PtlPut", (void *)hook_put},
    };
    return find(hooks, sizeof hooks / sizeof hooks[0], name);
}

static void *hook_for(const struct pf_ompi_stack *stack, const char *name)
{
    static const struct hook hooks[] = {
        {"__asprintf_chk", (void *)pf_ompi_asprintf},
        {"__snprintf_chk", (void *)pf_ompi_snprintf},
    };
    void *function = stack->ops->function(name);
    if (!function)
        function = find(hooks, sizeof hooks / sizeof hooks[0], name);
    return function ? function : pf_libc_of_instance(name);
}

/* Where the calls of a clone lead. */
struct leads {
    const struct pf_ompi_stack *stack;
    void *libmpi;
};

static bool hook_or_mpi(const char *name, bool undefined, const void *arg, void **value)
{
    const struct leads *leads = arg;
    const void *libmpi = leads->libmpi;
    *value = NULL;
    if (libmpi && (strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0))
        *value = pf_copy_symbol((void *)(uintptr_t)libmpi, name);
    else if (undefined)
        *value = hook_for(leads->stack, name);
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
    *value = pf_copy_symbol(binding->provider, name);
    return *value != NULL;
}

bool pf_hooks_find(const char *name, bool undefined, const void *arg, void **value)
{
    *value = undefined ? hook_for(arg, name) : NULL;
    return *value != NULL;
}

int pf_hooks_replace(void *library, const char *name, void *value)
{
    int changed = pf_imports_replace_one(library, name, value);
    bool direct =
        changed == 0 && value && !pf_image_holds(library); /* an image knows such references itself */
    void *own = direct ? pf_copy_symbol(library, name) : NULL;
    return own ? pf_calls_replace(library, own, value) : changed;
}

int pf_hooks_install(const struct pf_ompi_stack *stack, void *library, void *libmpi)
{
    const struct leads leads = {stack, libmpi};
    return pf_imports_replace(library, hook_or_mpi, &leads);
}

int pf_hooks_bind(void *library, const char *prefix, void *provider)
{
    const struct binding binding = {prefix, provider};
    return pf_imports_replace(library, of_provider, &binding);
}
