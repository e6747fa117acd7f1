/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/export.h"
#include "base/log.h"
#include "base/self.h"
#include "lowlevel/portals/include/portals4.h"
#include "middleware/process/layer.h"

#define PF_SHMEM_NO_SELECTION
#pragma GCC visibility push(default)
#include "openshmem/include/shmem.h"
#pragma GCC visibility pop

/*
 * The state of one PE. It hangs on the rank's identity (pf_self_t.shmem) and lives from shmem_init to the end
 * of the process.
 *
 * Everything that PEs do to each other is a command to the NIC: puts, gets and atomics on two list entries
 * per PE, one over the static data of its copy of the program and one over its part of the symmetric heap. A
 * place is named by segment and offset, so the addresses of two PEs may differ. Completion is counted: a put
 * by the acknowledgement of the target's NIC, a get by its reply. A PE that waits is parked until its NIC has
 * changed a counter or the memory.
 */
enum { PF_SHMEM_STATIC, PF_SHMEM_HEAP, PF_SHMEM_SEGMENTS };

struct pf_shmem_segment {
    char *base;
    size_t length;
};

/* Commands that are counted together. */
struct pf_shmem_counted {
    ptl_handle_ct_t counter;
    ptl_handle_md_t memory;        /* all of the process's */
    ptl_handle_md_t memory_copied; /* the same, and the payload is taken when the call is made */
    uint64_t issued;
};

struct pf_shmem_context {
    struct pf_shmem_counted puts; /* and atomics without an answer */
    struct pf_shmem_counted gets; /* those that are not waited for at once */
    bool unordered; /* since the last fence something has left that the NIC may let be overtaken */
    bool open;
    struct pf_shmem_context *next;
};

/* An address of the caller as it is named at any PE. */
struct pf_shmem_place {
    int segment;
    size_t offset;
};

struct pf_shmem {
    pf_self_t *self;
    int rank, size;
    enum pf_model model; /* in force when it made its latest call, */
    int network;         /* by which its commands go */
    const char *call;    /* the current or last one, for diagnoses */
    const void *site;    /* where in the program it was made */
    bool inside;         /* it has not returned */
    uint32_t idle; /* calls in a row that have let no simulated time pass, but for what they were made to */
    double date;   /* at the end of the latest of them */
    int waits_for; /* the PE, -1: any */
    struct pf_shmem_awaited {
        const void *at; /* in its own memory, NULL: nothing */
        bool (*holds)(const void *at, int comparison, const void *value);
        int comparison;
        const void *value;
    } awaited;
    int thread_level; /* as the program got it */
    bool over;
    bool debug;                      /* the user wants to read what happens */
    struct pf_shmem_segment program; /* its copy, code and data */
    struct pf_shmem_segment segments[PF_SHMEM_SEGMENTS];
    ptl_handle_ni_t ni;
    ptl_ni_limits_t limits; /* which payload the processor can give with a command, what stays in order */
    struct pf_shmem_context default_context;
    struct pf_shmem_context *contexts; /* the others */
    struct pf_shmem_counted answers;   /* gets and fetches that are waited for at once */
    ptl_handle_md_t signals;           /* for what is not counted */
    uint64_t heap_calls;               /* of shmem_malloc and its like */
    long *sync;                        /* SHMEM_SYNC_SIZE elements for barriers over all */
};

