/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the schedules send from rank to rank, against what stock Open MPI 4.1.4 sends for the same calls
 * (tests/data/openmpi-4.1.4-collective-matrices.tsv): the rules choose the same algorithms, and these send
 * the same messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "adapters/analytic/coll/algorithms/schedule.h"
#include "adapters/analytic/coll/coll.h"

enum { RANKS = 48 };

struct cell {
    unsigned long messages, bytes;
};

static struct cell sent[RANKS][RANKS], wanted[RANKS][RANKS];
static size_t count[RANKS], start[RANKS + 1], row[RANKS];
static const size_t *rows[RANKS];

static void run_stage(const struct pf_plan *plan, const struct pf_stage *stage, int rank)
{
    struct pf_step step[RANKS + 2];
    int peer[RANKS + 2];
    for (int k = 0; k < stage->rounds; k++) {
        struct pf_round out = {.step = step, .peer = peer};
        k = stage->at(plan, stage, rank, k, &out);
        for (int i = 0; k < stage->rounds && i < out.sends; i++) {
            sent[rank][step[i].peer].messages++;
            sent[rank][step[i].peer].bytes += step[i].bytes;
        }
    }
}

/* Fills `sent` for a call that has the kind, n, root, bytes, element, and what else is not 0. */
static const char *send_all(struct pf_coll_call *call)
{
    struct pf_plan plan;
    size_t n = (size_t)call->n, elements = call->bytes / call->element;
    for (size_t i = 0; i < n; i++) {
        count[i] = call->kind == PF_COLL_REDUCE_SCATTER ? (elements / n + (i < elements % n)) * call->element
                                                        : call->bytes;
        row[i] = call->bytes;
        rows[i] = row;
    }
    call->counts = count;
    call->rows = call->kind == PF_COLL_ALLTOALLV || call->kind == PF_COLL_ALLTOALLW ? rows : NULL;
    pf_plan_make(&plan, call, -1, 0, start);
    memset(sent, 0, sizeof sent);
    for (int s = 0; s < plan.stages; s++)
        for (int r = 0; r < call->n; r++)
            run_stage(&plan, &plan.stage[s], r);
    return plan.name;
}

static void run(enum pf_coll_kind kind, int n, size_t bytes)
{
    struct pf_coll_call call = {.kind = kind, .commutative = true, .n = n, .element = 1, .bytes = bytes};
    const char *name = send_all(&call);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            if (sent[a][b].messages != wanted[a][b].messages || sent[a][b].bytes != wanted[a][b].bytes)
                fail_msg(
                    "%s by %s, %d ranks, %zu B: %d -> %d: %lu messages with %lu B instead of %lu with %lu B",
                    pf_kinds[kind].name, name, n, bytes, a, b, sent[a][b].messages, sent[a][b].bytes,
                    wanted[a][b].messages, wanted[a][b].bytes);
}

static enum pf_coll_kind kind_of(const char *name)
{
    int kind = 0;
    while (strcmp(pf_kinds[kind].name, name) != 0)
        assert_true(++kind < PF_COLL_KINDS);
    return (enum pf_coll_kind)kind;
}

static void test_recorded(void **state)
{
    (void)state;
    char line[200], name[40], before[40] = "";
    int n, last_n = 0, a, b, matrices = 0;
    size_t bytes, last_bytes = 0;
    struct cell cell;
    FILE *file = fopen(PF_DATA "/openmpi-4.1.4-collective-matrices.tsv", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (bool more = true; more;) {
        more = fgets(line, sizeof line, file) != NULL;
        if (more)
            assert_int_equal(sscanf(line, "%39s %d %zu %d %d %lu %lu", name, &n, &bytes, &a, &b,
                                    &cell.messages, &cell.bytes),
                             7);
        if (last_n && (!more || strcmp(name, before) != 0 || n != last_n || bytes != last_bytes)) {
            run(kind_of(before), last_n, last_bytes);
            memset(wanted, 0, sizeof wanted);
            matrices++;
        }
        if (!more)
            break;
        assert_true(n <= RANKS && a < n && b < n);
        memcpy(before, name, sizeof before);
        last_n = n;
        last_bytes = bytes;
        wanted[a][b] = cell;
    }
    fclose(file);
    assert_true(matrices >= 50);
    print_message("%d matrices\n", matrices);
}

struct sums {
    unsigned long messages, bytes;
    uint32_t print;
};

/* The fingerprint does not depend on the order of the pairs. */
static struct sums sum_up(int n)
{
    struct sums sums = {0, 0, 0};
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            if (sent[a][b].messages == 0)
                continue;
            uint32_t x = (uint32_t)a * 1000003U + (uint32_t)b * 7919U +
                         (uint32_t)sent[a][b].messages * 104729U + (uint32_t)sent[a][b].bytes * 15485863U;
            x *= 2654435761U;
            sums.print += x ^ x >> 16;
            sums.messages += sent[a][b].messages;
            sums.bytes += sent[a][b].bytes;
        }
    return sums;
}

static void test_sums(void **state)
{
    (void)state;
    char line[200], name[40], op[20];
    struct sums wants;
    struct pf_coll_call call;
    int lines = 0, wrong = 0;
    FILE *file = fopen(PF_DATA "/openmpi-4.1.4-collective-sums.tsv", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (; fgets(line, sizeof line, file); lines++) {
        memset(&call, 0, sizeof call);
        assert_int_equal(sscanf(line, "%39s %d %zu %zu %d %19s %lu %lu %u", name, &call.n, &call.bytes,
                                &call.element, &call.root, op, &wants.messages, &wants.bytes, &wants.print),
                         9);
        assert_true(call.n <= RANKS);
        call.nonblocking = name[0] == 'i';
        call.kind = kind_of(name + call.nonblocking);
        call.commutative = strcmp(op, "sum") == 0;
        const char *algorithm = send_all(&call);
        struct sums has = sum_up(call.n);
        if (has.messages == wants.messages && has.bytes == wants.bytes && has.print == wants.print)
            continue;
        wrong++;
        print_error(
            "%s, %d ranks, %zu B of %zu, root %d, %s, by %s: %lu messages, %lu B instead of %lu, %lu\n", name,
            call.n, call.bytes, call.element, call.root, op, algorithm, has.messages, has.bytes,
            wants.messages, wants.bytes);
    }
    fclose(file);
    assert_true(lines > 1000);
    assert_int_equal(wrong, 0);
    print_message("%d sums\n", lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recorded), cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
