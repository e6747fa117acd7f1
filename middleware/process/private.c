/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of the application's own libraries, one per rank. */
#include "middleware/process/private.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "loader/copy.h"
#include "loader/elf_search.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/job_state.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/private_fortran.h"
#include "middleware/process/private_image.h"
#include "middleware/process/private_system.h"
#include "middleware/process/program.h"

/* Letters of a library's name that make it the name of one rank's copy: numbers of base 36. */
#define UNIQUE 5

struct object {
    char *path;
    char *name; /* as others name it, NULL for the application */
    char *copy; /* the current rank's name for it, of the same length */
    struct pf_elf elf;
};

/* What a rank of one program has. */
struct program {
    struct object *objects; /* in the order of loading, libraries before their users, the application last */
    int count;
    const char *application;
    const struct pf_private_kind *kind; /* NULL: linked by pfcc */
    struct pf_image *image;             /* NULL: none yet, or none at all, if that has been `tried` */
    bool tried;
};

static struct {
    struct program *programs;
    int count;
    int *of_job; /* the job's programs (core/job_programs.h): their numbers here, where each file stands once
                  */
    int most;    /* objects of a program */
    const char *dir;
    bool keep;
} job;

/* Where the dynamic linker would find a library. What only the system's directories have is not the
 * application's. */
static bool find(char *out, const struct pf_elf *user, const char *origin, const char *name)
{
    return !strchr(name, '/') && (pf_elf_search(out, getenv("LD_LIBRARY_PATH"), origin, name) ||
                                  pf_elf_search(out, user->search, origin, name) ||
                                  pf_elf_search(out, "/usr/local/lib", origin, name) ||
                                  (pf_private_system_is(name) &&
                                   (pf_elf_search_system(out, name) || pf_private_system_find(out, name))));
}

static bool read_object(struct pf_elf *elf, const char *path)
{
    if (pf_elf_read(elf, path) != PF_ELF_GOOD) {
        pf_elf_free(elf);
        return false;
    }
    pf_elf_make_own(elf);
    return true;
}

/* A library that only the system's directories have, and that is of the program's kind. */
static bool find_of_kind(char *out, const struct program *program, const char *name)
{
    struct pf_elf elf;
    if (!program->kind || strchr(name, '/') ||
        !((program->kind->of_ours && program->kind->of_ours(out, name)) || pf_elf_search_system(out, name)))
        return false;
    bool is = pf_elf_read(&elf, out) == PF_ELF_GOOD && program->kind->is(&elf);
    pf_elf_free(&elf);
    return is;
}

static bool linked_by_pfcc(const struct pf_elf *elf)
{
    return pf_elf_needs(elf, "libparfocal.so");
}

/* As the program: parts of its image, whatever their names are. */
static bool part_of_image(const struct program *program, const struct pf_elf *elf)
{
    return program->kind && program->kind->is(elf);
}

