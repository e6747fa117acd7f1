/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/*
 * A program or shared object as a file: which libraries it names, and where, so that a copy can name others.
 * The bytes are a private mapping of the file, in which names may be changed in place; the file stays as it
 * is.
 */
struct pf_elf {
    char *path;
    char *bytes;
    size_t size;
    bool is_executable; /* and no shared object */
    bool is_movable;    /* can be loaded anywhere: shared objects, and most executables */
    size_t entry;       /* where it begins when it is executed, from where it is loaded */
    const char *search; /* its RUNPATH or RPATH, or NULL */
    const char *soname; /* its own name, by which the dynamic linker knows it once it is loaded, or NULL */
    bool late;          /* pf_elf_keep_begin() */
    struct pf_elf_name *names;
    int name_count;
};

struct pf_elf_name {
    char *text; /* inside `bytes` */
    enum {
        PF_ELF_NEEDED,
        PF_ELF_OWN,
        PF_ELF_VERSIONS
    } kind;       /* loads this library; own name; symbol versions */
    size_t entry; /* of the dynamic section, from the beginning of the file; 0 for versions */
};

enum pf_elf_fault {
    PF_ELF_GOOD,
    PF_ELF_UNREADABLE, /* errno says why */
    PF_ELF_EMPTY,
    PF_ELF_FOREIGN,  /* no such file at all */
    PF_ELF_MACHINE,  /* for another processor */
    PF_ELF_NO_IMAGE, /* an object file, or what a crash has left */
    PF_ELF_STATIC,   /* names no libraries */
    PF_ELF_DAMAGED
};

/* Reads a file for the processor that this runs on. What it has filled in is released by pf_elf_free, also
 * after a fault. */
PF_EXPORT enum pf_elf_fault pf_elf_read(struct pf_elf *elf, const char *path);
PF_EXPORT void pf_elf_free(struct pf_elf *elf);

/* The fault in words that follow "it ". */
PF_EXPORT const char *pf_elf_fault_text(enum pf_elf_fault fault);

/* Whether the dynamic linker would know it by this name: its path, its file's name or its own, which not
 * every library has. */
bool pf_elf_is_called(const struct pf_elf *elf, const char *name);

/* Whether it loads a library whose name begins so. */
bool pf_elf_needs(const struct pf_elf *elf, const char *prefix);

/* Calls `each` for every dynamic symbol until it returns true, and returns whether it did. `name` lies inside
 * the bytes; `address` is 0 for what the object does not define; `size` is in bytes, for data. */
bool pf_elf_symbols(const struct pf_elf *elf,
                    bool (*each)(char *name, size_t address, size_t size, const void *arg), const void *arg);

/* Makes ordinary definitions of those that the dynamic linker would have once in the process, whatever copies
 * of the object there are (STB_GNU_UNIQUE: with g++ static members of templates, variables that are inline,
 * and those in inline functions). A symbol table that lies outside the file stays. */
void pf_elf_make_own(struct pf_elf *elf);

/* Makes weak, so that the object can be loaded without them, those of its undefined symbols that `which`
 * says. Returns how many. */
int pf_elf_weaken(struct pf_elf *elf, bool (*which)(const char *name, const void *arg), const void *arg);

/* The dynamic linker would call an object's functions for the end when the process ends. They are hidden from
 * it under these tags of the dynamic section, so that they can be called when a rank ends. */
enum { PF_ELF_ENDS = 0x60005046, PF_ELF_ENDS_SIZE = 0x60005047 };
void pf_elf_keep_ends(struct pf_elf *elf);

/* Hides from it that the object needs the library of that number in `names`. */
enum { PF_ELF_FORGOTTEN = 0x6000504b };
void pf_elf_forget(struct pf_elf *elf, int name);

/* The same for the beginning: the functions are called once the object's calls lead where they must, and the
 * dynamic linker needs nothing of its code, nor of its constants. False, and nothing changes, if the linker
 * itself calls its functions or writes into its code. */
enum { PF_ELF_BEGIN = 0x60005048, PF_ELF_BEGINS = 0x60005049, PF_ELF_BEGINS_SIZE = 0x6000504a };
bool pf_elf_keep_begin(struct pf_elf *elf);

/* Whether a segment holds only what the dynamic linker does not look at. */
bool pf_elf_is_unread(const struct pf_elf *elf, const Elf64_Phdr *segment);

/* The text of an exported read-only string such as a version, NULL when there is none. */
const char *pf_elf_string(const struct pf_elf *elf, const char *symbol);

/* Makes a library's name of an entry of the dynamic section (pf_elf_name's, or a spare one): the object then
 * needs what `text`, a place inside its table of strings, says. */
bool pf_elf_need(struct pf_elf *elf, size_t entry, const char *text);

/* An entry at the end of the dynamic section that the linker has left empty, 0 when there is none. */
size_t pf_elf_spare_entry(const struct pf_elf *elf);
