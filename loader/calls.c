/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes where a loaded library's direct calls lead, in its code. */
#include "loader/calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

/* call and jmp of x86-64 with a distance of 32 bits, counted from the next instruction. */
enum { CALL = 0xe8, JUMP = 0xe9, LENGTH = 5 };

struct change {
    const struct link_map *map;
    uintptr_t function;
    const void *value;
    uintptr_t jump; /* to `value`, as near to the library as its calls need; 0: none yet */
    int changed;
};

/* jmp *0(%rip), and the address behind it. */
static void write_jump(unsigned char *at, const void *value)
{
    static const unsigned char code[] = {0xff, 0x25, 0, 0, 0, 0};
    memcpy(at, code, sizeof code);
    memcpy(at + sizeof code, &value, sizeof value);
}

/* A page of its own in the nearest gap, or 0. What was mapped before the library is often all that follows
 * it. */
static uintptr_t make_jump(uintptr_t code, const void *value)
{
    enum { STEP = 1 << 20, STEPS = 1000 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (intptr_t i = 1; i <= STEPS; i = i > 0 ? -i : 1 - i) {
        void *wanted = (void *)((code & ~(uintptr_t)(STEP - 1)) + (uintptr_t)(i * STEP));
        void *place = mmap(wanted, page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (place != wanted && place != MAP_FAILED)
            munmap(place, page); /* an old kernel takes the address as a wish */
        if (place != wanted)
            continue;
        write_jump(place, value);
        return mprotect(place, page, PROT_READ | PROT_EXEC) == 0 ? (uintptr_t)place : 0;
    }
    return 0;
}

static void set_protection(uintptr_t start, uintptr_t end, int protection)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = start & ~(page - 1);
    if (mprotect((void *)first, end - first, protection) != 0)
        pf_die("the system does not let the calls of a library be led elsewhere: %s", strerror(errno));
}

/* Five bytes that are part of something else and look like such a call come once in 2^31 bytes by chance. */
static void change_segment(struct change *change, uintptr_t start, uintptr_t end)
{
    bool open = false;
    for (uintptr_t at = start; at + LENGTH <= end; at++) {
        unsigned char *code = (unsigned char *)at;
        int32_t distance;
        memcpy(&distance, code + 1, sizeof distance);
        if ((*code != CALL && *code != JUMP) || at + LENGTH + (uintptr_t)distance != change->function)
            continue;
        if (!change->jump && !(change->jump = make_jump(end, change->value)))
            return;
        if (!open)
            set_protection(start, end, PROT_READ | PROT_WRITE | PROT_EXEC);
        open = true;
        distance = (int32_t)(change->jump - (at + LENGTH));
        memcpy(code + 1, &distance, sizeof distance);
        change->changed++;
    }
    if (open)
        set_protection(start, end, PROT_READ | PROT_EXEC);
}

static int change_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct change *change = arg;
    if (info->dlpi_addr != change->map->l_addr || strcmp(info->dlpi_name, change->map->l_name) != 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
            change_segment(change, start, start + segment->p_filesz);
    }
    return 1;
}

int pf_calls_replace(void *library, const void *function, const void *value)
{
    struct change change = {.function = (uintptr_t)function, .value = value};
    if (dlinfo(library, RTLD_DI_LINKMAP, &change.map) == 0)
        dl_iterate_phdr(change_library, &change);
    return change.changed;
}
