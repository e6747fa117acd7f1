/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays out libraries as one image: gives them their places, and does what the dynamic linker does once. */
#include <dlfcn.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <uthash.h>

#include "base/log.h"
#include "base/memory.h"
#include "loader/image_layout.h"

enum { LOCALS_ALIGNMENT = 64 }; /* of a block of thread-local variables */

/* A library while it is read. */
struct reading {
    struct pf_image *image;
    struct pf_image_object *object;
    int number;
    const struct pf_image_plan *plan;
    struct outside **outside; /* what has been found outside the image so far */
    Elf *elf;
    Elf_Data *symbols, *versions, *wanted; /* of the dynamic linker; the versions may be missing */
    size_t symbol_count;
    GElf_Word strings, version_strings;
    char *why;
    size_t n;
};

static bool refuse(const struct reading *reading, const char *what)
{
    snprintf(reading->why, reading->n, "%s has %s", reading->object->file->path, what);
    return false;
}

/* The sections that say what has to be done when the library is loaded. */

static bool read_sections(struct reading *reading)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(reading->elf, section));) {
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (header.sh_type == SHT_DYNSYM) {
            reading->symbols = data;
            reading->strings = header.sh_link;
            reading->symbol_count = header.sh_entsize ? header.sh_size / header.sh_entsize : 0;
        } else if (header.sh_type == SHT_GNU_versym) {
            reading->versions = data;
        } else if (header.sh_type == SHT_GNU_verneed) {
            reading->wanted = data;
            reading->version_strings = header.sh_link;
        } else if (header.sh_type == SHT_REL) {
            return refuse(reading, "relocations without addends");
        } else if (header.sh_type == 19) { /* SHT_RELR, which older headers do not know */
            return refuse(reading, "packed relocations");
        }
    }
    return reading->symbols ? true : refuse(reading, "no symbols");
}

/* The version of a symbol that another library has to define; NULL: any. */
static const char *version_of(const struct reading *reading, size_t index)
{
    GElf_Versym wanted;
    GElf_Verneed need;
    GElf_Vernaux one;
    if (!reading->versions || !reading->wanted || !gelf_getversym(reading->versions, (int)index, &wanted))
        return NULL;
    for (int at = 0; gelf_getverneed(reading->wanted, at, &need); at += (int)need.vn_next) {
        int inner = at + (int)need.vn_aux;
        for (int i = 0; i < need.vn_cnt && gelf_getvernaux(reading->wanted, inner, &one); i++) {
            if (one.vna_other == wanted)
                return elf_strptr(reading->elf, reading->version_strings, one.vna_name);
            inner += (int)one.vna_next;
        }
        if (!need.vn_next)
            break;
    }
    return NULL;
}

static bool read_dynamic_entry(struct reading *reading, const GElf_Dyn *entry)
{
    struct pf_image_object *object = reading->object;
    switch (entry->d_tag) {
    case DT_INIT:
        object->init = object->base + entry->d_un.d_ptr;
        break;
    case DT_INIT_ARRAY:
        object->inits = object->base + entry->d_un.d_ptr;
        break;
    case DT_INIT_ARRAYSZ:
        object->init_count = entry->d_un.d_val / sizeof(void *);
        break;
    case PF_ELF_ENDS:
        object->ends = object->base + entry->d_un.d_ptr;
        break;
    case PF_ELF_ENDS_SIZE:
        object->end_count = entry->d_un.d_val / sizeof(void *);
        break;
    case DT_TEXTREL:
        return refuse(reading, "relocations in its code");
    case DT_FLAGS:
        if (entry->d_un.d_val & DF_TEXTREL)
            return refuse(reading, "relocations in its code");
        break;
    default:
        break;
    }
    return true;
}

static bool read_dynamic(struct reading *reading)
{
    GElf_Shdr header;
    GElf_Dyn entry;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(reading->elf, section));) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
            if (!read_dynamic_entry(reading, &entry))
                return false;
    }
    return true;
}

