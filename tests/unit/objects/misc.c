/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers and codes, info, statuses, Fortran handles, contents of types, the tool interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake_rank.h"
#include "middleware/core/rank_objects.h"
#include "middleware/core/errhandler.h"
#include "middleware/object/info.h"
#include "middleware/object/f2c.h"

static int handled_code, handled_times;

static void handle(MPI_Comm *comm, int *code, ...)
{
    assert_ptr_equal(*comm, MPI_COMM_WORLD);
    handled_code = *code;
    handled_times++;
}

static void error_handlers(void **state)
{
    struct pf_rank *r = *state;
    MPI_Errhandler handler, got, win;
    int size;
    assert_int_equal(PMPI_Comm_create_errhandler(handle, &handler), MPI_SUCCESS);
    assert_int_equal(PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler), MPI_SUCCESS);
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    assert_ptr_equal(got, handler);
    PMPI_Errhandler_free(&got);
    PMPI_Errhandler_free(&handler); /* still attached */
    assert_ptr_equal(handler, MPI_ERRHANDLER_NULL);
    assert_int_equal(PMPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
    assert_int_equal(handled_code, MPI_ERR_TYPE);
    assert_int_equal(PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_IO), MPI_SUCCESS);
    assert_int_equal(handled_code, MPI_ERR_IO);
    assert_int_equal(handled_times, 2);
    win = pf_errhandler_new(r, PF_ERRHANDLER_WIN, (void (*)(void))handle);
    assert_int_equal(PMPI_Comm_set_errhandler(MPI_COMM_WORLD, win), MPI_ERR_ARG); /* of another kind */
    PMPI_Errhandler_free(&win);
    assert_int_equal(PMPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN), MPI_SUCCESS);
    assert_int_equal(PMPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
    assert_int_equal(handled_times, 3);
    assert_int_equal(r->live_objects, 0);
}

static void error_codes(void **state)
{
    (void)state;
    int class, code, length, got, *last, flag;
    char text[MPI_MAX_ERROR_STRING];
    assert_int_equal(PMPI_Add_error_class(&class), MPI_SUCCESS);
    assert_true(class > MPI_ERR_LASTCODE);
    assert_int_equal(PMPI_Add_error_code(class, &code), MPI_SUCCESS);
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    assert_int_equal(*last, code);
    assert_int_equal(PMPI_Error_string(code, text, &length), MPI_SUCCESS);
    assert_int_equal(length, 0);
    assert_int_equal(PMPI_Add_error_string(code, "the sky fell"), MPI_SUCCESS);
    PMPI_Error_string(code, text, &length);
    assert_string_equal(text, "the sky fell");
    PMPI_Error_class(code, &got);
    assert_int_equal(got, class);
    PMPI_Error_class(MPI_ERR_TRUNCATE, &got);
    assert_int_equal(got, MPI_ERR_TRUNCATE);
    assert_int_equal(PMPI_Error_class(code + 1, &got), MPI_ERR_ARG);
    assert_int_equal(PMPI_Add_error_string(MPI_ERR_TYPE, "no"), MPI_ERR_ARG);
    for (code = 0; code <= MPI_ERR_RMA_FLAVOR; code++)
        assert_int_equal(PMPI_Error_string(code, text, &length), MPI_SUCCESS);
}

