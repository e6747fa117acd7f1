/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries of the system that programs use: all ranks share them and their variables. Their calls of the C
 * library are led to what the calling rank has; that a library has changed variables of its own is reported
 * at the end, unless they are known to carry nothing between ranks.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/core/job_state.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/private.h"
#include "middleware/process/private_open.h"
#include "middleware/process/private_system.h"

struct library {
    const struct link_map *map;
    uint64_t sum;
};

static struct library *libraries;
static int count;

struct link_map *pf_libraries_last(void)
{
    void *self = dlopen(NULL, RTLD_LAZY);
    struct link_map *map = NULL;
    if (self && dlinfo(self, RTLD_DI_LINKMAP, &map) == 0)
        while (map->l_next)
            map = map->l_next;
    if (self)
        dlclose(self);
    return map;
}

static const char *name_of(const struct link_map *map)
{
    const char *slash = strrchr(map->l_name, '/');
    return slash ? slash + 1 : map->l_name;
}

/* Ours. */
static bool is_own(const struct link_map *map)
{
    static const char *const names[] = {"libparfocal", "libportals.", "libmpi_abi.", "libmpi.so.",
                                        "libmpi_mpifh."};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name_of(map), names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

struct sum {
    const struct link_map *map;
    uint64_t value;
};

static uint64_t add(uint64_t sum, const char *from, const char *to)
{
    for (uint64_t word; from + sizeof word <= to; from += sizeof word) {
        memcpy(&word, from, sizeof word);
        sum = (sum ^ word) * 1099511628211U;
    }
    return sum;
}

/* Of what the library may write and the dynamic linker does not: its slots for calls are filled in one by
 * one. */
static int add_segments(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct sum *sum = arg;
    const char *slots = NULL, *slots_end = NULL, *constants_end = NULL;
    if (info->dlpi_addr != sum->map->l_addr || strcmp(info->dlpi_name, sum->map->l_name) != 0)
        return 0;
    size_t calls = 0;
    for (const ElfW(Dyn) *entry = sum->map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_PLTGOT)
            slots = (const char *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_PLTRELSZ)
            calls = entry->d_un.d_val / sizeof(ElfW(Rela));
    slots_end = slots ? slots + (3 + calls) * sizeof(void *) : NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
            constants_end =
                (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *from = (const char *)info->dlpi_addr + segment->p_vaddr, *to = from + segment->p_memsz;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W))
            continue;
        from = constants_end > from && constants_end <= to ? constants_end : from;
        if (slots && slots >= from && slots_end <= to) {
            sum->value = add(sum->value, from, slots);
            from = slots_end;
        }
        sum->value = add(sum->value, from, to);
    }
    return 1;
}

static uint64_t sum_of(const struct link_map *map)
{
    struct sum sum = {map, 14695981039346656037U};
    dl_iterate_phdr(add_segments, &sum);
    return sum.value;
}

void pf_libraries_watch(const struct link_map *map)
{
    bool known = !map || is_own(map) || pf_private_system_harmless(name_of(map)) || pf_job_state.size < 2;
    for (int i = 0; i < count && !known; i++)
        known = libraries[i].map == map;
    if (known)
        return;
    libraries = pf_reallocarray(libraries, (size_t)count + 1, sizeof *libraries);
    libraries[count++] = (struct library){map, sum_of(map)};
}

/* Whether it needs Open MPI's library. Ours has that name for plug-ins alone: what all ranks share would
 * bring the real one, or mix what ranks give to MPI. */
static bool needs_openmpi(const struct link_map *map)
{
    const char *strings = NULL;
    bool needs = false;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
    for (const ElfW(Dyn) *entry = map->l_ld; strings && entry->d_tag != DT_NULL; entry++)
        needs |= entry->d_tag == DT_NEEDED && strncmp(strings + entry->d_un.d_val, "libmpi.so.", 10) == 0;
    return needs;
}

void pf_libraries_lead(const struct link_map *after)
{
    const char *copies = pf_private_dir();
    for (const struct link_map *map = after ? after->l_next : NULL; map; map = map->l_next) {
        if (is_own(map) || (copies && strncmp(map->l_name, copies, strlen(copies)) == 0))
            continue;
        if (pf_private_copied(map->l_name))
            continue;
        if (pf_private_system_any() && needs_openmpi(map))
            pf_die("the library %s was built for Open MPI, and ranks would share it", map->l_name);
        void *handle =
            dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD); /* it may only be needed by others so far */
        if (!handle)
            continue;
        pf_process_lead_system(handle);
        dlclose(handle);
        if (strncmp(map->l_name, "/usr/", 5) == 0 || strncmp(map->l_name, "/lib", 4) == 0)
            pf_libraries_watch(map); /* others are reported when they are found */
    }
}

/* What is loaded with this library, before any program, is the simulator's. */
static struct link_map *simulator;

__attribute__((constructor)) static void find_simulator(void)
{
    simulator = pf_libraries_last();
}

void pf_libraries_lead_first(void)
{
    if (!simulator)
        return;
    void *cxx = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    pf_libraries_lead(simulator);
    if (cxx)
        pf_process_lead_system(cxx);
    simulator = NULL;
}

static bool still_there(const struct link_map *wanted)
{
    void *self = dlopen(NULL, RTLD_LAZY);
    struct link_map *map = NULL;
    if (self && dlinfo(self, RTLD_DI_LINKMAP, &map) == 0)
        while (map && map != wanted)
            map = map->l_next;
    if (self)
        dlclose(self);
    return map != NULL;
}

static void report_libraries(void)
{
    for (int i = 0; i < count; i++)
        if (still_there(libraries[i].map) && sum_of(libraries[i].map) != libraries[i].sum)
            pf_warn(
                "all ranks share the variables of the library %s, which have changed during the run: under "
                "mpirun each rank has its own, and its results may differ (PARFOCAL_PRIVATE=%.*s gives each "
                "rank a copy)",
                name_of(libraries[i].map), (int)strcspn(name_of(libraries[i].map), "."),
                name_of(libraries[i].map));
}

static const char *locale_of(const struct pf_process *p)
{
    return p && p->locale ? p->locale : "C";
}

void pf_process_report(void)
{
    report_libraries();
    pf_private_system_report();
    const struct pf_process *other = NULL, *first = pf_process_of(0);
    const char *locale = first && first->locale ? first->locale : "C";
    for (int i = 1; first && i < pf_job_state.size && !other; i++)
        if (strcmp(locale_of(pf_process_of(i)), locale) != 0)
            other = pf_process_of(i);
    if (other)
        pf_warn("all ranks share one locale: rank 0 has asked for '%s' and rank %d for '%s', and each saw "
                "the last "
                "one that any rank had set",
                locale, other->rank, other->locale ? other->locale : "C");
}