/* What it exports. */
static bool read_exports(struct reading *reading)
{
    GElf_Sym symbol;
    for (size_t i = 1; i < reading->symbol_count && gelf_getsym(reading->symbols, (int)i, &symbol); i++) {
        int type = GELF_ST_TYPE(symbol.st_info);
        if (type == STT_TLS && symbol.st_shndx != SHN_UNDEF && GELF_ST_BIND(symbol.st_info) != STB_LOCAL)
            pf_image_names_add(
                &reading->image->locals,
                (struct pf_image_name){.name = elf_strptr(reading->elf, reading->strings, symbol.st_name),
                                       .place = symbol.st_value,
                                       .object = reading->number});
        if (symbol.st_shndx == SHN_UNDEF || type == STT_TLS)
            continue;
        if (type == STT_GNU_IFUNC || GELF_ST_BIND(symbol.st_info) == STB_GNU_UNIQUE)
            return refuse(reading, "symbols that are resolved when it is loaded");
        const char *name = elf_strptr(reading->elf, reading->strings, symbol.st_name);
        if (!name || symbol.st_shndx == SHN_ABS || GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
            continue;
        pf_image_names_add(&reading->image->exports,
                           (struct pf_image_name){.name = name,
                                                  .place = reading->object->base + symbol.st_value,
                                                  .object = reading->number,
                                                  .function = type == STT_FUNC});
    }
    return true;
}

static bool is_answered(const struct pf_image_plan *plan, const char *name)
{
    for (const char *const *answered = plan->answered; answered && *answered; answered++)
        if (strcmp(*answered, name) == 0)
            return true;
    return false;
}

/* The libraries that it needs: bits of those in the image, and the others opened. */
static bool read_needs(struct reading *reading)
{
    struct pf_image *image = reading->image;
    const struct pf_elf *file = reading->object->file;
    reading->object->scope = (uint64_t)1 << reading->number;
    for (int i = 0; i < file->name_count; i++) {
        int other = 0;
        const char *name = file->names[i].text;
        if (file->names[i].kind != PF_ELF_NEEDED || is_answered(reading->plan, name))
            continue;
        while (other < image->count && !pf_elf_is_called(image->objects[other].file, name))
            other++;
        if (other < reading->number) {
            reading->object->scope |= image->objects[other].scope;
        } else if (other == image->count) {
            void *handle = dlopen(name, reading->plan->flags | RTLD_NOLOAD);
            if (!handle && reading->plan->program && !reading->plan->find && file->search)
                return refuse(reading, "folders of its own where its libraries are looked for");
            if (!handle)
                handle = dlopen(name, reading->plan->flags);
            if (!handle) {
                snprintf(reading->why, reading->n, "%s", dlerror());
                if (reading->plan->missing)
                    *reading->plan->missing = name;
                return false;
            }
            image->others =
                pf_reallocarray(image->others, (size_t)image->other_count + 1, sizeof *image->others);
            image->others[image->other_count++] = handle;
        } else {
            return refuse(reading, "a need that comes after it");
        }
    }
    return true;
}

/* What a program writes must lie behind what it does not, in pages of its own. */
static bool note_protection(struct reading *reading, const GElf_Phdr *segment)
{
    struct pf_image_object *object = reading->object;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t first = segment->p_vaddr & ~(page - 1);
    if (segment->p_align > page)
        return refuse(reading, "segments that lie on larger pages");
    if (!(segment->p_flags & PF_W))
        return object->writable == object->size || refuse(reading, "segments in an unusual order");
    if (object->writable == object->size)
        object->writable = first;
    object->zeroes = (segment->p_vaddr + segment->p_filesz + page - 1) & ~(page - 1);
    return true;
}

/* Its code has their distances from the thread pointer. */
static bool read_program_locals(struct reading *reading, const GElf_Phdr *segment)
{
    const struct pf_image_plan *plan = reading->plan;
    struct pf_image_object *object = reading->object;
    size_t alignment = segment->p_align > 1 ? segment->p_align : 1;
    object->below = (segment->p_memsz + alignment - 1) / alignment * alignment;
    object->initial = segment->p_vaddr;
    object->initial_size = segment->p_filesz;
    return (object->below <= plan->locals_room && alignment <= plan->locals_alignment) ||
           refuse(reading, "thread-local variables");
}

/* All ranks live in one thread: a copy has its thread-local variables in a block of its own behind it. */
static bool read_locals(struct reading *reading, const GElf_Phdr *segment)
{
    struct pf_image_object *object = reading->object;
    const struct pf_image_plan *plan = reading->plan;
    if (plan->program && object->file->is_executable)
        return read_program_locals(reading, segment);
    if (plan->program && !plan->find)
        return refuse(reading, "thread-local variables");
    if (segment->p_offset + segment->p_filesz > object->file->size || segment->p_filesz > segment->p_memsz)
        return refuse(reading, "segments outside the file");
    if (segment->p_align > LOCALS_ALIGNMENT)
        return refuse(reading, "thread-local variables with an alignment of their own");
    object->initial = segment->p_vaddr;
    object->initial_size = segment->p_filesz;
    object->initial_bytes = object->file->bytes + segment->p_offset;
    object->locals_size = segment->p_memsz;
    memcpy(reading->image->bytes + object->base + object->locals, object->file->bytes + segment->p_offset,
           segment->p_filesz);
    return true;
}

/* Copies what the file holds of each segment; the rest is zeroes. */
static bool read_segments(struct reading *reading)
{
    struct pf_image_object *object = reading->object;
    GElf_Phdr segment;
    size_t count = 0;
    elf_getphdrnum(reading->elf, &count);
    for (int i = 0; i < (int)count && gelf_getphdr(reading->elf, i, &segment); i++) {
        if (segment.p_type == PT_GNU_EH_FRAME)
            object->unwind = object->base + segment.p_vaddr;
        if (segment.p_type == PT_TLS && !read_locals(reading, &segment))
            return false;
        if (segment.p_type == PT_GNU_STACK && reading->plan->program && (segment.p_flags & PF_X)) {
            reading->image->code_on_stack = true;
            if (!reading->plan->find)
                return refuse(reading, "code on its stack");
        }
        if (segment.p_type != PT_LOAD)
            continue;
        if (segment.p_vaddr + segment.p_memsz > object->size || segment.p_filesz > segment.p_memsz ||
            segment.p_offset + segment.p_filesz > object->file->size)
            return refuse(reading, "segments outside the file");
        if (reading->plan->program && !note_protection(reading, &segment))
            return false;
        memcpy(reading->image->bytes + object->base + segment.p_vaddr, object->file->bytes + segment.p_offset,
               segment.p_filesz);
    }
    if (object->locals_size && object->initial_size) /* which lie behind its zeroes */
        object->zeroes = object->size;
    return true;
}

/* Names outside the image. */

static void __attribute__((noreturn)) undefined_function(void)
{
    pf_die("a library that each rank has a copy of calls a function that no library defines");
}

static void *find_in(void *library, const char *name, const char *version)
{
    return version ? dlvsym(library, name, version) : dlsym(library, name);
}

/* What a library itself defines, and not another one that it needs. */
static void *find_own(void *library, const char *name, const char *version)
{
    Dl_info info;
    void *value = find_in(library, name, version), *owner = NULL;
    bool known = value && dladdr1(value, &info, &owner, RTLD_DL_LINKMAP);
    return known && owner == library ? value : NULL;
}

/* Memory that one library has allocated another one releases. */
static bool allocates(const char *name)
{
    static const char *const names[] = {"malloc",        "calloc",         "realloc",  "free",
                                        "aligned_alloc", "posix_memalign", "memalign", "malloc_usable_size"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Data exist once in the process, where all others find them, and so does the heap, which a library that
 * was loaded first may have replaced; functions come from what the library needs: the libraries that it names
 * before those that they need. */
static void *look_outside(const struct reading *reading, const char *name, const char *version, bool variable)
{
    const struct pf_image *image = reading->image;
    void *value = variable ? find_in(RTLD_DEFAULT, name, version) : NULL;
    if (!value && allocates(name))
        value = dlsym(RTLD_DEFAULT, name);
    for (int i = 0; i < image->other_count && !value && reading->plan->program; i++)
        value = find_own(image->others[i], name, version);
    for (int i = 0; i < image->other_count && !value; i++)
        value = find_in(image->others[i], name, version);
    return value ? value : find_in(RTLD_DEFAULT, name, version);
}

/* Most libraries of an image ask for the same names, and where one is not the dynamic linker says so at
 * length. */
struct outside {
    UT_hash_handle hh;
    const char *name, *version;
    bool variable;
    void *value;
};

static void *find_outside(const struct reading *reading, const char *name, const char *version, int type)
{
    struct outside **all = reading->outside, *known;
    bool variable = type == STT_OBJECT;
    HASH_FIND_STR(*all, name, known);
    if (known && known->variable == variable &&
        (known->version && version ? strcmp(known->version, version) == 0 : known->version == version))
        return known->value;
    void *value = look_outside(reading, name, version, variable);
    if (!known) {
        known = pf_malloc(sizeof *known);
        *known = (struct outside){.name = name, .version = version, .variable = variable, .value = value};
        HASH_ADD_KEYPTR(hh, *all, known->name, strlen(name), known);
    }
    return value;
}

static void forget_outside(struct outside **all)
{
    struct outside *next = *all;
    HASH_CLEAR(hh, *all); /* the table alone: the entries still know their order */
    while (next) {
        struct outside *one = next;
        next = one->hh.next;
        free(one);
    }
}

/* As the dynamic linker does: an executable's, which comes last here, before those of libraries; libraries
 * alone are made as if they had been linked with -Bsymbolic. */
static const struct pf_image_name *find_inside(const struct reading *reading, const char *name)
{
    const struct pf_image_name *first = pf_image_names_find(&reading->image->exports, name), *one = first;
    const struct pf_image_name *end = reading->image->exports.list + reading->image->exports.count;
    int preferred = reading->plan->program ? reading->image->count - 1 : reading->number;
    for (; one && one < end && strcmp(one->name, name) == 0; one++)
        if (one->object == preferred)
            return one;
    return first;
}

/* That of a library which is not the executable itself. */
static const struct pf_image_name *find_in_library(const struct reading *reading, const char *name)
{
    const struct pf_image_name *one = pf_image_names_find(&reading->image->exports, name);
    return one && one->object != reading->number ? one : NULL; /* libraries come first */
}

static void add_moved(struct reading *reading, size_t place, size_t leads_to)
{
    struct pf_image_object *object = reading->object;
    if (object->moved_count % 1024 == 0)
        object->moved = pf_reallocarray(object->moved, object->moved_count + 1024, sizeof *object->moved);
    object->moved[object->moved_count++] = (uint32_t)place;
    memcpy(reading->image->bytes + place, &leads_to, sizeof leads_to);
}

/* Calls whose answer depends on what the dynamic linker knows of the caller; those of the simulated C library
 * have a prefix (loader/libc.def). (dl_iterate_phdr is in every program, for when it is executed directly.)
 */
static bool asks_linker(const char *name)
{
    static const char prefix[] = "__wrap_";
    static const char *const names[] = {"dlopen",
                                        "dlmopen",
                                        "dlsym",
                                        "dlvsym",
                                        "dladdr",
                                        "dladdr1",
                                        "dlinfo",
                                        "_dl_find_object",
                                        "mcount",
                                        "_mcount",
                                        "__fentry__",
                                        "__asan_init",
                                        "__tls_get_addr",
                                        "backtrace_symbols",
                                        "backtrace_symbols_fd"};
    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* What a library asks for the address of a thread-local variable gets the two words that are filled in by
 * relocate_local(). */
static void *local_variable(const uintptr_t *index)
{
    return (void *)(index[0] + index[1]);
}

/* The thread-local variable of this name that all use: the executable's, or the first library's. */
static const struct pf_image_name *find_local(const struct reading *reading, const GElf_Sym *symbol)
{
    const struct pf_image *image = reading->image;
    const char *name = elf_strptr(reading->elf, reading->strings, symbol->st_name);
    const struct pf_image_name *first = pf_image_names_find(&image->locals, name), *one = first;
    const struct pf_image_name *end = image->locals.list + image->locals.count;
    for (; one && one < end && strcmp(one->name, name) == 0; one++)
        if (image->objects[one->object].below)
            return one;
    return first;
}

/* The beginning of the block of the library's thread-local variables, and a variable's place there; or
 * nothing, and a place from the thread pointer on. */
static bool relocate_local(struct reading *reading, size_t place, const GElf_Rela *entry, int type)
{
    const struct pf_image_object *object = reading->object;
    GElf_Sym symbol;
    if (!gelf_getsym(reading->symbols, (int)GELF_R_SYM(entry->r_info), &symbol))
        return refuse(reading, "a relocation of no symbol");
    if (reading->plan->program && GELF_ST_BIND(symbol.st_info) != STB_LOCAL) {
        const struct pf_image_name *one = find_local(reading, &symbol);
        if (!one)
            return refuse(reading, "thread-local variables of another library");
        object = &reading->image->objects[one->object];
        symbol.st_value = one->place;
    } else if (GELF_R_SYM(entry->r_info) && symbol.st_shndx == SHN_UNDEF) {
        return refuse(reading, "thread-local variables of another library");
    }
    if (!object->locals || reading->object->below)
        return refuse(reading, "thread-local variables of another library");
    if (type == R_X86_64_DTPMOD64 && object->below) {
        memset(reading->image->bytes + place, 0, sizeof(size_t));
    } else if (type == R_X86_64_DTPMOD64) {
        add_moved(reading, place, object->base + object->locals);
    } else {
        size_t offset = symbol.st_value + (size_t)entry->r_addend - object->below;
        memcpy(reading->image->bytes + place, &offset, sizeof offset);
    }
    return true;
}

static bool relocate_program_local(struct reading *reading, size_t place, const GElf_Rela *entry)
{
    GElf_Sym symbol = {0};
    if (GELF_R_SYM(entry->r_info) &&
        (!gelf_getsym(reading->symbols, (int)GELF_R_SYM(entry->r_info), &symbol) ||
         symbol.st_shndx == SHN_UNDEF))
        return refuse(reading, "thread-local variables of another library");
    size_t offset = symbol.st_value + (size_t)entry->r_addend - reading->object->below;
    memcpy(reading->image->bytes + place, &offset, sizeof offset);
    return true;
}

/* By the plan; the value may be a constant, such as 0 for a function that is never called. */
static bool answered(const struct reading *reading, const char *name, void **value)
{
    const struct pf_image_plan *plan = reading->plan;
    return plan->find && plan->find(name, true, plan->arg, value);
}

static const struct pf_image_constant *constant_at(const struct pf_image_object *object, size_t place)
{
    for (size_t i = 0; i < object->constant_count; i++)
        if (object->constants[i].place == place)
            return &object->constants[i];
    return NULL;
}

/* A reference by name. */
static bool bind(struct reading *reading, size_t place, size_t index, int type, size_t addend)
{
    GElf_Sym symbol;
    void *value = NULL;
    if (!gelf_getsym(reading->symbols, (int)index, &symbol))
        return refuse(reading, "a relocation of no symbol");
    const char *name = elf_strptr(reading->elf, reading->strings, symbol.st_name);
    bool undefined = symbol.st_shndx == SHN_UNDEF;
    if (!name)
        return refuse(reading, "a symbol without a name");
    if (type != R_X86_64_64 ||
        (reading->plan->program && undefined && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT))
        pf_image_names_add(&reading->image->imports,
                           (struct pf_image_name){.name = name, .place = place, .object = reading->number});
    bool locates = undefined && strcmp(name, "__tls_get_addr") == 0;
    const struct pf_image_constant *constant =
        undefined ? NULL : constant_at(reading->object, reading->object->base + symbol.st_value);
    if (symbol.st_shndx == SHN_ABS || constant)
        value = (void *)(constant ? constant->value : symbol.st_value);
    else if (locates)
        value = reading->plan->program ? (void *)pf_image_local : (void *)local_variable;
    else if (undefined && answered(reading, name, &value)) {
        memcpy(reading->image->bytes + place, &(size_t){(size_t)value + addend}, sizeof(size_t));
        return true;
    } else if (undefined && reading->plan->program && asks_linker(name)) {
        return refuse(reading, pf_asprintf("calls of %s, which asks the dynamic linker", name));
    } else {
        const struct pf_image_name *inside = find_inside(reading, name);
        if (inside || !undefined) {
            add_moved(reading, place,
                      (inside ? inside->place : reading->object->base + symbol.st_value) + addend);
            return true;
        }
        value = find_outside(reading, name, version_of(reading, index), GELF_ST_TYPE(symbol.st_info));
        void *led = reading->plan->lead ? reading->plan->lead(name, value) : NULL;
        value = led ? led : value;
    }
    if (!value && GELF_ST_BIND(symbol.st_info) != STB_WEAK) {
        if (type != R_X86_64_JUMP_SLOT || reading->plan->program) {
            snprintf(reading->why, reading->n, "%s: nothing defines %s", reading->object->file->path, name);
            return false;
        }
        value = (void *)undefined_function;
    }
    size_t absolute = value ? (size_t)value + addend : 0;
    memcpy(reading->image->bytes + place, &absolute, sizeof absolute);
    return true;
}

static const char *name_of(const struct reading *reading, size_t index, GElf_Sym *symbol)
{
    return gelf_getsym(reading->symbols, (int)index, symbol)
               ? elf_strptr(reading->elf, reading->strings, symbol->st_name)
               : NULL;
}

/* Of a variable that an executable has in its own data it uses the address alone if that is a constant below
 * all addresses: a predefined handle of MPI. */
static bool find_constant(struct reading *reading, const GElf_Rela *entry)
{
    struct pf_image_object *object = reading->object;
    GElf_Sym symbol;
    void *value;
    const char *name = GELF_R_TYPE(entry->r_info) == R_X86_64_COPY
                           ? name_of(reading, GELF_R_SYM(entry->r_info), &symbol)
                           : NULL;
    if (!name || !answered(reading, name, &value) || (size_t)value >= PF_IMAGE_CONSTANTS)
        return true;
    object->constants =
        pf_reallocarray(object->constants, object->constant_count + 1, sizeof *object->constants);
    object->constants[object->constant_count++] =
        (struct pf_image_constant){object->base + entry->r_offset, (size_t)value};
    return pf_image_inner_set(reading->image, object, reading->elf, object->base + entry->r_offset,
                              (size_t)value) ||
           refuse(reading, "code that takes the address of a predefined handle in an unknown way");
}

/* A library's variable that an executable has in its own data. */
static bool copy_variable(struct reading *reading, size_t place, size_t index)
{
    struct pf_image_object *object = reading->object;
    GElf_Sym symbol;
    const char *name = name_of(reading, index, &symbol);
    if (constant_at(object, place))
        return true;
    if (!name || symbol.st_size > object->size - (place - object->base))
        return refuse(reading, "variables outside its segments");
    const struct pf_image_name *inside = find_in_library(reading, name);
    const void *from = inside ? NULL : find_outside(reading, name, version_of(reading, index), STT_OBJECT);
    if (!from && !inside) {
        snprintf(reading->why, reading->n, "%s: nothing defines %s", object->file->path, name);
        return false;
    }
    if (inside) /* before that library begins to use it */
        object = &reading->image->objects[inside->object];
    object->copied = pf_reallocarray(object->copied, object->copied_count + 1, sizeof *object->copied);
    object->copied[object->copied_count++] =
        (struct pf_image_copied){place, symbol.st_size, from, inside ? inside->place : 0};
    return true;
}

static bool relocate(struct reading *reading, const GElf_Rela *entry)
{
    struct pf_image_object *object = reading->object;
    size_t place = object->base + entry->r_offset;
    int type = (int)GELF_R_TYPE(entry->r_info);
    if (entry->r_offset + sizeof(void *) > object->size || place > UINT32_MAX)
        return refuse(reading, "relocations outside its segments");
    if (!object->below && entry->r_offset - object->initial < object->initial_size) {
        if (reading->plan->program) /* those of other threads would begin without */
            return refuse(reading, "addresses in thread-local variables");
        place += object->locals - object->initial;
    }
    if (type == R_X86_64_TPOFF64 && object->below)
        return relocate_program_local(reading, place, entry);
    if (type == R_X86_64_DTPMOD64 || type == R_X86_64_DTPOFF64)
        return relocate_local(reading, place, entry, type);
    if (type == R_X86_64_RELATIVE) {
        const struct pf_image_constant *constant =
            constant_at(object, object->base + (size_t)entry->r_addend);
        if (constant)
            memcpy(reading->image->bytes + place, &constant->value, sizeof constant->value);
        else
            add_moved(reading, place, object->base + (size_t)entry->r_addend);
        return true;
    }
    if (type == R_X86_64_64 || type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT)
        return bind(reading, place, GELF_R_SYM(entry->r_info), type, (size_t)entry->r_addend);
    if (type == R_X86_64_COPY)
        return copy_variable(reading, place, GELF_R_SYM(entry->r_info));
    char what[64];
    snprintf(what, sizeof what, "relocations of the type %d", type);
    return refuse(reading, what);
}

/* For each relocation that is made when the library is loaded. */
static bool each_relocation(struct reading *reading, bool (*step)(struct reading *, const GElf_Rela *))
{
    GElf_Shdr header;
    GElf_Rela entry;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(reading->elf, section));) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data && gelf_getrela(data, i, &entry); i++)
            if (!step(reading, &entry))
                return false;
    }
    return true;
}