/* Ours, and those that come with a compiler or with the system: they serve all ranks. */
static bool serves_all(const char *name, const char *path)
{
    static const char *const names[] = {"libportals.so", "libsimgrid.so", "libstdc++.so", "libgcc_s.so",
                                        "libgomp.so",    "libasan.so",    "libubsan.so"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return strncmp(path, "/usr/", 5) == 0 || strncmp(path, "/lib", 4) == 0;
}

/* Those that keep the state of all ranks. */
static bool is_own(const char *name)
{
    return strncmp(name, "libparfocal.so", 14) == 0 || strncmp(name, "libparfocal_shmem.so", 20) == 0 ||
           strncmp(name, "libmpi_abi.so", 13) == 0 || strncmp(name, "libmpi.so.", 10) == 0;
}

/* A copy is found by its own name, which pfcc gives to each library. */
static bool can_be_private(const struct program *program, const struct pf_elf *elf, const char *name,
                           const char *path)
{
    const char *why = NULL;
    bool asked = pf_private_system_is(name);
    if (part_of_image(program, elf) || (program->kind && (asked || !serves_all(name, path))))
        return true;
    /* An image finds what is loaded already. What uses others without naming them is a part of it. */
    if (program->kind && !asked && !dlopen(path, RTLD_LAZY | RTLD_LOCAL))
        return true;
    if (!linked_by_pfcc(elf) && !asked) {
        if (serves_all(name, path))
            return false;
        why = "it was not linked by pfcc; if it keeps data of one rank, link it with pfcc -shared or name it "
              "in "
              "PARFOCAL_PRIVATE";
    } else if (!elf->soname || strcmp(elf->soname, name) != 0)
        why = "it does not have the name (soname) under which it is needed; link it again with pfcc";
    else if (strlen(name) <= UNIQUE)
        why = "its name is too short to be changed; rename it";
    if (why)
        pf_warn("all ranks share the globals of the library '%s': %s", path, why);
    return !why;
}

static bool known(const struct program *program, const char *name)
{
    for (int i = 0; i < program->count; i++)
        if (program->objects[i].name && strcmp(program->objects[i].name, name) == 0)
            return true;
    return false;
}

/* Fortran's library is opened in a way of its own. */
static bool begins_late(const char *name)
{
    return pf_private_system_is(name) && !pf_fortran_runtime_is(name);
}

/* Adds what an object needs, then the object. A library that needs itself in a circle stays where it was met
 * first. */
static void add(struct program *program, const char *path, const char *name, struct pf_elf elf)
{
    int depth = 0;
    static const char *open_names[64]; /* libraries whose needs are being added */
    static int open_count;
    if (name && open_count < 64) {
        open_names[open_count++] = name;
        depth = 1;
    }
    for (int i = 0; i < elf.name_count; i++) {
        char found[PATH_MAX];
        struct pf_elf needed;
        const char *text = elf.names[i].text;
        bool seen = elf.names[i].kind != PF_ELF_NEEDED || known(program, text) || is_own(text);
        for (int j = 0; j < open_count && !seen; j++)
            seen = strcmp(open_names[j], text) == 0;
        if (seen || !(find(found, &elf, path, text) || find_of_kind(found, program, text)) ||
            !read_object(&needed, found))
            continue;
        if (can_be_private(program, &needed, text, found))
            add(program, found, text, needed);
        else
            pf_elf_free(&needed);
    }
    open_count -= depth;
    pf_elf_keep_ends(&elf);
    if (name && !program->kind && begins_late(name)) /* an image begins after its calls are led */
        pf_elf_keep_begin(&elf);
    program->objects =
        pf_reallocarray(program->objects, (size_t)program->count + 1, sizeof *program->objects);
    program->objects[program->count++] = (struct object){.path = pf_strdup(path),
                                                         .name = name ? pf_strdup(name) : NULL,
                                                         .copy = name ? pf_strdup(name) : NULL,
                                                         .elf = elf};
}

static const char *own_library(void)
{
    Dl_info info;
    if (!dladdr(&job, &info))
        pf_die("cannot find Parfocal's own library");
    return info.dli_fname;
}

/* The number of the program with this file. */
static int program_with(const char *application, const struct pf_private_kind *kind)
{
    struct pf_elf elf;
    for (int i = 0; i < job.count; i++)
        if (strcmp(job.programs[i].application, application) == 0)
            return i;
    if (!read_object(&elf, application))
        pf_die("'%s' cannot be read", application);
    job.programs = pf_reallocarray(job.programs, (size_t)job.count + 1, sizeof *job.programs);
    struct program *program = &job.programs[job.count];
    *program = (struct program){.application = pf_strdup(application), .kind = kind};
    pf_private_system_ask(&elf);
    add(program, application, NULL, elf);
    job.most = program->count > job.most ? program->count : job.most;
    return job.count++;
}

const char *pf_private_prepare(const struct pf_private_kind *const *kinds, const char *dir, bool keep,
                               bool by_smpi)
{
    int programs = pf_job_program_count();
    job.dir = pf_strdup(dir);
    job.keep = keep;
    job.of_job = pf_calloc((size_t)programs, sizeof *job.of_job);
    for (int i = 0; i < programs; i++)
        job.of_job[i] = program_with(pf_job_program(i)->path, kinds[i]);
    bool one = programs == 1 && job.most == 1 && !kinds[0];
    if (!one || !by_smpi || !pf_copy_is_deep()) /* SMPI would insist on deep binding */
        return own_library();
    pf_elf_free(&job.programs[0].objects[0].elf);
    job.count = 0;
    return NULL;
}

/* Ranks load their copies in the order of their actors, which SMPI numbers from 1. */
static int rank_of_caller(void)
{
    return (int)pf_process_actor() - 1;
}

/* That of the calling rank. */
static struct program *program_of_caller(void)
{
    return &job.programs[job.of_job[pf_program_number()]];
}

/* A library's name in the copies of one rank: its first letters are a number. */
static void rename_for(char *name, int rank, int library)
{
    int number = rank * job.most + library;
    for (int digit = UNIQUE - 1; digit >= 0; digit--, number /= 36)
        name[digit] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
}

/* The names in all copies of this rank. A name that was renamed before is found by its place, not by its
 * text. */
static void rename_copies(const struct program *program, int rank)
{
    for (int i = 0; i < program->count - 1; i++) {
        struct object *library = &program->objects[i];
        char old[NAME_MAX + 1];
        snprintf(old, sizeof old, "%s", library->copy);
        rename_for(library->copy, rank, i);
        for (int j = 0; j < program->count; j++)
            for (int k = 0; k < program->objects[j].elf.name_count; k++)
                if (strcmp(program->objects[j].elf.names[k].text, old) == 0)
                    strcpy(program->objects[j].elf.names[k].text, library->copy);
    }
}

static void load_copy(const struct object *object, const char *file)
{
    char path[PATH_MAX], why[400] = "the name is too long";
    void *loaded;
    bool system = object->name && !linked_by_pfcc(&object->elf);
    const struct pf_copy copy = {.elf = &object->elf,
                                 .path = path,
                                 .keep = job.keep,
                                 .flags = pf_copy_flags(),
                                 .open = system ? pf_private_system_opener(object->name) : NULL,
                                 .of = system ? object->path : NULL};
    bool fits = snprintf(path, sizeof path, "%s/%s", job.dir, file) < PATH_MAX;
    enum pf_copy_fault fault = fits ? pf_copy_load(&copy, &loaded, why, sizeof why) : PF_COPY_UNWRITTEN;
    if (fault == PF_COPY_UNWRITTEN)
        pf_die("cannot copy '%s' to '%s': %s", object->path, job.dir, why);
    if (fault)
        pf_die("cannot load '%s' for rank %d: %s", object->path, rank_of_caller(), why);
    if (object->elf.late)
        pf_copy_begin(loaded);
}

static int number_of(const struct program *program, const char *name)
{
    for (int i = 0; i < program->count - 1; i++)
        if (strcmp(program->objects[i].name, name) == 0)
            return i;
    return -1;
}

/* Puts an object into `order` after what it needs. */
static void put(const struct program *program, int object, bool *seen, int *order, int *count)
{
    const struct pf_elf *elf = &program->objects[object].elf;
    if (seen[object])
        return;
    seen[object] = true;
    for (int i = 0; i < elf->name_count; i++)
        if (elf->names[i].kind == PF_ELF_NEEDED && number_of(program, elf->names[i].text) >= 0)
            put(program, number_of(program, elf->names[i].text), seen, order, count);
    order[(*count)++] = object;
}

/* The order in which the dynamic linker would begin them: from the one that it would load last, each after
 * what it needs. */
static void put_in_order(struct program *program)
{
    int n = program->count, loaded = 1, count = 0;
    int *loads = pf_calloc((size_t)n, sizeof *loads), *order = pf_calloc((size_t)n, sizeof *order);
    bool *seen = pf_calloc((size_t)n, sizeof *seen);
    struct object *objects = pf_calloc((size_t)n, sizeof *objects);
    loads[0] = n - 1;
    seen[n - 1] = true;
    for (int i = 0; i < loaded; i++) {
        const struct pf_elf *elf = &program->objects[loads[i]].elf;
        for (int j = 0; j < elf->name_count; j++) {
            int one = elf->names[j].kind == PF_ELF_NEEDED ? number_of(program, elf->names[j].text) : -1;
            if (one >= 0 && !seen[one])
                seen[loads[loaded++] = one] = true;
        }
    }
    memset(seen, 0, (size_t)n * sizeof *seen);
    while (loaded > 0)
        put(program, loads[--loaded], seen, order, &count);
    for (int i = 0; i < n; i++)
        objects[i] = program->objects[order[i]];
    free(program->objects);
    program->objects = objects;
    free(loads);
    free(order);
    free(seen);
}

/* A library that does not name those it uses: the dynamic linker finds them among all of the program's. It
 * becomes one of the image. */
static bool take_in(struct program *program, const char *name)
{
    char found[PATH_MAX];
    struct pf_elf elf;
    if (!name || strchr(name, '/') || known(program, name) || !pf_elf_search_system(found, name) ||
        !read_object(&elf, found))
        return false;
    pf_elf_keep_ends(&elf);
    program->objects =
        pf_reallocarray(program->objects, (size_t)program->count + 1, sizeof *program->objects);
    memmove(program->objects + 1, program->objects, (size_t)program->count++ * sizeof *program->objects);
    program->objects[0] = (struct object){
        .path = pf_strdup(found), .name = pf_strdup(name), .copy = pf_strdup(name), .elf = elf};
    put_in_order(program);
    return true;
}

static struct pf_image *make_kind(struct program *program, int ranks)
{
    struct pf_image *image = NULL;
    const char *missing;
    char why[300];
    do {
        const struct pf_elf **files = pf_calloc((size_t)program->count, sizeof *files);
        for (int i = 0; i < program->count; i++)
            files[i] = &program->objects[i].elf;
        missing = NULL;
        image = pf_private_image_make_kind(program->kind, files, program->count, ranks, &missing, why,
                                           sizeof why);
        free(files);
    } while (!image && take_in(program, missing));
    if (!image)
        pf_die("'%s' was not built with pfcc and cannot be loaded for each rank (%s); rebuild it with pfcc",
               program->objects[program->count - 1].path, why);
    return image;
}

static void make_image(struct program *program, int ranks)
{
    if (program->kind) {
        program->image = make_kind(program, ranks);
    } else if (program->count == 1 && !job.keep && pf_copy_is_deep())
        program->image = pf_private_image_make(&program->objects[0].elf, ranks);
}

static bool in_image(struct program *program, int ranks)
{
    if (!program->tried)
        make_image(program, ranks);
    program->tried = true;
    return program->image;
}

bool pf_private_in_image(int ranks)
{
    bool all = job.count > 0;
    for (int i = 0; i < job.count; i++)
        all &= in_image(&job.programs[i], ranks);
    return all;
}

void pf_private_load(void)
{
    if (!job.count)
        return;
    int rank = rank_of_caller();
    struct program *program = program_of_caller();
    const struct object *application = &program->objects[program->count - 1];
    const char *slash = strrchr(application->path, '/');
    char file[NAME_MAX + 1];
    if (in_image(program, pf_job_state.size)) {
        void *loaded = NULL;
        for (int i = 0; i < program->count; i++)
            loaded = pf_private_image_load(program->image, &program->objects[i].elf, rank);
        if (program->kind)
            program->kind->start(&application->elf, loaded);
        return;
    }
    rename_copies(program, rank);
    for (int i = 0; i < program->count - 1; i++)
        load_copy(&program->objects[i], program->objects[i].copy);
    snprintf(file, sizeof file, "%s_%d_%d.so", slash ? slash + 1 : application->path, (int)getpid(), rank);
    load_copy(application, file);
}

const char *pf_private_dir(void)
{
    return job.dir;
}

bool pf_private_keeps(void)
{
    return job.keep;
}

const char *pf_private_linked(const char *name)
{
    static char copy[NAME_MAX + 1];
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    const struct program *program = job.count ? program_of_caller() : NULL;
    for (int i = 0; program && i < program->count - 1; i++) {
        if (strcmp(program->objects[i].name, name) != 0)
            continue;
        snprintf(copy, sizeof copy, "%s", name);
        rename_for(copy, rank_of_caller(), i);
        return copy;
    }
    return NULL;
}

bool pf_private_find(char *out, const char *name)
{
    if (strchr(name, '/'))
        return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX && access(out, R_OK) == 0;
    struct pf_elf elf;
    const char *application = job.count ? program_of_caller()->application : NULL;
    if (!application || !read_object(&elf, application))
        return false;
    bool found = find(out, &elf, application, name);
    pf_elf_free(&elf);
    return found;
}

bool pf_private_find_own(char *out, const struct pf_elf *user, const char *name)
{
    return !strchr(name, '/') && pf_elf_search(out, user->search, user->path, name);
}

bool pf_private_read(struct pf_elf *elf, const char *path, bool *plugs, bool *own_names)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (is_own(name) || !read_object(elf, path))
        return false;
    bool foreign = !linked_by_pfcc(elf) && !serves_all(name, path) && !pf_private_system_harmless(name);
    *plugs = pf_private_system_plugs(elf) || foreign;
    if (!*plugs && !linked_by_pfcc(elf) && !pf_private_system_is(name)) {
        pf_elf_free(elf);
        return false;
    }
    *own_names = false;
    for (int i = 0; i < elf->name_count; i++) {
        const char *copy = elf->names[i].kind == PF_ELF_NEEDED ? pf_private_linked(elf->names[i].text) : NULL;
        if (copy && program_of_caller()->image) {
            pf_elf_forget(elf, i);
            continue;
        }
        if (copy)
            strcpy(elf->names[i].text, copy);
        *own_names |= copy != NULL;
    }
    if (*plugs || begins_late(name))
        pf_elf_keep_begin(elf);
    return true;
}
