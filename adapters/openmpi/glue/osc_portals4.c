/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What keeps stock osc/portals4 from wrong results and from waiting for ever: what it asks of the NIC,
 * changed on the way.
 *
 * Its lock is a word at the target: the number of shared holders, or a large number for an exclusive holder.
 * A rank that wants to share adds one, and takes it back where the word was larger than that number; so the
 * first one would share an exclusive lock. And the exclusive holder ends with a zero, which forgets those
 * that have added meanwhile. Here an exclusive holder writes one more than the large number, and subtracts
 * just that.
 *
 * A request knows how many operations it consists of, but not where a datatype has gaps: it would never be
 * complete. Here the operations are counted as they are issued. None of them is over before the component has
 * looked at its queue, so that a request that is used again is no longer the one that is counted.
 *
 * The end of an epoch waits for a counter and leaves the events of its operations in the queue. They are
 * looked at here, so that their requests are over then as well.
 *
 * It knows types of C only, and takes complex numbers of two floats for such of two doubles. Here it sees
 * types of Fortran as those of C, and what it asks of the NIC has the right type.
 *
 * It has 8 requests and gives no limit, which it means as none; but a list without a limit grows only for
 * ranks that do not wait. The ninth pending MPI_Rget of a rank would wait for an earlier one to be freed.
 */
#include "ompi_config.h"

#include <limits.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/request/request.h"
#include "opal/class/opal_free_list.h"
#include "opal/runtime/opal_progress.h"

#include "adapters/openmpi/glue/internal.h"
#include "adapters/openmpi/private/private.h"
#include "lowlevel/portals/include/portals4.h"

/* What the component's requests begin with. */
struct request {
    ompi_request_t super;
    int32_t expected;
};

static struct request *counted; /* the one whose operations are being counted */

static void count(void *user)
{
    struct request *request = user;
    if (!request)
        return;
    if (request->expected == 0)
        counted = request;
    if (request == counted)
        request->expected++;
}

static bool of_floats; /* the complex numbers of the operation at hand */

static ompi_datatype_t *base_of(ompi_datatype_t *type)
{
    enum {
        INTEGER = OMPI_DATATYPE_FLAG_DATA_INT,
        REAL = OMPI_DATATYPE_FLAG_DATA_FLOAT,
        COMPLEX = OMPI_DATATYPE_FLAG_DATA_COMPLEX
    };
    const struct {
        unsigned kind;
        size_t size;
        ompi_predefined_datatype_t *type;
    } rows[] = {{INTEGER, 1, &ompi_mpi_int8_t},
                {INTEGER, 2, &ompi_mpi_int16_t},
                {INTEGER, 4, &ompi_mpi_int32_t},
                {INTEGER, 8, &ompi_mpi_int64_t},
                {REAL, 4, &ompi_mpi_float},
                {REAL, 8, &ompi_mpi_double},
                {COMPLEX, 8, &ompi_mpi_c_float_complex},
                {COMPLEX, 16, &ompi_mpi_c_double_complex}};
    ompi_datatype_t *base = ompi_datatype_get_single_predefined_type_from_args(type);
    unsigned flags = base ? (unsigned)base->super.flags : 0;
    bool fortran = (flags & OMPI_DATATYPE_FLAG_DATA_LANGUAGE) == OMPI_DATATYPE_FLAG_DATA_FORTRAN;
    for (size_t i = 0; fortran && i < sizeof rows / sizeof rows[0]; i++)
        if ((flags & OMPI_DATATYPE_FLAG_DATA_TYPE) == rows[i].kind && base->super.size == rows[i].size) {
            base = &rows[i].type->dt;
            break;
        }
    of_floats = base == &ompi_mpi_c_float_complex.dt;
    return base;
}

static ptl_datatype_t right(ptl_datatype_t type)
{
    return type == PTL_DOUBLE_COMPLEX && of_floats ? PTL_FLOAT_COMPLEX : type;
}

static bool is_lock(ptl_match_bits_t bits, ptl_size_t offset, ptl_size_t length)
{
    return (bits & PF_OMPI_OSC_CONTROL) && offset == PF_OMPI_OSC_LOCK && length == sizeof(int64_t);
}

static const int64_t alone = PF_OMPI_OSC_EXCLUSIVE + 1;

