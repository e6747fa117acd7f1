/* SPDX-License-Identifier: BSD-3-Clause */
/* The stacks below Open MPI. */
#include "adapters/openmpi/stack.h"

#include <string.h>

#include "adapters/openmpi/hooks.h"
#include "adapters/openmpi/private/private.h"
#include "base/config.h"
#include "lowlevel/portals/runtime.h"
#include "lowlevel/ucx/runtime.h"

static const char *portals_pml(void)
{
    return pf_config.openmpi_pml;
}

static const char *portals_coll(void)
{
    return pf_config.openmpi_coll;
}

/* The offloading components have queues and counters of their own, for which they wait in other ways: they
 * keep the stock progress. */
static const uint64_t *portals_changes(const pf_self_t *self)
{
    if (*pf_config.openmpi_coll || strcmp(pf_config_osc(), "portals4") == 0)
        return NULL;
    return pf_portals_changes(self);
}

static const struct pf_ompi_stack_ops portals = {
    .size = sizeof portals,
    .pml = portals_pml,
    .osc = pf_config_osc,
    .coll = portals_coll,
    .function = pf_hooks_portals,
    .free_mode = pf_portals_free_mode,
    .enter = pf_portals_enter,
    .network_now = pf_portals_network_now,
    .network_use = pf_portals_network_use,
    .idle_reset = pf_portals_idle_reset,
    .idle_at_least = pf_portals_idle_at_least,
    .set_notify = pf_portals_set_notify,
    .changes = portals_changes,
    .reads_when_woken = pf_portals_reads_when_woken,
};

static const char *ucx_pml(void)
{
    return "ucx";
}

/* Open MPI takes the first that is able. */
static const char *ucx_osc(void)
{
    return strcmp(pf_config_ucx_osc(), "ucx") == 0 ? PF_OMPI_OSC_UCX : "pt2pt";
}

static const char *ucx_coll(void)
{
    return "";
}

static const uint64_t *ucx_changes(const pf_self_t *self)
{
    return NULL;
}

static void ucx_reads_when_woken(pf_self_t *self, const char *base, const uint32_t *places, int count)
{
}

static void *ucx_function(const char *name)
{
    return pf_ucx_function(PF_UCX_OPENMPI, name);
}

static void ucx_free_mode(pf_self_t *self, bool on)
{
    pf_ucx_free_mode(self, PF_UCX_OPENMPI, on);
}

static void ucx_enter(pf_self_t *self, int network)
{
    pf_ucx_enter(self, PF_UCX_OPENMPI, network);
}

static int ucx_network_now(const pf_self_t *self)
{
    return pf_ucx_network_now(self, PF_UCX_OPENMPI);
}

static int ucx_network_use(pf_self_t *self, int network)
{
    return pf_ucx_network_use(self, PF_UCX_OPENMPI, network);
}

static void ucx_idle_reset(pf_self_t *self)
{
    pf_ucx_idle_reset(self, PF_UCX_OPENMPI);
}

static void ucx_idle_at_least(pf_self_t *self, long passes)
{
    pf_ucx_idle_at_least(self, PF_UCX_OPENMPI, passes);
}

static void ucx_set_notify(pf_self_t *self, void (*fn)(void *arg), void *arg)
{
    pf_ucx_set_notify(self, PF_UCX_OPENMPI, fn, arg);
}

static const struct pf_ompi_stack_ops ucx = {
    .size = sizeof ucx,
    .pml = ucx_pml,
    .osc = ucx_osc,
    .coll = ucx_coll,
    .function = ucx_function,
    .free_mode = ucx_free_mode,
    .enter = ucx_enter,
    .network_now = ucx_network_now,
    .network_use = ucx_network_use,
    .idle_reset = ucx_idle_reset,
    .idle_at_least = ucx_idle_at_least,
    .set_notify = ucx_set_notify,
    .changes = ucx_changes,
    .reads_when_woken = ucx_reads_when_woken,
};

struct pf_ompi_stack pf_ompi_portals = {.ops = &portals, .number = 0};
struct pf_ompi_stack pf_ompi_ucx = {.ops = &ucx, .number = 1};

bool pf_ompi_stack_has_pml(const struct pf_ompi_stack *stack, const char *name)
{
    return strcmp(stack->ops->pml(), name) == 0;
}
