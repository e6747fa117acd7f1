/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions of osc/ucx's dynamic windows, in the order of their addresses. A region that is attached below
 * another gets the other's count as well, so that one detach is not enough; and the component looks for
 * regions behind the last one, too, where one lay that was detached. What is attached would depend on
 * addresses. Here the count of a new region is 1, and nothing is left behind the last one.
 */
#include "ompi_config.h"

#include <malloc.h>
#include <string.h>

#include "ompi/mca/osc/osc.h"
#include "ompi/win/win.h"

#include "adapters/openmpi/glue/internal.h"

static ompi_osc_base_module_win_attach_fn_t stock_attach;
static ompi_osc_base_module_win_detach_fn_t stock_detach;

/* The table of attached regions, of each window at this place; 0: not known yet. The word before counts them,
 * and behind it is, for each, how often it is attached. */
static size_t regions_place;
enum { REGIONS = 48, REGION_SIZE = 1040, TIMES_SIZE = 24, TIMES_PLACE = 20 };

static char *region(const struct ompi_win_t *win, uint64_t i)
{
    return (char *)win->w_osc_module + regions_place + i * REGION_SIZE;
}

static uint64_t region_count(const struct ompi_win_t *win)
{
    uint64_t count = 0;
    if (regions_place > 0)
        memcpy(&count, region(win, 0) - sizeof count, sizeof count);
    return count;
}

static void find_regions(const struct ompi_win_t *win, const uint64_t *first)
{
    const char *module = (const char *)win->w_osc_module;
    const size_t length = 2 * sizeof *first, size = malloc_usable_size(win->w_osc_module);
    for (size_t at = sizeof *win->w_osc_module; regions_place == 0 && at + sizeof *first + length <= size;
         at += sizeof *first)
        if (*(const uint64_t *)(const void *)(module + at) == 1 &&
            memcmp(module + at + sizeof *first, first, length) == 0)
            regions_place = at + sizeof *first;
}

static int attach(struct ompi_win_t *win, void *base, size_t length)
{
    const uint64_t added[] = {(uint64_t)(uintptr_t)base, length};
    uint64_t before = region_count(win);
    int status = stock_attach(win, base, length);
    find_regions(win, added);
    for (uint64_t i = 0; i < region_count(win) && region_count(win) > before; i++)
        if (memcmp(region(win, i), added, sizeof added) == 0)
            *(int *)(void *)(region(win, REGIONS) + i * TIMES_SIZE + TIMES_PLACE) = 1;
    return status;
}

static int detach(struct ompi_win_t *win, const void *base)
{
    int status = stock_detach(win, base);
    if (regions_place > 0 && region_count(win) < REGIONS)
        memset(region(win, region_count(win)), 0, REGION_SIZE);
    return status;
}

void pf_glue_regions_ucx_repair(struct ompi_osc_base_module_3_0_0_t *functions)
{
    stock_attach = functions->osc_win_attach;
    stock_detach = functions->osc_win_detach;
    functions->osc_win_attach = attach;
    functions->osc_win_detach = detach;
}
