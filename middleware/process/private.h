/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/export.h"
#include "loader/elf_file.h"
#include "loader/imports.h"

/*
 * Each rank has a copy of the application: a mapping of one image (private_image.h) or a file. Shared
 * libraries that the application brings hold per-rank globals too. SMPI's privatize-libs copies only those
 * that the application itself needs, and gives two libraries one name when their names differ in the first
 * seven letters only (libone.so, libtwo.so). Here the ranks' copies of the application and of each library
 * name each other.
 */

/* Programs that pfcc has not linked (abi.h): one image with their own libraries, always. */
struct pf_private_kind {
    bool (*is)(
        const struct pf_elf *elf); /* whether a library is of that kind too, and has a place in the image */
    bool (*of_ours)(char *path,
                    const char *name); /* the file of ours that stands for a library there. Or NULL. */
    void (*prepare)(void);             /* before the image is made */
    pf_imports_find *find;             /* where references lead */
    void *(*lead)(const char *name, const void *found); /* pf_process_import() (libc_process.h), or more */
    void (*ready)(void *loaded);                        /* as in struct pf_image_plan */
    void (*start)(const struct pf_elf *program, void *loaded); /* the calling rank's copy is there */
};

/* For the programs of the job (core/job_programs.h), each of its kind (NULL: linked by pfcc), looks for
 * libraries that were linked by pfcc, also for those that such libraries need. Returns the file that SMPI
 * must load in the application's place, without privatization; NULL when SMPI can load the only program by
 * itself and is to (`by_smpi`). `dir` receives the copies, which disappear once they are loaded unless
 * `keep`. */
PF_EXPORT const char *pf_private_prepare(const struct pf_private_kind *const *kinds, const char *dir,
                                         bool keep, bool by_smpi);

/* Whether the copies of all programs are mappings of images, and need no room on disk. From when the number
 * of ranks is known. */
PF_EXPORT bool pf_private_in_image(int ranks);

/* Loads the calling rank's copies, whose first constructor calls pf_program_loaded, unless SMPI has loaded
 * the application. */
void pf_private_load(void);

/* For dlopen (private_open.h). The folder for copies, NULL when nothing is copied; whether they stay there.
 */
const char *pf_private_dir(void);
bool pf_private_keeps(void);

/* The calling rank's name for a library that the program needs and that is copied for each rank; NULL for
 * others. */
const char *pf_private_linked(const char *name);

/* Where the calling program would find a library; false if only the system's directories may have it. `out`
 * has room for PATH_MAX bytes. */
bool pf_private_find(char *out, const char *name);

/* Where a library finds another one in folders that it names itself, such as $ORIGIN/../NAME.libs. */
bool pf_private_find_own(char *out, const struct pf_elf *user, const char *name);

/* Reads a library that pfcc has linked or that was asked for, or one that is a plug-in (private_system.h) or
 * not the system's (`plugs`), and makes it need the calling rank's copies of others (`own_names`: of at least
 * one); false for all others. */
bool pf_private_read(struct pf_elf *elf, const char *path, bool *plugs, bool *own_names);
