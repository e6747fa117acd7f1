/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/self.h"

/*
 * What makes one MPI implementation callable by the middleware. An adapter is one descriptor with a table of
 * operations; an *instance* is the implementation as one rank sees it in one model. The middleware calls the
 * native MPI functions directly through instance->fn, with values that it translates by the instance's
 * tables: no adapter code runs on the way of an ordinary call but enter and leave.
 */
#define PF_ADAPTER_ABI 1

/* What a native MPI_Probe may return that has looked so often in vain: it is to be called again. */
#define PF_PROBE_AGAIN (-1)
#define PF_PROBE_LOOKS 1000

/* MPI implementations; several models may share one (base/models.def). Each costs a slot in every object and
 * a turn in loops of the waiting calls. */
enum pf_impl { PF_IMPL_SMPI, PF_IMPL_OPENMPI, PF_IMPL_ANALYTIC, PF_IMPL_UCX, PF_IMPL_MPICH, PF_IMPL_COUNT };

/* Middleware values below this are predefined handles; they index pf_instance.predefined. */
#define PF_PREDEFINED_LIMIT 0x300

/* What a native status says. Source, tag and error are the implementation's values. */
struct pf_native_status_view {
    int source;
    int tag;
    int error;
    int cancelled;
    int64_t bytes;
};

/* Large enough and aligned for a status of any implementation. */
union pf_native_status {
    int64_t align;
    char bytes[32];
};

#define PF_FILE_MODES 9

/* The implementation's numbers for the standard's named values. Those of files only where it has files. */
struct pf_native_values {
    int any_source;
    int proc_null;
    int root;
    int any_tag;
    int undefined;
    int order_c, order_fortran;
    int lock_exclusive, lock_shared;
    int mode_nocheck, mode_nostore, mode_noput, mode_noprecede, mode_nosucceed;
    int mode_held; /* of MPI_Win_lock: not before the lock is there, because memory is shared; 0: it never
                    * returns before
                    */
    int file_modes[PF_FILE_MODES]; /* APPEND, CREATE, DELETE_ON_CLOSE, EXCL, RDONLY, RDWR, SEQUENTIAL,
                                      UNIQUE_OPEN, WRONLY */
    int seek_set, seek_cur, seek_end;
    int64_t displacement_current;
    int distribute_block, distribute_cyclic, distribute_none, distribute_default;
    int tag_upper_bound;
    int64_t most_item; /* bytes of one item of a datatype, 0: as many as there are; and otherwise the bytes */
    double most_bytes; /* of a message, or of all blocks of a buffer in a collective */
    bool charges_tests;    /* native tests and probes that find nothing cost simulated time */
    bool runs_ahead;       /* a rank may be ahead of the clock when its call returns: settle and ahead */
    bool no_upcalls;       /* no on_progress for completed operations: SimGrid's activities report them */
    bool status_has_error; /* the status has it of a completed request also where its call succeeds */
    bool needs_progress;   /* operations advance in calls and in ops->progress only: helpers of the middleware
                            * call that while a rank is elsewhere (middleware/agree/progress.h). */
    bool charges_computation; /* turns the rank's computation into simulated time when it is called */
    bool rma_unordered; /* locks and atomic calls of windows do not keep what MPI promises: the middleware
                         * makes ranks wait, see middleware/rma/win_order.h */
    bool splits_alone;  /* sends nothing for MPI_Comm_split_type and for grids without dimensions, and keeps
                         * the order of ranks: shadows made at first use are what it would make */
    bool items_follow_blocks; /* the next item of a datatype begins where the last block ends, not at the
                               * extent, unless its Type_create_resized made it */
    bool short_handles;       /* handles that it keeps in memory are integers: 4 bytes of a pointer */
    size_t status_size;       /* bytes between the elements of an array of statuses */
    void *in_place;
    void *bottom; /* for the buffers of point-to-point calls */
    bool
        bottom_lost; /* collectives take it for an address: they need one, see middleware/datatype/bottom.h */
    bool in_place_lost; /* all-to-all exchanges lose parts of what they send in place, see
                         * middleware/datatype/in_place.h */
    int *unweighted;    /* NULL in SMPI, which has no graphs */
    void *request_null;
    void *datatype_null;
    void *comm_null;
    void *group_null;
    void *info_null;
    void *op_null;
};

