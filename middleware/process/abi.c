/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of the standard ABI, and of Open MPI's: where their references lead, and where they begin. */
#include "middleware/process/abi.h"

#include <dlfcn.h>
#include <ffi.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <simgrid/actor.h>

#include "base/log.h"
#include "base/memory.h"
#include "loader/copy.h"
#include "loader/image.h"
#include "loader/imports.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/job_state.h"
#include "middleware/process/abi_linker.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_environment.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/locals.h"
#include "middleware/process/own_library.h"
#include "middleware/process/private_fortran.h"
#include "middleware/process/program.h"

static void *library, *openmpi; /* with the interface of either */

static bool is_abi(const struct pf_elf *elf)
{
    return pf_elf_needs(elf, "libmpi_abi.so");
}

/* Open MPI's own looks into its communicators and requests. */
static bool fortran_of_ours(char *path, const char *name)
{
    return strcmp(name, "libmpi_mpifh.so.40") == 0 && pf_own_library_find_fortran(path);
}

static void open_library(void)
{
    if (!library)
        library = pf_own_library_open("parfocal/libmpi_abi.so.0", "libmpi_abi.so.0");
}

static void open_openmpi(void)
{
    if (!openmpi)
        openmpi = pf_own_library_open_openmpi();
}

/* The rank's variables of getopt(), and the program's, where that has them in its own data. */
static void move_options(bool back)
{
    struct pf_process *p = pf_process();
    void *loaded = p->image;
    int *index = pf_copy_symbol(loaded, "optind"), *quiet = pf_copy_symbol(loaded, "opterr");
    int *unknown = pf_copy_symbol(loaded, "optopt");
    char **argument = pf_copy_symbol(loaded, "optarg");
    if (index)
        *(back ? index : &p->optind) = *(back ? &p->optind : index);
    if (quiet && !back)
        p->opterr = *quiet;
    if (unknown && back)
        *unknown = p->optopt;
    if (argument && back)
        *argument = p->optarg;
}

static int abi_getopt(int argc, char *const *argv, const char *options)
{
    move_options(false);
    int option = pf_libc_getopt(argc, argv, options);
    move_options(true);
    return option;
}

static int abi_getopt_long(int argc, char *const *argv, const char *options, const struct option *longs,
                           int *index)
{
    move_options(false);
    int option = pf_libc_getopt_long(argc, argv, options, longs, index);
    move_options(true);
    return option;
}

static int abi_getopt_long_only(int argc, char *const *argv, const char *options, const struct option *longs,
                                int *index)
{
    move_options(false);
    int option = pf_libc_getopt_long_only(argc, argv, options, longs, index);
    move_options(true);
    return option;
}

/* The program's first instructions prepare a call of this function of the C library, and main is its first
 * argument. Nothing else is wanted of them. */
static sigjmp_buf before_start;

static _Noreturn void start_main(int (*main)(int, char **, char **))
{
    pf_program_loaded(main);
    siglongjmp(before_start, 1);
}

static void *own(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {{"__libc_start_main", (void *)start_main},
                     {"getopt", (void *)abi_getopt},
                     {"getopt_long", (void *)abi_getopt_long},
                     {"getopt_long_only", (void *)abi_getopt_long_only}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(name, functions[i].name) == 0)
            return functions[i].function;
    return pf_abi_linker(name);
}

/* The middleware's function itself where there is one, so that it sees its caller. */
static void *of_mpi(const char *name)
{
    char own[200];
    bool fits = snprintf(own, sizeof own, "pf_%s", name) < (int)sizeof own;
    void *function = fits ? dlsym(RTLD_DEFAULT, own) : NULL;
    return function ? function : dlsym(library, name);
}

static bool is_mpi(const char *name)
{
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0;
}

static bool of_system(const char *name, void **value)
{
    *value = own(name);
    if (!*value)
        *value = pf_libc_of_program(name);
    return *value != NULL;
}

static bool find(const char *name, bool undefined, const void *arg, void **value)
{
    if (!undefined || !is_mpi(name))
        return undefined && of_system(name, value);
    *value = of_mpi(name);
    return *value != NULL;
}

/* Predefined handles are constants, of which some functions for attributes are 0. */
static bool find_openmpi(const char *name, bool undefined, const void *arg, void **value)
{
    if (!undefined || !(is_mpi(name) || strncmp(name, "ompi_", 5) == 0 || strncmp(name, "OMPI_C_", 7) == 0))
        return undefined && of_system(name, value);
    dlerror();
    *value = dlsym(openmpi, name);
    return *value || !dlerror();
}

