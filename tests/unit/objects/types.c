/* SPDX-License-Identifier: BSD-3-Clause */
/* The middleware's datatypes against the definition of type maps and against stock Open MPI. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "fake_rank.h"
#include "type_cases.h"
#include "typemap.h"

/* Bounds as MPI 3.1 section 4.1.6 defines them. */
struct judged {
    long size, lb, ub, true_lb, true_ub;
    int align, lb_marked, ub_marked, elements;
};

static void judge_entry(struct judged *j, const struct entry *e)
{
    if (e->kind == ENTRY_LB) {
        j->lb = j->lb_marked && j->lb < e->place ? j->lb : e->place;
        j->lb_marked = 1;
    } else if (e->kind == ENTRY_UB) {
        j->ub = j->ub_marked && j->ub > e->place ? j->ub : e->place;
        j->ub_marked = 1;
    } else {
        j->true_lb = j->elements && j->true_lb < e->place ? j->true_lb : e->place;
        j->true_ub = j->elements && j->true_ub > e->place + e->size ? j->true_ub : e->place + e->size;
        j->size += e->size;
        j->align = e->align > j->align ? e->align : j->align;
        j->elements++;
    }
}

static struct judged judge(const struct typemap *map)
{
    struct judged j = {.align = 1};
    for (int i = 0; i < map->count; i++)
        judge_entry(&j, &map->entries[i]);
    if (!j.lb_marked)
        j.lb = j.true_lb;
    if (!j.ub_marked)
        j.ub = j.elements ? j.true_ub : j.lb;
    while (!j.ub_marked && j.ub > j.lb && (j.ub - j.lb) % j.align)
        j.ub++;
    return j;
}

/* What stock Open MPI 4.1.4 says about case `i` (types.expected, made by print_types.c). */
static void read_expected(FILE *file, char *line, size_t room)
{
    assert_non_null(fgets(line, (int)room, file));
    line[strcspn(line, "\n")] = '\0';
}

/* A padded type may be placed out of step with its alignment; implementations then keep its padding in the
 * outer type, while the type map alone has less. */
static int keeps_inner_padding(const struct judged *j, long extent)
{
    long least = j->ub - j->lb;
    return !j->ub_marked && extent > least && extent < least + 2 * j->align && extent % j->align == 0;
}

static void types_follow_the_definition(void **state)
{
    char mine[200], expected[200];
    int departures = 0, padded = 0;
    FILE *file = fopen(TYPES_EXPECTED, "r");
    (void)state;
    assert_non_null(file);
    for (int i = 0; i < TYPE_CASE_COUNT; i++) {
        MPI_Datatype type = type_case(i);
        struct typemap map = {0};
        map_type(&map, type, 0);
        struct judged j = judge(&map);
        free(map.entries);
        MPI_Aint lb, extent, true_lb, true_extent;
        int size, elements;
        MPI_Status status;
        PMPI_Type_size(type, &size);
        PMPI_Type_get_extent(type, &lb, &extent);
        PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
        PMPI_Status_set_elements(&status, type, j.elements);
        PMPI_Get_elements(&status, type, &elements);
        describe_type(i, type, mine, sizeof mine);
        read_expected(file, expected, sizeof expected);
        release(type);
        if (size != j.size || lb != j.lb || true_lb != j.true_lb || true_extent != j.true_ub - j.true_lb ||
            elements != j.elements)
            fail_msg("%s; by definition size %ld bounds %ld %ld true %ld %ld, %d elements", mine, j.size,
                     j.lb, j.ub - j.lb, j.true_lb, j.true_ub - j.true_lb, j.elements);
        departures += strcmp(mine, expected) != 0;
        if (extent != j.ub - j.lb) {
            padded++;
            if (!keeps_inner_padding(&j, extent))
                fail_msg("%s; Open MPI: %s; by definition extent %ld", mine, expected, j.ub - j.lb);
        }
    }
    fclose(file);
    assert_int_equal(pf_self()->mpi->live_objects, 0);
    /* The departures are Open MPI's: fields without data widen bounds, bounds are padded field by field, a
     * byte stride of -1 means the extent, MPI_Status_set_elements takes a pair for one element. */
    assert_in_range(departures, 1, 30);
    assert_in_range(padded, 1, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_follow_the_definition),
    };
    fake_rank(0, 4);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
