/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at an application before it is loaded. */
#include "tools/pfrun/binary.h"

#include <stdio.h>
#include <string.h>

#include "loader/elf_file.h"
#include "middleware/process/abi.h"

static void note_needed(struct binary_facts *facts, const char *name)
{
    static const char *const ours[] = {"libparfocal.so", "libportals.so"};
    static const char *const openmpi[] = {"libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40",
                                          "libmpi_usempi_ignore_tkr.so.40"};
    for (size_t i = 0; i < sizeof openmpi / sizeof openmpi[0]; i++)
        if (strcmp(name, openmpi[i]) == 0)
            return;
    facts->abi |= strncmp(name, "libmpi_abi.so", 13) == 0;
    static const char *const others[] = {"libmpi.so",       "libmpich.so",   "libmpicxx.so",
                                         "libmpi_mpifh.so", "libmpi_usempi", "libsimgrid.so"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strncmp(name, ours[i], strlen(ours[i])) == 0)
            facts->parfocal = true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            snprintf(facts->other_mpi, sizeof facts->other_mpi, "%s", name);
    if (strncmp(name, "libasan.so", 10) == 0)
        snprintf(facts->sanitizer, sizeof facts->sanitizer, "%s", name);
}

const char *binary_read(const char *path, struct binary_facts *facts)
{
    struct pf_elf elf;
    enum pf_elf_fault fault = pf_elf_read(&elf, path);
    bool executable = elf.is_executable, movable = elf.is_movable;
    memset(facts, 0, sizeof *facts);
    for (int i = 0; i < elf.name_count; i++)
        if (elf.names[i].kind == PF_ELF_NEEDED)
            note_needed(facts, elf.names[i].text);
    if (!fault && !facts->parfocal && !facts->abi && !facts->other_mpi[0])
        facts->openmpi = executable || pf_openmpi_programs.is(&elf);
    pf_elf_free(&elf);
    if (fault)
        return pf_elf_fault_text(fault);
    facts->abi = facts->abi && !facts->parfocal;
    bool one_place = (facts->abi || facts->openmpi) && !movable;
    return one_place ? "is linked for one place in memory (-no-pie)" : NULL;
}
