/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/export.h"
#include "loader/elf_file.h"
#include "loader/imports.h"

/* A variable that is answered with a value below is that constant: no address is so low. */
enum { PF_IMAGE_CONSTANTS = 4096 };

/*
 * Several libraries as one image in memory, of which each rank has a copy. The dynamic linker knows nothing
 * of it: what it would do (give each library a place, look names up) is done once when the image is made, and
 * the image holds the outcome. A rank's copy is then one private mapping of the image, in which those
 * pointers are moved that lead into the image itself; of everything that no rank writes there is one copy in
 * memory.
 *
 * Places in an image are distances from its beginning, the same in all copies. What is loaded is known by an
 * opaque pointer as in loader/copy.h: pf_copy_symbol() and pf_imports_replace_one() take it too.
 */
#ifdef __cplusplus
extern "C" {
#endif

struct pf_image;

struct pf_image_plan {
    const struct pf_elf *const *files; /* what others need comes first; they live as long as the image */
    int count;
    int copies; /* at most */
    int flags;  /* of dlopen, for the other libraries they need */
    /* A user's program, and not libraries that are known: writes to its code and constants end it, as they
     * do elsewhere, which takes a second mapping for each copy, and a third if it has pages of zeroes.
     * Refused is a program that asks the dynamic linker for its own names, or allows code on its stack,
     * unless there is `find`, which answers. */
    bool program;
    /* Is asked first about every name that one of the files does not define; for all copies. Or NULL. */
    pf_imports_find *find;
    const void *arg;
    /* Needed libraries that are not opened, because `find` knows all that is used of them; NULL at the end.
     * Or NULL. */
    const char *const *answered;
    /* What a reference leads to instead of `found`, which a library outside defines (NULL: none does); NULL:
     * to that. Or NULL. */
    void *(*lead)(const char *name, const void *found);
    /* Functions that a library which defines them can be led away from, also where its own references do not
     * go by its import table. Not in a program. NULL at the end. Or NULL. */
    const char *const *inner;
    void (*ready)(void *loaded); /* a library of a copy, before its own initialisation. Or NULL. */
    /* Becomes the name of a needed library that cannot be opened, which may use others without naming them;
     * it lives as long as the files. Or NULL. */
    const char **missing;
    /* Bytes, and the largest alignment, that the executable's own may take right below the thread pointer. */
    size_t locals_room, locals_alignment;
};

/* Lays the libraries out. NULL, and the reason in `why`, when there is anything in them that takes more than
 * this (thread-local variables of a program, functions that are chosen when a library is loaded), or when the
 * system does not allow it: the caller then has copies made by the dynamic linker. */
struct pf_image *pf_image_make(const struct pf_image_plan *plan, char *why, size_t n);

/* Releases an image of which no copy is in use. */
void pf_image_free(struct pf_image *image);

/* Makes one of the libraries ready for use in a copy, the second time too: maps the copy if this is its
 * first, and calls the library's own initialisation. Those that it needs must be open. NULL, and errno, if
 * the system refuses. */
void *pf_image_open(struct pf_image *image, int copy, const struct pf_elf *file);

/* Whether `loaded` is from pf_image_open(), and what such a library, or one that it needs, exports. */
bool pf_image_holds(const void *loaded);

/* The thread-local variables of an executable whose plan has room for them. */
struct pf_image_locals {
    const void *begin; /* in a copy: how they begin, */
    size_t filled;     /* so many bytes; the others are zeroes */
    size_t size;       /* from where they begin to the thread pointer */
};

/* False if `loaded` has none. */
bool pf_image_program_locals(const void *loaded, struct pf_image_locals *locals);

/* Whether the linker has noted for a library of the image with this address that it runs code on its stack.
 */
bool pf_image_code_on_stack(const void *address);

/* The file of the library in an image that has this address; NULL if none has. */
PF_EXPORT const struct pf_elf *pf_image_file(const void *address);
void *pf_image_symbol(const void *loaded, const char *name);

/* What a library outside of the image defines that was opened for it; NULL: none does. */
void *pf_image_symbol_outside(const void *loaded, const char *name);

/* Another library of the same copy, by its path, its file's name or its soname; NULL if there is none. */
void *pf_image_library(const void *loaded, const char *name);

/* The same in all copies: how far from its beginning a copy has an exported variable, and the place that
 * leads one of the libraries to what it imports. False if there is none. */
bool pf_image_variable(const struct pf_image *image, const char *name, uint32_t *place);
bool pf_image_import(const struct pf_image *image, const struct pf_elf *file, const char *name,
                     uint32_t *place);
const char *pf_image_copy(const struct pf_image *image, int copy);

/* Whether a library imports a name, and what it has to be called at the end of its copy, the last first. */
bool pf_image_imports(const void *loaded, const char *name);
void (**pf_image_ends(const void *loaded, size_t *count))(void);

/* As pf_imports_replace_one(). */
int pf_image_replace(const void *loaded, const char *name, void *value);

/* As dladdr() for what lies in a copy of an image: false if this does not. `name` is NULL if no exported
 * function begins before the address. Allocates nothing. */
struct pf_image_place {
    const char *file; /* of the library */
    size_t offset;    /* in the library */
    const char *name;
    size_t beyond; /* from the beginning of the function */
};
PF_EXPORT bool pf_image_where(const void *address, struct pf_image_place *place);

/* The same for whatever is loaded, by the dynamic linker too; `beyond` counts if there is a name. */
PF_EXPORT bool pf_loaded_where(const void *address, struct pf_image_place *place);

/* The dynamic linker knows a library by the name of a copy; whose copy that is, or the path itself. */
void pf_loaded_note(const char *copy, const char *original);
const char *pf_loaded_original(const char *path);

#ifdef __cplusplus
}
#endif
