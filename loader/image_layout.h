/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <gelf.h>
#include <stdint.h>

#include "loader/image.h"

/* What is known of an image: made by image_make.c, used by image.c. Private to both. */

struct pf_image_copied;

enum { PF_IMAGE_OBJECTS = 64, PF_IMAGE_SLOT = 16 /* an address, and a jump to it (image_inner.c) */ };

struct pf_image_object {
    const struct pf_elf *file;
    size_t base, size; /* in whole pages; base: what its own addresses count from */
    size_t writable;   /* of a program: where the pages begin that it writes, and those of them */
    size_t zeroes;     /* that are zero at first; both end with it, and count from `base` */
    size_t inner;      /* room for references to itself, from `base` (image_inner.c) */
    size_t locals;     /* its thread-local variables, from `base`; 0: none */
    size_t locals_size;
    size_t initial;            /* where the file has those that do not begin as zeroes, */
    size_t initial_size;       /* of so many bytes, */
    const char *initial_bytes; /* these */
    size_t below;              /* of an executable: those begin so far below the thread pointer */
    uint64_t scope;            /* itself and those that it needs, as bits */
    size_t unwind;             /* its table of unwinding, the one with an index; 0: none */
    size_t init;               /* its initialisation function; 0: none */
    size_t inits;              /* more of them: a table, */
    size_t init_count;         /* of so many */
    size_t ends;               /* the same for its end (pf_elf_keep_ends()) */
    size_t end_count;
    uint32_t *moved; /* where it holds addresses inside the image */
    size_t moved_count;
    struct pf_image_copied *copied; /* variables of libraries outside that it has in its own data; its own
                                       that the executable has */
    size_t copied_count;
    struct pf_image_constant *constants; /* and those that are none, while the image is made */
    size_t constant_count;
};

/* An executable that was compiled for one place has the variables of a library that it names, such as stdout,
 * in its own data, with the values that they have there when it is loaded. */
struct pf_image_copied {
    size_t place, size;
    const void *from; /* NULL: from another library of the image, at */
    size_t inside;
};

/* A variable whose address is all that is used of it, and is a constant. */
struct pf_image_constant {
    size_t place, value;
};

/* An exported name; an imported name and a place that leads to what it stands for. */
struct pf_image_name {
    const char *name;
    size_t place;
    int object;
    bool function;
    uint32_t hash; /* of the name */
};

struct pf_image_names {
    struct pf_image_name
        *list; /* in order of the names' hashes; those of one name in the order in which they came */
    size_t count, room;
    uint32_t *begins; /* in it, by how the hash begins; when it is in order */
};

struct pf_image {
    int fd;
    char *bytes;         /* while it is made */
    size_t size, stride; /* of a copy, and from one to the next */
    bool program, code_on_stack;
    char *arena; /* the copies, one after the other */
    int copies;
    uint64_t *open; /* for each copy: the objects that are open */
    bool *mapped;   /* for each copy */
    struct pf_image_object objects[PF_IMAGE_OBJECTS];
    int count;
    void (*ready)(void *loaded);
    struct pf_image_names exports, imports, locals; /* thread-local variables by their places in the blocks */
    void **others; /* dlopen handles of libraries outside the image that one inside needs */
    int other_count;
    struct pf_image *next;
};

/* image_names.c: names are added (their hashes come by themselves), put in order once, and then found: the
 * first entry of a name, NULL when there is none; the others follow. */
void pf_image_names_add(struct pf_image_names *names, struct pf_image_name name);
void pf_image_names_sort(struct pf_image_names *names);
const struct pf_image_name *pf_image_names_find(const struct pf_image_names *names, const char *name);
void pf_image_names_free(struct pf_image_names *names);

/* image_inner.c: bytes of a library's room for the functions that the plan names; leads references in a
 * library, which are in its code, to its own function by the slot at that place, if there are any. */
size_t pf_image_inner_room(const struct pf_image_plan *plan);
bool pf_image_inner_lead(const struct pf_image *image, const struct pf_image_object *object, Elf *elf,
                         size_t function, size_t slot);

/* Where the code of an executable takes the address of its copy of a variable, at that place, it takes a
 * value of at most 31 bits instead. False if it refers to the variable in another way. */
bool pf_image_inner_set(const struct pf_image *image, const struct pf_image_object *object, Elf *elf,
                        size_t variable, size_t value);

/* Fills in all but what image.c needs for copies. False, and why. */
/* image_locals.c: what a library of a program asks for the address of a thread-local variable: the beginning
 * of the library's block in the copy, and the variable's place there; or 0, and the place of a variable of
 * the executable from the thread pointer on. The ranks share a thread, which uses
 * that block; threads that the program makes get blocks of their own, which begin as it did. */
void *pf_image_local(const uintptr_t *index);

/* Of the library with this block, how its variables begin, so many bytes of all; the others are zeroes. */
typedef const char *pf_image_locals_find(const char *block, size_t *filled, size_t *size);

/* The caller's thread is the ranks'. */
void pf_image_locals_begin(pf_image_locals_find *initial);

bool pf_image_lay_out(struct pf_image *image, const struct pf_image_plan *plan, char *why, size_t n);
