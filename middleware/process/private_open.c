/* SPDX-License-Identifier: BSD-3-Clause */
/* dlopen() of a rank, which gets its own copy. */
#include "middleware/process/private_open.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/copy.h"
#include "loader/image.h"
#include "middleware/compute/compute.h"
#include "middleware/core/job_state.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/own_library.h"
#include "middleware/process/private.h"
#include "middleware/process/private_system.h"
#include "middleware/process/program.h"

/* A copy of one rank. It is known by its name while it is open, although its file is gone. */
struct opened {
    char *name;  /* NULL: none so far */
    bool global; /* RTLD_GLOBAL: its names are for all libraries of the rank */
};

/* A library of which ranks have copies. */
struct library {
    struct stat file;
    struct pf_elf elf; /* read once for all ranks, unless it names other copies */
    bool kept, plugs;
    bool shared;           /* it is for all ranks */
    bool after;            /* open_serving() */
    struct opened *opened; /* by the number of the rank, the last for actors that are none */
    struct library *next;
};

static struct library *all;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void pf_private_enter(void)
{
    pthread_mutex_lock(&lock);
}

void pf_private_leave(void)
{
    pthread_mutex_unlock(&lock);
}

static struct library *find(const struct stat *file)
{
    struct library *one = all;
    while (one && (one->file.st_dev != file->st_dev || one->file.st_ino != file->st_ino ||
                   one->file.st_mtim.tv_sec != file->st_mtim.tv_sec ||
                   one->file.st_mtim.tv_nsec != file->st_mtim.tv_nsec))
        one = one->next;
    return one;
}

static struct library *add(const struct stat *file)
{
    struct library *one = pf_calloc(1, sizeof *one);
    one->opened = pf_calloc((size_t)pf_job_state.size + 1, sizeof *one->opened);
    one->file = *file;
    one->next = all;
    return all = one;
}

static struct opened *own(const struct library *library)
{
    size_t rank = (size_t)pf_process_actor() - 1, size = (size_t)pf_job_state.size;
    return &library->opened[rank < size ? rank : size];
}