static bool read_relocations(struct reading *reading)
{
    return (!reading->plan->program || each_relocation(reading, find_constant)) &&
           each_relocation(reading, relocate);
}

static bool lead_inner(struct reading *reading)
{
    size_t slot = reading->object->base + reading->object->inner;
    for (const char *const *name = reading->plan->inner; *name; name++) {
        const struct pf_image_name *own = find_inside(reading, *name);
        if (!own || own->object != reading->number ||
            !pf_image_inner_lead(reading->image, reading->object, reading->elf, own->place, slot))
            continue;
        add_moved(reading, slot, own->place);
        pf_image_names_add(&reading->image->imports,
                           (struct pf_image_name){.name = *name, .place = slot, .object = reading->number});
        slot += PF_IMAGE_SLOT;
    }
    return true;
}

/* Whole pages, and the libraries in the order in which they were given. */
static bool give_places(struct pf_image *image, const struct pf_image_plan *plan, char *why, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (plan->count > PF_IMAGE_OBJECTS) {
        snprintf(why, n, "more than %d libraries", PF_IMAGE_OBJECTS);
        return false;
    }
    for (int i = 0; i < plan->count; i++) {
        size_t count = 0, size = 0, locals = 0;
        GElf_Phdr segment;
        Elf *elf = elf_memory(plan->files[i]->bytes, plan->files[i]->size);
        if (elf)
            elf_getphdrnum(elf, &count);
        for (int s = 0; s < (int)count && gelf_getphdr(elf, s, &segment); s++)
            if (segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz > size)
                size = segment.p_vaddr + segment.p_memsz;
            else if (segment.p_type == PT_TLS)
                locals = segment.p_memsz;
        size_t behind = (size + LOCALS_ALIGNMENT - 1) & ~(size_t)(LOCALS_ALIGNMENT - 1);
        if (locals)
            size = behind + locals;
        size_t inner = (size + LOCALS_ALIGNMENT - 1) & ~(size_t)(LOCALS_ALIGNMENT - 1);
        size_t room = plan->program ? 0 : pf_image_inner_room(plan);
        size = room ? inner + room : size;
        elf_end(elf);
        image->objects[i] = (struct pf_image_object){.file = plan->files[i],
                                                     .base = image->size,
                                                     .size = (size + page - 1) & ~(page - 1),
                                                     .inner = inner,
                                                     .locals = locals ? behind : 0};
        image->objects[i].writable = image->objects[i].zeroes = image->objects[i].size;
        image->size += image->objects[i].size;
        image->count++;
    }
    return true;
}

