/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* clang-format off */
/*
 * What the adapter knows of Open MPI beyond the headers that it installs: names of files, symbols and
 * parameters, and numbers in its code. One header for each series, openmpi-<series>.h; the build takes that
 * of the version that is installed, and layout.h compares it with the libraries in each run. What has the same value in all is
 * below, and goes into their headers when a new version has another one. The headers define:
 *
 *   PF_OMPI_PACKAGE                    the package of Debian that has it; PF_OMPI_VERSION is the build's
 *   PF_OMPI_VERSION_TEXT               the symbol in libmpi that says which version it is
 *   PF_OMPI_TYPES                      the header that includes those of what PF_OMPI_DATA and _CLASSES name
 *   PF_OMPI_LIBRARIES(X)               X(NAME, file) of each, after those that it needs; the last is MPI
 *   PF_OMPI_PLUGIN_FOLDERS             where the plugins are, below the libraries
 *   PF_OMPI_PLUGINS(X)                 X(name, when): ALWAYS, only with pml CM, OB1 or UCX, or OPTIONAL
 *   PF_OMPI_LB, _UB, _INTEGER16        datatypes that stand for those that its mpi.h has not got
 *   PF_OMPI_SETTINGS(X)                X(parameter, value): another value breaks the adapter
 *   PF_OMPI_ENVIRONMENT(X)             X(variable, value) of the process, unless the user has set it
 *   PF_OMPI_MISSING(X)                 X(PARFOCAL_ name, its value, the one that is refused, why)
 *   PF_OMPI_UCX_PREFIXES               what the settings of the code that components over UCX share begin with
 *   PF_OMPI_UCX_SETTINGS(X)            X(name behind it, value): another value breaks the adapter
 *   PF_OMPI_COMPONENTS(X)              X(name of a component that is part of the glue)
 *   PF_OMPI_ANSWERED(X)                X(function of another library that Open MPI calls and the glue answers)
 *   PF_OMPI_RETAIN(X)                  X(function of libmpi) that keeps what a nonblocking collective uses
 *   PF_OMPI_COLL_WITHHELD(X)           X(function of coll/portals4) that is wrong and has a substitute
 *   PF_OMPI_COLL_ENDS(X)               X(function of coll/portals4) that ends a nonblocking collective
 *   PF_OMPI_COLL_BCAST, _TYPES         its broadcast, its table of types
 *   PF_OMPI_NBC_PLUGIN                 the plugin that coll/libnbc is; "": part of libmpi
 *   PF_OMPI_COPY                       with which libmpi copies data of one datatype
 *   PF_OMPI_COMMIT                     with which libmpi makes a datatype usable
 *   PF_OMPI_NBC_START, _PROGRESS       with which coll/libnbc starts and advances a collective
 *   PF_OMPI_OSC_RECEIVE, _SEND         of osc/pt2pt, with a callback
 *   PF_OMPI_OSC_UCX_PLUGIN             the plugin that osc/ucx is; "": part of libmpi
 *   PF_OMPI_OSC_UCX                    which components one-sided communication over UCX may take, where osc/ucx is wanted
 *   PF_OMPI_OSC_UCX_...                of osc/ucx: its component, its table of functions, and two of these
 *   PF_OMPI_OSC_LIST                   with which osc/portals4 makes its list of requests
 *   PF_OMPI_OSC_TYPE                   with which it finds the predefined datatype of an accumulate
 *   PF_OMPI_OSC_CONTROL, _LOCK         how osc/portals4 marks what is no data, and where its lock lies there
 *   PF_OMPI_OSC_EXCLUSIVE              what it writes there to have it alone
 *   PF_OMPI_OSC_COMM                   by which one-sided components copy a communicator
 *   PF_OMPI_MTL, PF_OMPI_MTL_PROGRESS  what the symbols of mtl/portals4 begin with; its progress function
 *   PF_OMPI_MTL_TREE, _COMPONENT       its function that sets up the tree of flow control; its component
 *   PF_OMPI_MTL_SHORT, _LONG           how it marks short and long messages in the match bits
 *   PF_OMPI_MTL_KIND, _ENTRY, _GETS    where its requests say what they are, which entry of its own a send has, and how
 *                                      many gets it waits for
 *   PF_OMPI_MTL_ISEND, _RECV           kinds of its requests
 *   PF_OMPI_MTL_PENDING                where it counts sends that it has put off
 *   PF_OMPI_TAG_BITS                   bits of a tag that a receive of any tag ignores
 *   PF_OMPI_PASSES                     passes of opal_progress in which every callback is called once
 *   PF_OMPI_DATA(X)                    X(library, symbol, type) of data in Open MPI's libraries (layout.h)
 *   PF_OMPI_CLASSES(X)                 X(class) of objects whose members the glue uses (glue/check.c)
 *
 * PF_OMPI_DATA and PF_OMPI_CLASSES are for files that see Open MPI's own headers.
 */
/* clang-format on */
#include "adapters/openmpi/private/found.h"

#define PF_OMPI_VERSION_TEXT "ompi_version_string"
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
#define PF_OMPI_LB            "ompi_mpi_lb"
#define PF_OMPI_UB            "ompi_mpi_ub"
#define PF_OMPI_INTEGER16     "ompi_mpi_2dblprec"
#define PF_OMPI_COLL_BCAST    "ompi_coll_portals4_bcast_intra"
#define PF_OMPI_COLL_TYPES    "ompi_coll_portals4_atomic_datatype"
#define PF_OMPI_COPY          "opal_datatype_copy_content_same_ddt"
#define PF_OMPI_COMMIT        "opal_datatype_commit"
#define PF_OMPI_NBC_START     "NBC_Start"
#define PF_OMPI_NBC_PROGRESS  "NBC_Progress"
#define PF_OMPI_OSC_LIST      "opal_free_list_init"
#define PF_OMPI_OSC_TYPE      "ompi_datatype_get_single_predefined_type_from_args"
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
#define PF_OMPI_TAG_BITS      23
#define PF_OMPI_PASSES        8

#define PF_OMPI_UCX_PREFIXES  "opal_common_ucx_", "pml_ucx_"
#define PF_OMPI_UCX_SETTINGS(X)                                                                              \
    X("tls", "any") /* the simulated transport and device are none that it knows */                          \
    X("devices", "any")                                                                                      \
    X("opal_mem_hooks", "0")      /* the simulated NIC keeps no registrations */                             \
    X("progress_iterations", "1") /* a rank that waits for a message advances its collectives, too */

#define PF_OMPI_OSC_UCX_COMPONENT      "mca_osc_ucx_component"
#define PF_OMPI_OSC_UCX_FUNCTIONS      "ompi_osc_ucx_module_template"
#define PF_OMPI_OSC_UCX_ACCUMULATE     "ompi_osc_ucx_accumulate"
#define PF_OMPI_OSC_UCX_GET_ACCUMULATE "ompi_osc_ucx_get_accumulate"
