/* SPDX-License-Identifier: BSD-3-Clause */
/* Which memory is symmetric, and where the same place is at another PE. */
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include "middleware/process/layer.h"
#include "openshmem/internal.h"

/* The rank's copy of the program, and all of it that may be written to. Copies of one file have that at the
 * same distance from their beginning. */
static void find_program(struct pf_shmem *me)
{
    Dl_info info;
    const void *program = pf_layer_program();
    if (!program || !dladdr(program, &info))
        pf_shmem_die(me, "the program's static data cannot be found");
    char *base = info.dli_fbase;
    const ElfW(Ehdr) *header = info.dli_fbase;
    const ElfW(Phdr) *segment = (const void *)(base + header->e_phoff);
    me->program = me->segments[PF_SHMEM_STATIC] = (struct pf_shmem_segment){.base = base};
    for (int i = 0; i < header->e_phnum; i++) {
        if (segment[i].p_type != PT_LOAD)
            continue;
        if (segment[i].p_flags & PF_W)
            me->segments[PF_SHMEM_STATIC] =
                (struct pf_shmem_segment){base + segment[i].p_vaddr, segment[i].p_memsz};
        me->program.length = segment[i].p_vaddr + segment[i].p_memsz; /* they are in ascending order */
    }
}

/* Offsets are the same at each PE, and so shmem_align needs a base that is a multiple of every power of 2 up
 * to the length. Pages cost memory when they are written. The first ones stay small where the system
 * makes large ones of all, so that a program with little data does not take 2 MiB for each PE. */
static struct pf_shmem_segment heap(const struct pf_shmem *me)
{
    enum { LARGE_PAGE = 2 << 20 };
    size_t length = pf_shmem_heap_length() + PF_SHMEM_OWN, alignment = LARGE_PAGE;
    while (alignment <= length / 2)
        alignment *= 2;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *mapped = mmap(NULL, length + alignment, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (mapped == MAP_FAILED)
        pf_shmem_die(me, "no room for a symmetric heap of %zu bytes (SHMEM_SYMMETRIC_SIZE sets it)",
                     length - PF_SHMEM_OWN);
    size_t before = -(uintptr_t)mapped % alignment; /* given back, and the rest at the end */
    if (before > 0)
        munmap(mapped, before);
    munmap(mapped + before + length, alignment - before);
    madvise(mapped + before, length < LARGE_PAGE ? length : LARGE_PAGE, MADV_NOHUGEPAGE);
    return (struct pf_shmem_segment){mapped + before, length};
}

void pf_shmem_segments_open(struct pf_shmem *me)
{
    find_program(me);
    me->segments[PF_SHMEM_HEAP] = heap(me);
}

static bool find(const struct pf_shmem *me, const void *address, size_t length, struct pf_shmem_place *place)
{
    for (int i = PF_SHMEM_SEGMENTS - 1; i >= 0; i--) {
        size_t offset = (size_t)((const char *)address - me->segments[i].base);
        if (offset < me->segments[i].length && length <= me->segments[i].length - offset) {
            *place = (struct pf_shmem_place){i, offset};
            return true;
        }
    }
    return false;
}

struct pf_shmem_place pf_shmem_locate(const struct pf_shmem *me, const void *address, size_t length)
{
    struct pf_shmem_place place;
    if (!find(me, address, length, &place))
        pf_shmem_die(me,
                     "%zu bytes at %p are not symmetric: neither static data of the program nor from "
                     "shmem_malloc",
                     length, address);
    return place;
}

int pf_shmem_accessible(const struct pf_shmem *me, const void *address, int pe)
{
    struct pf_shmem_place place;
    return pe >= 0 && pe < me->size && find(me, address, 1, &place);
}

void *pf_shmem_ptr(const struct pf_shmem *me, const void *address, int pe)
{
    struct pf_shmem_place place;
    pf_shmem_check_pe(me, pe);
    const struct pf_shmem *other = pf_shmem_of(pe);
    if (other->self->host != me->self->host || !find(me, address, 1, &place))
        return NULL;
    pf_shmem_stores |= other != me;
    return other->segments[place.segment].base + place.offset;
}
