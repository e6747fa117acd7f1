/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects: MPI 3.1 chapter 9. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/memory.h"
#include "middleware/core/call.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/rank_objects.h"
#include "middleware/object/info.h"

struct pair {
    char *key, *value;
};

/* Pairs in the order in which their keys were first set. */
struct pf_info {
    struct pf_object object;
    struct pf_rank *owner;
    int count, capacity;
    struct pair *pairs;
};

static struct pf_info *new_info(struct pf_rank *r)
{
    struct pf_info *info = pf_calloc(1, sizeof *info);
    info->object.kind = PF_KIND_INFO;
    info->object.references = 1;
    info->owner = r;
    if (r) {
        info->object.home = r->active->impl;
        r->live_objects++;
    }
    return info;
}

static MPI_Info handle_of(struct pf_info *info)
{
    return (MPI_Info)(uintptr_t)info;
}

static int find(const struct pf_info *info, const char *key)
{
    for (int i = 0; i < info->count; i++)
        if (strcmp(info->pairs[i].key, key) == 0)
            return i;
    return -1;
}

const char *pf_info_value(const struct pf_info *info, const char *key)
{
    int i = find(info, key);
    return i >= 0 ? info->pairs[i].value : NULL;
}

static void set(struct pf_info *info, const char *key, const char *value)
{
    int i = find(info, key);
    if (i >= 0) {
        free(info->pairs[i].value); /* NOLINT(clang-analyzer-core.NullDereference): find() has looked at it */
        info->pairs[i].value = pf_strdup(value);
        return;
    }
    PF_ARRAY_ROOM(info->pairs, info->capacity, info->count + 1);
    info->pairs[info->count++] = (struct pair){pf_strdup(key), pf_strdup(value)};
}

/* MPI_INFO_ENV: what is known about the start of a rank's program. The same for all its ranks, and constant.
 */
static struct pf_info *environment(void)
{
    static struct pf_info *of_first, **of_others;
    pf_self_t *self = pf_job_self();
    int number = self ? pf_job_program_of(self->rank) : 0, count = pf_job_program_count();
    if (number && !of_others)
        of_others = pf_calloc((size_t)count, sizeof(struct pf_info *));
    struct pf_info *info = number ? of_others[number] : of_first;
    if (info || !self)
        return info;
    char text[1024];
    struct utsname system;
    info = new_info(NULL);
    *(number ? &of_others[number] : &of_first) = info;
    snprintf(text, sizeof text, "%d", count > 1 ? pf_job_program(number)->ranks : self->size);
    set(info, "maxprocs", text);
    set(info, "soft", text);
    if (uname(&system) == 0)
        set(info, "arch", system.machine);
    if (getcwd(text, sizeof text))
        set(info, "wdir", text);
    set(info, "thread_level", "MPI_THREAD_FUNNELED");
    return info;
}

struct pf_info *pf_info_of(MPI_Info handle)
{
    if (handle == MPI_INFO_ENV)
        return environment();
    return (struct pf_info *)pf_object_of(handle, PF_KIND_INFO);
}

MPI_Info pf_info_copy(struct pf_rank *r, MPI_Info handle)
{
    const struct pf_info *from = pf_info_of(handle);
    if (!from)
        return MPI_INFO_NULL;
    struct pf_info *info = new_info(r);
    for (int i = 0; i < from->count; i++)
        set(info, from->pairs[i].key, from->pairs[i].value);
    return handle_of(info);
}

MPI_Info pf_info_copy_known(struct pf_rank *r, MPI_Info handle)
{
    static const char *const known[] = {"mpi_", "parfocal_"};
    const struct pf_info *from = pf_info_of(handle);
    struct pf_info *info = new_info(r);
    for (int i = 0; i < from->count; i++)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strncmp(from->pairs[i].key, known[k], strlen(known[k])) == 0)
                set(info, from->pairs[i].key, from->pairs[i].value);
    return handle_of(info);
}

/* A change makes the shadows stale: the next native call makes new ones. */
static void free_shadows(struct pf_info *info)
{
    struct pf_rank *r = info->owner;
    for (int impl = 0; r && impl < PF_IMPL_COUNT; impl++) {
        struct pf_instance *in = r->instances[impl];
        if (!in || !info->object.native[impl])
            continue;
        int before = pf_middleware_native_begin(r, in);
        in->fn->Info_free(&(pf_native_info_t){info->object.native[impl]});
        pf_middleware_native_end(r, in, before);
        info->object.native[impl] = NULL;
    }
}

void pf_info_release(MPI_Info handle)
{
    struct pf_info *info = (struct pf_info *)pf_object_of(handle, PF_KIND_INFO);
    if (!info || --info->object.references > 0)
        return;
    free_shadows(info);
    for (int i = 0; i < info->count; i++) {
        free(info->pairs[i].key);
        free(info->pairs[i].value);
    }
    free(info->pairs);
    if (info->owner)
        info->owner->live_objects--;
    info->object.kind = PF_KIND_DEAD;
    pf_object_discard(info);
}