static void infos(void **state)
{
    struct pf_rank *r = *state;
    MPI_Info info, copy;
    char value[10], key[MPI_MAX_INFO_KEY];
    int flag, n;
    PMPI_Info_create(&info);
    PMPI_Info_set(info, "first", "one");
    PMPI_Info_set(info, "second", "twotwo");
    PMPI_Info_set(info, "first", "1");
    PMPI_Info_dup(info, &copy);
    PMPI_Info_delete(info, "first");
    assert_int_equal(PMPI_Info_delete(info, "first"), MPI_ERR_INFO_NOKEY);
    PMPI_Info_get_nkeys(info, &n);
    assert_int_equal(n, 1);
    PMPI_Info_get_nthkey(copy, 1, key);
    assert_string_equal(key, "second");
    memset(value, 'x', sizeof value);
    PMPI_Info_get(copy, "second", 3, value, &flag);
    assert_true(flag);
    assert_string_equal(value, "two"); /* cut, terminated, and nothing behind is touched */
    assert_int_equal(value[4], 'x');
    PMPI_Info_get_valuelen(copy, "second", &n, &flag);
    assert_int_equal(n, 6);
    PMPI_Info_get(copy, "third", 3, value, &flag);
    assert_false(flag);
    assert_int_equal(PMPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
    assert_int_equal(PMPI_Info_get_nthkey(info, 1, key), MPI_ERR_ARG);
    PMPI_Info_get(MPI_INFO_ENV, "maxprocs", 9, value, &flag);
    assert_true(flag);
    assert_string_equal(value, "4");
    assert_int_equal(PMPI_Info_set(MPI_INFO_ENV, "a", "b"), MPI_ERR_INFO);
    PMPI_Info_free(&info);
    PMPI_Info_free(&copy);
    assert_ptr_equal(copy, MPI_INFO_NULL);
    assert_int_equal(r->live_objects, 0);
}

static void statuses(void **state)
{
    struct pf_rank *r = *state;
    MPI_Status status;
    MPI_Datatype type;
    MPI_Count many;
    MPI_Fint fortran[MPI_F_STATUS_SIZE];
    int n, flag, lengths[] = {2, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype fields[] = {MPI_INT, MPI_DOUBLE_INT};
    PMPI_Type_create_struct(2, lengths, places, fields, &type); /* int int double int: 20 bytes, 4 elements */
    pf_status_set_empty(&status);
    assert_int_equal(status.MPI_SOURCE, MPI_ANY_SOURCE);
    PMPI_Get_count(&status, type, &n);
    assert_int_equal(n, 0);
    int bytes_of[] = {0, 4, 8, 16, 20, 24, 28};
    for (int elements = 0; elements < 7; elements++) {
        PMPI_Status_set_elements(&status, type, elements);
        PMPI_Get_count(&status, MPI_BYTE, &n);
        assert_int_equal(n, bytes_of[elements]);
        PMPI_Get_elements_x(&status, type, &many);
        assert_int_equal(many, elements);
        PMPI_Get_count(&status, type, &n);
        assert_int_equal(n, elements % 4 ? MPI_UNDEFINED : elements / 4);
    }
    PMPI_Status_set_elements(&status, MPI_BYTE, 9); /* ends inside the double */
    PMPI_Get_elements(&status, type, &n);
    assert_int_equal(n, MPI_UNDEFINED);
    PMPI_Status_set_elements_x(&status, MPI_BYTE, 3000000000);
    PMPI_Get_count(&status, MPI_BYTE, &n);
    assert_int_equal(n, MPI_UNDEFINED);
    PMPI_Get_elements_x(&status, MPI_BYTE, &many);
    assert_true(many == 3000000000);
    PMPI_Status_set_cancelled(&status, 1);
    PMPI_Status_c2f(&status, fortran);
    memset(&status, 0, sizeof status);
    PMPI_Status_f2c(fortran, &status);
    PMPI_Test_cancelled(&status, &flag);
    assert_true(flag);
    assert_int_equal(PMPI_Get_count(&status, MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE);
    PMPI_Type_free(&type);
    assert_int_equal(r->live_objects, 0);
}

static void fortran_handles(void **state)
{
    (void)state;
    MPI_Datatype a, b;
    PMPI_Type_contiguous(2, MPI_INT, &a);
    PMPI_Type_contiguous(3, MPI_INT, &b);
    MPI_Fint fa = pf_fortran_number(a), fb = pf_fortran_number(b);
    assert_int_not_equal(fa, fb);
    assert_int_equal(pf_fortran_number(a), fa);
    assert_ptr_equal(pf_fortran_handle(fa, MPI_DATATYPE_NULL), a);
    assert_ptr_equal(pf_fortran_handle(fb, MPI_DATATYPE_NULL), b);
    assert_ptr_equal(pf_fortran_handle(fb + 1, MPI_DATATYPE_NULL), MPI_DATATYPE_NULL);
    assert_ptr_equal(pf_fortran_handle(-1, MPI_COMM_NULL), MPI_COMM_NULL);
    assert_int_equal(pf_fortran_number(MPI_COMM_WORLD), 0x101);
    assert_ptr_equal(pf_fortran_handle(0x101, MPI_COMM_NULL), MPI_COMM_WORLD);
    PMPI_Type_free(&a);
    PMPI_Type_free(&b);
}

static void contents(void **state)
{
    struct pf_rank *r = *state;
    MPI_Datatype inner, outer, types[1], f90, same;
    MPI_Aint addresses[1];
    int n, a, t, combiner, integers[2];
    PMPI_Type_vector(2, 1, 3, MPI_INT, &inner);
    PMPI_Type_create_hvector(4, 5, 600, inner, &outer);
    PMPI_Type_free(&inner);
    PMPI_Type_get_envelope(outer, &n, &a, &t, &combiner);
    assert_int_equal(combiner, MPI_COMBINER_HVECTOR);
    assert_true(n == 2 && a == 1 && t == 1);
    assert_int_equal(PMPI_Type_get_contents(outer, 1, 1, 1, integers, addresses, types), MPI_ERR_ARG);
    PMPI_Type_get_contents(outer, 2, 1, 1, integers, addresses, types);
    assert_true(integers[0] == 4 && integers[1] == 5 && addresses[0] == 600);
    PMPI_Type_free(&outer);
    PMPI_Type_get_envelope(types[0], &n, &a, &t, &combiner);
    assert_int_equal(combiner, MPI_COMBINER_VECTOR); /* our reference keeps it */
    PMPI_Type_free(&types[0]);
    assert_int_equal(PMPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);

    assert_int_equal(PMPI_Type_create_f90_real(10, MPI_UNDEFINED, &f90), MPI_SUCCESS);
    assert_int_equal(PMPI_Type_create_f90_real(10, MPI_UNDEFINED, &same), MPI_SUCCESS);
    assert_ptr_equal(f90, same);
    PMPI_Type_size(f90, &n);
    assert_int_equal(n, 8);
    PMPI_Type_get_envelope(f90, &n, &a, &t, &combiner);
    assert_true(combiner == MPI_COMBINER_F90_REAL && n == 2 && t == 0);
    PMPI_Type_get_contents(f90, 2, 0, 0, integers, NULL, NULL);
    assert_true(integers[0] == 10 && integers[1] == MPI_UNDEFINED);
    assert_int_equal(PMPI_Type_free(&f90), MPI_ERR_TYPE);
    assert_int_equal(PMPI_Type_create_f90_integer(40, &f90), MPI_ERR_ARG);
    assert_int_equal(r->live_objects, 0);
}

static void bad_types(void **state)
{
    struct pf_rank *r = *state;
    MPI_Datatype type = MPI_DATATYPE_NULL, predefined = MPI_INT;
    int minus[] = {-1}, zero[] = {0}, one[] = {1}, two[] = {2};
    assert_int_equal(PMPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
    assert_int_equal(PMPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_indexed(1, minus, zero, MPI_INT, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_indexed(1, NULL, zero, MPI_INT, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_subarray(1, one, two, zero, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_subarray(1, two, one, two, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_subarray(1, two, one, one, 77, MPI_INT, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_hvector(2, 1, (MPI_Aint)1 << 62, MPI_DOUBLE, &type), MPI_SUCCESS);
    PMPI_Type_free(&type);
    assert_int_equal(PMPI_Type_create_hvector(8, 1, (MPI_Aint)1 << 62, MPI_DOUBLE, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_free(&predefined), MPI_ERR_TYPE);
    assert_int_equal(PMPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type), MPI_SUCCESS);
    assert_ptr_equal(type, MPI_REAL8);
    assert_int_equal(PMPI_Type_match_size(MPI_TYPECLASS_REAL, 7, &type), MPI_ERR_ARG);
    assert_int_equal(r->live_objects, 0);
}

static int entered, left;

static void count_enter(struct pf_instance *in)
{
    (void)in;
    entered++;
}

static void count_leave(struct pf_instance *in)
{
    (void)in;
    left++;
}

/* A call of the middleware's own enters an implementation unless the rank is inside: in whichever of its
 * models. */
static void own_calls(void **state)
{
    static const struct {
        enum pf_model before, model;
        enum pf_impl impl;
        int entered;
    } cases[] = {
        {PF_MODEL_NONE, PF_MODEL_SMPI, PF_IMPL_SMPI, 1},
        {PF_MODEL_SMPI, PF_MODEL_SMPI, PF_IMPL_SMPI, 0},
        {PF_MODEL_ANALYTIC, PF_MODEL_SMPI, PF_IMPL_SMPI, 1},
        {PF_MODEL_SMPI, PF_MODEL_PORTALS, PF_IMPL_OPENMPI, 1},
        {PF_MODEL_PORTALS, PF_MODEL_PORTALS, PF_IMPL_OPENMPI, 0},
        {PF_MODEL_PORTALS_IDEAL, PF_MODEL_PORTALS, PF_IMPL_OPENMPI, 0},
        {PF_MODEL_COUNT, PF_MODEL_ANALYTIC, PF_IMPL_ANALYTIC, 1},
        {PF_MODEL_PORTALS_IDEAL, PF_MODEL_ANALYTIC, PF_IMPL_ANALYTIC, 1},
    };
    const struct pf_adapter_ops ops = {.size = sizeof ops, .enter = count_enter, .leave = count_leave};
    struct pf_rank *r = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pf_instance in = {.ops = &ops, .impl = (int)cases[i].impl, .model = cases[i].model};
        entered = left = 0;
        r->call.model = cases[i].before;
        int before = pf_middleware_native_begin(r, &in);
        assert_int_equal(r->call.model, cases[i].model);
        pf_middleware_native_end(r, &in, before);
        assert_int_equal(r->call.model, cases[i].before);
        assert_int_equal(entered, cases[i].entered);
        assert_int_equal(left, cases[i].entered);
    }
    r->call.model = PF_MODEL_NONE;
}

static void tools(void **state)
{
    (void)state;
    int n = 7;
    MPI_T_pvar_session session;
    assert_int_equal(PMPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    assert_int_equal(PMPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    PMPI_T_init_thread(MPI_THREAD_SINGLE, &n);
    PMPI_T_init_thread(MPI_THREAD_SINGLE, &n);
    PMPI_T_finalize();
    assert_int_equal(PMPI_T_cvar_get_num(&n), MPI_SUCCESS);
    assert_int_equal(n, 0);
    assert_int_equal(PMPI_T_category_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                     MPI_T_ERR_INVALID_INDEX);
    assert_int_equal(PMPI_T_pvar_session_create(&session), MPI_SUCCESS);
    assert_int_equal(PMPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    assert_int_equal(PMPI_T_pvar_read(session, MPI_T_PVAR_HANDLE_NULL, &n), MPI_T_ERR_INVALID_HANDLE);
    assert_int_equal(PMPI_T_pvar_session_free(&session), MPI_SUCCESS);
    assert_int_equal(PMPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
    PMPI_T_finalize();
    assert_int_equal(PMPI_T_pvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
}

int main(void)
{
    struct pf_rank *r = fake_rank(0, 4);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(error_handlers, r),
        cmocka_unit_test(error_codes),
        cmocka_unit_test_prestate(infos, r),
        cmocka_unit_test_prestate(statuses, r),
        cmocka_unit_test(fortran_handles),
        cmocka_unit_test_prestate(contents, r),
        cmocka_unit_test_prestate(bad_types, r),
        cmocka_unit_test_prestate(own_calls, r),
        cmocka_unit_test(tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
