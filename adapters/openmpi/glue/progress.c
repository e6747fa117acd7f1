/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI waits by calling its progress functions over and over, and most calls find nothing: a poll of an
 * empty queue through all layers, many times for each message. Here stock mtl/portals4 is asked only when the
 * state of the rank's NIC has changed since it found its queues empty. Other calls count as the polls in vain
 * that they would have been, and so block after as many of them.
 *
 * The component counts SEND and ACK of every message and completes a request with the latter, at the
 * earliest. So a rank sleeps on while only SEND has come. (The one-sided and collective components over
 * Portals suppress SEND.)
 */
#include "ompi_config.h"

#include "ompi/constants.h"
#include "opal/runtime/opal_progress.h"

#include "adapters/openmpi/glue/internal.h"
#include "adapters/openmpi/private/private.h"

/*
 * opal_progress calls those of low priority in each eighth pass, and what one callback has completed another
 * finds in the next pass: a rank has nothing to do when all of them have found nothing twice.
 */
enum { IDLE_PASSES = 2 * PF_OMPI_PASSES };

/* Read in each pass: it has a name outside, by which it is fetched when the rank is woken. */
__attribute__((visibility("protected"))) struct {
    opal_progress_callback_t stock; /* NULL: not replaced */
    const uint64_t *changes;
    uint64_t seen;
} pf_glue_polling __attribute__((aligned(64)));

struct pf_glue_waits pf_glue_waits;

static int drain(void)
{
    pf_glue_polling.seen = *pf_glue_polling.changes;
    return pf_glue_polling.stock();
}

static int progress(void)
{
    if (*pf_glue_polling.changes != pf_glue_polling.seen)
        return drain();
    pf_glue_host->idle_pass(pf_glue_host->context);
    return *pf_glue_polling.changes != pf_glue_polling.seen ? drain() : 0;
}

void pf_glue_progress_install(void)
{
    pf_glue_host->idle_at_least(pf_glue_host->context, IDLE_PASSES);
    *(void **)&pf_glue_polling.stock = pf_glue_mtl_symbol(PF_OMPI_MTL_PROGRESS);
    pf_glue_polling.changes = pf_glue_host->changes(pf_glue_host->context);
    if (!pf_glue_polling.changes || !pf_glue_polling.stock ||
        opal_progress_unregister(pf_glue_polling.stock) != OPAL_SUCCESS) {
        pf_glue_polling.stock = NULL;
        return;
    }
    pf_glue_polling.seen = *pf_glue_polling.changes - 1; /* look at once */
    opal_progress_register(progress);
    pf_glue_host->send_needs_ack(pf_glue_host->context, true);
    const char *module = pf_glue_mtl_symbol(PF_OMPI_MTL);
    if (module) {
        pf_glue_waits.pending_sends = (const volatile size_t *)(const void *)(module + PF_OMPI_MTL_PENDING);
        pf_glue_host->keep_events(pf_glue_host->context, &pf_glue_waits);
    }
}
