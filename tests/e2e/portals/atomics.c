/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics: n elements, every type, swaps with their constants, concurrent counters. */
#include "world.h"

#include <complex.h>
#include <string.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define QUIET      (PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE)
#define BOTH       (PTL_ME_OP_PUT | PTL_ME_OP_GET | QUIET)

static void atomic(struct endpoint *e, const void *data, size_t length, size_t offset, ptl_op_t op,
                   ptl_datatype_t type)
{
    CHECK(PtlAtomic(e->md, (ptl_size_t)(uintptr_t)data, length, PTL_ACK_REQ, world_address(0), e->pt, 1,
                    offset, NULL, 0, op, type) == PTL_OK);
    endpoint_expect(e, PTL_EVENT_SEND);
    endpoint_expect(e, PTL_EVENT_ACK);
}

static void program_elements(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    enum { N = 10 };
    static struct {
        int32_t i[N];
        double d[N];
        double complex z[2];
        uint8_t b[N];
    } memory;
    int32_t i[N];
    double d[N];
    uint8_t b[N];
    for (int k = 0; k < N; k++) {
        i[k] = 10 * k - 30;
        d[k] = 0.5 * k;
        b[k] = (uint8_t)(200 + k);
    }
    if (rank == 0)
        endpoint_append(&e, &memory, sizeof memory, BOTH, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 1) {
        size_t at_d = offsetof(__typeof__(memory), d), at_z = offsetof(__typeof__(memory), z);
        atomic(&e, i, sizeof i, 0, PTL_SUM, PTL_INT32_T);
        atomic(&e, i, sizeof i, 0, PTL_SUM, PTL_INT32_T);
        atomic(&e, d, sizeof d, at_d, PTL_SUM, PTL_DOUBLE);
        atomic(&e, (double[]){2.0}, 8, at_d + 24, PTL_MAX, PTL_DOUBLE);
        atomic(&e, (double complex[]){1 + 2 * I, 3}, 32, at_z, PTL_SUM, PTL_DOUBLE_COMPLEX);
        atomic(&e, (double complex[]){I, I}, 32, at_z, PTL_PROD, PTL_DOUBLE_COMPLEX);
        atomic(&e, b, sizeof b, offsetof(__typeof__(memory), b), PTL_BXOR, PTL_UINT8_T);
        CHECK(PtlAtomic(e.md, 0, 8, PTL_NO_ACK_REQ, world_address(0), e.pt, 1, 0, NULL, 0, PTL_BOR,
                        PTL_DOUBLE) == PTL_ARG_INVALID);
        CHECK(PtlAtomic(e.md, 0, 8, PTL_NO_ACK_REQ, world_address(0), e.pt, 1, 0, NULL, 0, PTL_SWAP,
                        PTL_DOUBLE) == PTL_ARG_INVALID);
        CHECK(PtlAtomic(e.md, 0, 7, PTL_NO_ACK_REQ, world_address(0), e.pt, 1, 0, NULL, 0, PTL_SUM,
                        PTL_DOUBLE) == PTL_ARG_INVALID);
    }
    world_barrier();
    for (int k = 0; rank == 0 && k < N; k++) {
        CHECK(memory.i[k] == 2 * (10 * k - 30));
        CHECK(memory.d[k] == (k == 3 ? 2.0 : 0.5 * k));
        CHECK(memory.b[k] == 200 + k);
    }
    CHECK(rank || (memory.z[0] == -2 + I && memory.z[1] == 3 * I));
    endpoint_close(&e);
}

static uint64_t swap(struct endpoint *e, uint64_t value, uint64_t operand, ptl_op_t op)
{
    uint64_t old = 0;
    CHECK(PtlSwap(e->md, (ptl_size_t)(uintptr_t)&old, e->md, (ptl_size_t)(uintptr_t)&value, 8,
                  world_address(0), e->pt, 1, 0, NULL, 0, &operand, op, PTL_UINT64_T) == PTL_OK);
    endpoint_expect(e, PTL_EVENT_SEND);
    CHECK(endpoint_expect(e, PTL_EVENT_REPLY).mlength == 8);
    return old;
}

static void program_swaps(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    static uint64_t memory = 5;
    if (rank == 0)
        endpoint_append(&e, &memory, sizeof memory, BOTH, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 1) {
        CHECK(swap(&e, 6, 0, PTL_SWAP) == 5);
        CHECK(swap(&e, 7, 5, PTL_CSWAP) == 6);    /* 5 is not there */
        CHECK(swap(&e, 7, 6, PTL_CSWAP) == 6);    /* done: 7 */
        CHECK(swap(&e, 8, 7, PTL_CSWAP_NE) == 7); /* no */
        CHECK(swap(&e, 8, 7, PTL_CSWAP_LT) == 7); /* no */
        CHECK(swap(&e, 8, 7, PTL_CSWAP_LE) == 7); /* done: 8 */
        CHECK(swap(&e, 9, 7, PTL_CSWAP_GE) == 8); /* no */
        CHECK(swap(&e, 9, 9, PTL_CSWAP_GT) == 8); /* done: 9 */
        CHECK(swap(&e, 0xff00, 0xf0f0, PTL_MSWAP) == 9);
        CHECK(swap(&e, 0, 0, PTL_SWAP) == (0xf000 | 9));
    }
    endpoint_close(&e);
}

/* All draw tickets from one counter: no ticket twice. */
static void program_tickets(int rank, int size, void *shared)
{
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    enum { DRAWS = 25 };
    static int32_t counter;
    int32_t one = 1, ticket, *taken = shared;
    if (rank == 0)
        endpoint_append(&e, &counter, sizeof counter, BOTH, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    for (int i = 0; i < DRAWS; i++) {
        CHECK(PtlFetchAtomic(e.md, (ptl_size_t)(uintptr_t)&ticket, e.md, (ptl_size_t)(uintptr_t)&one, 4,
                             world_address(0), e.pt, 1, 0, NULL, 0, PTL_SUM, PTL_INT32_T) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_REPLY);
        CHECK(ticket >= 0 && ticket < size * DRAWS && !taken[ticket]);
        taken[ticket] = 1;
    }
    world_barrier();
    CHECK(counter == size * DRAWS);
    endpoint_close(&e);
}

static void run(world_program program, int nodes)
{
    struct world world = {.nodes = nodes};
    memset(world_shared(), 0, 4096);
    assert_int_equal(world_run(&world, program), 0);
}

static void test_elements(void **state)
{
    (void)state;
    run(program_elements, 2);
}

static void test_swaps(void **state)
{
    (void)state;
    run(program_swaps, 2);
}

static void test_tickets(void **state)
{
    (void)state;
    run(program_tickets, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements), cmocka_unit_test(test_swaps),
                                       cmocka_unit_test(test_tickets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
