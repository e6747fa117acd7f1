/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread-local variables of ranks, which change places when SimGrid goes from one actor to another. */
#include "middleware/process/locals.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include <uthash.h>

#include "base/log.h"
#include "base/memory.h"
#include "loader/imports.h"
#include "lowlevel/simgrid/private.h"

/* What an actor's context has, while another one's variables are in their place. */
struct held {
    const void *context;
    UT_hash_handle hh;
    size_t size;
    char bytes[];
};

static struct held *all, *present; /* `present`: whose variables are there */
static void (*set_current)(void *context);
static void *(*get_current)(void);

static char *below_pointer(size_t size)
{
    uintptr_t pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return (char *)pointer - size; /* NOLINT(performance-no-int-to-ptr) */
}

/* Other actors have none, and leave those that are there. */
static void make_present(struct held *next)
{
    if (!next || next == present)
        return;
    if (present)
        memcpy(present->bytes, below_pointer(present->size), present->size);
    memcpy(below_pointer(next->size), next->bytes, next->size);
    present = next;
}

static void switched(void *context)
{
    struct held *next;
    HASH_FIND_PTR(all, &context, next);
    make_present(next);
    set_current(context);
}

static bool is_switch(const char *name, bool undefined, const void *arg, void **value)
{
    *value = (void *)switched;
    (void)undefined; /* it is one library's own */
    return strcmp(name, arg) == 0;
}

/* The first object is the program itself. */
static int find_room(struct dl_phdr_info *object, size_t length, void *size)
{
    (void)length;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)size = object->dlpi_phdr[i].p_memsz;
    return 1;
}

/* SimGrid, and the engine (lowlevel/engine/), which goes from one rank to the next by itself. */
static void lead_switches(void)
{
    static const char name[] = PF_SIMGRID_SET_CONTEXT;
    size_t room = 0;
    int changed = 0;
    *(void **)&set_current = dlsym(RTLD_DEFAULT, name);
    *(void **)&get_current = dlsym(RTLD_DEFAULT, PF_SIMGRID_CONTEXT);
    dl_iterate_phdr(find_room, &room);
    for (struct link_map *map = dlopen(NULL, RTLD_LAZY); map && set_current; map = map->l_next)
        changed += pf_imports_replace(map, is_switch, name);
    if (!get_current || room < PF_LOCALS_ROOM || changed == 0)
        pf_die(
            "the program has thread-local variables, for which there is no place here; rebuild it with pfcc");
}

void pf_locals_begin(const struct pf_image_locals *locals)
{
    if (!set_current)
        lead_switches();
    struct held *held = pf_calloc(1, sizeof *held + locals->size);
    held->context = get_current();
    held->size = locals->size;
    memcpy(held->bytes, locals->begin, locals->filled);
    HASH_ADD_PTR(all, context, held);
    make_present(held);
}

bool pf_locals_any(void)
{
    return all;
}
