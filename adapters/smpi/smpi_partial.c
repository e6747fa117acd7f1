/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives that end inside an item of a derived datatype. */
#include "adapters/smpi/smpi_partial.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/local/types.h"
#include "adapters/smpi/smpi_shadow.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/imports.h"
#include "lowlevel/simgrid/private.h"

static void (*stock_finish_wait)(void **request, void *status);

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

static void finish_wait(void **request, void *status)
{
    struct pf_smpi_received message;
    if (pf_smpi_request_received_less(*request, &message))
        unpack_rest(&message);
    stock_finish_wait(request, status);
}

void pf_smpi_partial_install(void)
{
    Dl_info where;
    if (stock_finish_wait)
        return;
    *(void **)&stock_finish_wait = dlsym(RTLD_DEFAULT, PF_SIMGRID_FINISH_WAIT);
    void *library = stock_finish_wait && dladdr(*(void **)&stock_finish_wait, &where)
                        ? dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    if (!library || pf_imports_replace_one(library, PF_SIMGRID_FINISH_WAIT, (void *)finish_wait) == 0)
        pf_die("libsimgrid is not as Debian 12 builds it: it does not call its "
               "function " PF_SIMGRID_FINISH_WAIT);
    dlclose(library);
}
