/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/openmpi/glue/glue.h"
#include "adapters/openmpi/openmpi.h"
#include "adapters/openmpi/parts.h"

struct pf_ompi_variable {
    char *name, *value;
    struct pf_ompi_variable *next;
};

/* One Open MPI: its libraries, its glue, and its place in the job. */
struct pf_ompi_instance {
    pf_self_t *self;
    struct pf_ompi_stack *stack;
    void *core[PF_CORE_COUNT]; /* as loader/copy.h knows them */
    void *mtl; /* of mtl/portals4, where coll and osc find the addresses of the others; NULL: not loaded */
    const struct pf_glue *glue;
    struct pf_glue_host host;
    char *local_peers;
    struct pf_ompi_variable *environment; /* what this Open MPI has set with setenv */
    bool ready;
    double owed;       /* simulated time (s) of its own work that was too short to be paid */
    sg_actor_t helper; /* the actor that is inside in place of the rank, which pays nothing; NULL: none */
    bool searched;     /* a search has failed since the rank entered, see hooks.c */
};

/* Loads the libraries of the instance, whose self and host are filled in. */
bool pf_ompi_instance_load(struct pf_ompi_instance *inst, char *why, size_t n);

/* Plugins, for struct pf_glue_host; the context is the instance. */
int pf_ompi_plugin_list(void *context, int (*each)(const char *path, void *arg), void *arg);
void *pf_ompi_plugin_open(void *context, const char *path, const char **error);
void *pf_ompi_plugin_symbol(void *context, void *handle, const char *name);

/* The environment as the instance sees it. */
const char *pf_ompi_instance_getenv(struct pf_ompi_instance *inst, const char *name);
void pf_ompi_instance_setenv(struct pf_ompi_instance *inst, const char *name, const char *value);
