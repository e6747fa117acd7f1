/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <simgrid/barrier.h>
#include <simgrid/semaphore.h>

#include "adapters/openmpi/openmpi.h"

/*
 * Below Open MPI there is one of several stacks: Portals or UCX. Each has private copies of Open MPI of its
 * own, which are made at the first use of one of its models, and can exist next to the other's. What is per
 * stack is here; the files of which copies are made are the same (parts.h).
 */

/* What Open MPI is to be over this stack, and what a rank asks of it (lowlevel/portals/runtime.h,
 * lowlevel/ucx/runtime.h). */
struct pf_ompi_stack_ops {
    size_t size;
    const char *(*pml)(void);            /* components: the messaging layer, */
    const char *(*osc)(void);            /* one-sided communication, */
    const char *(*coll)(void);           /* collectives offloaded to the NIC, or "" */
    void *(*function)(const char *name); /* what stands for one that a library imports, or NULL */
    void (*free_mode)(pf_self_t *self, bool on);
    void (*enter)(pf_self_t *self, int network);
    int (*network_now)(const pf_self_t *self);
    int (*network_use)(pf_self_t *self, int network);
    void (*idle_reset)(pf_self_t *self);
    void (*idle_at_least)(pf_self_t *self, long passes);
    void (*set_notify)(pf_self_t *self, void (*fn)(void *arg), void *arg);
    const uint64_t *(*changes)(const pf_self_t *self); /* NULL: Open MPI polls as it does by itself */
    void (*reads_when_woken)(pf_self_t *self, const char *base, const uint32_t *places, int count);
};

enum { PF_OMPI_LINES = 64, PF_OMPI_STACKS = 2, PF_OMPI_PLUGIN_LIMIT = 48 };

struct pf_ompi_stack {
    const struct pf_ompi_stack_ops *ops;
    int number; /* among the stacks */
    char *plugins[PF_OMPI_PLUGIN_LIMIT];
    int plugin_count;
    size_t bytes, maps; /* on disk, and memory maps, of one instance at start */
    struct pf_image *image;
    uint32_t lines[PF_OMPI_LINES]; /* places in it that are read when a rank is woken */
    int line_count;
    struct pf_ompi_job job;
    struct pf_ompi_instance *instances;
    enum { PF_OMPI_CLOSED, PF_OMPI_OPEN, PF_OMPI_CREATING, PF_OMPI_READY, PF_OMPI_FAILED } state;
    sg_bar_t fence;
    sg_sem_t initialised; /* released once by every helper, or by the first that fails */
    sg_sem_t created;     /* for callers that find the creation under way */
    int waiting;
    struct pf_modex_key *modex;
    char why[512];
};

/* Whether its messaging layer is this one. */
bool pf_ompi_stack_has_pml(const struct pf_ompi_stack *stack, const char *name);