static void *info_shadow(struct pf_instance *in, struct pf_object *object)
{
    struct pf_info *info = (struct pf_info *)object;
    struct pf_rank *r = info->owner;
    pf_native_info_t shadow = NULL;
    if (!r) /* MPI_INFO_ENV is no hint */
        return in->values->info_null;
    int before = pf_middleware_native_begin(r, in);
    int code = in->fn->Info_create(&shadow);
    for (int i = 0; i < info->count && code == 0;
         i++) /* an implementation may refuse long values: hints are optional */
        in->fn->Info_set(shadow, info->pairs[i].key, info->pairs[i].value);
    pf_middleware_native_end(r, in, before);
    if (code != 0)
        return in->values->info_null;
    info->object.native[in->impl] = shadow;
    return shadow;
}

const struct pf_object_ops pf_info_ops = {.size = sizeof pf_info_ops, .shadow = info_shadow};

static bool key_valid(const char *key)
{
    size_t length = key ? strnlen(key, MPI_MAX_INFO_KEY) : 0;
    return length > 0 && length < MPI_MAX_INFO_KEY;
}

int pf_PMPI_Info_create(MPI_Info *info)
{
    struct pf_rank *r = PF_ENTER(Info_create);
    if (!info)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    *info = handle_of(new_info(r));
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Info_dup(MPI_Info handle, MPI_Info *newinfo)
{
    struct pf_rank *r = PF_ENTER(Info_dup);
    if (!pf_info_of(handle))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO);
    if (!newinfo)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    *newinfo = pf_info_copy(r, handle);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Info_free(MPI_Info *handle)
{
    struct pf_rank *r = PF_ENTER(Info_free);
    if (!handle || !pf_object_of(*handle, PF_KIND_INFO))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO);
    pf_info_release(*handle);
    *handle = MPI_INFO_NULL;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Info_set(MPI_Info handle, const char *key, const char *value)
{
    struct pf_rank *r = PF_ENTER(Info_set);
    struct pf_info *info = (struct pf_info *)pf_object_of(handle, PF_KIND_INFO);
    if (!info)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO);
    if (!key_valid(key))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO_KEY);
    if (!value || strnlen(value, MPI_MAX_INFO_VAL) >= MPI_MAX_INFO_VAL)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO_VALUE);
    free_shadows(info);
    set(info, key, value);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Info_delete(MPI_Info handle, const char *key)
{
    struct pf_rank *r = PF_ENTER(Info_delete);
    struct pf_info *info = (struct pf_info *)pf_object_of(handle, PF_KIND_INFO);
    if (!info)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO);
    if (!key_valid(key))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO_KEY);
    int i = find(info, key);
    if (i < 0)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO_NOKEY);
    free_shadows(info);
    free(info->pairs[i].key);
    free(info->pairs[i].value);
    info->count--;
    memmove(&info->pairs[i], &info->pairs[i + 1], (size_t)(info->count - i) * sizeof info->pairs[0]);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Info_get(MPI_Info handle, const char *key, int valuelen, char *value, int *flag)
{
    struct pf_rank *r = PF_ENTER(Info_get);
    const struct pf_info *info = pf_info_of(handle);
    if (!info)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO);
    if (!key_valid(key))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO_KEY);
    if (valuelen < 0 || !value || !flag)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    int i = find(info, key);
    *flag = i >= 0;
    if (i >= 0) { /* the buffer has room for valuelen characters and the terminator */
        size_t length = strnlen(info->pairs[i].value, (size_t)valuelen);
        memcpy(value, info->pairs[i].value, length);
        value[length] = '\0';
    }
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Info_get_valuelen(MPI_Info handle, const char *key, int *valuelen, int *flag)
{
    struct pf_rank *r = PF_ENTER(Info_get_valuelen);
    const struct pf_info *info = pf_info_of(handle);
    if (!info)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO);
    if (!key_valid(key))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO_KEY);
    if (!valuelen || !flag)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    int i = find(info, key);
    *flag = i >= 0;
    if (i >= 0)
        *valuelen = (int)strlen(info->pairs[i].value);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Info_get_nkeys(MPI_Info handle, int *nkeys)
{
    struct pf_rank *r = PF_ENTER(Info_get_nkeys);
    const struct pf_info *info = pf_info_of(handle);
    if (!info || !nkeys)
        return pf_call_error(r, MPI_COMM_WORLD, info ? MPI_ERR_ARG : MPI_ERR_INFO);
    *nkeys = info->count;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Info_get_nthkey(MPI_Info handle, int n, char *key)
{
    struct pf_rank *r = PF_ENTER(Info_get_nthkey);
    const struct pf_info *info = pf_info_of(handle);
    if (!info)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_INFO);
    if (!key || n < 0 || n >= info->count)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    strcpy(key, info->pairs[n].key); /* NOLINT(clang-analyzer-core.CallAndMessage): n is below count */
    return pf_call_return(r, MPI_SUCCESS);
}
