/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry point of programs linked by pfcc. Such a program is a shared object, because the simulator loads
 * one copy of it per rank, with an interpreter and an entry point, so that it can be executed as well.
 * Executed directly, a program that calls MPI_Init or PtlInit becomes "pfrun -np 1 program"; another one (a
 * test of configure) simply runs.
 *
 * The entry is the C library's _start. Its call of __libc_start_main, which the linker leads here (--wrap),
 * is what brings this object into a program, and not into a shared library that is linked with the same
 * options.
 */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char interpreter[] __attribute__((section(".interp"), used)) = "/lib64/ld-linux-x86-64.so.2";

/* Hidden, which hides the program's main in the whole output: SMPI, which looks for "main", finds the
 * middleware's and that calls this one (middleware/process/program.h). */
int main(int argc, char **argv, char **environment) __attribute__((visibility("hidden")));
void pf_program_loaded(int (*program)(int, char **, char **));

/* Before the program's own constructors, with or without the simulator. */
__attribute__((constructor(101))) static void announce_program(void)
{
    pf_program_loaded(main);
}

typedef int start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                       void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
start_main __real___libc_start_main;
start_main __wrap___libc_start_main __attribute__((visibility("hidden")));

/* Names of the calls that make a program one for the simulator: MPI's, in C and Fortran, and pfcc's for raw
 * references too. */
static int needs_simulator(const char *name)
{
    static const char *const prefixes[] = {"pf_MPI_Init",     "pf_PMPI_Init",     "pf_entry_Init",
                                           "__wrap_MPI_Init", "__wrap_PMPI_Init", "PtlInit",
                                           "shmem_init",      "start_pes"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0)
            return name[length] == '\0' || strcmp(name + length, "_thread") == 0;
    }
    return 0;
}

/* The dynamic linker relocates these pointers in place, except in objects that the kernel mapped. */
static const void *at(const struct dl_phdr_info *object, ElfW(Addr) pointer)
{
    return (const void *)(pointer < object->dlpi_addr ? object->dlpi_addr + pointer : pointer);
}

/* Whether an object refers to one of them without defining it. Undefined symbols come before those in the
 * hash table. */
static int object_needs_simulator(struct dl_phdr_info *object, size_t size, void *unused)
{
    const ElfW(Dyn) *dynamic = NULL;
    const ElfW(Sym) *symbols = NULL;
    const uint32_t *gnu_hash = NULL, *hash = NULL;
    const char *strings = NULL;
    (void)size;
    (void)unused;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB)
            symbols = at(object, dynamic->d_un.d_ptr);
        else if (dynamic->d_tag == DT_STRTAB)
            strings = at(object, dynamic->d_un.d_ptr);
        else if (dynamic->d_tag == DT_GNU_HASH)
            gnu_hash = at(object, dynamic->d_un.d_ptr);
        else if (dynamic->d_tag == DT_HASH)
            hash = at(object, dynamic->d_un.d_ptr);
    }
    if (!symbols || !strings || (!gnu_hash && !hash))
        return 0;
    uint32_t count = gnu_hash ? gnu_hash[1] : hash[1];
    for (uint32_t i = 1; i < count; i++)
        if (symbols[i].st_shndx == SHN_UNDEF && needs_simulator(strings + symbols[i].st_name))
            return 1;
    return 0;
}

/* Under another MPI's launcher each of its processes would run a whole simulation of one rank. */
static const char *other_launcher(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *value = getenv(sizes[i]);
        if (value && atol(value) > 1)
            return sizes[i];
    }
    const char *rank = getenv("PMIX_RANK");
    return rank && atol(rank) > 0 ? "PMIX_RANK" : NULL;
}

/* Becomes "pfrun -np 1 program arguments", with "--" in front of a program that has a colon as an argument,
 * which would begin another program; returns only if that fails. */
static void launch(int argc, char **argv)
{
    const char *launcher = getenv("PARFOCAL_PFRUN");
    char program[4096];
    const char *other = other_launcher();
    if (other) {
        fprintf(stderr,
                "parfocal: error: this program was built with pfcc, and another launcher has started it "
                "(%s=%s); start it with pfrun -np N\n",
                other, getenv(other));
        _exit(1);
    }
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char **command = calloc((size_t)argc + 5, sizeof *command);
    if (!launcher || !*launcher)
        launcher = PF_PFRUN;
    if (length < 0 || !command)
        return;
    program[length] = '\0';
    command[0] = (char *)launcher;
    command[1] = "-np";
    command[2] = "1";
    int at = 3;
    for (int i = 1; i < argc && at == 3; i++)
        if (strcmp(argv[i], ":") == 0)
            command[at++] = "--";
    command[at] = program;
    for (int i = 1; i < argc; i++)
        command[at + i] = argv[i];
    execv(launcher, command);
    fprintf(stderr, "parfocal: error: cannot start the launcher %s: %m; set PARFOCAL_PFRUN to pfrun's path\n",
            launcher);
}

/* Called by _start, before any constructor of the program has run. */
int __wrap___libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    if (dl_iterate_phdr(object_needs_simulator, NULL)) {
        launch(argc, argv);
        _exit(127);
    }
    return __real___libc_start_main(program, argc, argv, init, fini, rtld_fini, stack_end);
}