/* mistake.c */
struct pf_shmem *pf_shmem_enter_slowly(const char *call, const void *site);
/* Ends the job when the caller can be no PE: another thread, a child process. */
void pf_shmem_check_caller(const char *call, const void *site);
/* One line that names the PE, the call and where it is made; ends the job. */
void pf_shmem_die(const struct pf_shmem *me, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
void pf_shmem_check_pe(const struct pf_shmem *me, int pe);

/* watch.c: warns when a PE computes for so long that it may wait for a variable. Once per process. */
void pf_shmem_watch(void);

/* caller.c */
void pf_shmem_enter(struct pf_shmem *me, const char *call, const void *site, enum pf_layer_call kind);
void pf_shmem_leave(struct pf_shmem *me);
/* PEs have pointers to each other's memory. Then each call of one wakes those for whose wait it has stored
 * something. */
extern bool pf_shmem_stores;
extern pthread_t pf_shmem_thread; /* of all PEs, valid as soon as there is one */
void pf_shmem_use_model(struct pf_shmem *me, enum pf_model model); /* ends the job when it has no NIC */
struct pf_shmem *pf_shmem_of(int pe);
void pf_shmem_known(struct pf_shmem *me); /* to pf_shmem_of() */

static inline struct pf_shmem *pf_shmem_call(const char *call, const void *site, enum pf_layer_call kind)
{
    if (__builtin_expect(!pthread_equal(pthread_self(), pf_shmem_thread), 0))
        return pf_shmem_enter_slowly(call, site);
    pf_self_t *self = pf_self();
    if (__builtin_expect(!self || !self->shmem || self->shmem->over, 0))
        return pf_shmem_enter_slowly(call, site);
    pf_shmem_enter(self->shmem, call, site, kind);
    return self->shmem;
}
#define PF_SHMEM_ENTER(call, kind) pf_shmem_call(call, __builtin_return_address(0), PF_LAYER_##kind)

/* environment.c */
size_t pf_shmem_heap_length(void); /* of each PE, in bytes, for the program */
/* Reads the other variables of the environment; says what they ask for. */
void pf_shmem_introduce(struct pf_shmem *me);
/* A line on stderr when SHMEM_DEBUG is set. */
void pf_shmem_debug(const struct pf_shmem *me, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* segment.c */
void pf_shmem_segments_open(struct pf_shmem *me);
/* Dies when not all of it is symmetric. */
struct pf_shmem_place pf_shmem_locate(const struct pf_shmem *me, const void *address, size_t length);
int pf_shmem_accessible(const struct pf_shmem *me, const void *address, int pe);
void *pf_shmem_ptr(const struct pf_shmem *me, const void *address, int pe);

/* The library's part of the heap. */
#define PF_SHMEM_OWN ((size_t)4096)
/* heap.c: every function is called by all PEs with the same arguments */
void *pf_shmem_heap_take(struct pf_shmem *me, size_t alignment, size_t length); /* without a barrier */
void *pf_shmem_malloc(struct pf_shmem *me, size_t alignment, size_t length);
void *pf_shmem_calloc(struct pf_shmem *me, size_t count, size_t length);
void *pf_shmem_realloc(struct pf_shmem *me, void *old, size_t length);
void pf_shmem_free(struct pf_shmem *me, void *address);

/* context.c */
/* False when the NIC has no room for it. */
bool pf_shmem_counted_open(struct pf_shmem *me, struct pf_shmem_counted *counted, unsigned int event);
/* Waits until all of them are done. */
void pf_shmem_counted_wait(struct pf_shmem *me, struct pf_shmem_counted *counted);
bool pf_shmem_context_open(struct pf_shmem *me, struct pf_shmem_context *context);
struct pf_shmem_context *pf_shmem_context_of(struct pf_shmem *me, shmem_ctx_t ctx);
int pf_shmem_ctx_create(struct pf_shmem *me, long options, shmem_ctx_t *ctx);
void pf_shmem_ctx_destroy(struct pf_shmem *me, shmem_ctx_t ctx);
void pf_shmem_fence(struct pf_shmem *me, shmem_ctx_t ctx);
void pf_shmem_quiet(struct pf_shmem *me, shmem_ctx_t ctx);
void pf_shmem_quiet_all(struct pf_shmem *me); /* all contexts */

/* transfer.c: lengths in bytes */
void pf_shmem_put(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, size_t length, int pe);
void pf_shmem_put_nbi(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, size_t length,
                      int pe);
void pf_shmem_get(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, size_t length, int pe);
void pf_shmem_get_nbi(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, size_t length,
                      int pe);
/* `count` elements of `size` bytes, `to_stride` and `from_stride` elements apart. */
void pf_shmem_iput(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, ptrdiff_t to_stride,
                   ptrdiff_t from_stride, size_t count, size_t size, int pe);
void pf_shmem_iget(struct pf_shmem *me, shmem_ctx_t ctx, void *to, const void *from, ptrdiff_t to_stride,
                   ptrdiff_t from_stride, size_t count, size_t size, int pe);

/* atomic.c */
void pf_shmem_atomic(struct pf_shmem *me, shmem_ctx_t ctx, ptl_datatype_t type, ptl_op_t operation, void *at,
                     const void *value, int pe);
void pf_shmem_atomic_fetch(struct pf_shmem *me, shmem_ctx_t ctx, ptl_datatype_t type, ptl_op_t operation,
                           void *at, const void *value, void *result, int pe);
void pf_shmem_atomic_swap(struct pf_shmem *me, shmem_ctx_t ctx, ptl_datatype_t type, void *at,
                          const void *value, void *result, int pe);
void pf_shmem_atomic_compare(struct pf_shmem *me, shmem_ctx_t ctx, ptl_datatype_t type, void *at,
                             const void *condition, const void *value, void *result, int pe);
/* Adds 1 to a long of the PE, behind all that was put there and is short; it is not counted. */
void pf_shmem_signal(struct pf_shmem *me, long *at, int pe);

/* wait.c */
typedef bool (*pf_shmem_condition)(const void *at, int comparison, const void *value);
void pf_shmem_await(struct pf_shmem *me, const void *at, size_t size, pf_shmem_condition holds,
                    int comparison, const void *value);
void pf_shmem_wait_until(struct pf_shmem *me, const void *at, size_t size, pf_shmem_condition holds,
                         int comparison, const void *value);
int pf_shmem_test(struct pf_shmem *me, const void *at, size_t size, pf_shmem_condition holds, int comparison,
                  const void *value);
/* Waits for a signal and takes it; `from` gives it. */
void pf_shmem_take_signal(struct pf_shmem *me, long *at, int from);

/* lock.c */
void pf_shmem_set_lock(struct pf_shmem *me, long *lock);
void pf_shmem_clear_lock(struct pf_shmem *me, long *lock);
int pf_shmem_test_lock(struct pf_shmem *me, long *lock);

/* active_set.c, collective.c, reduce.c */
void pf_shmem_barrier_all(struct pf_shmem *me);
void pf_shmem_sync_all(struct pf_shmem *me);
#define PF_SHMEM_SET int set_start, int set_log_stride, int set_size, long *sync
void pf_shmem_barrier(struct pf_shmem *me, PF_SHMEM_SET);
void pf_shmem_sync(struct pf_shmem *me, PF_SHMEM_SET);
void pf_shmem_broadcast(struct pf_shmem *me, void *to, const void *from, size_t length, int root,
                        PF_SHMEM_SET);
void pf_shmem_collect(struct pf_shmem *me, void *to, const void *from, size_t length, PF_SHMEM_SET);
void pf_shmem_fcollect(struct pf_shmem *me, void *to, const void *from, size_t length, PF_SHMEM_SET);
void pf_shmem_alltoall(struct pf_shmem *me, void *to, const void *from, size_t length, PF_SHMEM_SET);
void pf_shmem_alltoalls(struct pf_shmem *me, void *to, const void *from, ptrdiff_t to_stride,
                        ptrdiff_t from_stride, size_t count, size_t size, PF_SHMEM_SET);
/* into[i] = into[i] (operation) other[i] */
typedef void (*pf_shmem_operation)(void *into, const void *other, size_t count);
void pf_shmem_reduce(struct pf_shmem *me, void *to, const void *from, int count, size_t size,
                     pf_shmem_operation operation, PF_SHMEM_SET);
