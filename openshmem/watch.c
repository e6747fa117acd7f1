/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All PEs share one thread. A PE that waits for a variable in a loop without calls keeps all others from
 * running, and nobody can tell it from one that computes for long. So a thread of its own says after a while
 * what may be the matter.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/log.h"
#include "middleware/process/layer.h"
#include "openshmem/internal.h"

static double patience; /* seconds */

static void say(const struct pf_shmem *me)
{
    char site[256];
    pf_warn("PE %d has computed for %g s since its %s at %s: if it waits for a variable, let it call "
            "shmem_wait_until or shmem_test (PARFOCAL_SPIN_HINT)",
            me->rank, patience, me->call, pf_layer_site(me->site, site, sizeof site));
}

static void *watch(void *unused)
{
    uint64_t before = 0, said = 0, turn;
    double whole = (double)(time_t)patience;
    for (;;) {
        struct timespec time = {(time_t)whole, (long)((patience - whole) * 1e9)};
        while (nanosleep(&time, &time) != 0 && errno == EINTR)
            ;
        const pf_self_t *self = pf_layer_computing(&turn);
        if (self && self->shmem && turn == before && turn != said) {
            say(self->shmem);
            said = turn;
        }
        before = turn;
    }
    return unused;
}

/* All signals are for the thread of the simulation. The thread ends with the process. */
void pf_shmem_watch(void)
{
    static bool watches;
    sigset_t all, kept;
    pthread_t thread;
    patience = pf_layer_spin_hint();
    if (watches || !(patience > 0))
        return;
    watches = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
}