/* The component's descriptors begin at address 0. */
static int64_t *at(ptl_size_t offset)
{
    return (int64_t *)(uintptr_t)offset;
}

static int put(ptl_handle_md_t md, ptl_size_t from, ptl_size_t length, ptl_ack_req_t ack,
               ptl_process_t target, ptl_pt_index_t table, ptl_match_bits_t bits, ptl_size_t offset,
               void *user, ptl_hdr_data_t header)
{
    count(user);
    if (!is_lock(bits, offset, length))
        return PtlPut(md, from, length, ack, target, table, bits, offset, user, header);
    *at(from) = -alone;
    return PtlAtomic(md, from, length, ack, target, table, bits, offset, user, header, PTL_SUM, PTL_INT64_T);
}

static int get(ptl_handle_md_t md, ptl_size_t to, ptl_size_t length, ptl_process_t target,
               ptl_pt_index_t table, ptl_match_bits_t bits, ptl_size_t offset, void *user)
{
    count(user);
    return PtlGet(md, to, length, target, table, bits, offset, user);
}

static int atomic(ptl_handle_md_t md, ptl_size_t from, ptl_size_t length, ptl_ack_req_t ack,
                  ptl_process_t target, ptl_pt_index_t table, ptl_match_bits_t bits, ptl_size_t offset,
                  void *user, ptl_hdr_data_t header, ptl_op_t operation, ptl_datatype_t type)
{
    count(user);
    return PtlAtomic(md, from, length, ack, target, table, bits, offset, user, header, operation,
                     right(type));
}

static int fetch_atomic(ptl_handle_md_t to_md, ptl_size_t to, ptl_handle_md_t md, ptl_size_t from,
                        ptl_size_t length, ptl_process_t target, ptl_pt_index_t table, ptl_match_bits_t bits,
                        ptl_size_t offset, void *user, ptl_hdr_data_t header, ptl_op_t operation,
                        ptl_datatype_t type)
{
    count(user);
    return PtlFetchAtomic(to_md, to, md, from, length, target, table, bits, offset, user, header, operation,
                          right(type));
}

static int swap(ptl_handle_md_t to_md, ptl_size_t to, ptl_handle_md_t md, ptl_size_t from, ptl_size_t length,
                ptl_process_t target, ptl_pt_index_t table, ptl_match_bits_t bits, ptl_size_t offset,
                void *user, ptl_hdr_data_t header, const void *operand, ptl_op_t operation,
                ptl_datatype_t type)
{
    count(user);
    if (is_lock(bits, offset, length))
        *at(from) = alone;
    return PtlSwap(to_md, to, md, from, length, target, table, bits, offset, user, header, operand, operation,
                   right(type));
}

static int eq_get(ptl_handle_eq_t queue, ptl_event_t *event)
{
    counted = NULL;
    return PtlEQGet(queue, event);
}

static int ct_wait(ptl_handle_ct_t counter, ptl_size_t test, ptl_ct_event_t *event)
{
    int status = PtlCTWait(counter, test, event);
    opal_progress();
    return status;
}

static int list_init(opal_free_list_t *list, size_t size, size_t alignment, opal_class_t *class,
                     size_t payload_size, size_t payload_alignment, int first, int most, int each,
                     struct mca_mpool_base_module_t *pool, int flags, struct mca_rcache_base_module_t *cache,
                     opal_free_list_item_init_fn_t init, void *context)
{
    return opal_free_list_init(list, size, alignment, class, payload_size, payload_alignment, first,
                               most ? most : INT_MAX, each, pool, flags, cache, init, context);
}

void pf_glue_osc_repair(void (*replace)(void *handle, const char *name, void *value), void *handle)
{
    replace(handle, PF_OMPI_OSC_TYPE, (void *)base_of);
    replace(handle, "PtlPut", (void *)put);
    replace(handle, "PtlGet", (void *)get);
    replace(handle, "PtlAtomic", (void *)atomic);
    replace(handle, "PtlFetchAtomic", (void *)fetch_atomic);
    replace(handle, "PtlSwap", (void *)swap);
    replace(handle, "PtlEQGet", (void *)eq_get);
    replace(handle, "PtlCTWait", (void *)ct_wait);
    replace(handle, PF_OMPI_OSC_LIST, (void *)list_init);
}
