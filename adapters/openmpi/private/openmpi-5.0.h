/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Open MPI 5.0, from 5.0.5; private.h says what each of these is. */

#define PF_OMPI_PACKAGE "libopenmpi40"

#define PF_OMPI_TYPES   "adapters/openmpi/glue/v5/types.h"

#define PF_OMPI_LIBRARIES(X)                                                                                 \
    X(PAL, "libopen-pal.so.80")                                                                              \
    X(MPI, "libmpi.so.40")

#define PF_OMPI_PLUGIN_FOLDERS "openmpi/lib/openmpi40"

/* All of Open MPI's own are parts of its libraries. */
#define PF_OMPI_PLUGINS(X)

#define PF_OMPI_SETTINGS(X)                                                                                  \
    X("mca_base_param_files", "none")                                                                        \
    X("mca_base_component_path", "/dev/null") /* plugins come from the glue's list */                        \
    X("btl", "self")                                                                                         \
    X("mtl", "portals4")                                                                                     \
    X("coll", "^han,sm") /* these would use memory that the simulated ranks do not share */                  \
    X("shmem", "mmap")   /* the others try this machine's shared memory out, and leave a file open */        \
    X("topo", "basic")   /* treematch would look at this machine */                                          \
    X("sharedfp", "^sm")                                                                                     \
    X("opal_signal", "") /* the application's signals are not Open MPI's */                                  \
    X("opal_set_max_sys_limits", "")                                                                         \
    X("memory", "^patcher") /* would rewrite munmap and friends for the whole process, once per rank */      \
    X("mpi_warn_on_fork", "0")                                                                               \
    X("mpi_yield_when_idle", "0")                                                                            \
    X("mpi_abort_print_stack", "0")                                                                          \
    X("mpi_abort_delay", "0")

/* UCX comes with the libraries, once for the process: it would rewrite mmap and take signals. */
#define PF_OMPI_ENVIRONMENT(X)                                                                               \
    X("UCX_MEM_MMAP_HOOK_MODE", "none")                                                                      \
    X("UCX_MEM_EVENTS", "no")                                                                                \
    X("UCX_HANDLE_ERRORS", "none")

#define PF_OMPI_MISSING(X)                                                                                   \
    X("OPENMPI_PML", pf_config.openmpi_pml, "ob1", "has no one-sided communication for it here")             \
    X("OPENMPI_OSC", pf_config_osc(), "pt2pt", "has no osc/pt2pt; portals4 is what it has")                  \
    X("UCX_OSC", pf_config_ucx_osc(), "pt2pt", "has no osc/pt2pt; ucx is what it has")

#define PF_OMPI_COMPONENTS(X)

#define PF_OMPI_ANSWERED(X)                                                                                  \
    X(PMIx_Abort)                                                                                            \
    X(PMIx_Commit)                                                                                           \
    X(PMIx_Data_pack)                                                                                        \
    X(PMIx_Data_unpack)                                                                                      \
    X(PMIx_Deregister_event_handler)                                                                         \
    X(PMIx_Fence)                                                                                            \
    X(PMIx_Fence_nb)                                                                                         \
    X(PMIx_Finalize)                                                                                         \
    X(PMIx_Get)                                                                                              \
    X(PMIx_Init)                                                                                             \
    X(PMIx_Initialized)                                                                                      \
    X(PMIx_Notify_event)                                                                                     \
    X(PMIx_Put)                                                                                              \
    X(PMIx_Register_event_handler)                                                                           \
    X(PMIx_Store_internal)

/* What a wait reads of a rank's libraries in any case, see openmpi-4.1.h. */
#define PF_OMPI_READ_VARIABLES                                                                               \
    "opal_progress_spin_count", "opal_progress_yield_when_idle", "opal_uses_threads",                        \
        "ompi_request_functions", "mca_pml", "ompi_mtl_portals4", "pf_glue_polling"
#define PF_OMPI_READ_IMPORTS                                                                                 \
    {"libmpi.", "ompi_request_functions"},                                                                   \
    {                                                                                                        \
        "libmpi.", "opal_uses_threads"                                                                       \
    }

#define PF_OMPI_DATA(X)                                                                                      \
    X(PAL, opal_timer_base_get_usec, void *) /* of which shim/ has a declaration of its own */               \
    X(PAL, opal_timer_base_get_cycles, void *)                                                               \
    X(PAL, opal_process_info, opal_process_info_t)                                                           \
    X(MPI, mca_pml, mca_pml_base_module_t)                                                                   \
    X(MPI, mca_pml_base_selected_component, mca_pml_base_component_t)                                        \
    X(MPI, ompi_mpi_communicators, opal_pointer_array_t)                                                     \
    X(MPI, ompi_request_empty, ompi_request_t)

#define PF_OMPI_CLASSES(X)                                                                                   \
    X(ompi_communicator_t)                                                                                   \
    X(ompi_group_t)                                                                                          \
    X(ompi_datatype_t)                                                                                       \
    X(ompi_request_t)                                                                                        \
    X(mca_pml_base_request_t)                                                                                \
    X(ompi_win_t)                                                                                            \
    X(opal_list_t)                                                                                           \
    X(opal_free_list_t)                                                                                      \
    X(opal_hash_table_t)                                                                                     \
    X(opal_convertor_t)

#define PF_OMPI_NBC_PLUGIN     ""

#define PF_OMPI_OSC_RECEIVE    "" /* there is no osc/pt2pt */
#define PF_OMPI_OSC_SEND       ""

#define PF_OMPI_OSC_UCX_PLUGIN ""
#define PF_OMPI_OSC_UCX        "ucx"
