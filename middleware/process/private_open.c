/* SPDX-License-Identifier: BSD-3-Clause */
/* dlopen() of a rank, which gets its own copy. */
#include "middleware/process/private_open.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simgrid/actor.h>

#include "base/child.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/copy.h"
#include "middleware/compute/compute.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/private.h"
#include "middleware/process/private_system.h"
#include "middleware/process/program.h"

/* A copy of one rank. It is known by its name while it is open, although its file is gone. */
struct opened {
    aid_t actor;
    dev_t device;
    ino_t inode;
    char *copy;
    bool global; /* RTLD_GLOBAL: its names are for all libraries of the rank */
    struct opened *next;
};

static struct opened *all;

static struct opened *find(aid_t actor, const struct stat *file)
{
    struct opened *one = all;
    while (one && (one->actor != actor || one->device != file->st_dev || one->inode != file->st_ino))
        one = one->next;
    return one;
}

static struct opened *add(aid_t actor, const struct stat *file, const char *path)
{
    static int count;
    const char *slash = strrchr(path, '/');
    struct opened *one = pf_malloc(sizeof *one);
    one->copy = pf_asprintf("%s/%s_%d_%d_%ld.so", pf_private_dir(), slash ? slash + 1 : path, (int)getpid(),
                            count++, (long)actor);
    one->actor = actor;
    one->device = file->st_dev;
    one->inode = file->st_ino;
    one->next = all;
    return all = one;
}

/* The rank's program, as dlopen(NULL) of a process has it; NULL when it is in an image. */
static void *open_program(void)
{
    struct dl_find_object place;
    const void *main = pf_program_of_caller();
    if (!main || _dl_find_object((void *)main, &place) != 0 || !place.dlfo_link_map)
        return NULL;
    return dlopen(place.dlfo_link_map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

/* What the rank's program defines, or a library that it has opened for all. */
static void *find_global(void *program, const char *name)
{
    void *found = program ? dlsym(program, name) : NULL;
    for (struct opened *one = all; one && !found; one = one->next) {
        bool mine = one->global && one->actor == sg_actor_self_get_pid();
        void *open = mine ? dlopen(one->copy, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (open) {
            found = dlsym(open, name);
            dlclose(open);
        }
    }
    return found;
}

/* What to open: the rank's copy, which is open already, or whose file is there (`written`); the file itself
 * when it is for all ranks; NULL when the copy is not open and must not be opened. */
static const char *prepare(const char *path, int flags, bool *written, bool *plugs)
{
    struct pf_elf elf;
    struct stat file;
    aid_t actor = sg_actor_self_get_pid();
    if (stat(path, &file) != 0 || !pf_private_read(&elf, path, plugs))
        return path;
    struct opened *one = find(actor, &file);
    void *open = one ? dlopen(one->copy, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (open) {
        one->global |= flags & RTLD_GLOBAL;
        dlclose(open);
    } else if (!(flags & RTLD_NOLOAD)) {
        one = one ? one : add(actor, &file, path);
        one->global = flags & RTLD_GLOBAL;
        int error = pf_copy_write(&(struct pf_copy){.elf = &elf, .path = one->copy});
        if (error)
            pf_die("cannot copy '%s' to '%s': %s", path, one->copy, strerror(error));
        *written = true;
    }
    pf_elf_free(&elf);
    return one ? one->copy : NULL;
}

/* One that all ranks share. */
static void *open_shared(const char *name, int flags)
{
    struct link_map *last = pf_libraries_last();
    void *opened = dlopen(name, flags);
    pf_libraries_lead(last);
    return opened;
}

/* A new copy, and the libraries of the system that it has brought. */
static void lead(void *loaded, bool plugs, const struct link_map *last)
{
    struct pf_rank *r = pf_compute_call();
    if (plugs)
        pf_private_system_plug(loaded);
    pf_libraries_lead(last);
    pf_compute_return(r);
}

void *pf_private_open(const char *name, int flags)
{
    char path[PATH_MAX];
    bool written = false, plugs = false;
    const char *linked = name && pf_private_dir() ? pf_private_linked(name) : NULL;
    if (linked) /* the program needs it, so the rank has its copy already */
        return dlopen(linked, flags & ~RTLD_GLOBAL);
    if (!name || !pf_private_dir() || !pf_private_find(path, name))
        return open_shared(name, flags);
    struct pf_rank *r = pf_compute_call();
    const char *copy = prepare(path, flags, &written, &plugs);
    struct link_map *last = pf_libraries_last();
    pf_compute_return(r);
    if (!copy)
        return NULL; /* RTLD_NOLOAD */
    if (copy == path)
        return open_shared(path, flags);
    const char *slash = strrchr(path, '/');
    pf_private_system_open *open = pf_private_system_opener(slash ? slash + 1 : path);
    void *loaded = pf_copy_open(&(struct pf_copy){.path = copy,
                                                  .flags = plugs ? pf_copy_flags() : flags & ~RTLD_GLOBAL,
                                                  .keep = !written || pf_private_keeps(),
                                                  .open = open,
                                                  .of = plugs || open ? path : NULL});
    if (loaded && written)
        lead(loaded, plugs, last);
    return loaded;
}

static bool is_rank(void)
{
    return sg_actor_self() && !pf_in_child();
}

/* Each rank opens libraries of its own. */
void *pf_libc_dlopen(const char *name, int flags)
{
    void *program = is_rank() && !name ? open_program() : NULL;
    if (program)
        return program;
    return is_rank() ? pf_private_open(name, flags) : dlopen(name, flags);
}

/* What the linker makes of a reference of that name in a program; NULL: nothing. */
static void *led(const char *name)
{
    char own[200];
    bool mpi = strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0;
    if (mpi && snprintf(own, sizeof own, "pf_%s", name) < (int)sizeof own)
        return dlsym(RTLD_DEFAULT, own);
    return pf_libc_of_program(name);
}

/* A name stands for what a reference to it stands for, and not for what the simulator has under it: clocks,
 * the environment, MPI. RTLD_NEXT looks behind the middleware, since that is the caller. */
void *pf_libc_dlsym(void *handle, const char *name)
{
    if (!is_rank())
        return dlsym(handle, name);
    void *program = open_program(), *found = NULL, *own = led(name);
    if (program && (handle == RTLD_DEFAULT || handle == program))
        found = find_global(program, name);
    if (program)
        dlclose(program);
    if (!found)
        found = dlsym(handle, name);
    return own && found == dlsym(RTLD_DEFAULT, name) ? own : found;
}
