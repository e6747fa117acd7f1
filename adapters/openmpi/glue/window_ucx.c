/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of osc/ucx made locally (window.c), where there is no other component. Its members tell each other
 * their displacement units, the addresses of their workers, their keys, and where their memory and the words
 * of their locks are. All but the last is known here: workers and keys differ in the rank alone. Where a
 * member has its locks is not known before it has made its own window, which it has when the first access
 * begins. Until then a name stands for that place; each puts its own on the board that all have.
 */
#include "ompi_config.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/op/op.h"

#include "adapters/adapter.h"
#include "adapters/openmpi/glue/internal.h"
#include "adapters/openmpi/private/private.h"
#include "lowlevel/ucx/ucp.h"

/* What the members exchange at last, of each. */
struct place {
    uint64_t base, state, world_rank;
};

/* The name of a place in a member's state. No address has the highest of these bits. */
enum { OFFSET_BITS = 17, MEMBER_BITS = 24, NAME_BIT = 62 };

struct shadow {
    int id;
    void **board; /* where each member has its state */
    UT_hash_handle hh;
};

static struct shadow *shadows;
static const struct pf_win_recipe *making;
static bool units_differ; /* and the members tell them to each other next */

bool pf_glue_window_ucx_has_all(void)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    return strcmp(pml, "ucx") == 0 && strcmp(PF_OMPI_OSC_UCX, "ucx") == 0;
}

static uint64_t name_of(int id, int member)
{
    return (uint64_t)1 << NAME_BIT | ((uint64_t)id << MEMBER_BITS | (uint64_t)member) << OFFSET_BITS;
}

uint64_t pf_glue_window_ucx_address(uint64_t address)
{
    if (!(address >> NAME_BIT))
        return address;
    uint64_t rest = address & (((uint64_t)1 << NAME_BIT) - 1);
    int id = (int)(rest >> (OFFSET_BITS + MEMBER_BITS));
    struct shadow *shadow;
    HASH_FIND_INT(shadows, &id, shadow);
    if (!shadow)
        return address;
    size_t member = rest >> OFFSET_BITS & (((size_t)1 << MEMBER_BITS) - 1);
    return (uint64_t)(uintptr_t)shadow->board[member] + (rest & (((uint64_t)1 << OFFSET_BITS) - 1));
}

/* Of the least unit and the negative greatest. */
static int allreduce(const void *from, void *to, int count, struct ompi_datatype_t *type,
                     struct ompi_op_t *op, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    long *least = to;
    if (count != 2 || op != &ompi_mpi_op_min.op)
        return OMPI_ERR_NOT_SUPPORTED;
    for (int i = 0; i < making->members; i++) {
        long unit = making->disp_units[i];
        least[0] = unit < least[0] ? unit : least[0];
        least[1] = -unit < least[1] ? -unit : least[1];
    }
    units_differ = least[0] != -least[1];
    return OMPI_SUCCESS;
}

static void tell_places(const struct place *own, struct place *all)
{
    making->board[making->me] = (void *)(uintptr_t)own->state;
    for (int i = 0; i < making->members; i++)
        all[i] = (struct place){.base = (uint64_t)(uintptr_t)making->bases[i],
                                .state = name_of(making->id, i),
                                .world_rank = (uint64_t)making->world_ranks[i]};
}

/* Also of the lengths of what follows, which are the same. */
static int allgather(const void *from, int from_count, struct ompi_datatype_t *from_type, void *to,
                     int to_count, struct ompi_datatype_t *to_type, ompi_communicator_t *comm,
                     mca_coll_base_module_t *module)
{
    size_t size;
    ompi_datatype_type_size(from_type, &size);
    size *= (size_t)from_count;
    if (size == sizeof(struct place)) {
        tell_places(from, to);
        return OMPI_SUCCESS;
    }
    if (size != sizeof(int))
        return OMPI_ERR_NOT_SUPPORTED;
    for (int i = 0; i < making->members; i++)
        ((int *)to)[i] = units_differ ? making->disp_units[i] : *(const int *)from;
    units_differ = false;
    return OMPI_SUCCESS;
}

/* Of workers and keys. */
static int allgatherv(const void *from, int from_count, struct ompi_datatype_t *from_type, void *to,
                      const int *to_counts, const int *places, struct ompi_datatype_t *to_type,
                      ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    size_t length = (size_t)from_count;
    struct ucp_address address;
    for (int i = 0; i < making->members; i++) {
        char *member = (char *)to + places[i];
        memcpy(member, from, length);
        if (length != sizeof address)
            continue;
        memcpy(&address, from, sizeof address);
        address.rank = making->world_ranks[i];
        memcpy(member, &address, sizeof address);
    }
    return OMPI_SUCCESS;
}

bool pf_glue_window_ucx_begin(const struct pf_win_recipe *recipe, ompi_communicator_t *comm)
{
    struct shadow *shadow = malloc(sizeof *shadow);
    if (!shadow)
        return false;
    *shadow = (struct shadow){.id = recipe->id, .board = recipe->board};
    HASH_ADD_INT(shadows, id, shadow);
    making = recipe;
    units_differ = false;
    comm->c_coll->coll_allreduce = allreduce;
    comm->c_coll->coll_allgather = allgather;
    comm->c_coll->coll_allgatherv = allgatherv;
    return true;
}

void pf_glue_window_ucx_gone(int id)
{
    struct shadow *shadow;
    HASH_FIND_INT(shadows, &id, shadow);
    if (!shadow)
        return;
    HASH_DEL(shadows, shadow);
    free(shadow);
}