static char *name_copy(const char *path)
{
    static int count;
    const char *slash = strrchr(path, '/');
    return pf_asprintf("%s/%s_%d_%d_%ld.so", pf_private_dir(), slash ? slash + 1 : path, (int)getpid(),
                       count++, pf_process_actor());
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
    for (struct library *one = all; one && !found; one = one->next) {
        const struct opened *copy = own(one);
        void *open = copy->global ? dlopen(copy->name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (open) {
            found = dlsym(open, name);
            dlclose(open);
        }
    }
    return found;
}

/* One that all ranks share. */
static void *open_shared(const char *name, int flags)
{
    struct link_map *last = pf_libraries_last();
    void *opened = dlopen(name, flags);
    pf_libraries_lead(last);
    return opened;
}

/* The library at a path, read; NULL when it is for all ranks. */
static struct library *read_library(const char *path)
{
    struct pf_elf elf;
    struct stat file;
    bool plugs, own_names;
    if (stat(path, &file) != 0)
        return NULL;
    struct library *library = find(&file);
    if (library && (library->kept || library->shared))
        return library->shared ? NULL : library;
    bool own = pf_private_read(&elf, path, &plugs, &own_names);
    if (!library)
        library = add(&file);
    library->shared = !own;
    if (!own)
        return NULL;
    pf_elf_free(&library->elf);
    library->elf = elf;
    library->plugs = plugs;
    library->kept = !own_names;
    return library;
}

/* Other plug-ins may use what it defines. */
static bool serves(const struct library *library, int flags)
{
    return library->plugs && (flags & RTLD_GLOBAL);
}

/* What serves others is never closed. */
static int kept_open(const struct library *library, int flags)
{
    return serves(library, flags) ? RTLD_NODELETE : flags & RTLD_NODELETE;
}

/* The rank's copy, open already; if not, and it may be opened, its new name. */
static bool is_open(const struct library *library, const char *path, int flags)
{
    struct opened *copy = own(library);
    void *open = copy->name ? dlopen(copy->name, RTLD_LAZY | RTLD_NOLOAD | kept_open(library, flags)) : NULL;
    if (open)
        dlclose(open);
    if (open && serves(library, flags))
        pf_private_system_serve(open);
    if (open)
        copy->global |= (flags & RTLD_GLOBAL) != 0;
    else if (!(flags & RTLD_NOLOAD)) {
        copy->name = copy->name ? copy->name : name_copy(path);
        copy->global = flags & RTLD_GLOBAL;
    }
    return open;
}

/* For names that what is open now defines. */
static void weaken(struct pf_elf *elf)
{
    struct pf_rank *r = pf_compute_call();
    pf_private_system_plugs(elf);
    pf_compute_return(r);
}

/* One that a plug-in needs. If others that it needs define names of which this one does not say so, it can
 * only be opened `after` them, for all ranks. */
static bool open_serving(struct library *library, const char *path, bool after)
{
    if (library->after && !after)
        return false;
    if (library->after)
        weaken(&library->elf);
    void *copy = pf_private_open(path, RTLD_LAZY | RTLD_LOCAL);
    if (copy)
        pf_private_system_serve(copy);
    library->after |= !copy;
    return copy;
}

/* What a plug-in needs: the rank's copy of what calls MPI or is a plug-in itself, or of what the user wants
 * copied; its calls are led there then, wherever the dynamic linker has led them. A copy lies elsewhere than
 * the library: what this one has next to it is opened before it, for all ranks. False if some must be opened
 * `after` others. */
static bool open_needed(struct pf_elf *elf, bool after)
{
    char path[PATH_MAX];
    struct library *needed;
    bool all_open = true;
    for (int i = 0; i < elf->name_count; i++) {
        const char *name = elf->names[i].text;
        if (elf->names[i].kind != PF_ELF_NEEDED || pf_private_linked(name))
            continue;
        struct pf_rank *r = pf_compute_call();
        bool near = pf_private_find_own(path, elf, name);
        bool asked = pf_private_system_is(name) && (near || pf_private_system_find(path, name));
        needed = !asked && pf_own_library_needed(path, elf, name) ? read_library(path) : NULL;
        if (needed && !needed->elf.soname)
            pf_elf_forget(elf, i); /* the dynamic linker would not know that copy */
        pf_compute_return(r);
        if (asked)
            pf_private_open(path, RTLD_LAZY | RTLD_LOCAL);
        else if (needed)
            all_open &= open_serving(needed, path, after);
        else if (near)
            pf_libraries_watch(open_shared(path, RTLD_LAZY | RTLD_LOCAL));
    }
    weaken(elf);
    return all_open;
}

/* Some libraries use what the module defines that needs them. */
static void lead_back(const struct pf_elf *elf, void *loaded)
{
    char path[PATH_MAX];
    for (int i = 0; i < elf->name_count; i++) {
        bool named =
            elf->names[i].kind == PF_ELF_NEEDED && pf_own_library_needed(path, elf, elf->names[i].text);
        const struct library *library = named ? read_library(path) : NULL;
        void *needed =
            library && own(library)->name ? dlopen(own(library)->name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (needed) {
            pf_private_system_lead(needed, loaded);
            dlclose(needed);
        }
    }
}

/* A new copy, and the libraries of the system that it has brought. */
static void *open_copy(struct library *library, const char *path, int flags)
{
    if (library->plugs && !open_needed(&library->elf, false))
        open_needed(&library->elf, true);
    const char *slash = strrchr(path, '/');
    struct link_map *last = pf_libraries_last();
    pf_private_system_open *open = pf_private_system_opener(slash ? slash + 1 : path);
    int bind = pf_process_image() ? flags & (RTLD_LAZY | RTLD_NOW) : RTLD_LAZY; /* modules are many */
    const struct pf_copy copy = {.elf = &library->elf,
                                 .path = own(library)->name,
                                 .flags = library->plugs ? (pf_copy_flags() & ~RTLD_LAZY) | bind |
                                                               kept_open(library, flags)
                                                         : flags & ~RTLD_GLOBAL,
                                 .keep = pf_private_keeps(),
                                 .open = open,
                                 .of = library->plugs || open ? path : NULL};
    int error = pf_copy_write(&copy);
    if (error)
        pf_die("cannot copy '%s' to '%s': %s", path, copy.path, strerror(error));
    void *loaded = pf_copy_open(&copy);
    if (!loaded) {
        pf_linker_refused(path);
        return NULL;
    }
    struct pf_rank *r = pf_compute_call();
    if (library->plugs) {
        pf_private_system_plug(loaded);
        lead_back(&library->elf, loaded);
    }
    if (serves(library, flags))
        pf_private_system_serve(loaded);
    pf_libraries_lead(last);
    pf_compute_return(r);
    pf_copy_begin(loaded);
    return loaded;
}

bool pf_private_copied(const char *path)
{
    struct stat file;
    const struct library *library = stat(path, &file) == 0 ? find(&file) : NULL;
    return library && !library->shared;
}

/* The rank's open copy of that name. The dynamic linker might take another rank's. */
static void *open_again(const char *name)
{
    void *open = NULL;
    for (const struct library *one = all; one && !open; one = one->next)
        if (own(one)->name && pf_elf_is_called(&one->elf, name))
            open = dlopen(own(one)->name, RTLD_LAZY | RTLD_NOLOAD);
    return open;
}

/* As interpreters open it, in which no module was compiled against MPI. */
static bool is_openmpi(const char *name)
{
    static const char own[] = "libmpi.so";
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    return strncmp(name, own, sizeof own - 1) == 0 && (!name[sizeof own - 1] || name[sizeof own - 1] == '.');
}

void *pf_private_open(const char *name, int flags)
{
    char path[PATH_MAX];
    const char *linked = name && pf_private_dir() ? pf_private_linked(name) : NULL;
    void *again = name && !strchr(name, '/') ? open_again(name) : NULL;
    if (again)
        return again;
    if (name && is_openmpi(name))
        return pf_own_library_open_openmpi();
    if (linked) /* the program needs it, so the rank has its copy already */
        return dlopen(linked, flags & ~RTLD_GLOBAL);
    if (!name || !pf_private_dir() || !pf_private_find(path, name))
        return open_shared(name, flags);
    struct pf_rank *r = pf_compute_call();
    struct library *library = read_library(path);
    bool there = library && is_open(library, path, flags);
    pf_compute_return(r);
    if (!library)
        return open_shared(path, flags);
    if (there || (flags & RTLD_NOLOAD))
        return there ? dlopen(own(library)->name, flags & ~RTLD_GLOBAL) : NULL;
    return open_copy(library, path, flags);
}

static bool is_rank(void)
{
    return pf_process_actor() > 0 && !pf_in_child();
}

/* Each rank opens libraries of its own. */
void *pf_libc_dlopen(const char *name, int flags)
{
    if (!is_rank())
        return dlopen(name, flags);
    pf_private_enter();
    void *opened = name ? NULL : open_program();
    char *path = name && strchr(name, '/') ? pf_folder_name(name) : (char *)name;
    opened = opened ? opened : pf_private_open(path, flags);
    if (path != name)
        free(path);
    if (opened)
        dlerror(); /* of names that were looked for on the way */
    pf_private_leave();
    return opened;
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

/* What dlopen(NULL) gives to a library that all ranks share, where their program is in an image. */
static bool is_of_simulator(void *handle)
{
    static void *opened;
    if (!opened)
        opened = dlopen(NULL, RTLD_LAZY);
    return handle == opened;
}

/* A name stands for what a reference to it stands for, and not for what the simulator has under it: clocks,
 * the environment, MPI. RTLD_NEXT looks behind the middleware, since that is the caller. */
void *pf_libc_dlsym(void *handle, const char *name)
{
    if (!is_rank())
        return dlsym(handle, name);
    pf_private_enter();
    void *program = open_program(), *found = NULL, *own = led(name);
    const void *image = handle == RTLD_DEFAULT || is_of_simulator(handle) ? pf_process_image() : NULL;
    if (image && !(found = pf_own_library_handle(name)))
        found = pf_image_symbol(image, name);
    if (!found && (image || program) && (handle == RTLD_DEFAULT || handle == program))
        found = find_global(program, name);
    if (program)
        dlclose(program);
    if (!found)
        found = dlsym(handle, name);
    if (own && found == dlsym(RTLD_DEFAULT, name))
        found = own;
    pf_private_leave();
    return found;
}