/* Initialises those that every mpi.h has a name for, with the values of the one that is included. */
#define PF_NATIVE_NAMED_VALUES                                                                               \
    .any_source = MPI_ANY_SOURCE, .proc_null = MPI_PROC_NULL, .root = MPI_ROOT, .any_tag = MPI_ANY_TAG,      \
    .undefined = MPI_UNDEFINED, .order_c = MPI_ORDER_C, .order_fortran = MPI_ORDER_FORTRAN,                  \
    .lock_exclusive = MPI_LOCK_EXCLUSIVE, .lock_shared = MPI_LOCK_SHARED, .mode_nocheck = MPI_MODE_NOCHECK,  \
    .mode_nostore = MPI_MODE_NOSTORE, .mode_noput = MPI_MODE_NOPUT, .mode_noprecede = MPI_MODE_NOPRECEDE,    \
    .mode_nosucceed = MPI_MODE_NOSUCCEED, .distribute_block = MPI_DISTRIBUTE_BLOCK,                          \
    .distribute_cyclic = MPI_DISTRIBUTE_CYCLIC, .distribute_none = MPI_DISTRIBUTE_NONE,                      \
    .distribute_default = MPI_DISTRIBUTE_DFLT_DARG, .in_place = MPI_IN_PLACE, .bottom = MPI_BOTTOM

/*
 * What a window's shadow is made of. Native handles are the implementation's. All members of the window pass
 * the same `id`, unique among the middleware's communicators, and the same `board`: two pointers for each
 * member, all NULL at first, which belong to the adapter while the window lives.
 */
struct pf_win_recipe {
    void *base;
    int64_t size; /* bytes; 0 when dynamic */
    int disp_unit;
    bool dynamic;
    void *info;
    void *comm; /* of the application */
    const int *world_ranks;
    int members, me;
    int id;
    const int *disp_units; /* of all members */
    void *const *bases;
    void **board;
};

/* What an intercommunicator's shadow is made of: ranks of the world, in an order of the sides that all
 * members agree on. `local_id` is another id, for what the members of a side do among themselves. */
struct pf_intercomm_recipe {
    const int *ranks[2];
    int size[2];
    int side, me; /* the caller's */
    int id, local_id;
};

struct pf_adapter;
struct pf_native_fn; /* generated: pf_native.h as the middleware sees it, pf_own.h as an adapter fills it in
                      */

struct pf_instance {
    const struct pf_adapter *adapter;
    const struct pf_adapter_ops *ops;
    const struct pf_native_values *values;
    const struct pf_native_fn *fn; /* native PMPI_ entry points, NULL where it has none */
    void **predefined; /* native handles of the middleware's predefined ones; in a workload, the middleware
                        * puts the jobs' communicators in the place of MPI_COMM_WORLD */
    int impl;          /* enum pf_impl */
    int model;         /* enum pf_model, filled in by the middleware */
    int network;       /* what it begins takes this one, a number of the adapter's; 0 without a NIC */
    int rank;
    int job_size;
    int unreported; /* an error, as a native code, that the last native call has found and not returned */
    double
        message_cost; /* simulated seconds that the user charges for each send or receive, see config.def */
};

/* The job, as adapters need to know it. `ranks[i]` belongs to the middleware and lives as long as the
 * process. */
struct pf_job {
    int size;
    pf_self_t *const *ranks;
    void (*on_abort)(int rank, int status); /* an implementation wants to end the job; does not return */
    void (*on_progress)(
        void *rank,
        int impl); /* this implementation of the struct pf_rank has something to do; engine context */
    const char *(*phase)(int rank); /* that the program has named; the name stays; NULL: none yet */
    bool alone;                     /* no other model can be in force in this run */
};

struct pf_adapter_ops {
    size_t size; /* of this table, for checks between versions */

    /* Can it be used here? Returns a pf_error; writes the reason when not. Loads nothing. */
    int (*probe)(char *why, size_t why_size);
    /* Makes the instances of all ranks, from a rank's actor, at no simulated time and without making any
     * other rank wait. */
    int (*open)(const struct pf_job *job, char *why, size_t why_size);
    /* A new instance of a rank, after open, whose operations take this network (empty: there is none). All
     * instances of a rank are one and the same implementation: they share its functions and handles. */
    struct pf_instance *(*instance)(int rank, const char *network);
    /* The calling rank enters MPI_Init / MPI_Finalize. Local to the rank, no simulated time of their own
     * beyond what the implementation itself takes when it is the only one. */
    int (*start)(struct pf_instance *in);
    int (*finish)(struct pf_instance *in);

