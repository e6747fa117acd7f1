/* SPDX-License-Identifier: BSD-3-Clause */
/* Physical and logical identifiers of processes. */
#include <stdlib.h>
#include <string.h>

#include "lowlevel/portals/internal.h"

int PtlSetMap(ptl_handle_ni_t ni_handle, ptl_size_t map_size, const ptl_process_t *mapping)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || !(ni->options & PTL_NI_LOGICAL) || map_size == 0 || !mapping || map_size >= PTL_RANK_ANY)
        return ptl_invalid();
    if (ni->map)
        return PTL_IGNORED; /* a map cannot be changed; the specification lets the first one win */
    ni->map = malloc(map_size * sizeof *ni->map);
    ni->map_processes = calloc(map_size, sizeof(struct ptl_process *));
    if (!ni->map || !ni->map_processes) {
        free(ni->map);
        free(ni->map_processes);
        ni->map = NULL;
        ni->map_processes = NULL;
        return PTL_NO_SPACE;
    }
    memcpy(ni->map, mapping, map_size * sizeof *ni->map);
    ni->map_size = map_size;
    for (ptl_size_t i = 0; i < map_size; i++)
        if (mapping[i].phys.nid == ni->process->nid && mapping[i].phys.pid == ni->process->pid)
            ni->logical_id = (uint32_t)i;
    return PTL_OK;
}

int PtlGetMap(ptl_handle_ni_t ni_handle, ptl_size_t map_size, ptl_process_t *mapping,
              ptl_size_t *actual_map_size)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || !(ni->options & PTL_NI_LOGICAL) || (!mapping && map_size) || (!mapping && !actual_map_size))
        return ptl_invalid();
    if (!ni->map)
        return PTL_NO_SPACE;
    ptl_size_t count = map_size < ni->map_size ? map_size : ni->map_size;
    if (mapping)
        memcpy(mapping, ni->map, count * sizeof *mapping);
    if (actual_map_size)
        *actual_map_size = ni->map_size;
    return PTL_OK;
}

int PtlGetUid(ptl_handle_ni_t ni_handle, ptl_uid_t *uid)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || !uid)
        return ptl_invalid();
    *uid = PTL_THE_UID;
    return PTL_OK;
}

ptl_process_t ptl_own_id(const struct ptl_ni *ni)
{
    ptl_process_t id;
    id.phys.nid = ni->process->nid;
    id.phys.pid = ni->process->pid;
    if (ni->options & PTL_NI_LOGICAL) {
        id.phys.pid = 0;
        id.rank = ni->logical_id;
    }
    return id;
}

int PtlGetId(ptl_handle_ni_t ni_handle, ptl_process_t *id)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || !id)
        return ptl_invalid();
    *id = ptl_own_id(ni);
    return PTL_OK;
}

int PtlGetPhysId(ptl_handle_ni_t ni_handle, ptl_process_t *id)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || !id)
        return ptl_invalid();
    id->phys.nid = ni->process->nid;
    id->phys.pid = ni->process->pid;
    return PTL_OK;
}

bool ptl_target_valid(struct ptl_ni *ni, ptl_process_t id)
{
    if (ni->options & PTL_NI_LOGICAL)
        return ni->map && id.rank < ni->map_size;
    return id.phys.nid != PTL_NID_ANY && id.phys.pid != PTL_PID_ANY;
}

/* The process behind an identifier that ptl_target_valid() accepts; NULL when there is none (yet). */
struct ptl_process *ptl_resolve(struct ptl_ni *ni, ptl_process_t id)
{
    if (!(ni->options & PTL_NI_LOGICAL))
        return ptl_find_process(id.phys.nid, id.phys.pid);
    struct ptl_process **cached = &ni->map_processes[id.rank];
    if (!*cached)
        *cached = ptl_find_process(ni->map[id.rank].phys.nid, ni->map[id.rank].phys.pid);
    return *cached;
}
