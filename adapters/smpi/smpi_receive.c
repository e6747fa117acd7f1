/* SPDX-License-Identifier: BSD-3-Clause */
/* What SMPI leaves out when a receive is complete. */
#include "adapters/smpi/smpi_receive.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <smpi/smpi.h>

#include "adapters/adapter.h"
#include "adapters/local/types.h"
#include "adapters/smpi/smpi_chain.h"
#include "adapters/smpi/smpi_shadow.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/calls.h"
#include "loader/imports.h"
#include "lowlevel/engine/chain.h"
#include "lowlevel/simgrid/private.h"

static void (*stock_finish_wait)(void **request, void *status);
static int (*stock_copy)(const void *from, int count, void *type, void *to, int room, void *to_type);
static void (*stock_start)(void *request);
static int (*stock_finish_nbc)(void **request, int test);
static void **(*stock_find)(void **found, void *mailbox, int type, const void *match, void *data,
                            const void *own, bool done, bool remove);

/* What the item holds already completes it, and it is unpacked as a whole. */
static void unpack_rest(const struct pf_smpi_received *message)
{
    size_t size = pf_local_type_size(message->type);
    size_t whole = size ? message->bytes / size : 0, rest = size ? message->bytes % size : 0;
    if (rest == 0 || !pf_local_type_is_derived(message->type))
        return;
    char *to = message->to + (ptrdiff_t)whole * pf_local_type_extent(message->type), *item = pf_malloc(size);
    pf_local_type_pack(message->type, 1, to, item);
    memcpy(item, message->packed + whole * size, rest);
    pf_local_type_unpack(message->type, 1, item, to);
    free(item);
}

static struct pf_instance *(*instance_of)(int rank);

static int *unreported(void)
{
    return &instance_of(pf_self()->rank)->unreported;
}

static void finish_wait(void **request, void *status)
{
    struct pf_smpi_received message;
    if (pf_chain_on && pf_self())
        pf_smpi_chain_finished(pf_self(), *request);
    if (pf_smpi_request_received_less(*request, &message))
        unpack_rest(&message);
    bool truncated = pf_smpi_request_truncated(*request);
    stock_finish_wait(request, status);
    if (truncated && pf_self())
        *unreported() = MPI_ERR_TRUNCATE;
}

void pf_smpi_receive_forget(void)
{
    *unreported() = MPI_SUCCESS;
}

/* What a member of a collective sends itself. */
static int copy(const void *from, int count, void *type, void *to, int room, void *to_type)
{
    int code = stock_copy(from, count, type, to, room, to_type);
    size_t sent = count > 0 ? (size_t)count * pf_local_type_size(type) : 0,
           item = pf_local_type_size(to_type);
    size_t most = room > 0 ? (size_t)room * item : 0, bytes = sent < most ? sent : most;
    if (from == to || !pf_self())
        return code;
    if (sent > most)
        *unreported() = MPI_ERR_TRUNCATE;
    if (item > 0 && bytes % item > 0 && pf_local_type_is_derived(to_type)) {
        char *packed = pf_malloc(sent);
        pf_local_type_pack(type, count, from, packed);
        pf_local_type_unpack_bytes(to_type, packed, bytes, to);
        free(packed);
    }
    return code;
}

/* The receives of a nonblocking collective that are complete; all of them, unless it is a test. */
static int finish_nbc(void **request, int test)
{
    void *whole = *request;
    int *error = unreported(), before = *error;
    *error = MPI_SUCCESS;
    int flag = stock_finish_nbc(request, test);
    if (*error != MPI_SUCCESS)
        pf_smpi_request_truncate(whole);
    else
        *error = before;
    return flag;
}

/* Of the ranks that have called MPI_Finalize. */
static long *ended;
static int ended_count, ended_limit;

void pf_smpi_receive_end(int rank, long actor)
{
    if (rank >= ended_limit) {
        ended = pf_realloc(ended, (size_t)(rank + 1) * sizeof *ended);
        while (ended_limit <= rank)
            ended[ended_limit++] = -1;
    }
    ended[rank] = actor;
    ended_count++;
}

static void check_receiver(const void *request)
{
    long actor = pf_smpi_request_sends_to(request);
    for (int i = 0; i < ended_limit && actor >= 0; i++)
        if (ended[i] == actor && !sg_actor_by_pid(actor))
            pf_die("rank %d sends a message to rank %d, which has called MPI_Finalize and ended",
                   pf_self() ? pf_self()->rank : -1, i);
}

static void replace(const char *name, void *ours, void **stock);

static void start(void *request)
{
    if (pf_chain_on)
        pf_smpi_chain_install(replace); /* whether paths are followed is known after install() */
    if (pf_chain_on && pf_self())
        pf_smpi_chain_starts(pf_self(), request);
    if (ended_count > 0)
        check_receiver(request);
    stock_start(request);
}

/* A communication that a probe has only seen stays in its mailbox. SimGrid 4 may have another function. */
static void **find(void **found, void *mailbox, int type, const void *match, void *data, const void *own,
                   bool done, bool remove)
{
    stock_find(found, mailbox, type, match, data, own, done, remove);
    if (*found && !done && !remove)
        pf_simgrid_set_mailbox(*found, mailbox);
    return found;
}

/* libsimgrid's own calls of `name` lead to `ours` then, however they were linked. */
static void replace(const char *name, void *ours, void **stock)
{
    Dl_info where;
    *stock = dlsym(RTLD_DEFAULT, name);
    void *library =
        *stock && dladdr(*stock, &where) ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!library ||
        (pf_imports_replace_one(library, name, ours) == 0 && pf_calls_replace(library, *stock, ours) == 0))
        pf_die("libsimgrid is not as Debian builds it: it does not call its function %s", name);
    dlclose(library);
}

void pf_smpi_receive_install(struct pf_instance *(*of_rank)(int rank))
{
    instance_of = of_rank;
    if (stock_finish_wait)
        return;
    replace(PF_SIMGRID_FINISH_WAIT, (void *)finish_wait, (void **)&stock_finish_wait);
    replace(PF_SIMGRID_COPY, (void *)copy, (void **)&stock_copy);
    replace(PF_SIMGRID_START, (void *)start, (void **)&stock_start);
    replace(PF_SIMGRID_FINISH_NBC, (void *)finish_nbc, (void **)&stock_finish_nbc);
    if (dlsym(RTLD_DEFAULT, PF_SIMGRID_FIND) && pf_simgrid_set_mailbox)
        replace(PF_SIMGRID_FIND, (void *)find, (void **)&stock_find);
}