    /* Around every native call made for the application. */
    void (*enter)(struct pf_instance *in);
    void (*leave)(struct pf_instance *in);
    /* The simulated time of a test that finds nothing. Called when the native test does not charge it
     * (values-> charges_tests), or when the middleware has looked by itself: spinning must cost simulated
     * time. */
    void (*idle)(struct pf_instance *in);
    /* The calling rank is about to look at the clock, or to do something outside this implementation: calls
     * that have taken simulated time which has not passed yet are paid for now. */
    void (*settle)(struct pf_instance *in);
    /* The simulated time that settle would pay. */
    double (*ahead)(const struct pf_instance *in);

    void (*status_get)(const void *native, struct pf_native_status_view *out);
    /* The middleware's error class of a native error code. */
    int (*error_class)(struct pf_instance *in, int code);

    /* A communicator over the given world ranks, made locally, without communication and at no simulated
     * time. All members pass the same `id`, unique among the middleware's communicators. `node_local`: all
     * members share a host. */
    int (*comm_shadow)(struct pf_instance *in, const int *world_ranks, int n, int me, int id, bool node_local,
                       void **native);
    /* The same for an intercommunicator. Returns PF_ERR_UNSUPPORTED where there are none. */
    int (*intercomm_shadow)(struct pf_instance *in, const struct pf_intercomm_recipe *recipe, void **native);
    /* Frees a communicator without communication. */
    void (*comm_free)(struct pf_instance *in, void *native);
    /* Do operations in progress still keep the freed shadow of this id? No side effect, no simulated time;
     * any rank may ask. Until they do not, no other shadow may have the id. */
    bool (*comm_kept)(struct pf_instance *in, int id);
    /* Makes a native communicator return error codes instead of ending the process. */
    void (*comm_errors_return)(struct pf_instance *in, void *native);

    /* The native creation of a window has ended, all its members have called it: errors are returned from now
     * on. `native` is about to be freed by the native function. */
    void (*win_made)(struct pf_instance *in, void *native);
    void (*win_gone)(struct pf_instance *in, void *native);
    /* A window made locally, without communication and at no simulated time. It may be used when all members
     * have made theirs. Returns a pf_error. */
    int (*win_shadow)(struct pf_instance *in, const struct pf_win_recipe *recipe, void **native);
    /* An epoch between two fences begins for the caller. Local, no simulated time. */
    int (*win_open)(struct pf_instance *in, void *native);
    /* Frees a window, shadow or not, that all members have left. Local, no simulated time. */
    void (*win_free)(struct pf_instance *in, void *native);
    /* What the implementation sends before it makes a window of shared memory, whose sizes the middleware
     * knows. When it returns, all members have called. `all_sizes` has room for `bytes` of each member.
     * Native error. */
    int (*win_share)(struct pf_instance *in, void *comm, const void *mine, void *all_sizes, int bytes);

    /* Has this operation completed? No side effect, no simulated time; true means that a native wait returns
     * at once. Used only while requests of several owners are waited for: after an answer of false,
     * on_progress is called when it may be another, unless SimGrid's own activities report that. */
    bool (*request_done)(struct pf_instance *in, void *request);
    /* Does it complete though no rank does anything any more? For diagnoses, outside of actors too. */
    bool (*request_will_be_done)(struct pf_instance *in, void *request);
    /* Makes progress without the application: the calling actor works on behalf of the rank. */
    void (*progress)(struct pf_instance *in);
};

struct pf_adapter {
    uint32_t abi;
    const char *name;
    const char *version; /* of the library behind it, for the summary; NULL: it has none of its own */
    const struct pf_adapter_ops *ops;
};

/* Those there are, for pf_adapter_get(). */
extern const struct pf_adapter pf_analytic_adapter, pf_mpich_adapter, pf_openmpi_adapter,
    pf_openmpi_ucx_adapter, pf_smpi_adapter;

/* The adapter of an implementation, NULL when this build has none. */
const struct pf_adapter *pf_adapter_get(enum pf_impl impl);

/* Fallbacks for the slots that an adapter has no use for. */
int pf_adapter_no_start(struct pf_instance *in);
void pf_adapter_no_hook(struct pf_instance *in);
double pf_adapter_no_debt(const struct pf_instance *in);
int pf_adapter_no_intercomm(struct pf_instance *in, const struct pf_intercomm_recipe *recipe, void **native);

/* For an adapter that can have several communicators of one id, of which all but one were freed. */
bool pf_adapter_no_comm_kept(struct pf_instance *in, int id);
