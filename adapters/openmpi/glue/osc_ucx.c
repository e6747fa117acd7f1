/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What keeps stock osc/ucx from wrong results.
 *
 * It has the NIC change single elements, which can add integers and compares and swaps integers, both of 4 or
 * 8 bytes: floating-point numbers are added as integers, and other sizes are refused without a word. Here
 * what the NIC cannot do is a get and a put under the lock of accumulates, as the component does the rest.
 *
 * Where the target's type is a derived one, it makes room for the elements of one of them, and combines
 * elements of the origin's type where they are not. Here there is one target element, and the origin's are in
 * a row. Where the target has no elements, nothing is done.
 *
 * What it has begun under the lock of accumulates need not be over when it gives the lock back, nor a get
 * before the put to the same place; and it takes a later atomic operation for the end of an earlier put or
 * get. Networks keep no such order: it flushes here.
 *
 * MPI_Win_test ends an exposure epoch, but not in the note of its kind: no other epoch could begin.
 *
 * In Open MPI 4.1 it does not find the right region of a dynamic window that has several. There dynamic
 * windows are osc/pt2pt's, and so are shadows; in Open MPI 5 there is no other component (window_ucx.c).
 */
#include "ompi_config.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/osc/base/osc_base_obj_convert.h"
#include "ompi/mca/osc/osc.h"
#include "ompi/op/op.h"
#include "ompi/win/win.h"
#include "opal/runtime/opal_progress.h"

#include "adapters/openmpi/glue/internal.h"
#include "adapters/openmpi/private/private.h"
#include "lowlevel/ucx/ucp.h"

/* Over Portals there is no UCX, nor the component. */
#pragma weak ucp_ep_flush_nb
#pragma weak ucp_get_nbi
#pragma weak ucp_put_nbi
#pragma weak ucp_atomic_post
#pragma weak ucp_atomic_fetch_nb
#pragma weak ucp_request_check_status
#pragma weak ucp_request_free

typedef struct ompi_datatype_t type_t;

static struct {
    ompi_osc_base_component_query_fn_t query;
    ompi_osc_base_module_accumulate_fn_t accumulate;
    ompi_osc_base_module_get_accumulate_fn_t get_accumulate;
    ompi_osc_base_module_rput_fn_t rput;
    ompi_osc_base_module_raccumulate_fn_t raccumulate;
    ompi_osc_base_module_rget_accumulate_fn_t rget_accumulate;
    ompi_osc_base_module_fetch_and_op_fn_t fetch_and_op;
    ompi_osc_base_module_compare_and_swap_fn_t compare_and_swap;
    ompi_osc_base_module_post_fn_t post;
    ompi_osc_base_module_test_fn_t test;
} stock;

static bool reads;        /* the next put is to be after the get before it */
static bool wants_notice; /* of the end of a put or get: the next atomic operation asks for it */

/* The put is to happen only if the get has brought this; no size: in any case. */
static struct {
    const void *result, *expected;
    size_t size;
} condition;

static void ignore(void *request, ucs_status_t status)
{
}

static void finish(ucp_ep_h ep)
{
    void *request = ucp_ep_flush_nb(ep, 0, ignore);
    while (request && ucp_request_check_status(request) == UCS_INPROGRESS)
        opal_progress();
    if (request)
        ucp_request_free(request);
}

static ucs_status_t put(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey)
{
    if (reads)
        finish(ep);
    reads = false;
    if (condition.size > 0 && memcmp(condition.result, condition.expected, condition.size) != 0)
        return UCS_OK;
    return ucp_put_nbi(ep, buffer, length, pf_glue_window_ucx_address(remote), rkey);
}

static ucs_status_t get(ucp_ep_h ep, void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey)
{
    return ucp_get_nbi(ep, buffer, length, pf_glue_window_ucx_address(remote), rkey);
}

static ucs_status_t change(ucp_ep_h ep, ucp_atomic_post_op_t operation, uint64_t value, size_t size,
                           uint64_t remote, ucp_rkey_h rkey)
{
    return ucp_atomic_post(ep, operation, value, size, pf_glue_window_ucx_address(remote), rkey);
}

static ucs_status_t fence(ucp_worker_h worker)
{
    wants_notice = true;
    return UCS_OK;
}

/* The lock is given back by a swap. */
static ucs_status_ptr_t fetch(ucp_ep_h ep, ucp_atomic_fetch_op_t operation, uint64_t value, void *result,
                              size_t size, uint64_t remote, ucp_rkey_h rkey, ucp_send_callback_t cb)
{
    bool notifies = wants_notice && operation == UCP_ATOMIC_FETCH_OP_FADD && value == 0;
    wants_notice = false;
    if (notifies)
        return ucp_ep_flush_nb(ep, 0, cb);
    if (operation == UCP_ATOMIC_FETCH_OP_SWAP)
        finish(ep);
    return ucp_atomic_fetch_nb(ep, operation, value, result, size, pf_glue_window_ucx_address(remote), rkey,
                               cb);
}

