/* SPDX-License-Identifier: BSD-3-Clause */
/* The C library as gfortran's run-time library sees it: as the program does, and what no program is led
 * from. And what the linker does for programs that pfcc links, by name. */
#include "middleware/process/libc.h"

#include <simgrid/actor.h>

#include "loader/imports.h"
#include "loader/keys.h"
#include "loader/libc.h"

/* Thread-specific data: random_number keeps its state so, and all ranks share one thread. The keys have been
 * made by the C library (private_fortran.c). */
static size_t actor(void)
{
    return sg_actor_self() ? (size_t)sg_actor_self_get_pid() : 0;
}

void *pf_libc_pthread_getspecific(pthread_key_t key)
{
    return pf_keys_get(key, actor());
}

int pf_libc_pthread_setspecific(pthread_key_t key, const void *value)
{
    return pf_keys_set(key, actor(), value);
}

int pf_libc_pthread_key_delete(pthread_key_t key)
{
    (void)key; /* given back already */
    return 0;
}

#define PF_LIBC_own(name)
#define PF_LIBC_charged(name)                     PF_LIBC_ENTRY(name, pf_libc_)
#define PF_LIBC_ahead(name)                       PF_LIBC_ENTRY(name, pf_libc_)
#define PF_LIBC_unseen(name)                      PF_LIBC_ENTRY(name, pf_unseen_)
#define PF_LIBC_waits(name)                       PF_LIBC_ENTRY(name, pf_libc_)
#define PF_LIBC_warned(name)                      PF_LIBC_ENTRY(name, pf_libc_)
#define PF_LIBC_rank(name)                        PF_LIBC_ENTRY(name, pf_libc_)
#define PF_LIBC(name, program, runtime, instance) PF_LIBC_##runtime(name)
static const struct pf_libc_function column[] = {
#include "loader/libc.def"
    {0}};

void pf_libc_lead_runtime(void *loaded)
{
    for (const struct pf_libc_function *one = column; one->name; one++)
        pf_imports_replace_one(loaded, one->name, (void *)one->function);
}

void *pf_libc_of_runtime(const char *name)
{
    return pf_libc_find(column, name);
}

#undef PF_LIBC
#define PF_LIBC(name, program, runtime, instance) PF_LIBC_##program(name)
static const struct pf_libc_function program_column[] = {
#include "loader/libc.def"
    {0}};

void *pf_libc_of_program(const char *name)
{
    return pf_libc_find(program_column, name);
}
