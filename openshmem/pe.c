/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a PE, and what is said when a call never returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "lowlevel/job/include/parfocal_portals.h"
#include "lowlevel/portals/runtime.h"
#include "middleware/process/layer.h"
#include "openshmem/internal.h"

static bool print_blocked(FILE *out, const pf_self_t *self)
{
    char site[256], target[32] = "";
    const struct pf_shmem *me = self->shmem;
    if (!me || !me->inside)
        return false;
    if (me->waits_for >= 0)
        snprintf(target, sizeof target, " (for PE %d)", me->waits_for);
    fprintf(out, "parfocal: PE %d is blocked in %s%s, at %s\n", me->rank, me->call, target,
            pf_layer_site(me->site, site, sizeof site));
    return true;
}

static void check(const struct pf_shmem *me, int status, const char *what)
{
    if (status != PTL_OK)
        pf_shmem_die(me, "%s failed with status %d", what, status);
}

static void open_interface(struct pf_shmem *me)
{
    ptl_process_t *map = pf_malloc((size_t)me->size * sizeof *map);
    unsigned int options = PTL_NI_NO_MATCHING | PTL_NI_LOGICAL;
    check(me, PtlNIInit(PTL_IFACE_DEFAULT, options, PTL_PID_ANY, NULL, &me->limits, &me->ni), "PtlNIInit");
    check(me, pf_portals_map(me->ni, map), "pf_portals_map");
    int status = PtlSetMap(me->ni, (ptl_size_t)me->size, map);
    free(map);
    check(me, status == PTL_IGNORED ? PTL_OK : status, "PtlSetMap");
}

/* What any PE may write to or read from, one table entry each, without events. */
static void open_segments(struct pf_shmem *me)
{
    pf_shmem_segments_open(me);
    pf_shmem_introduce(me);
    for (int i = 0; i < PF_SHMEM_SEGMENTS; i++) {
        ptl_pt_index_t index;
        ptl_handle_le_t entry;
        ptl_le_t le = {.start = me->segments[i].base,
                       .length = me->segments[i].length,
                       .ct_handle = PTL_CT_NONE,
                       .uid = PTL_UID_ANY,
                       .options = PTL_LE_OP_PUT | PTL_LE_OP_GET | PTL_LE_EVENT_LINK_DISABLE};
        check(me, PtlPTAlloc(me->ni, 0, PTL_EQ_NONE, (ptl_pt_index_t)i, &index), "PtlPTAlloc");
        check(me, PtlLEAppend(me->ni, index, &le, PTL_PRIORITY_LIST, NULL, &entry), "PtlLEAppend");
    }
}

static void open_commands(struct pf_shmem *me)
{
    ptl_md_t md = {.start = NULL,
                   .length = PTL_SIZE_MAX,
                   .options = PTL_MD_VOLATILE,
                   .eq_handle = PTL_EQ_NONE,
                   .ct_handle = PTL_CT_NONE};
    check(me, PtlMDBind(me->ni, &md, &me->signals), "PtlMDBind");
    if (!pf_shmem_context_open(me, &me->default_context) ||
        !pf_shmem_counted_open(me, &me->answers, PTL_MD_EVENT_CT_REPLY))
        pf_shmem_die(me, "the NIC has no room for its counters");
}

/* No simulated time: other launchers do all this before main(). */
static void open_pe(pf_self_t *self, const char *call, const void *site)
{
    struct pf_shmem *me = pf_calloc(1, sizeof *me);
    *me = (struct pf_shmem){.self = self,
                            .rank = self->rank,
                            .size = self->size,
                            .waits_for = -1,
                            .thread_level = SHMEM_THREAD_FUNNELED};
    me->call = call;
    me->site = site;
    me->inside = true;
    pf_shmem_known(me);
    pf_shmem_use_model(me, pf_layer_model());
    pf_portals_free_mode(self, true);
    check(me, PtlInit(), "PtlInit");
    pf_portals_watch_memory(self);
    open_interface(me);
    open_segments(me);
    open_commands(me);
    self->shmem = me;
    me->sync = pf_shmem_heap_take(me, sizeof(long), PF_SHMEM_OWN);
    pf_portals_barrier(); /* no PE puts to one that is not open */
    pf_portals_free_mode(self, false);
    pf_shmem_watch();
    me->inside = false;
}

