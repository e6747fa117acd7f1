/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Open MPI 4.1, from 4.1.4; private.h says what each of these is. */

#define PF_OMPI_PACKAGE "libopenmpi3"

#define PF_OMPI_TYPES   "adapters/openmpi/glue/v4/types.h"

#define PF_OMPI_LIBRARIES(X)                                                                                 \
    X(PAL, "libopen-pal.so.40")                                                                              \
    X(RTE, "libopen-rte.so.40")                                                                              \
    X(MPI, "libmpi.so.40")

#define PF_OMPI_PLUGIN_FOLDERS "openmpi3", "openmpi/lib/openmpi3", "openmpi"

/* Those that are OPTIONAL wait for their first use (MPI-IO). */
#define PF_OMPI_PLUGINS(X)                                                                                   \
    X(allocator_basic, ALWAYS)                                                                               \
    X(coll_basic, ALWAYS)                                                                                    \
    X(coll_inter, ALWAYS)                                                                                    \
    X(coll_libnbc, ALWAYS)                                                                                   \
    X(coll_self, ALWAYS)                                                                                     \
    X(coll_tuned, ALWAYS)                                                                                    \
    X(osc_pt2pt, ALWAYS)                                                                                     \
    X(shmem_mmap, ALWAYS)                                                                                    \
    X(topo_basic, ALWAYS)                                                                                    \
    X(allocator_bucket, OB1)                                                                                 \
    X(btl_self, OB1)                                                                                         \
    X(bml_r2, OB1)                                                                                           \
    X(pml_ob1, OB1)                                                                                          \
    X(reachable_weighted, ALWAYS)                                                                            \
    X(pml_ucx, UCX)                                                                                          \
    X(osc_ucx, UCX)                                                                                          \
    X(pml_cm, CM)                                                                                            \
    X(io_ompio, OPTIONAL)                                                                                    \
    X(fs_ufs, OPTIONAL)                                                                                      \
    X(fbtl_posix, OPTIONAL)                                                                                  \
    X(fcoll_dynamic, OPTIONAL)                                                                               \
    X(fcoll_dynamic_gen2, OPTIONAL)                                                                          \
    X(fcoll_individual, OPTIONAL)                                                                            \
    X(fcoll_two_phase, OPTIONAL)                                                                             \
    X(fcoll_vulcan, OPTIONAL)                                                                                \
    X(sharedfp_individual, OPTIONAL)                                                                         \
    X(sharedfp_lockedfile, OPTIONAL)

#define PF_OMPI_SETTINGS(X)                                                                                  \
    X("mca_base_param_files", "none")                                                                        \
    X("mca_base_component_path", "/dev/null") /* plugins come from the glue's list */                        \
    X("ess", "parfocal")                                                                                     \
    X("pmix", "parfocal")                                                                                    \
    X("btl", "self")                                                                                         \
    X("mtl", "portals4")                                                                                     \
    X("opal_signal", "") /* the application's signals are not Open MPI's */                                  \
    X("opal_set_max_sys_limits", "")                                                                         \
    X("memory", "^patcher") /* would rewrite munmap and friends for the whole process, once per rank */      \
    X("orte_create_session_dirs", "0")                                                                       \
    X("mpi_warn_on_fork", "0")                                                                               \
    X("mpi_yield_when_idle", "0")                                                                            \
    X("hwloc_base_binding_policy", "none")                                                                   \
    X("orte_abort_print_stack", "0")                                                                         \
    X("mpi_abort_delay", "0")

#define PF_OMPI_ENVIRONMENT(X)

#define PF_OMPI_MISSING(X)

#define PF_OMPI_COMPONENTS(X) X("mca_ess_parfocal") X("mca_pmix_parfocal")

#define PF_OMPI_ANSWERED(X)

/* What a wait, a receive and a send read of a rank's libraries in any case: variables, those next to others
 * that have no external name; and by which entries they find what they do not define, one for each
 * cache line. */
#define PF_OMPI_READ_VARIABLES                                                                               \
    "opal_progress_spin_count", "opal_progress_yield_when_idle", "opal_set_max_sys_limits",                  \
        "opal_uses_threads", "ompi_request_functions", "mca_pml", "ompi_mtl_portals4", "pf_glue_polling"
#define PF_OMPI_READ_IMPORTS                                                                                 \
    {"libopen-pal", "opal_progress_yield_when_idle"}, {"libopen-pal", "mca_base_component_disable_dlopen"},  \
        {"libmpi.", "ompi_request_functions"}, {"libmpi.", "opal_uses_threads"},                             \
        {"libmpi.", "ompi_mpi_param_check"}, {"libmpi.", "mca_pml_base_recv_requests"},                      \
        {"libmpi.", "ompi_request_f_to_c_table"}, {"libmpi.", "ompi_proc_t_class"},                          \
        {"libmpi.", "ompi_op_f_to_c_table"}, {"libmpi.", "ompi_mpi_complex8"},                               \
        {"mca_pml_cm.", "opal_uses_threads"}, {"mca_pml_cm.", "mca_pml_base_recv_requests"},                 \
        {"mca_pml_cm.", "opal_convertor_t_class"}, {"mca_mtl_portals4.", "ompi_mtl_portals4"},               \
        {"mca_mtl_portals4.", "opal_uses_threads"}, {"mca_mtl_portals4.", "ompi_message_null"},              \
    {                                                                                                        \
        "mca_mtl_portals4.", "ompi_proc_local_proc"                                                          \
    }

#define PF_OMPI_DATA(X)                                                                                      \
    X(PAL, opal_timer_base_get_usec, void *) /* of which shim/ has a declaration of its own */               \
    X(PAL, opal_timer_base_get_cycles, void *)                                                               \
    X(PAL, opal_pmix, opal_pmix_base_module_t)                                                               \
    X(RTE, orte_process_info, struct orte_proc_info_t)                                                       \
    X(RTE, orte_errmgr, orte_errmgr_base_module_t)                                                           \
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
    X(opal_value_t)                                                                                          \
    X(opal_list_t)                                                                                           \
    X(opal_free_list_t)                                                                                      \
    X(opal_hash_table_t)                                                                                     \
    X(opal_convertor_t)

#define PF_OMPI_NBC_PLUGIN     "mca_coll_libnbc"

#define PF_OMPI_OSC_RECEIVE    "ompi_osc_pt2pt_irecv_w_cb"
#define PF_OMPI_OSC_SEND       "ompi_osc_pt2pt_isend_w_cb"

#define PF_OMPI_OSC_UCX_PLUGIN "mca_osc_ucx"
#define PF_OMPI_OSC_UCX        "ucx,pt2pt"
