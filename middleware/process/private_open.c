/* SPDX-License-Identifier: BSD-3-Clause */
/* dlopen() of a rank, which gets its own copy. */
#include "middleware/process/private_open.h"

#include <dlfcn.h>
#include <limits.h>
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

/* A copy of one rank. It is known by its name while it is open, although its file is gone. */
struct opened {
    aid_t actor;
    dev_t device;
    ino_t inode;
    char *copy;
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
        dlclose(open);
    } else if (!(flags & RTLD_NOLOAD)) {
        one = one ? one : add(actor, &file, path);
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

/* Each rank opens libraries of its own. */
void *pf_libc_dlopen(const char *name, int flags)
{
    return sg_actor_self() && !pf_in_child() ? pf_private_open(name, flags) : dlopen(name, flags);
}
