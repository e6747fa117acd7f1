/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/openmpi/glue/glue.h"

#define PF_GLUE_EXPORT __attribute__((visibility("default")))

/* Static data of a cloned library belong to one rank, so the glue needs no context of its own. */
extern const struct pf_glue_host *pf_glue_host;

/* Replaces Open MPI's way of finding and opening plugins, and gives it their list. Returns an OPAL
 * code. */
int pf_glue_plugins_install(void);

/* A symbol of the plugin of the messaging layer over Portals, NULL when there is none. */
void *pf_glue_mtl_symbol(const char *name);

/* Compares the layouts that the glue uses with the libraries, see check.c. After MPI_Init. */
void pf_glue_check(void);

/* What this rank is inside of: send.c sets it, progress.c passes it to the host. */
extern struct pf_glue_waits pf_glue_waits;

/* Has the network polled only when it has changed, see progress.c. After MPI_Init. */
void pf_glue_progress_install(void);

/* Makes a blocking send progress everything, see send.c. After MPI_Init. */
void pf_glue_send_install(void);

/* Lets the sender keep copies of short messages if the adapter wants that, see buffered.c. After the former.
 */
void pf_glue_buffered_install(void);

/* Reports what reductions combine if the adapter wants that, see op.c. After MPI_Init. */
void pf_glue_op_install(void);

/* Tests of failed persistent requests from now on return their error. */
void pf_glue_request_install(void);

/* Reports the messages of this rank if the adapter wants that, see messages.c. After MPI_Init. */
void pf_glue_messages_install(void);

/* See struct pf_glue. */
int pf_glue_window_comm(void *original, void **result);
int pf_glue_window_shadow(const struct pf_win_recipe *recipe, void *native_comm, void **result);
int pf_glue_window_open(void *native);
int pf_glue_window_free(void *native);
void pf_glue_window_made(void *native);
void pf_glue_window_gone(const void *native);
pf_glue_tree_t *pf_glue_mtl_repair(void *component, pf_glue_tree_t *tree);
void *pf_glue_coll_repair(void *function, void *types);
void *pf_glue_coll_end(int which, void *function);
void *pf_glue_copy(void *function);
void *pf_glue_commit(void *function);
void *pf_glue_nbc_start(void *function);
void *pf_glue_nbc_progress(void *function);
void *pf_glue_osc_receive(void *function);
void *pf_glue_osc_send(void *function);
void pf_glue_osc_repair(void (*replace)(void *handle, const char *name, void *value), void *handle);

void pf_glue_osc_ucx_repair(void (*replace)(void *handle, const char *name, void *value),
                            void *(*find)(void *handle, const char *name), void *handle, void *common);

/* Whether the window that is being made is a shadow. */
bool pf_glue_window_is_shadow(void);

/* Mends the functions of osc/ucx that attach and detach regions. */
struct ompi_osc_base_module_3_0_0_t;
void pf_glue_regions_ucx_repair(struct ompi_osc_base_module_3_0_0_t *functions);

/* Whether osc/ucx has all windows of this rank, the shadows too. */
bool pf_glue_window_ucx_has_all(void);

/* Of a shadow in osc/ucx: answers the collectives of its communicator while it is made; false: no memory.
 * Then what an address of the component is that may be a name, and the end. */
struct ompi_communicator_t;
bool pf_glue_window_ucx_begin(const struct pf_win_recipe *recipe, struct ompi_communicator_t *comm);
uint64_t pf_glue_window_ucx_address(uint64_t address);
void pf_glue_window_ucx_gone(int id);

/* In the folder of each version. A communicator's number; what is left of making one when its members and its
 * number are known; what pml/cm needs before it sends, after MPI_Init. */
uint32_t pf_glue_comm_index(const struct ompi_communicator_t *comm);
void pf_glue_comm_set_index(struct ompi_communicator_t *comm, uint32_t index);
int pf_glue_comm_over(const int *world_ranks, int n, struct ompi_communicator_t **comm);
void pf_glue_pml_install(void);
