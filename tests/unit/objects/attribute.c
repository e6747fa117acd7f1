/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: callbacks run once, newest first; keyvals outlive their MPI_Comm_free_keyval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake_rank.h"
#include "middleware/object/attribute.h"

static char log_text[200];
static int fail_with;

static int note_delete(MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    char word[20];
    assert_ptr_equal(comm, MPI_COMM_SELF);
    assert_true(keyval > 0);
    snprintf(word, sizeof word, "%s%s ", (char *)extra_state, (char *)value);
    strcat(log_text, word);
    return fail_with;
}

static int copy_upper(MPI_Comm comm, int keyval, void *extra_state, void *in, void *out, int *flag)
{
    (void)keyval;
    (void)extra_state;
    assert_ptr_equal(comm, MPI_COMM_SELF);
    *(void **)out = strcmp(in, "one") == 0 ? "ONE" : "OTHER";
    *flag = strcmp(in, "skip") != 0;
    return MPI_SUCCESS;
}

static int new_keyval(char *extra_state)
{
    int keyval;
    assert_int_equal(PMPI_Comm_create_keyval(copy_upper, note_delete, &keyval, extra_state), MPI_SUCCESS);
    return keyval;
}

static void order_of_deletion(void **state)
{
    struct pf_rank *r = *state;
    int a = new_keyval("a"), b = new_keyval("b"), c = new_keyval("c"), flag;
    char *value;
    log_text[0] = '\0';
    PMPI_Comm_set_attr(MPI_COMM_SELF, a, "one");
    PMPI_Comm_set_attr(MPI_COMM_SELF, b, "two");
    PMPI_Comm_set_attr(MPI_COMM_SELF, c, "three");
    PMPI_Comm_set_attr(MPI_COMM_SELF, a, "four"); /* deletes the old value, and is the newest now */
    assert_string_equal(log_text, "aone ");
    PMPI_Comm_get_attr(MPI_COMM_SELF, a, &value, &flag);
    assert_true(flag);
    assert_string_equal(value, "four");

    int number = b;
    assert_int_equal(PMPI_Comm_free_keyval(&b), MPI_SUCCESS); /* still in use */
    assert_int_equal(b, MPI_KEYVAL_INVALID);
    assert_int_equal(PMPI_Comm_get_attr(MPI_COMM_SELF, number, &value, &flag), MPI_SUCCESS);
    assert_true(flag);
    assert_int_equal(PMPI_Comm_set_attr(MPI_COMM_SELF, number, "new"), MPI_ERR_KEYVAL);
    assert_int_equal(PMPI_Comm_set_attr(MPI_COMM_SELF, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);

    fail_with = MPI_ERR_OTHER;
    assert_int_equal(pf_attributes_delete_all(&r->alone->attributes, MPI_COMM_SELF), MPI_ERR_OTHER);
    fail_with = 0;
    log_text[0] = '\0';
    assert_int_equal(pf_attributes_delete_all(&r->alone->attributes, MPI_COMM_SELF), MPI_SUCCESS);
    assert_string_equal(log_text, "afour cthree btwo ");
    assert_null(r->alone->attributes);
    PMPI_Comm_free_keyval(&a);
    PMPI_Comm_free_keyval(&c);
}

static void copies(void **state)
{
    struct pf_rank *r = *state;
    int a = new_keyval("a"), b = new_keyval("b"), c, d;
    struct pf_attributes *copy = NULL;
    void *value;
    int flag;
    PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &c, NULL);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &d, NULL);
    PMPI_Comm_set_attr(MPI_COMM_SELF, a, "one");
    PMPI_Comm_set_attr(MPI_COMM_SELF, b, "skip");
    PMPI_Comm_set_attr(MPI_COMM_SELF, c, "same");
    PMPI_Comm_set_attr(MPI_COMM_SELF, d, "gone");
    assert_int_equal(pf_attributes_copy(r->alone->attributes, MPI_COMM_SELF, &copy), MPI_SUCCESS);
    pf_attribute_get(r, PF_ATTRIBUTE_COMM, copy, a, &value, &flag);
    assert_true(flag);
    assert_string_equal(value, "ONE");
    pf_attribute_get(r, PF_ATTRIBUTE_COMM, copy, b, &value, &flag);
    assert_false(flag);
    pf_attribute_get(r, PF_ATTRIBUTE_COMM, copy, c, &value, &flag);
    assert_true(flag);
    assert_string_equal(value, "same");
    pf_attribute_get(r, PF_ATTRIBUTE_COMM, copy, d, &value, &flag);
    assert_false(flag);
    log_text[0] = '\0';
    pf_attributes_delete_all(&copy, MPI_COMM_SELF);
    assert_string_equal(log_text, "aONE ");
    pf_attributes_delete_all(&r->alone->attributes, MPI_COMM_SELF);
    PMPI_Keyval_free(&a);
    PMPI_Keyval_free(&b);
    PMPI_Keyval_free(&c);
    PMPI_Keyval_free(&d);
}

static void predefined_ones(void **state)
{
    (void)state;
    int *value, *again, flag;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    assert_true(flag && *value >= 32767);
    PMPI_Attr_get(MPI_COMM_SELF, MPI_TAG_UB, &again, &flag);
    assert_ptr_equal(value, again);
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    assert_true(flag && *value == 4);
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    assert_true(flag && *value == MPI_PROC_NULL);
}

static int type_deletes;

static int count_type_delete(MPI_Datatype type, int keyval, void *value, void *extra_state)
{
    (void)keyval;
    (void)extra_state;
    assert_ptr_equal(type, value);
    type_deletes++;
    return MPI_SUCCESS;
}

static void types(void **state)
{
    (void)state;
    int keyval, flag;
    void *value;
    MPI_Datatype type, dup;
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_type_delete, &keyval, NULL);
    PMPI_Type_contiguous(3, MPI_INT, &type);
    PMPI_Type_set_attr(type, keyval, type);
    PMPI_Type_dup(type, &dup);
    PMPI_Type_get_attr(dup, keyval, &value, &flag);
    assert_false(flag);
    PMPI_Type_set_attr(dup, keyval, dup);
    PMPI_Type_free(&type); /* the duplicate keeps the type alive, but not its attributes */
    assert_int_equal(type_deletes, 1);
    PMPI_Type_free(&dup);
    assert_int_equal(type_deletes, 2);
    PMPI_Type_set_attr(MPI_INT, keyval, MPI_INT);
    PMPI_Type_get_attr(MPI_INT, keyval, &value, &flag);
    assert_true(flag);
    PMPI_Type_delete_attr(MPI_INT, keyval);
    assert_int_equal(type_deletes, 3);
    assert_int_equal(PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL), MPI_ERR_KEYVAL); /* of another kind */
    PMPI_Type_free_keyval(&keyval);
}

int main(void)
{
    struct pf_rank *r = fake_rank(0, 4);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(order_of_deletion, r),
        cmocka_unit_test_prestate(copies, r),
        cmocka_unit_test(predefined_ones),
        cmocka_unit_test(types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
