/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <string.h>

#include "adapters/mpich/abi.h"
#include "adapters/mpich/mpich.h"
#include "pf_native.h"

/*
 * Where a handle of the middleware, a pointer, becomes an integer of MPICH and back: in the calls that are
 * generated from the table of the MPI surface (middleware/surface/integer_handles.py). MPICH's integers stand
 * in the lower halves of the pointers, the upper ones are zero.
 */
_Static_assert(sizeof(void *) == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "an integer is the beginning of a pointer");

/* By number, NULL where MPICH's own function can be called. */
extern void *const pf_mpich_calls[PF_FN_COUNT];

/* The calling rank's function. */
static inline void *mpich_native(enum pf_fn fn)
{
    return pf_mpich_caller()->natives[fn];
}

static inline void *mpich_status(void *status)
{
    return status ? status : MPI_STATUS_IGNORE;
}

/* A receive from a null peer gets the request that MPICH has for receives without a message; MPICH 4.0 has
 * another one, complete as well, which has the status of a message from rank 0. */
static inline void mpich_repair_receive(pf_native_request_t *request)
{
    enum { COMPLETE_RECEIVE = 0x6c000002, NULL_RECEIVE = 0x6c000010 };
    if ((uintptr_t)*request == COMPLETE_RECEIVE)
        *request = (pf_native_request_t)(uintptr_t)NULL_RECEIVE;
}

/* An array of pointers becomes one of integers in its own memory, which is the caller's alone, and back. */
static inline void mpich_narrow(const void *handles, int n)
{
    char *at = (char *)(uintptr_t)handles;
    for (int i = 1; at && i < n; i++)
        memcpy(at + 4 * (size_t)i, at + 8 * (size_t)i, 4);
}

static inline void mpich_widen(const void *handles, int n)
{
    char *at = (char *)(uintptr_t)handles;
    for (int i = n - 1; at && i >= 0; i--) {
        uint64_t wide = 0;
        memcpy(&wide, at + 4 * (size_t)i, 4);
        memcpy(at + 8 * (size_t)i, &wide, sizeof wide);
    }
}

/* How many blocks an all-to-all exchange has. */
static inline int mpich_blocks(pf_native_comm_t comm)
{
    int inter = 0, n = 0, (*test)(pf_native_comm_t, int *), (*size)(pf_native_comm_t, int *);
    *(void **)&test = mpich_native(PF_FN_Comm_test_inter);
    test(comm, &inter);
    *(void **)&size = mpich_native(inter ? PF_FN_Comm_remote_size : PF_FN_Comm_size);
    size(comm, &n);
    return n;
}