static void close_pe(struct pf_shmem *me)
{
    pf_shmem_quiet_all(me);
    pf_shmem_sync_all(me);
    pf_portals_barrier(); /* nothing is on its way any more */
    me->over = true;
    check(me, PtlNIFini(me->ni), "PtlNIFini");
    PtlFini();
    munmap(me->segments[PF_SHMEM_HEAP].base, me->segments[PF_SHMEM_HEAP].length);
}

/* A program that ends in order need not call shmem_finalize. */
static void left_main(pf_self_t *self, int status)
{
    struct pf_shmem *me = self->shmem;
    if (!me || me->over || status != 0)
        return;
    pf_shmem_enter(me, "shmem_finalize (at the end of main)", NULL, PF_LAYER_LOCAL);
    close_pe(me);
    pf_shmem_leave(me);
}

static void init(const char *call, const void *site)
{
    pf_shmem_check_caller(call, site);
    pf_self_t *self = pf_portals_self();
    if (!self)
        pf_die("%s was called outside of the simulation: start the program with pfrun -np N", call);
    if (self->shmem) /* a second call does nothing */
        return;
    char text[256];
    if (!pf_layer_program())
        pf_die(
            "%s was called before main(), in a constructor, at %s: PEs are loaded one after the other, and "
            "cannot wait for each other there",
            call, pf_layer_site(site, text, sizeof text));
    pf_layer_register(print_blocked, left_main);
    pf_layer_enter(self, site, PF_LAYER_LOCAL);
    open_pe(self, call, site);
    pf_layer_open(self);
    pf_layer_leave(self);
}

PF_EXPORT void shmem_init(void)
{
    init("shmem_init", __builtin_return_address(0));
}

PF_EXPORT void start_pes(int npes)
{
    (void)npes; /* the launcher's number counts */
    init("start_pes", __builtin_return_address(0));
}

PF_EXPORT int shmem_init_thread(int requested, int *provided)
{
    init("shmem_init_thread", __builtin_return_address(0));
    struct pf_shmem *me = pf_portals_self()->shmem;
    if (requested < SHMEM_THREAD_FUNNELED)
        me->thread_level = requested;
    *provided = me->thread_level;
    return 0;
}

PF_EXPORT void shmem_query_thread(int *provided)
{
    struct pf_shmem *me = PF_SHMEM_ENTER("shmem_query_thread", LOCAL);
    *provided = me->thread_level;
    pf_shmem_leave(me);
}

PF_EXPORT void shmem_finalize(void)
{
    struct pf_shmem *me = PF_SHMEM_ENTER("shmem_finalize", LOCAL);
    close_pe(me);
    pf_shmem_leave(me);
}

PF_EXPORT void shmem_global_exit(int status)
{
    struct pf_shmem *me = PF_SHMEM_ENTER("shmem_global_exit", LOCAL);
    char site[256];
    if (status != 0)
        fprintf(stderr, "parfocal: PE %d called shmem_global_exit with status %d, at %s\n", me->rank, status,
                pf_layer_site(me->site, site, sizeof site));
    pf_layer_abort(me->self, status);
}

PF_EXPORT void shmem_info_get_version(int *major, int *minor)
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

PF_EXPORT void shmem_info_get_name(char *name)
{
    strcpy(name, SHMEM_VENDOR_STRING);
}

/* What is not generated with the other calls has its profiling name here. */
#define PROFILED(name) PF_EXPORT extern __typeof__(name) p##name __attribute__((alias(#name)))
PROFILED(shmem_init);
PROFILED(shmem_init_thread);
PROFILED(shmem_query_thread);
PROFILED(shmem_finalize);
PROFILED(shmem_global_exit);
PROFILED(shmem_info_get_version);
PROFILED(shmem_info_get_name);
