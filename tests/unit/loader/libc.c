/* SPDX-License-Identifier: BSD-3-Clause */
/* The column of Open MPI in the table of the C library, and what of it needs no simulation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "loader/libc.h"

static const char *variable;

static const char *host_getenv(const char *name)
{
    return strcmp(name, "PF_TEST") == 0 ? variable : getenv(name);
}

static void host_setenv(const char *name, const char *value)
{
    assert_string_equal(name, "PF_TEST");
    variable = value;
}

static void own_functions_are_left_alone(void **state)
{
    (void)state;
    assert_null(pf_libc_of_instance("clock"));
    assert_null(pf_libc_of_instance("dlopen"));
    assert_null(pf_libc_of_instance("printf"));
    assert_non_null(pf_libc_of_instance("gettimeofday"));
    assert_ptr_equal(pf_libc_of_instance("secure_getenv"), pf_libc_of_instance("getenv"));
    assert_ptr_equal(pf_libc_of_instance("_exit"), pf_libc_of_instance("exit"));
}

/* The instance's variables are before the process's, which stay as they are. */
static void an_instance_has_variables(void **state)
{
    const struct pf_libc_host host = {.getenv = host_getenv, .setenv = host_setenv};
    char *(*get)(const char *) = pf_libc_of_instance("getenv");
    int (*set)(const char *, const char *, int) = pf_libc_of_instance("setenv");
    int (*unset)(const char *) = pf_libc_of_instance("unsetenv");
    (void)state;
    unsetenv("PF_TEST");
    pf_libc_set_host(&host);
    assert_null(get("PF_TEST"));
    assert_string_equal(get("PATH"), getenv("PATH"));
    assert_int_equal(set("PF_TEST", "a", 0), 0);
    assert_string_equal(get("PF_TEST"), "a");
    assert_int_equal(set("PF_TEST", "b", 0), 0);
    assert_string_equal(get("PF_TEST"), "a");
    assert_int_equal(set("PF_TEST", "b", 1), 0);
    assert_string_equal(get("PF_TEST"), "b");
    assert_null(getenv("PF_TEST"));
    assert_int_equal(unset("PF_TEST"), 0);
    assert_null(get("PF_TEST"));
}

static void an_instance_has_keys(void **state)
{
    int (*create)(pthread_key_t *, void (*)(void *)) = pf_libc_of_instance("pthread_key_create");
    int (*set)(pthread_key_t, const void *) = pf_libc_of_instance("pthread_setspecific");
    void *(*get)(pthread_key_t) = pf_libc_of_instance("pthread_getspecific");
    pthread_key_t one, two;
    (void)state;
    assert_int_equal(create(&one, NULL), 0);
    assert_int_equal(create(&two, NULL), 0);
    assert_null(get(one));
    assert_int_equal(set(one, &one), 0);
    assert_ptr_equal(get(one), &one);
    assert_null(get(two));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_functions_are_left_alone),
                                       cmocka_unit_test(an_instance_has_variables),
                                       cmocka_unit_test(an_instance_has_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
