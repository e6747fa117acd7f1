/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_OPENMPI_4_1_4_H
#define PF_OPENMPI_4_1_4_H

/* Open MPI 4.1.4; private.h says what each of these is. */

#define PF_OMPI_VERSION      "4.1.4"
#define PF_OMPI_PACKAGE      "libopenmpi3"
#define PF_OMPI_VERSION_TEXT "ompi_version_string"

#define PF_OMPI_TYPES        "adapters/openmpi/glue/v4/types.h"

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

/* What a wait, a receive and a send read of a rank's libraries in any case: variables, those that lie beside
 * others that have no name outside; and by which entries they find what they do not define, one for each
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

#define PF_OMPI_RETAIN(X)                                                                                    \
    X("ompi_coll_base_retain_datatypes")                                                                     \
    X("ompi_coll_base_retain_datatypes_w")                                                                   \
    X("ompi_coll_base_retain_op")

#define PF_OMPI_COLL_WITHHELD(X)                                                                             \
    X("ompi_coll_portals4_scatter_intra")                                                                    \
    X("ompi_coll_portals4_iscatter_intra")                                                                   \
    X("ompi_coll_portals4_ibcast_intra")

#define PF_OMPI_COLL_ENDS(X)                                                                                 \
    X("ompi_coll_portals4_iallreduce_intra_fini")                                                            \
    X("ompi_coll_portals4_ibarrier_intra_fini")                                                              \
    X("ompi_coll_portals4_igather_intra_fini")                                                               \
    X("ompi_coll_portals4_ireduce_intra_fini")

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

#define PF_OMPI_LB            "ompi_mpi_lb"
#define PF_OMPI_UB            "ompi_mpi_ub"
#define PF_OMPI_INTEGER16     "ompi_mpi_2dblprec"

#define PF_OMPI_COLL_BCAST    "ompi_coll_portals4_bcast_intra"
#define PF_OMPI_COLL_TYPES    "ompi_coll_portals4_atomic_datatype"

#define PF_OMPI_NBC_PLUGIN    "mca_coll_libnbc"
#define PF_OMPI_NBC_START     "NBC_Start"
#define PF_OMPI_NBC_PROGRESS  "NBC_Progress"

#define PF_OMPI_OSC_RECEIVE   "ompi_osc_pt2pt_irecv_w_cb"
#define PF_OMPI_OSC_SEND      "ompi_osc_pt2pt_isend_w_cb"
#define PF_OMPI_OSC_LIST      "opal_free_list_init"
#define PF_OMPI_OSC_COMM      "ompi_comm_dup"
#define PF_OMPI_OSC_CONTROL   (1ULL << 60)
#define PF_OMPI_OSC_LOCK      8
#define PF_OMPI_OSC_EXCLUSIVE (1LL << 32)

#define PF_OMPI_MTL           "ompi_mtl_portals4"
#define PF_OMPI_MTL_PROGRESS  PF_OMPI_MTL "_progress"
#define PF_OMPI_MTL_TREE      PF_OMPI_MTL "_flowctl_add_procs"
#define PF_OMPI_MTL_COMPONENT "mca_mtl_portals4_component"
#define PF_OMPI_MTL_SHORT     (1ULL << 60)
#define PF_OMPI_MTL_LONG      (2ULL << 60)
#define PF_OMPI_MTL_KIND      16
#define PF_OMPI_MTL_ISEND     0
#define PF_OMPI_MTL_RECV      2
#define PF_OMPI_MTL_ENTRY     40
#define PF_OMPI_MTL_GETS      72
#define PF_OMPI_MTL_PENDING   1192

/* mtl/portals4 claims 13 bits for the id, whose top one collides with its marks; coll/portals4 keeps 11. */
#define PF_OMPI_CONTEXTS      4096
#define PF_OMPI_COLL_CONTEXTS 2048
#define PF_OMPI_TAG_BITS      23
#define PF_OMPI_PASSES        8

#endif
