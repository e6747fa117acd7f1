/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles of a rank: where they were made and freed, and whether the application may use them. */
#include <sys/uio.h>
#include <unistd.h>

#include "middleware/check/internal.h"
#include "check_names.h" /* by surface/check_names.py */
#include "middleware/datatype/datatype.h"

const char *pf_check_kind_name(uint32_t kind)
{
    switch (kind) {
    case PF_KIND_COMM:
        return "communicator";
    case PF_KIND_GROUP:
        return "group";
    case PF_KIND_DATATYPE:
        return "datatype";
    case PF_KIND_OP:
        return "operation";
    case PF_KIND_REQUEST:
        return "request";
    case PF_KIND_INFO:
        return "info";
    case PF_KIND_ERRHANDLER:
        return "error handler";
    case PF_KIND_WIN:
        return "window";
    case PF_KIND_FILE:
        return "file";
    case PF_KIND_MESSAGE:
        return "message";
    case PF_CHECK_KEYVAL:
        return "keyval";
    default:
        return "object";
    }
}

static int error_class(uint32_t kind)
{
    switch (kind) {
    case PF_KIND_COMM:
        return MPI_ERR_COMM;
    case PF_KIND_GROUP:
        return MPI_ERR_GROUP;
    case PF_KIND_DATATYPE:
        return MPI_ERR_TYPE;
    case PF_KIND_OP:
        return MPI_ERR_OP;
    case PF_KIND_REQUEST:
    case PF_KIND_MESSAGE:
        return MPI_ERR_REQUEST;
    case PF_KIND_INFO:
        return MPI_ERR_INFO;
    case PF_KIND_WIN:
        return MPI_ERR_WIN;
    case PF_KIND_FILE:
        return MPI_ERR_FILE;
    default:
        return MPI_ERR_ARG;
    }
}

/* The kind of an object that the layer has not seen being made (its handle came from Fortran, or from a
 * callback); 0 when there is no object. The pointer may lead nowhere. */
static uint32_t kind_in_memory(const void *handle)
{
    uint32_t kind = 0;
    struct iovec here = {&kind, sizeof kind}, there = {(void *)(uintptr_t)handle, sizeof kind};
    if ((uintptr_t)handle % sizeof(void *) != 0 ||
        process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)sizeof kind)
        return 0;
    return kind;
}

static bool is_freed(const struct pf_check_record *record)
{
    return record->references == 0 || record->gone;
}

static const char *name_of(const struct pf_check_record *record)
{
    return record->kind != PF_KIND_REQUEST && record->name ? record->name : "";
}

static void report_freed(const struct pf_check_call *call, const struct pf_check_record *record)
{
    bool twice = record->kind == PF_KIND_REQUEST && record->freed.fn != PF_FN_Request_free;
    if (twice)
        pf_check_found(PF_CHECK_TWICE, call->rank,
                       "%s uses a request that is complete already: made by %s, completed by %s",
                       pf_check_place_text(call->fn, call->site),
                       pf_check_place_text(record->made.fn, record->made.site),
                       pf_check_place_text(record->freed.fn, record->freed.site));
    else
        pf_check_found(PF_CHECK_HANDLE, call->rank, "%s uses a freed %s%s%s%s: made by %s, freed by %s",
                       pf_check_place_text(call->fn, call->site), pf_check_kind_name(record->kind),
                       *name_of(record) ? " '" : "", name_of(record), *name_of(record) ? "'" : "",
                       pf_check_place_text(record->made.fn, record->made.site),
                       pf_check_place_text(record->freed.fn, record->freed.site));
}

struct pf_check_record *pf_check_handle(struct pf_check_call *call, uint32_t kind, const void *handle)
{
    if (call->refused || pf_is_predefined(handle))
        return NULL;
    struct pf_check_record *record = pf_check_find(call->rank, handle);
    uint32_t is = record ? record->kind : kind_in_memory(handle);
    if (record && is_freed(record))
        report_freed(call, record);
    else if (is != kind)
        pf_check_found(PF_CHECK_HANDLE, call->rank, "%s was given %s%s where it needs a %s",
                       pf_check_place_text(call->fn, call->site), record ? "a " : "no handle",
                       record ? pf_check_kind_name(is) : "", pf_check_kind_name(kind));
    else if (kind == PF_KIND_COMM)
        call->comm = (MPI_Comm)(uintptr_t)handle;
    if (is != kind || (record && is_freed(record)))
        call->refused = error_class(kind);
    return record;
}

