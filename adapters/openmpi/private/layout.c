/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of Open MPI's data, as its headers and as its libraries have them. Compiled with those headers. */
#include "ompi_config.h"

#include <stdio.h>
#include <string.h>

#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/class/opal_pointer_array.h"

#include "adapters/openmpi/private/layout.h"
#include PF_OMPI_TYPES

const struct pf_ompi_datum pf_ompi_data[] = {
#define X(library, symbol, type) {PF_CORE_##library, #symbol, sizeof(type)},
    PF_OMPI_DATA(X)
#undef X
};
const int pf_ompi_data_count = sizeof pf_ompi_data / sizeof pf_ompi_data[0];

struct search {
    enum pf_core library;
    const struct pf_ompi_datum *data;
    int count;
    size_t *found;
};

static bool look(char *name, size_t address, size_t size, const void *arg)
{
    const struct search *search = arg;
    for (int i = 0; i < search->count; i++)
        if (address && *name == *search->data[i].symbol && strcmp(name, search->data[i].symbol) == 0)
            search->found[i] = size;
    return false;
}

bool pf_ompi_layout_check(const struct pf_elf *elf, enum pf_core library, const struct pf_ompi_datum *data,
                          int count, char *why, size_t n)
{
    enum { MOST = 64 };
    size_t found[MOST] = {0};
    const struct search search = {library, data, count < MOST ? count : MOST, found};
    pf_elf_symbols(elf, look, &search);
    for (int i = 0; i < search.count; i++) {
        if (data[i].library != library || found[i] == data[i].size)
            continue;
        snprintf(why, n,
                 "%s is not of the Open MPI " PF_OMPI_VERSION
                 " that Parfocal was built for: %s has %zu bytes, but %zu were expected; install the "
                 "package " PF_OMPI_PACKAGE " of the distribution, or build Parfocal again",
                 elf->path, data[i].symbol, found[i], data[i].size);
        return false;
    }
    return true;
}
