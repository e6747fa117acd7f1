/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The glue is the part of the adapter that exists once per rank: a plugin that is cloned with the Open MPI
 * libraries and linked to them, so that it can call their internal functions directly. It holds the
 * components that stand in for mpirun and its daemons (ess, pmix). It and the adapter know each other only
 * through these two tables. No header of Open MPI is needed to read this one.
 */

struct pf_intercomm_recipe; /* adapters/adapter.h */
struct pf_win_recipe;
struct ompi_proc_t;

/* A function of mtl/portals4: sets the tree of its flow control up. `procs` has all ranks. */
typedef int pf_glue_tree_t(size_t me, size_t count, struct ompi_proc_t **procs);

/* What a rank's Open MPI waits for, for code that may not call it. */
struct pf_glue_waits {
    const volatile size_t *pending_sends; /* those that mtl/portals4 has put off, counted */
    bool sending;                         /* inside a blocking send */
};

/* What the adapter does for a glue. `context` is the adapter's own. */
struct pf_glue_host {
    size_t size;
    void *context;
    int rank;
    int job_size;
    int local_rank; /* among the ranks of its simulated host */
    int local_size;
    const char *local_peers; /* their ranks, separated by commas */
    const char *host_name;
    /* Waits until all ranks of the job are here. */
    void (*fence)(void *context);
    /* Publishes a value for all ranks; the bytes are copied. */
    void (*put)(void *context, const char *key, int type, const void *data, size_t n);
    /* What a rank has published; false when it has not. */
    bool (*get)(void *context, int rank, const char *key, int *type, const void **data, size_t *n);
    const char *(*name_of_host)(void *context, int rank);
    /* Ends the job. Does not return. */
    void (*abort)(void *context, int status);
    /* Ends the run in one line: `what` of this Open MPI is not as expected. */
    void (*refuse)(void *context, const char *what, long long found, long long expected);
    double (*now)(void *context); /* simulated seconds */
    bool log_messages;            /* `message` wants to hear of every message of this rank */
    void (*message)(void *context, int to, size_t bytes, int tag);
    void (*combined)(void *context, size_t bytes); /* by a reduction; NULL: costs no simulated time */
    void (*copied)(void *context, size_t bytes);   /* inside the rank's memory; likewise */
    void (*started)(void *context, size_t count);  /* persistent requests; likewise */
    void (*typed)(void *context);                  /* a datatype that a collective makes; likewise */
    size_t buffered_max; /* longest message of which the sender keeps a copy; 0: of none */
    /* Open MPI's plugins: calls `each` with every plugin's path; opens one for this rank; looks a symbol up
     * in it. */
    int (*plugin_list)(void *context, int (*each)(const char *path, void *arg), void *arg);
    void *(*plugin_open)(void *context, const char *path, const char **error);
    void *(*plugin_symbol)(void *context, void *handle, const char *name);
    /* Counts changes of the rank's NIC; a poll in vain; see lowlevel/portals/runtime.h. */
    const uint64_t *(*changes)(void *context);
    void (*idle_pass)(void *context);
    void (*idle_at_least)(void *context, long passes);
    void (*send_needs_ack)(void *context, bool on);
    /* From now on the rank is not woken for events that change nothing (waits.h). `waits` stays where it is.
     */
    void (*keep_events)(void *context, const struct pf_glue_waits *waits);
    /* What the rank begins from now on goes by this network, or by the same as before. Returns the one
     * before.
     */
    int (*use_network)(void *context, int network);
};

enum { PF_GLUE_SAME_NETWORK = -1 };

#define PF_GLUE_COLL_ENDS 4

/* What a glue does for the adapter; each function works on its own rank's instance. */
struct pf_glue {
    size_t size;
    int (*init)(int *thread_level);
    int (*progress)(void); /* one pass */
    /* A communicator over ranks of the world, made locally. All members pass the same `id` of the middleware,
     * in [0, shadow_limit), that no other live communicator has. Returns a native error. */
    int (*comm_shadow)(const int *world_ranks, int n, int me, int id, void **comm);
    int (*intercomm_shadow)(const struct pf_intercomm_recipe *recipe, void **comm);
    void (*comm_free)(void *comm);          /* shadow or not; local */
    bool (*comm_kept)(int id);              /* a shadow of this id exists, freed or not */
    void (*comm_errors_return)(void *comm); /* of one that Open MPI itself has made; the others have it */
    /* Would a native wait for it return at once? No side effect. */
    bool (*request_done)(const void *request);
    /* Repairs coll/portals4, whose broadcast function and table of types are given. Returns the function that
     * is to stand for that broadcast, and that calls it. */
    void *(*coll_repair)(void *bcast, void *types);
    /* The same for the function that ends its nonblocking collectives of one kind, number `which`. */
    void *(*coll_end)(int which, void *function);
    /* What is to stand for the functions of coll/libnbc that start and advance a collective. */
    void *(*nbc_start)(void *function);
    void *(*nbc_progress)(void *function);
    /* What is to stand for the function that copies data of one datatype. */
    void *(*copy)(void *function);
    void *(*commit)(void *function);
    /* Makes mtl/portals4, whose component and function for its tree are given, do with the ranks that it
     * needs (procs.c). Returns what is to stand for that function, and that calls it. */
    pf_glue_tree_t *(*mtl_repair)(void *component, pf_glue_tree_t *tree);
    /* Repair osc/pt2pt, of which the function that receives, and that sends, with a callback is given. Each
     * returns what is to stand for it, and that calls it. */
    void *(*osc_receive)(void *function);
    void *(*osc_send)(void *function);
    /* Repairs osc/portals4, by calling `replace` for each function that it is to have another for. */
    void (*osc_repair)(void (*replace)(void *handle, const char *name, void *value), void *handle);
    /* The same for osc/ucx, whose own functions `find` gives; `common` has what it shares with others. */
    void (*osc_ucx_repair)(void (*replace)(void *handle, const char *name, void *value),
                           void *(*find)(void *handle, const char *name), void *handle, void *common);
    /* Stands for ompi_comm_dup in the one-sided components. */
    int (*window_comm)(void *comm, void **result);
    /* A window over `comm`, a communicator that nothing else uses and that it takes over, while the members
     * are at rest; a fence epoch begins although no fence is called; the end, without its barrier. All local;
     * native errors. What they ask of the NIC is to take no time (pf_portals_free_mode). */
    int (*window_shadow)(const struct pf_win_recipe *recipe, void *comm, void **win);
    int (*window_open)(void *win);
    int (*window_free)(void *win);
    /* Open MPI has made a window by itself, which gets ERRORS_RETURN, or is about to free one. */
    void (*window_made)(void *win);
    void (*window_gone)(const void *win);
    int shadow_limit; /* ids of shadows lie in [0, shadow_limit) */
};

/* The exported entry of the glue, by name "pf_glue_bind". */
typedef const struct pf_glue *(*pf_glue_bind_t)(const struct pf_glue_host *host);
