/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes, their identifiers and their handles. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lowlevel/platform/platform.h"
#include "lowlevel/portals/internal.h"
#include "base/child.h"
#include "base/memory.h"

static struct ptl_process **processes; /* by rank */
static int process_capacity;

static pthread_t simulation; /* the thread of all processes; valid as soon as there is one */

/* A thread that the program has made is no simulated process, and SimGrid cannot let it wait. */
static void check_thread(void)
{
    if (__builtin_expect(!pthread_equal(pthread_self(), simulation), 0))
        pf_die(
            "a Portals call was made from a thread that is no rank of the job: only the thread that called "
            "PtlInit may make Portals calls");
}

/* In a child process a copy of the whole simulation would go on unseen; its rank has lost what it was. */
static void check_child(void)
{
    if (pf_in_child())
        pf_die("a Portals call was made in a child process of a rank, which is no rank");
}

struct ptl_process *ptl_current(void)
{
    if (process_capacity == 0) /* perhaps a program that was started without the simulator */
        return NULL;
    check_thread();
    pf_self_t *self = pf_self();
    if (self && self->portals && self->portals->init_count)
        return self->portals;
    check_child();
    return NULL;
}

static struct ptl_process *of_rank(int rank)
{
    return rank >= 0 && rank < process_capacity ? processes[rank] : NULL;
}

/* Programs take pid 0 for none; Open MPI's coll/portals4 for logical addressing. */
enum { FIRST_PID = 1 };

struct ptl_process *ptl_find_process(uint32_t nid, uint32_t pid)
{
    struct ptl_process *process = of_rank((int)(pid - FIRST_PID)); /* which is so unless it chose another */
    if (process && process->nid == nid && process->pid == pid)
        return process;
    for (int rank = 0; rank < process_capacity; rank++) {
        process = processes[rank];
        if (process && process->nid == nid && process->pid == pid)
            return process;
    }
    return NULL;
}

struct ptl_process *ptl_process_create(pf_self_t *self)
{
    static struct pf_lines memory;
    struct ptl_process *process = pf_lines_get(&memory, sizeof *process);
    simulation = pthread_self();
    int node = pf_platform_node(self->host);
    process->self = self;
    process->nic = pf_nic_get(node);
    process->service = pf_nic_serves(self->rank);
    process->nid = (uint32_t)node;
    process->pid = (uint32_t)self->rank + FIRST_PID;
    process->free_slot = UINT32_MAX;
    process->reacts = PTL_NO_NETWORK;
    process->stuck_date = -1.0;
    PF_ARRAY_REACH(processes, process_capacity, self->rank);
    processes[self->rank] = process;
    return process;
}

static pf_self_t *(*identify_caller)(void);

void pf_portals_set_identify(pf_self_t *(*identify)(void))
{
    identify_caller = identify;
}

pf_self_t *pf_portals_self(void)
{
    if (process_capacity > 0)
        check_thread();
    check_child();
    if (!sg_actor_self()) /* a program that was started without the simulator */
        return NULL;
    pf_self_t *self = pf_self();
    return self || !identify_caller ? self : identify_caller();
}

int PtlHandleIsEqual(ptl_handle_any_t handle1, ptl_handle_any_t handle2)
{
    return handle1 == handle2;
}

static ptl_handle_any_t handle_of(enum ptl_kind kind, uint32_t generation, uint32_t slot)
{
    return (ptl_handle_any_t)kind << 60 | (ptl_handle_any_t)(generation & 0xfffffffU) << 32 | slot;
}

ptl_handle_any_t ptl_handle_new(struct ptl_process *process, enum ptl_kind kind, void *object)
{
    uint32_t slot = process->free_slot;
    if (slot != UINT32_MAX) {
        process->free_slot = process->slots[slot].next_free;
    } else {
        PF_ARRAY_ROOM(process->slots, process->slot_capacity, process->slot_count + 1);
        slot = process->slot_count++;
        process->slots[slot].generation = 0;
    }
    process->slots[slot].object = object;
    process->slots[slot].kind = (uint8_t)kind;
    return handle_of(kind, process->slots[slot].generation, slot);
}

void ptl_handle_free(struct ptl_process *process, ptl_handle_any_t handle)
{
    struct ptl_slot *slot = &process->slots[(uint32_t)handle];
    slot->generation++;
    slot->kind = PTL_KIND_FREE;
    slot->object = NULL;
    slot->next_free = process->free_slot;
    process->free_slot = (uint32_t)handle;
}

void *ptl_lookup(const struct ptl_process *process, ptl_handle_any_t handle, enum ptl_kind kind)
{
    uint32_t slot = (uint32_t)handle;
    if (slot >= process->slot_count || handle >> 60 != (ptl_handle_any_t)kind)
        return NULL;
    const struct ptl_slot *entry = &process->slots[slot];
    if (entry->kind != kind || handle_of(kind, entry->generation, slot) != handle)
        return NULL;
    return entry->object;
}

void *ptl_object(ptl_handle_any_t handle, enum ptl_kind kind)
{
    struct ptl_process *process = ptl_current();
    return process ? ptl_lookup(process, handle, kind) : NULL;
}

int ptl_invalid(void)
{
    return ptl_current() ? PTL_ARG_INVALID : PTL_NO_INIT;
}

/* The interface that an object of any kind belongs to. */
struct ptl_ni *ptl_object_ni(const struct ptl_process *process, ptl_handle_any_t handle)
{
    void *object = ptl_lookup(process, handle, (enum ptl_kind)(handle >> 60));
    if (!object)
        return NULL;
    switch ((enum ptl_kind)(handle >> 60)) {
    case PTL_KIND_NI:
        return object;
    case PTL_KIND_EQ:
        return ((struct ptl_eq *)object)->ni;
    case PTL_KIND_CT:
        return ((struct ptl_ct *)object)->ni;
    case PTL_KIND_MD:
        return ((struct ptl_md *)object)->ni;
    case PTL_KIND_LE:
    case PTL_KIND_ME:
        return ((struct ptl_le *)object)->ni;
    case PTL_KIND_FREE:
        break;
    }
    return NULL;
}

void ptl_for_each_object(struct ptl_process *process, enum ptl_kind kind, struct ptl_ni *ni,
                         void (*fn)(void *object))
{
    for (uint32_t slot = 0; slot < process->slot_count; slot++) {
        if (process->slots[slot].kind != kind)
            continue;
        if (ptl_object_ni(process, handle_of(kind, process->slots[slot].generation, slot)) == ni)
            fn(process->slots[slot].object);
    }
}

/* What runtime.h offers about processes */

bool pf_portals_physical_id(int rank, uint32_t *nid, uint32_t *pid)
{
    const struct ptl_process *process = of_rank(rank);
    if (!process)
        return false;
    *nid = process->nid;
    *pid = process->pid;
    return true;
}

void pf_portals_free_mode(pf_self_t *self, bool on)
{
    pf_config_load();
    if (!self->portals)
        self->portals = ptl_process_create(self);
    self->portals->free_mode = on;
}

void pf_portals_counters(const pf_self_t *self, struct pf_portals_counters *out)
{
    if (self->portals)
        *out = self->portals->counters;
    else
        memset(out, 0, sizeof *out);
}