static void end_run(ffi_cif *interface, void *result, void **arguments, void *name)
{
    (void)interface, (void)result, (void)arguments;
    pf_die("%s: a program that was built for Open MPI calls it, and this version does not have it there "
           "(pfinfo --coverage); build the program with pff90",
           (char *)name);
}

/* A function that ends the run with this name. */
static void *absent(const char *name)
{
    static ffi_cif interface;
    void *code, *memory = ffi_closure_alloc(sizeof(ffi_closure), &code);
    if (!memory || ffi_prep_cif(&interface, FFI_DEFAULT_ABI, 0, &ffi_type_void, NULL) != FFI_OK ||
        ffi_prep_closure_loc(memory, &interface, end_run, pf_strdup(name), code) != FFI_OK)
        pf_die("no memory for a function of Fortran");
    return code;
}

/* A function of MPI for Fortran that our library does not have: SimGrid's has other handles. */
static void *lead_openmpi(const char *name, const void *found)
{
    static const char *const beginnings[] = {"mpi_", "pmpi_", "mpix_", "pmpix_", "ompi_", "ompix_"};
    Dl_info info;
    bool simgrids = found && dladdr(found, &info) && strstr(info.dli_fname, "/libsimgrid");
    for (size_t i = 0; (simgrids || !found) && i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return absent(name);
    return pf_process_import(name, found);
}

/* The C library has one variable by three names. */
static void give_environment(struct pf_process *p)
{
    static const char *const names[] = {"environ", "_environ", "__environ"};
    void *loaded = p->image;
    char ***own_variable = NULL;
    for (int i = 0; i < 3; i++) {
        char ***variable = pf_copy_symbol(loaded, names[i]);
        own_variable = variable ? variable : own_variable;
        pf_imports_replace_one(loaded, names[i], variable ? (void *)variable : &p->environ);
    }
    pf_program_environment(own_variable ? own_variable : &p->environ);
}

bool pf_abi_answer(const char *name, void **value)
{
    return pf_process()->of_openmpi ? find_openmpi(name, true, NULL, value) : find(name, true, NULL, value);
}

/* An executable has the C library's variables with its name in its own data, where they have pfrun's. */
static void give_name(void *loaded)
{
    if (pf_job_program_count() == 0)
        return;
    char *name = pf_job_program(pf_program_number())->argv[0], *slash = strrchr(name, '/');
    char **variable = pf_copy_symbol(loaded, "program_invocation_name");
    if (variable)
        *variable = name;
    variable = pf_copy_symbol(loaded, "program_invocation_short_name");
    if (variable)
        *variable = slash ? slash + 1 : name;
}

/* Gives the copy its name and the rank's environment, and finds its main(). */
static void start(const struct pf_elf *program, void *loaded)
{
    struct pf_process *p = pf_process();
    void (*entry)(void);
    p->image = loaded;
    p->of_openmpi = !is_abi(program);
    give_name(loaded);
    give_environment(p);
    *(void **)&entry = (char *)loaded + program->entry;
    if (sigsetjmp(before_start, 0) == 0)
        entry();
}

static void ready(void *loaded)
{
    struct pf_process *p = pf_process();
    p->stack_end = __builtin_frame_address(0);
    p->copied_stack_end = pf_copy_symbol(loaded, "__libc_stack_end");
    if (p->copied_stack_end)
        *p->copied_stack_end = p->stack_end;
    else
        pf_imports_replace_one(loaded, "__libc_stack_end", &p->stack_end);
    const char *slash = strrchr(pf_image_file(loaded)->path, '/');
    struct pf_image_locals locals;
    pf_process_lead(loaded);
    if (pf_image_program_locals(loaded, &locals))
        pf_locals_begin(&locals);
    if (slash && pf_fortran_runtime_is(slash + 1))
        pf_fortran_runtime_lead(loaded);
}

const struct pf_private_kind pf_abi_programs = {.is = is_abi,
                                                .prepare = open_library,
                                                .find = find,
                                                .lead = pf_process_import,
                                                .ready = ready,
                                                .start = start};
const struct pf_private_kind pf_openmpi_programs = {.is = pf_own_library_is_for_openmpi,
                                                    .of_ours = fortran_of_ours,
                                                    .prepare = open_openmpi,
                                                    .find = find_openmpi,
                                                    .lead = lead_openmpi,
                                                    .ready = ready,
                                                    .start = start};
