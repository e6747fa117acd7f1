/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every operator on every type by each of the three calls: what is defined gives the right values in the
 * target and, where asked for, the old ones at the initiator; what is not is refused with PTL_ARG_INVALID.
 */
#include "world.h"

#include <complex.h>
#include <stdbool.h>
#include <string.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define QUIET      (PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE)

enum { N = 3, TYPES = PTL_LONG_DOUBLE_COMPLEX + 1, MAX_SIZE = 32 };

typedef long double _Complex number;

static const struct {
    enum { SIGNED, UNSIGNED, REAL, COMPLEX } class;
    size_t size;
} types[TYPES] = {
    [PTL_INT8_T] = {SIGNED, 1},
    [PTL_UINT8_T] = {UNSIGNED, 1},
    [PTL_INT16_T] = {SIGNED, 2},
    [PTL_UINT16_T] = {UNSIGNED, 2},
    [PTL_INT32_T] = {SIGNED, 4},
    [PTL_UINT32_T] = {UNSIGNED, 4},
    [PTL_INT64_T] = {SIGNED, 8},
    [PTL_UINT64_T] = {UNSIGNED, 8},
    [PTL_FLOAT] = {REAL, sizeof(float)},
    [PTL_FLOAT_COMPLEX] = {COMPLEX, sizeof(float _Complex)},
    [PTL_DOUBLE] = {REAL, sizeof(double)},
    [PTL_DOUBLE_COMPLEX] = {COMPLEX, sizeof(double _Complex)},
    [PTL_LONG_DOUBLE] = {REAL, sizeof(long double)},
    [PTL_LONG_DOUBLE_COMPLEX] = {COMPLEX, sizeof(long double _Complex)},
};

static bool is_integer(int type)
{
    return types[type].class == SIGNED || types[type].class == UNSIGNED;
}

/* Integers are kept in two's complement, which the low bytes of a little-endian word are. */
static void put_value(int type, void *to, number value)
{
    memset(to, 0, types[type].size);
    if (is_integer(type)) {
        int64_t word = (int64_t)creall(value);
        memcpy(to, &word, types[type].size);
    } else if (type == PTL_FLOAT) {
        memcpy(to, &(float){(float)creall(value)}, sizeof(float));
    } else if (type == PTL_DOUBLE) {
        memcpy(to, &(double){(double)creall(value)}, sizeof(double));
    } else if (type == PTL_LONG_DOUBLE) {
        memcpy(to, &(long double){creall(value)}, sizeof(long double));
    } else if (type == PTL_FLOAT_COMPLEX) {
        memcpy(to, &(float _Complex){(float _Complex)value}, sizeof(float _Complex));
    } else if (type == PTL_DOUBLE_COMPLEX) {
        memcpy(to, &(double _Complex){(double _Complex)value}, sizeof(double _Complex));
    } else {
        memcpy(to, &value, sizeof value);
    }
}

static number get_value(int type, const void *from)
{
    if (is_integer(type)) {
        uint64_t word = 0;
        memcpy(&word, from, types[type].size);
        unsigned unused = 64 - 8 * (unsigned)types[type].size;
        if (types[type].class == SIGNED)
            return (number)((int64_t)(word << unused) >> unused);
        return (number)word;
    }
    float f;
    double d;
    long double l;
    float _Complex fc;
    double _Complex dc;
    number lc;
    switch (type) {
    case PTL_FLOAT:
        memcpy(&f, from, sizeof f);
        return f;
    case PTL_DOUBLE:
        memcpy(&d, from, sizeof d);
        return d;
    case PTL_LONG_DOUBLE:
        memcpy(&l, from, sizeof l);
        return l;
    case PTL_FLOAT_COMPLEX:
        memcpy(&fc, from, sizeof fc);
        return (number)fc;
    case PTL_DOUBLE_COMPLEX:
        memcpy(&dc, from, sizeof dc);
        return (number)dc;
    default:
        memcpy(&lc, from, sizeof lc);
        return lc;
    }
}

/* The table of the specification. */
static bool defined(int op, int type)
{
    bool ordered = op == PTL_MIN || op == PTL_MAX || (op >= PTL_CSWAP_LE && op <= PTL_CSWAP_GT);
    bool of_bits = (op >= PTL_LOR && op <= PTL_BXOR) || op == PTL_MSWAP;
    return of_bits ? is_integer(type) : !ordered || types[type].class != COMPLEX;
}

static bool has_operand(int op)
{
    return op > PTL_SWAP;
}

/* What the target holds afterwards. */
static number expected(int op, number target, number value, number operand)
{
    long double t = creall(target), v = creall(value), o = creall(operand);
    int64_t ti = (int64_t)t, vi = (int64_t)v, oi = (int64_t)o;
    switch (op) {
    case PTL_MIN:
        return v < t ? v : t;
    case PTL_MAX:
        return v > t ? v : t;
    case PTL_SUM:
        return target + value;
    case PTL_PROD:
        return target * value;
    case PTL_LOR:
        return ti || vi;
    case PTL_LAND:
        return ti && vi;
    case PTL_LXOR:
        return (ti != 0) != (vi != 0);
    case PTL_BOR:
        return (number)(ti | vi);
    case PTL_BAND:
        return (number)(ti & vi);
    case PTL_BXOR:
        return (number)(ti ^ vi);
    case PTL_SWAP:
        return value;
    case PTL_CSWAP:
        return operand == target ? value : target;
    case PTL_CSWAP_NE:
        return operand != target ? value : target;
    case PTL_CSWAP_LE:
        return o <= t ? value : target;
    case PTL_CSWAP_LT:
        return o < t ? value : target;
    case PTL_CSWAP_GE:
        return o >= t ? value : target;
    case PTL_CSWAP_GT:
        return o > t ? value : target;
    default: /* PTL_MSWAP */
        return (number)((vi & oi) | (ti & ~oi));
    }
}

