/* SPDX-License-Identifier: BSD-3-Clause */
/* The copies of an image: mapped, opened, asked for symbols; exceptions that pass through them. */
#include "loader/image.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <uthash.h>

#include "base/memory.h"
#include "loader/image_layout.h"

static struct pf_image *images;

/* The image in a copy of which an address lies, the copy's beginning, and the library there. */
struct found {
    struct pf_image *image;
    char *copy;
    const struct pf_image_object *object;
};

/* Copies of libraries are multiples of this apart. The processor remembers where a branch goes by some low
 * bits of its address: what one rank's copy has taught it then holds for the others' (1,024 ranks: a sixth
 * less time). */
static const size_t STRIDE = 1 << 24;

static bool find(const void *address, struct found *found)
{
    for (struct pf_image *image = images; image; image = image->next) {
        size_t from = (size_t)((const char *)address - image->arena), number = from / image->stride;
        size_t inside = from % image->stride;
        if ((const char *)address < image->arena || number >= (size_t)image->copies ||
            !image->mapped[number] || inside >= image->size)
            continue;
        int object = 0;
        while (object + 1 < image->count && image->objects[object + 1].base <= inside)
            object++;
        *found = (struct found){image, image->arena + number * image->stride, &image->objects[object]};
        return true;
    }
    return false;
}

/*
 * SimGrid ends an actor by a C++ exception, which passes the frames of whatever the actor is in. libgcc asks
 * the C library where the tables of a frame are, by this function alone; it asks this one, which comes before
 * the C library's. It must neither allocate nor take a lock.
 */
typedef int find_object_t(void *address, struct dl_find_object *result);
static find_object_t *stock_find_object;

static __attribute__((constructor)) void find_stock(void)
{
    *(void **)&stock_find_object = dlsym(RTLD_NEXT, "_dl_find_object");
}

/* NOLINTNEXTLINE(bugprone-reserved-identifier): the C library's name */
PF_EXPORT int _dl_find_object(void *address, struct dl_find_object *result)
{
    struct found found;
    if (!stock_find_object)
        find_stock();
    if (!find(address, &found))
        return stock_find_object ? stock_find_object(address, result) : -1;
    if (!found.object->unwind)
        return -1;
    *result = (struct dl_find_object){
        .dlfo_map_start = found.copy + found.object->base,
        .dlfo_map_end = found.copy + found.object->base + found.object->size,
        .dlfo_eh_frame = found.copy + found.object->unwind,
    };
    return 0;
}

/* The first function in the table of unwinding of the first library that has one, as linkers write it: the
 * table's version, three encodings, a distance, a count, and for each function its distance from the table.
 */
static void *some_function(const struct pf_image *image)
{
    static const unsigned char usual[4] = {1, 0x1b, 0x03, 0x3b};
    for (int i = 0; i < image->count; i++) {
        char *table = image->arena + image->objects[i].unwind;
        int32_t distance;
        uint32_t count;
        if (!image->objects[i].unwind || memcmp(table, usual, sizeof usual) != 0)
            continue;
        memcpy(&count, table + 8, sizeof count);
        memcpy(&distance, table + 12, sizeof distance);
        if (count > 0)
            return table + distance;
    }
    return NULL;
}

/* Whether libgcc finds the tables of the image by that function: a program may have brought another one. */
static bool exceptions_pass(const struct pf_image *image)
{
    struct {
        void *text_base, *data_base, *function;
    } bases;
    const void *(*find_tables)(void *, void *);
    void *function = some_function(image);
    *(void **)&find_tables = dlsym(RTLD_DEFAULT, "_Unwind_Find_FDE");
    return find_tables && function && find_tables((char *)function + 1, &bases);
}

static bool map_range(const struct pf_image *image, char *copy, size_t from, size_t to, int protection)
{
    return from == to || mmap(copy + from, to - from, protection, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                              image->fd, (off_t)from) != MAP_FAILED;
}

