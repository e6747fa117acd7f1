/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPICH that would leave the simulated world, and where they are led instead. */
#include "adapters/mpich/hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/mpich/mpich.h"
#include "adapters/mpich/pmi.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/libc.h"
#include "lowlevel/ucx/runtime.h"
#include "lowlevel/ucx/ucp.h"

static ssize_t hook_read(int fd, void *buffer, size_t n)
{
    return fd == PF_MPICH_PMI_FD ? pf_mpich_pmi_read(pf_mpich_caller(), buffer, n) : read(fd, buffer, n);
}

static ssize_t hook_write(int fd, const void *buffer, size_t n)
{
    return fd == PF_MPICH_PMI_FD ? pf_mpich_pmi_write(pf_mpich_caller(), buffer, n) : write(fd, buffer, n);
}

/*
 * Each rank is a node of its own: ranks of one host use the NIC, too, and no memory is shared. One context
 * for communication has the rank's one thread, and no other thread makes progress.
 */
static char *hook_getenv(const char *name)
{
    static const char *const denied[] = {"MPIR_CVAR_CH4_NUM_VCIS", "MPIR_CVAR_ASYNC_PROGRESS",
                                         "MPIR_CVAR_CH4_ROOTS_ONLY_PMI"};
    struct pf_mpich_rank *rank = pf_mpich_caller();
    if (!rank)
        return getenv(name);
    if (strcmp(name, "MPIR_CVAR_NOLOCAL") == 0)
        return (char *)(uintptr_t) "1";
    if (strcmp(name, "PMI_FD") == 0) {
        snprintf(rank->variables[0], sizeof rank->variables[0], "%d", PF_MPICH_PMI_FD);
        return rank->variables[0];
    }
    bool asks_rank = strcmp(name, "PMI_RANK") == 0;
    if (asks_rank || strcmp(name, "PMI_SIZE") == 0) {
        snprintf(rank->variables[1], sizeof rank->variables[1], "%d",
                 asks_rank ? rank->self->rank : pf_mpich_job()->size);
        return rank->variables[1];
    }
    for (size_t i = 0; i < sizeof denied / sizeof denied[0]; i++) {
        if (strcmp(name, denied[i]) != 0)
            continue;
        if (rank->self->rank == 0 && getenv(name))
            pf_warn("%s has no effect in model mpich (docs/ucx.md)", name);
        return NULL;
    }
    return strncmp(name, "PMI", 3) == 0 ? NULL : getenv(name);
}

static int hook_putenv(char *text)
{
    return 0;
}

static __attribute__((noreturn)) void hook_exit(int status)
{
    const struct pf_mpich_rank *rank = pf_mpich_caller();
    if (rank && !rank->ready)
        pf_die("MPICH could not be initialised for rank %d; its own message is above", rank->self->rank);
    if (rank)
        pf_mpich_job()->on_abort(rank->self->rank, status);
    pf_end_process(status ? status : 1);
}

static __attribute__((noreturn)) void hook_abort(void)
{
    hook_exit(128 + 6);
}

/*
 * While it starts, each rank fills a table with the addresses of all ranks, a page for each, which is the
 * same table everywhere. There is one: not as many pages as pairs of ranks. A rank asks for its memory after
 * it has got its own address and before it puts that at the launcher's; the size alone does not show what it
 * is: with 32 ranks yaksa's pools of handles have it, too.
 */
static struct {
    void *memory;
    int users;
} addresses;

static ucs_status_t hook_get_address(ucp_worker_h worker, ucp_address_t **address, size_t *length)
{
    ucs_status_t (*get_address)(ucp_worker_h, ucp_address_t **, size_t *);
    *(void **)&get_address = pf_ucx_function(PF_UCX_MPICH, "ucp_worker_get_address");
    pf_mpich_caller()->publishes = true;
    return get_address(worker, address, length);
}

static void *hook_malloc(size_t bytes)
{
    enum { PAGE = 4096, LINE = 64, FEW = 16 }; /* MPID_MAX_BC_SIZE, MPL_CACHELINE_SIZE */
    size_t ranks = (size_t)pf_mpich_job()->size;
    struct pf_mpich_rank *rank = bytes == ranks * PAGE + LINE && ranks >= FEW ? pf_mpich_caller() : NULL;
    if (!rank || !rank->publishes)
        return malloc(bytes);
    rank->publishes = false;
    if (addresses.users++ == 0)
        addresses.memory = pf_malloc(bytes);
    return addresses.memory;
}

static void hook_free(void *memory)
{
    if (!memory || memory != addresses.memory) {
        free(memory);
    } else if (--addresses.users == 0) {
        free(memory);
        addresses.memory = NULL;
    }
}

/* What this MPICH does not need; another one may. */
static void *refused(void)
{
    return UCS_STATUS_PTR(UCS_ERR_UNSUPPORTED);
}

/* What is near to what on the machine that simulates is none of the simulated rank's business: a library
 * that finds nothing. */
static int no_topology(void)
{
    return -1;
}

static void *no_bitmap(void)
{
    static char bitmap[64];
    return bitmap;
}

static void nothing(void)
{
}

struct hook {
    const char *name;
    void *function;
};

static void *find(const char *name)
{
    static const struct hook hooks[] = {
        {"abort", (void *)hook_abort},
        {"exit", (void *)hook_exit},
        {"free", (void *)hook_free},
        {"malloc", (void *)hook_malloc},
        {"getenv", (void *)hook_getenv},
        {"hwloc_bitmap_alloc", (void *)no_bitmap},
        {"hwloc_bitmap_free", (void *)nothing},
        {"hwloc_topology_destroy", (void *)nothing},
        {"putenv", (void *)hook_putenv},
        {"read", (void *)hook_read},
        {"ucp_worker_get_address", (void *)hook_get_address},
        {"write", (void *)hook_write},
    };
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return hooks[i].function;
    if (strncmp(name, "hwloc_", 6) == 0)
        return (void *)no_topology;
    void *function = pf_ucx_function(PF_UCX_MPICH, name);
    if (!function && strncmp(name, "ucp_", 4) == 0)
        return (void *)refused;
    return function ? function : pf_libc_of_instance(name);
}

bool pf_mpich_hooks_find(const char *name, bool undefined, const void *arg, void **value)
{
    *value = undefined ? find(name) : NULL;
    return *value != NULL;
}