enum call { ATOMIC, FETCH, SWAP, CALLS };

static unsigned char memory[N * MAX_SIZE + 1], values[N * MAX_SIZE], old[N * MAX_SIZE], operand[MAX_SIZE];

static int issue(struct endpoint *e, enum call call, size_t length, int op, int type)
{
    ptl_size_t from = (ptl_size_t)(uintptr_t)values, to = (ptl_size_t)(uintptr_t)old;
    ptl_process_t target = world_address(0);
    switch (call) {
    case ATOMIC:
        return PtlAtomic(e->md, from, length, PTL_ACK_REQ, target, e->pt, 1, 1, NULL, 0, (ptl_op_t)op,
                         (ptl_datatype_t)type);
    case FETCH:
        return PtlFetchAtomic(e->md, to, e->md, from, length, target, e->pt, 1, 1, NULL, 0, (ptl_op_t)op,
                              (ptl_datatype_t)type);
    default:
        return PtlSwap(e->md, to, e->md, from, length, target, e->pt, 1, 1, NULL, 0,
                       has_operand(op) ? operand : NULL, (ptl_op_t)op, (ptl_datatype_t)type);
    }
}

/* Small whole numbers: every type holds them and their products. One pair of them is equal. */
static const int samples[][3] = {{5, 6, 5}, {0, 7, 3}, {11, 0, 12}, {9, 9, 9}, {6, 3, 10}, {1, 2, 0}};
static const int negative_samples[][3] = {{-5, 6, -5}, {-1, -7, 3}, {4, -4, -6}, {-8, 1, 9}};

static number sample(int type, int value)
{
    return types[type].class == COMPLEX ? value + (value % 4 - 1) * (number)I : value;
}

static int compared;

/* `count` elements at an odd place of the target, so that none is aligned. */
static void one(struct endpoint *e, enum call call, int op, int type, int count, const int (*set)[3],
                int sets, int first)
{
    size_t size = types[type].size;
    memset(old, 0x55, sizeof old);
    put_value(type, operand, sample(type, set[first][2]));
    for (int i = 0; i < count; i++) {
        put_value(type, memory + 1 + (size_t)i * size, sample(type, set[(first + i) % sets][0]));
        put_value(type, values + (size_t)i * size, sample(type, set[(first + i) % sets][1]));
    }
    CHECK(issue(e, call, (size_t)count * size, op, type) == PTL_OK);
    endpoint_expect(e, PTL_EVENT_SEND);
    CHECK(endpoint_expect(e, call == ATOMIC ? PTL_EVENT_ACK : PTL_EVENT_REPLY).mlength ==
          (size_t)count * size);
    for (int i = 0; i < count; i++) {
        const int *used = set[(first + i) % sets];
        number before = sample(type, used[0]);
        number after = expected(op, before, sample(type, used[1]), sample(type, set[first][2]));
        unsigned char wanted[MAX_SIZE];
        put_value(type, wanted, after);
        CHECK(get_value(type, memory + 1 + (size_t)i * size) == get_value(type, wanted));
        CHECK(call == ATOMIC || get_value(type, old + (size_t)i * size) == before);
        compared++;
    }
}

static void pair(struct endpoint *e, enum call call, int op, int type)
{
    bool swap = op >= PTL_SWAP;
    size_t size = types[type].size;
    if (!defined(op, type) || swap != (call == SWAP)) {
        CHECK(issue(e, call, size, op, type) == PTL_ARG_INVALID);
        return;
    }
    if (has_operand(op)) /* it compares with one constant: one element */
        CHECK(issue(e, call, 2 * size, op, type) == PTL_ARG_INVALID);
    if (size > 1)
        CHECK(issue(e, call, size + 1, op, type) == PTL_ARG_INVALID);
    int count = has_operand(op) ? 1 : N;
    for (int i = 0; i < (int)(sizeof samples / sizeof samples[0]); i++)
        one(e, call, op, type, count, samples, sizeof samples / sizeof samples[0], i);
    for (int i = 0;
         types[type].class != UNSIGNED && i < (int)(sizeof negative_samples / sizeof negative_samples[0]);
         i++)
        one(e, call, op, type, count, negative_samples, sizeof negative_samples / sizeof negative_samples[0],
            i);
}

static void program_table(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    if (rank == 0)
        endpoint_append(&e, memory, sizeof memory, PTL_ME_OP_PUT | PTL_ME_OP_GET | QUIET, 1,
                        PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 1) {
        for (int call = 0; call < CALLS; call++)
            for (int op = 0; op <= PTL_OP_LAST; op++)
                for (int type = 0; type < TYPES; type++)
                    if (op < PTL_OP_LAST)
                        pair(&e, (enum call)call, op, type);
                    else
                        CHECK(issue(&e, (enum call)call, 8, op, type) == PTL_ARG_INVALID);
        CHECK(issue(&e, ATOMIC, 8, PTL_SUM, TYPES) == PTL_ARG_INVALID);
        CHECK(compared == *(int *)shared);
    }
    endpoint_close(&e);
}

static void test_table(void **state)
{
    (void)state;
    int all = 0;
    for (int op = 0; op < PTL_OP_LAST; op++)
        for (int type = 0; type < TYPES; type++)
            if (defined(op, type))
                all += (types[type].class == UNSIGNED ? 6 : 10) * (has_operand(op) ? 1 : N) *
                       (op >= PTL_SWAP ? 1 : 2);
    *(int *)world_shared() = all;
    struct world world = {.nodes = 2};
    assert_int_equal(world_run(&world, program_table), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