/* What an accumulate combines, as the component can do it. */
struct elements {
    const void *origin;
    int count;
    type_t *type;
    void *row; /* or NULL */
    int target_count;
    type_t *target_type;
    MPI_Datatype made; /* or NULL */
};

static int put_in_row(struct elements *e)
{
    type_t *element = NULL;
    uint32_t each = 0;
    ptrdiff_t lb, extent;
    int status = ompi_osc_base_get_primitive_type_info(e->type, &element, &each);
    if (status != OMPI_SUCCESS || !element)
        return OMPI_ERR_BAD_PARAM;
    int count = (int)each * e->count;
    ompi_datatype_get_extent(element, &lb, &extent);
    e->row = malloc((size_t)count * (size_t)extent + 1);
    if (!e->row)
        return OMPI_ERR_OUT_OF_RESOURCE;
    status = ompi_datatype_sndrcv(e->origin, e->count, e->type, e->row, count, element);
    e->origin = e->row;
    e->count = count;
    e->type = element;
    return status;
}

static int prepare(struct elements *e, const struct ompi_op_t *op)
{
    bool combines = op != &ompi_mpi_op_replace.op && op != &ompi_mpi_op_no_op.op;
    int status = OMPI_SUCCESS;
    if (combines && e->count > 0 && !ompi_datatype_is_predefined(e->type))
        status = put_in_row(e);
    if (status != OMPI_SUCCESS || e->target_count < 2 || ompi_datatype_is_predefined(e->target_type))
        return status;
    status = PMPI_Type_contiguous(e->target_count, e->target_type, &e->made);
    if (status == MPI_SUCCESS)
        status = PMPI_Type_commit(&e->made);
    e->target_count = 1;
    e->target_type = e->made;
    return status;
}

/* The component would look for the origin's data, which may be nowhere. */
static bool is_empty(int target_count, const type_t *target_type)
{
    size_t size;
    ompi_datatype_type_size(target_type, &size);
    return target_count == 0 || size == 0;
}

static void release(struct elements *e)
{
    free(e->row);
    if (e->made)
        PMPI_Type_free(&e->made);
}

static int accumulate(const void *origin, int count, type_t *type, int target, ptrdiff_t at, int target_count,
                      type_t *target_type, struct ompi_op_t *op, struct ompi_win_t *win)
{
    struct elements e = {origin, count, type, NULL, target_count, target_type, NULL};
    if (is_empty(target_count, target_type))
        return OMPI_SUCCESS;
    int status = prepare(&e, op);
    if (status == OMPI_SUCCESS)
        status =
            stock.accumulate(e.origin, e.count, e.type, target, at, e.target_count, e.target_type, op, win);
    release(&e);
    return status;
}

static int get_accumulate(const void *origin, int count, type_t *type, void *result, int result_count,
                          type_t *result_type, int target, ptrdiff_t at, int target_count,
                          type_t *target_type, struct ompi_op_t *op, struct ompi_win_t *win)
{
    struct elements e = {origin, count, type, NULL, target_count, target_type, NULL};
    if (is_empty(target_count, target_type))
        return OMPI_SUCCESS;
    int status = prepare(&e, op);
    reads = true;
    if (status == OMPI_SUCCESS)
        status = stock.get_accumulate(e.origin, e.count, e.type, result, result_count, result_type, target,
                                      at, e.target_count, e.target_type, op, win);
    reads = false;
    release(&e);
    return status;
}

/* Where nothing is combined the component may forget to complete the request. */
static int raccumulate(const void *origin, int count, type_t *type, int target, ptrdiff_t at,
                       int target_count, type_t *target_type, struct ompi_op_t *op, struct ompi_win_t *win,
                       struct ompi_request_t **request)
{
    struct elements e = {origin, count, type, NULL, target_count, target_type, NULL};
    if (is_empty(target_count, target_type) || op == &ompi_mpi_op_no_op.op)
        return stock.rput(NULL, 0, type, target, at, 0, type, win, request);
    int status = prepare(&e, op);
    if (status == OMPI_SUCCESS)
        status = stock.raccumulate(e.origin, e.count, e.type, target, at, e.target_count, e.target_type, op,
                                   win, request);
    release(&e);
    return status;
}

static int rget_accumulate(const void *origin, int count, type_t *type, void *result, int result_count,
                           type_t *result_type, int target, ptrdiff_t at, int target_count,
                           type_t *target_type, struct ompi_op_t *op, struct ompi_win_t *win,
                           struct ompi_request_t **request)
{
    struct elements e = {origin, count, type, NULL, target_count, target_type, NULL};
    if (is_empty(target_count, target_type))
        return stock.rput(NULL, 0, type, target, at, 0, type, win, request);
    int status = prepare(&e, op);
    reads = true;
    if (status == OMPI_SUCCESS)
        status = stock.rget_accumulate(e.origin, e.count, e.type, result, result_count, result_type, target,
                                       at, e.target_count, e.target_type, op, win, request);
    reads = false;
    release(&e);
    return status;
}