/* Zeroes have no object: a page of them that came from the image would be there twice. */
static bool map_program(const struct pf_image *image, char *copy)
{
    bool good = map_range(image, copy, 0, image->size, PROT_READ | PROT_EXEC);
    for (int i = 0; i < image->count && good; i++) {
        const struct pf_image_object *object = &image->objects[i];
        size_t zeroes = object->base + object->zeroes, end = object->base + object->size;
        good = map_range(image, copy, object->base + object->writable, zeroes, PROT_READ | PROT_WRITE) &&
               (zeroes == end ||
                mmap(copy + zeroes, end - zeroes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED);
    }
    return good;
}

static bool map(struct pf_image *image, int copy)
{
    /* One mapping for code, data and the room behind: each more would count against the number that a process
     * may have. */
    char *at = image->arena + (size_t)copy * image->stride;
    if (!image->mapped[copy])
        image->mapped[copy] =
            image->program ? map_program(image, at)
                           : map_range(image, at, 0, image->stride, PROT_READ | PROT_WRITE | PROT_EXEC);
    return image->mapped[copy];
}

static bool make_room(struct pf_image *image, int copies, char *why, size_t n)
{
    image->stride = image->program ? image->size : (image->size + STRIDE - 1) / STRIDE * STRIDE;
    void *arena = mmap(NULL, (size_t)copies * image->stride, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) {
        snprintf(why, n, "%s", strerror(errno));
        return false;
    }
    image->arena = arena;
    image->copies = copies;
    image->mapped = pf_calloc((size_t)copies, sizeof *image->mapped);
    image->open = pf_calloc((size_t)copies, sizeof *image->open);
    image->next = images;
    images = image;
    if (!map(image, 0))
        snprintf(why, n, "the system allows no such memory%s: %s",
                 image->program ? "" : ", which is written and executed", strerror(errno));
    else if (!exceptions_pass(image))
        snprintf(why, n, "exceptions would not pass through it");
    else
        return true;
    return false;
}

static const char *initial_locals(const char *block, size_t *filled, size_t *size)
{
    struct found found;
    if (!find(block, &found))
        pf_die("a thread uses variables of a library that is not there any more");
    *filled = found.object->initial_size;
    *size = found.object->locals_size;
    return found.object->initial_bytes;
}

struct pf_image *pf_image_make(const struct pf_image_plan *plan, char *why, size_t n)
{
    struct pf_image *image = pf_calloc(1, sizeof *image);
    image->fd = -1;
    image->program = plan->program;
    image->ready = plan->ready;
    pf_image_locals_begin(initial_locals);
    if (pf_image_lay_out(image, plan, why, n) && make_room(image, plan->copies, why, n))
        return image;
    pf_image_free(image);
    return NULL;
}

void pf_image_free(struct pf_image *image)
{
    for (struct pf_image **link = &images; *link; link = &(*link)->next)
        if (*link == image) {
            *link = image->next;
            break;
        }
    if (image->arena)
        munmap(image->arena, (size_t)image->copies * image->stride);
    if (image->fd >= 0)
        close(image->fd);
    for (int i = 0; i < image->count; i++) {
        free(image->objects[i].moved);
        free(image->objects[i].copied);
        free(image->objects[i].constants);
    }
    for (int i = 0; i < image->other_count; i++)
        dlclose(image->others[i]);
    free(image->others);
    pf_image_names_free(&image->exports);
    pf_image_names_free(&image->imports);
    pf_image_names_free(&image->locals);
    free(image->mapped);
    free(image->open);
    free(image);
}

typedef void initialise_t(int argc, char **argv, char **environment);

/* The dynamic linker would pass the process's arguments, which are not known here. */
static void initialise(const struct pf_image_object *object, char *copy)
{
    static char *none[] = {NULL};
    initialise_t *function;
    if (object->init) {
        *(void **)&function = copy + object->init;
        function(0, none, environ);
    }
    for (size_t i = 0; i < object->init_count; i++) {
        memcpy(&function, copy + object->inits + i * sizeof function, sizeof function);
        if (function)
            function(0, none, environ);
    }
}

static void move(const struct pf_image_object *object, char *copy)
{
    for (size_t i = 0; i < object->moved_count; i++)
        *(uintptr_t *)(void *)(copy + object->moved[i]) += (uintptr_t)copy;
}

static void copy_variables(const struct pf_image_object *object, char *copy)
{
    for (size_t i = 0; i < object->copied_count; i++) {
        const struct pf_image_copied *one = &object->copied[i];
        memcpy(copy + one->place, one->from ? one->from : copy + one->inside, one->size);
    }
}

/* All libraries of a program, as a constructor may use what one behind it defines, such as tables of C++; of
 * others the one that is opened, since most plug-ins never are. */
static void move_before(const struct pf_image *image, int copy, int number, char *begin)
{
    bool all = image->program;
    if (all && image->open[copy])
        return;
    int from = all ? 0 : number, to = all ? image->count : number + 1;
    for (int i = from; i < to; i++)
        move(&image->objects[i], begin);
    for (int i = from; i < to; i++)
        copy_variables(&image->objects[i], begin);
}

void *pf_image_open(struct pf_image *image, int copy, const struct pf_elf *file)
{
    int number = 0;
    while (number < image->count && image->objects[number].file != file)
        number++;
    if (number == image->count || copy < 0 || copy >= image->copies) {
        errno = ENOENT;
        return NULL;
    }
    if (!map(image, copy))
        return NULL;
    const struct pf_image_object *object = &image->objects[number];
    char *begin = image->arena + (size_t)copy * image->stride;
    uint64_t bit = (uint64_t)1 << number;
    if (!(image->open[copy] & bit)) {
        move_before(image, copy, number, begin);
        image->open[copy] |= bit;
        if (image->ready)
            image->ready(begin + object->base);
        initialise(object, begin);
    }
    return begin + object->base;
}

bool pf_image_holds(const void *loaded)
{
    struct found found;
    return find(loaded, &found);
}

bool pf_image_program_locals(const void *loaded, struct pf_image_locals *locals)
{
    struct found found;
    if (!find(loaded, &found) || !found.object->below)
        return false;
    *locals = (struct pf_image_locals){found.copy + found.object->base + found.object->initial,
                                       found.object->initial_size, found.object->below};
    return true;
}

bool pf_image_code_on_stack(const void *address)
{
    struct found found;
    return find(address, &found) && found.image->code_on_stack;
}

const struct pf_elf *pf_image_file(const void *address)
{
    struct found found;
    return find(address, &found) ? found.object->file : NULL;
}

void *pf_image_symbol(const void *loaded, const char *name)
{
    struct found found;
    if (!find(loaded, &found))
        return NULL;
    const struct pf_image_names *names = &found.image->exports;
    const struct pf_image_name *one = pf_image_names_find(names, name);
    const struct pf_image_name *first = NULL;
    for (; one && one < names->list + names->count && strcmp(one->name, name) == 0; one++) {
        bool own = &found.image->objects[one->object] == found.object; /* before what it needs */
        if (own || (!first && (found.object->scope & ((uint64_t)1 << one->object))))
            first = one;
        if (own)
            break;
    }
    return first ? found.copy + first->place : NULL;
}

void *pf_image_symbol_outside(const void *loaded, const char *name)
{
    struct found found;
    void *symbol = NULL;
    if (!find(loaded, &found))
        return NULL;
    for (int i = 0; i < found.image->other_count && !symbol; i++)
        symbol = dlsym(found.image->others[i], name);
    return symbol;
}

void *pf_image_library(const void *loaded, const char *name)
{
    struct found found;
    if (!find(loaded, &found))
        return NULL;
    for (int i = 0; i < found.image->count; i++)
        if (pf_elf_is_called(found.image->objects[i].file, name))
            return found.copy + found.image->objects[i].base;
    return NULL;
}

bool pf_image_variable(const struct pf_image *image, const char *name, uint32_t *place)
{
    const struct pf_image_name *one = pf_image_names_find(&image->exports, name);
    if (one)
        *place = (uint32_t)one->place;
    return one;
}

bool pf_image_import(const struct pf_image *image, const struct pf_elf *file, const char *name,
                     uint32_t *place)
{
    const struct pf_image_names *names = &image->imports;
    const struct pf_image_name *one = pf_image_names_find(names, name);
    for (; one && one < names->list + names->count && strcmp(one->name, name) == 0; one++)
        if (image->objects[one->object].file == file) {
            *place = (uint32_t)one->place;
            return true;
        }
    return false;
}

const char *pf_image_copy(const struct pf_image *image, int copy)
{
    return image->arena + (size_t)copy * image->stride;
}

int pf_image_replace(const void *loaded, const char *name, void *value)
{
    struct found found;
    int changed = 0;
    if (!find(loaded, &found))
        return 0;
    const struct pf_image_names *names = &found.image->imports;
    const struct pf_image_name *one = pf_image_names_find(names, name);
    for (; one && one < names->list + names->count && strcmp(one->name, name) == 0; one++) {
        if (&found.image->objects[one->object] != found.object)
            continue;
        *(void **)(void *)(found.copy + one->place) = value;
        changed++;
    }
    return changed;
}

bool pf_image_imports(const void *loaded, const char *name)
{
    struct found found;
    return find(loaded, &found) && pf_image_names_find(&found.image->imports, name);
}

void (**pf_image_ends(const void *loaded, size_t *count))(void)
{
    struct found found;
    bool held = find(loaded, &found);
    *count = held ? found.object->end_count : 0;
    return *count ? (void (**)(void))(void *)(found.copy + found.object->ends) : NULL;
}

/* The last exported function that begins before. */
static const struct pf_image_name *function_before(const struct pf_image *image, size_t at)
{
    const struct pf_image_name *last = NULL;
    for (size_t i = 0; i < image->exports.count; i++) {
        const struct pf_image_name *one = &image->exports.list[i];
        if (one->function && one->place <= at &&
            (!last || one->place > last->place ||
             (one->place == last->place && strcmp(one->name, last->name) > 0)))
            last = one;
    }
    return last;
}

bool pf_image_where(const void *address, struct pf_image_place *place)
{
    struct found found;
    if (!find(address, &found))
        return false;
    size_t at = (size_t)((const char *)address - found.copy);
    const struct pf_image_name *before = function_before(found.image, at);
    bool own = before && &found.image->objects[before->object] == found.object;
    *place = (struct pf_image_place){found.object->file->path, at - found.object->base,
                                     own ? before->name : NULL, own ? at - before->place : 0};
    return true;
}

static struct named {
    char *original;
    UT_hash_handle hh;
    char copy[];
} * names;

void pf_loaded_note(const char *copy, const char *original)
{
    struct named *one;
    HASH_FIND_STR(names, copy, one);
    if (one)
        return;
    one = pf_calloc(1, sizeof *one + strlen(copy) + 1);
    strcpy(one->copy, copy);
    one->original = pf_strdup(original);
    HASH_ADD_STR(names, copy, one);
}

const char *pf_loaded_original(const char *path)
{
    struct named *one;
    HASH_FIND_STR(names, path, one);
    return one ? one->original : path;
}

bool pf_loaded_where(const void *address, struct pf_image_place *place)
{
    Dl_info info;
    if (pf_image_where(address, place))
        return true;
    if (!dladdr(address, &info))
        return false;
    *place =
        (struct pf_image_place){pf_loaded_original(info.dli_fname),
                                (size_t)((const char *)address - (char *)info.dli_fbase), info.dli_sname, 0};
    if (info.dli_sname)
        place->beyond = (size_t)((const char *)address - (char *)info.dli_saddr);
    return true;
}