/* For each library in turn. */
static bool each(struct pf_image *image, const struct pf_image_plan *plan, bool (*step)(struct reading *),
                 char *why, size_t n)
{
    bool good = true;
    struct outside *outside = NULL;
    for (int i = 0; i < image->count && good; i++) {
        struct pf_image_object *object = &image->objects[i];
        struct reading reading = {.image = image,
                                  .object = object,
                                  .number = i,
                                  .plan = plan,
                                  .outside = &outside,
                                  .why = why,
                                  .n = n};
        reading.elf = elf_memory(object->file->bytes, object->file->size);
        good = reading.elf ? read_sections(&reading) && step(&reading) : refuse(&reading, "another format");
        elf_end(reading.elf);
    }
    forget_outside(&outside);
    return good;
}

static bool read_one(struct reading *reading)
{
    return read_dynamic(reading) && read_segments(reading) && read_exports(reading) && read_needs(reading);
}

static bool open_memory(struct pf_image *image, char *why, size_t n)
{
    image->fd = memfd_create("parfocal-image", MFD_CLOEXEC);
    if (image->fd >= 0 && ftruncate(image->fd, (off_t)image->size) == 0)
        image->bytes =
            mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, image->fd, 0);
    if (image->fd < 0 || !image->bytes || image->bytes == MAP_FAILED) {
        snprintf(why, n, "no memory for %zu bytes of code: %s", image->size, strerror(errno));
        image->bytes = NULL;
        return false;
    }
    return true;
}

bool pf_image_lay_out(struct pf_image *image, const struct pf_image_plan *plan, char *why, size_t n)
{
    elf_version(EV_CURRENT);
    if (!give_places(image, plan, why, n) || !open_memory(image, why, n))
        return false;
    bool good = each(image, plan, read_one, why, n);
    pf_image_names_sort(&image->exports);
    pf_image_names_sort(&image->locals);
    good = good && each(image, plan, read_relocations, why, n);
    if (good && plan->inner && !plan->program)
        good = each(image, plan, lead_inner, why, n);
    pf_image_names_sort(&image->imports);
    munmap(image->bytes, image->size);
    image->bytes = NULL;
    return good;
}
