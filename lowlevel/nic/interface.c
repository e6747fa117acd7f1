/* SPDX-License-Identifier: BSD-3-Clause */
/* The interfaces of all nodes. */
#include "lowlevel/nic/interface.h"

#include "base/config.h"
#include "base/memory.h"
#include "base/pool.h"
#include "lowlevel/network/path.h"
#include "lowlevel/nic/levels.h"

static struct pf_nic **nics;
static int nic_count;
static struct pf_lines memory;

/* Without one of these nothing would ever leave the interface. */
static void set_up(struct pf_nic *nic, int node)
{
    nic->node = node;
    nic->bus.node = node;
    pf_path_set_bus(node, pf_bus()->stream_rate());
    nic->engines_free =
        pf_lines_get(&memory, (size_t)pf_config.nic_match_engines * sizeof *nic->engines_free);
    (void)pf_nic_level_of(0); /* refuses what cannot be read, also where no message stays in its host */
}

struct pf_nic *pf_nic_get(int node)
{
    PF_ARRAY_REACH(nics, nic_count, node);
    if (!nics[node]) {
        nics[node] = pf_lines_get(&memory, sizeof *nics[node]);
        set_up(nics[node], node);
    }
    return nics[node];
}

int pf_nic_node(const struct pf_nic *nic)
{
    return nic->node;
}