static bool fits_nic(const type_t *type)
{
    size_t size;
    ompi_datatype_type_size(type, &size);
    return size == sizeof(uint32_t) || size == sizeof(uint64_t);
}

static bool is_integer(const type_t *type)
{
    return (type->super.flags & OMPI_DATATYPE_FLAG_DATA_TYPE) == OMPI_DATATYPE_FLAG_DATA_INT;
}

static int fetch_and_op(const void *origin, void *result, type_t *type, int target, ptrdiff_t at,
                        struct ompi_op_t *op, struct ompi_win_t *win)
{
    wants_notice = false;
    if (fits_nic(type) && (op != &ompi_mpi_op_sum.op || is_integer(type)))
        return stock.fetch_and_op(origin, result, type, target, at, op, win);
    return get_accumulate(origin, 1, type, result, 1, type, target, at, 1, type, op, win);
}

static int compare_and_swap(const void *origin, const void *expected, void *result, type_t *type, int target,
                            ptrdiff_t at, struct ompi_win_t *win)
{
    size_t size;
    if (fits_nic(type))
        return stock.compare_and_swap(origin, expected, result, type, target, at, win);
    ompi_datatype_type_size(type, &size);
    condition.result = result;
    condition.expected = expected;
    condition.size = size;
    int status =
        get_accumulate(origin, 1, type, result, 1, type, target, at, 1, type, &ompi_mpi_op_replace.op, win);
    condition.size = 0;
    return status;
}

/* The kind of the exposure epoch, of each window at this place; 0: not known yet. The next but one word is
 * the group of the epoch. */
static size_t exposure_place;
enum { NO_EPOCH = 0, POSTED = 2, TO_GROUP = 12 };

static int *exposure(const struct ompi_win_t *win)
{
    return (int *)(void *)((char *)win->w_osc_module + exposure_place);
}

static int post(struct ompi_group_t *group, int assertion, struct ompi_win_t *win)
{
    int status = stock.post(group, assertion, win);
    size_t size = malloc_usable_size(win->w_osc_module);
    const char *module = (const char *)win->w_osc_module;
    for (size_t at = sizeof *win->w_osc_module; exposure_place == 0 && at + sizeof group <= size;
         at += sizeof group) {
        int kind;
        memcpy(&kind, module + at - TO_GROUP, sizeof kind);
        if (kind == POSTED && memcmp(module + at, &group, sizeof group) == 0)
            exposure_place = at - TO_GROUP;
    }
    return status;
}

static int test(struct ompi_win_t *win, int *flag)
{
    int status = stock.test(win, flag);
    if (status == OMPI_SUCCESS && *flag && exposure_place > 0)
        *exposure(win) = NO_EPOCH;
    return status;
}

static int query(struct ompi_win_t *win, void **base, size_t size, int disp_unit,
                 struct ompi_communicator_t *comm, struct opal_info_t *info, int flavor)
{
    if (!pf_glue_window_ucx_has_all() && (flavor == MPI_WIN_FLAVOR_DYNAMIC || pf_glue_window_is_shadow()))
        return -1;
    return stock.query(win, base, size, disp_unit, comm, info, flavor);
}

void pf_glue_osc_ucx_repair(void (*replace)(void *handle, const char *name, void *value),
                            void *(*find)(void *handle, const char *name), void *handle, void *common)
{
    ompi_osc_base_component_t *component = find(handle, PF_OMPI_OSC_UCX_COMPONENT);
    ompi_osc_base_module_t *functions = find(handle, PF_OMPI_OSC_UCX_FUNCTIONS);
    stock.query = component->osc_query;
    component->osc_query = query;
#define REPLACE(name)                                                                                        \
    stock.name = functions->osc_##name;                                                                      \
    functions->osc_##name = name
    REPLACE(accumulate);
    REPLACE(get_accumulate);
    stock.rput = functions->osc_rput;
    REPLACE(raccumulate);
    REPLACE(rget_accumulate);
    REPLACE(fetch_and_op);
    REPLACE(compare_and_swap);
    REPLACE(post);
    REPLACE(test);
#undef REPLACE
    pf_glue_regions_ucx_repair(functions);
    replace(handle, PF_OMPI_OSC_UCX_ACCUMULATE, (void *)accumulate);
    replace(handle, PF_OMPI_OSC_UCX_GET_ACCUMULATE, (void *)get_accumulate);
    replace(handle, "ucp_put_nbi", (void *)put);
    replace(handle, "ucp_get_nbi", (void *)get);
    replace(handle, "ucp_atomic_post", (void *)change);
    replace(common, "ucp_worker_fence", (void *)fence);
    replace(handle, "ucp_atomic_fetch_nb", (void *)fetch);
}
