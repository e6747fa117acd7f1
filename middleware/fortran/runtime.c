/* SPDX-License-Identifier: BSD-3-Clause */
#include "middleware/fortran/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/actor.h>

#include "base/log.h"

#if defined(__x86_64__)
#define IS_FUNCTION(info)                                                                                    \
    (ELF64_R_TYPE(info) == R_X86_64_JUMP_SLOT || ELF64_R_TYPE(info) == R_X86_64_GLOB_DAT)
#else
#define IS_FUNCTION(info)                                                                                    \
    (ELF64_R_TYPE(info) == R_AARCH64_JUMP_SLOT || ELF64_R_TYPE(info) == R_AARCH64_GLOB_DAT)
#endif

/* The functions of libc.c, which pfcc's linker options name for applications. */
#define LIBC(name) __asm__("__wrap_" #name)
unsigned int pf_libc_sleep(unsigned int seconds) LIBC(sleep);
int pf_libc_gettimeofday(struct timeval *tv, void *tz) LIBC(gettimeofday);
int pf_libc_clock_gettime(clockid_t clock, struct timespec *ts) LIBC(clock_gettime);
time_t pf_libc_time(time_t *t) LIBC(time);
clock_t pf_libc_clock(void) LIBC(clock);
pid_t pf_libc_getpid(void) LIBC(getpid);
int pf_libc_gethostname(char *name, size_t length) LIBC(gethostname);
void pf_libc_exit(int status) LIBC(exit) __attribute__((noreturn));

/* cpu_time asks for the processor time: as in clock(), the simulated time. */
static int simulated_getrusage(int who, struct rusage *usage)
{
    if (getrusage(who, usage) != 0)
        return -1;
    if (sg_actor_self()) {
        clock_t now = pf_libc_clock();
        usage->ru_utime = (struct timeval){.tv_sec = now / CLOCKS_PER_SEC, .tv_usec = now % CLOCKS_PER_SEC};
        usage->ru_stime = (struct timeval){0};
    }
    return 0;
}

/*
 * Thread-specific data: random_number keeps its state so, and all ranks share one thread. A copy makes its
 * keys when it is loaded, which is before its calls can be led anywhere. They are given back at once
 * (open_copy), because the system has only 1024; so all copies have keys of the same numbers, and each actor
 * has its values.
 */
static struct {
    const void **of_actor;
    size_t room;
} values[PTHREAD_KEYS_MAX];

static size_t actor(void)
{
    return sg_actor_self() ? (size_t)sg_actor_self_get_pid() : 0;
}

static void *key_get(pthread_key_t key)
{
    size_t me = actor();
    return (void *)(uintptr_t)(key < PTHREAD_KEYS_MAX && me < values[key].room ? values[key].of_actor[me]
                                                                               : NULL);
}

static int key_set(pthread_key_t key, const void *value)
{
    size_t me = actor();
    if (key >= PTHREAD_KEYS_MAX)
        return EINVAL;
    if (me >= values[key].room) {
        size_t old = values[key].room, room = 2 * me + 16;
        const void **grown = reallocarray(values[key].of_actor, room, sizeof *grown);
        if (!grown)
            return ENOMEM;
        memset(grown + old, 0, (room - old) * sizeof *grown);
        values[key].of_actor = grown;
        values[key].room = room;
    }
    values[key].of_actor[me] = value;
    return 0;
}

static int key_delete(pthread_key_t key)
{
    return key < PTHREAD_KEYS_MAX ? 0 : EINVAL; /* given back already */
}

static const struct {
    const char *name;
    void (*function)(void);
} leads[] = {
#define LEAD(name, function)                                                                                 \
    {                                                                                                        \
        name, (void (*)(void))(function)                                                                     \
    }
    LEAD("exit", pf_libc_exit),
    LEAD("sleep", pf_libc_sleep),
    LEAD("gettimeofday", pf_libc_gettimeofday),
    LEAD("clock_gettime", pf_libc_clock_gettime),
    LEAD("time", pf_libc_time),
    LEAD("clock", pf_libc_clock),
    LEAD("getpid", pf_libc_getpid),
    LEAD("gethostname", pf_libc_gethostname),
    LEAD("getrusage", simulated_getrusage),
    LEAD("pthread_key_delete", key_delete),
    LEAD("pthread_getspecific", key_get),
    LEAD("pthread_setspecific", key_set),
};

bool pf_fortran_runtime_is(const char *name)
{
    return strncmp(name, "libgfortran.so", 14) == 0;
}

bool pf_fortran_runtime_find(char path[PATH_MAX], const char *name)
{
    struct link_map *map = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!map)
        return false;
    bool fits = snprintf(path, PATH_MAX, "%s", map->l_name) < PATH_MAX;
    dlclose(map);
    return fits;
}

static void write_slot(uintptr_t slot, void (*function)(void))
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = slot & ~(page - 1);
    /* Libraries that bind everything at once have protected the table. */
    if (mprotect((void *)first, page, PROT_READ | PROT_WRITE) != 0)
        pf_die("cannot change gfortran's library: %s", strerror(errno));
    *(void (**)(void))slot = function;
}

/* The entries of one table of relocations. */
static int lead_table(const struct link_map *map, const ElfW(Rela) * relocation, size_t size,
                      const ElfW(Sym) * symbols, const char *strings)
{
    int changed = 0;
    for (size_t i = 0; i < size / sizeof *relocation; i++) {
        const char *name = strings + symbols[ELF64_R_SYM(relocation[i].r_info)].st_name;
        for (size_t j = 0; IS_FUNCTION(relocation[i].r_info) && j < sizeof leads / sizeof leads[0]; j++)
            if (strcmp(name, leads[j].name) == 0) {
                write_slot(map->l_addr + relocation[i].r_offset, leads[j].function);
                changed++;
            }
    }
    return changed;
}

static void lead(void *handle)
{
    const struct link_map *map = handle;
    const void *table[DT_NUM] = {NULL};
    size_t number[DT_NUM] = {0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag > 0 && entry->d_tag < DT_NUM) {
            table[entry->d_tag] = (const void *)entry->d_un.d_ptr;
            number[entry->d_tag] = entry->d_un.d_val;
        }
    int changed = lead_table(map, table[DT_JMPREL], number[DT_PLTRELSZ], table[DT_SYMTAB], table[DT_STRTAB]);
    changed += lead_table(map, table[DT_RELA], number[DT_RELASZ], table[DT_SYMTAB], table[DT_STRTAB]);
    if (!changed)
        pf_die("gfortran's library '%s' is of another kind: STOP and its clocks cannot be led", map->l_name);
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

/* Keys that were free before and are not free afterwards are the copy's. */
static void *open_copy(const char *path, int flags)
{
    pthread_key_t before[KEYS], after[KEYS];
    int were_free = make_keys(before);
    drop_keys(before, were_free);
    void *handle = dlopen(path, flags);
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
    if (handle)
        lead(handle);
    return handle;
}