void pf_check_datatype(struct pf_check_call *call, MPI_Datatype handle)
{
    pf_check_handle(call, PF_KIND_DATATYPE, handle);
    const struct pf_datatype *type = call->refused ? NULL : pf_datatype_of(handle);
    if (!type || type->committed)
        return;
    const struct pf_check_record *record = pf_check_find(call->rank, handle);
    pf_check_found(PF_CHECK_HANDLE, call->rank, "%s uses a datatype that is not committed%s%s",
                   pf_check_place_text(call->fn, call->site), record ? ": made by " : "",
                   record ? pf_check_place_text(record->made.fn, record->made.site) : "");
    call->refused = MPI_ERR_TYPE;
}

void pf_check_handles(struct pf_check_call *call, uint32_t kind, const void *handles, int count)
{
    const void *const *array = handles;
    for (int i = 0; array && i < count; i++)
        pf_check_handle(call, kind, array[i]);
}

static struct pf_check_record *made(struct pf_check_call *call, uint32_t kind, uintptr_t key)
{
    struct pf_rank *r = call->rank;
    struct pf_check_record *record = pf_check_find_key(r, key);
    if (record && record->kind == kind && !is_freed(record)) {
        record->references++; /* another handle on the same object */
        return record;
    }
    if (!record)
        record = pf_check_add(r, key);
    else if ((record->kind == PF_KIND_WIN || record->kind == PF_KIND_FILE) && record->scope)
        pf_check_scope_release(record->scope);
    /* Where its address, or number, is used again, it is a new handle, and the youngest. */
    *record = (struct pf_check_record){
        .key = key, .order = r->check->made++, .kind = kind, .references = 1, .made = {call->fn, call->site}};
    return record;
}

struct pf_check_record *pf_check_made(struct pf_check_call *call, uint32_t kind, const void *handle)
{
    if (pf_is_predefined(handle))
        return NULL;
    struct pf_check_record *record = made(call, kind, (uintptr_t)handle);
    if ((kind == PF_KIND_WIN || kind == PF_KIND_FILE) && call->child) {
        record->scope = call->child;
        call->child = NULL;
    }
    return record;
}

void pf_check_made_message(struct pf_check_call *call, const void *handle)
{
    struct pf_check_record *record = pf_check_made(call, PF_KIND_MESSAGE, handle);
    if (record)
        record->signature = call->signatures[1];
}

void pf_check_made_keyval(struct pf_check_call *call, int keyval)
{
    made(call, PF_CHECK_KEYVAL, pf_check_keyval_key(keyval));
}

void pf_check_record_freed(struct pf_check_call *call, struct pf_check_record *record)
{
    if (!record || record->references == 0 || --record->references > 0)
        return;
    record->freed = (struct pf_check_place){call->fn, call->site};
    if (record->kind == PF_KIND_REQUEST)
        pf_check_unuse(call->rank, record);
}

void pf_check_gone(struct pf_rank *r, const void *handle)
{
    struct pf_check_record *record = pf_check_find(r, handle);
    if (!record || is_freed(record))
        return;
    record->gone = true; /* a call that the layer does see says where, when it ends */
    record->freed.fn = PF_CHECK_UNSEEN;
}

void pf_check_freed(struct pf_check_call *call, const void *handle)
{
    pf_check_record_freed(call, pf_check_find(call->rank, handle));
}

void pf_check_freed_keyval(struct pf_check_call *call, int keyval)
{
    pf_check_record_freed(call, pf_check_find_key(call->rank, pf_check_keyval_key(keyval)));
}

/* The types that it returns are new handles for the application, also on types that it has freed long ago. */
int pf_check_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                               int integers[], MPI_Aint addresses[], MPI_Datatype datatypes[])
{
    struct pf_check_call call;
    if (!pf_check_enter(&call, PF_FN_Type_get_contents, __builtin_return_address(0)))
        return pf_plain_Type_get_contents(datatype, max_integers, max_addresses, max_datatypes, integers,
                                          addresses, datatypes);
    pf_check_handle(&call, PF_KIND_DATATYPE, datatype);
    if (call.refused)
        return pf_check_refuse(&call);
    int code = pf_plain_Type_get_contents(datatype, max_integers, max_addresses, max_datatypes, integers,
                                          addresses, datatypes);
    const struct pf_datatype *type = pf_datatype_of(datatype);
    for (int i = 0; code == MPI_SUCCESS && type && i < type->type_count; i++)
        pf_check_made(&call, PF_KIND_DATATYPE, datatypes[i]);
    return pf_check_leave(&call, code);
}
