/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of gfortran's run-time library per rank. */
#include "middleware/process/private_fortran.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "loader/imports.h"
#include "loader/keys.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_process.h"

bool pf_fortran_runtime_is(const char *name)
{
    return strncmp(name, "libgfortran.so", 14) == 0;
}

static const char unbuffered[] = "GFORTRAN_UNBUFFERED_PRECONNECTED";

static bool lead_import(const char *name, bool undefined, const void *arg, void **value)
{
    *value = pf_libc_of_runtime(name);
    return *value != NULL;
}

/* As open_unbuffered() below. */
static char *environment(const char *name)
{
    char *value = pf_libc_getenv(name);
    return value || strcmp(name, unbuffered) != 0 ? value : (char *)"y";
}

static int create_key(pthread_key_t *key, void (*end)(void *value))
{
    (void)end; /* of the process */
    return pf_keys_create(key);
}

void pf_fortran_runtime_lead(void *loaded)
{
    static const struct {
        const char *name;
        void *function;
    } own[] = {{"getenv", (void *)environment},
               {"secure_getenv", (void *)environment},
               {"pthread_key_create", (void *)create_key},
               {"__pthread_key_create", (void *)create_key}};
    pf_libc_lead_runtime(loaded);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        pf_imports_replace_one(loaded, own[i].name, own[i].function);
}

enum { KEYS = 16 }; /* more than a copy makes */

static int make_keys(pthread_key_t keys[KEYS])
{
    int count = 0;
    while (count < KEYS && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    return count;
}

static void drop_keys(const pthread_key_t *keys, int count)
{
    for (int i = 0; i < count; i++)
        pthread_key_delete(keys[i]);
}

static bool among(pthread_key_t key, const pthread_key_t *keys, int count)
{
    for (int i = 0; i < count; i++)
        if (keys[i] == key)
            return true;
    return false;
}

/*
 * What is printed leaves with its record, as under mpirun, where stdout is never a file: gfortran would keep
 * it to the end, which a run that another rank ends does not reach. It asks the environment while it is
 * loaded.
 */
static void *open_unbuffered(const char *path, int flags)
{
    bool is_set = getenv(unbuffered) != NULL;
    setenv(unbuffered, "y", 0);
    void *handle = dlopen(path, flags);
    if (!is_set)
        unsetenv(unbuffered);
    return handle;
}

/*
 * A copy makes keys of thread-specific data when it is loaded, which is before its calls can be led anywhere.
 * They are given back at once, because the system has only 1024; so all copies have keys of the same numbers,
 * and each actor has its values (libc_runtime.c). Keys that were free before and are not free afterwards are
 * the copy's.
 */
static void *open_copy(const char *path, int flags)
{
    pthread_key_t before[KEYS], after[KEYS];
    int were_free = make_keys(before);
    drop_keys(before, were_free);
    void *handle = open_unbuffered(path, flags);
    int are_free = make_keys(after);
    for (int i = 0; i < were_free; i++)
        if (!among(before[i], after, are_free))
            pthread_key_delete(before[i]);
    drop_keys(after, are_free);
    return handle;
}

void *pf_fortran_runtime_open(const char *path, int flags)
{
    void *handle = open_copy(path, flags);
    if (handle && pf_imports_replace(handle, lead_import, NULL) == 0)
        pf_die("gfortran's library '%s' is of another kind: STOP and its clocks cannot be redirected", path);
    if (handle)
        pf_process_lead(handle);
    return handle;
}
