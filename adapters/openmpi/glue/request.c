/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of persistent requests. MPI_Testany, MPI_Testall and, when all are complete before, MPI_Waitall
 * return no error when the operation of a persistent request has failed, which other calls do (MPI 3.1
 * section 3.7.5). The request keeps the error until it starts again.
 */
#include "ompi_config.h"

#include "ompi/request/request.h"

#include "adapters/openmpi/glue/internal.h"

static ompi_request_test_any_fn_t stock_any;
static ompi_request_test_all_fn_t stock_all;
static ompi_request_wait_all_fn_t stock_wait_all;

static int failed(const ompi_request_t *request)
{
    return request->req_persistent ? request->req_status.MPI_ERROR : MPI_SUCCESS;
}

static int test_any(size_t count, ompi_request_t **requests, int *index, int *completed,
                    ompi_status_public_t *status)
{
    int code = stock_any(count, requests, index, completed, status);
    return code == MPI_SUCCESS && *completed && *index >= 0 ? failed(requests[*index]) : code;
}

static int failed_of_all(size_t count, ompi_request_t **requests)
{
    int code = MPI_SUCCESS;
    for (size_t i = 0; code == MPI_SUCCESS && i < count; i++)
        if (failed(requests[i]) != MPI_SUCCESS)
            code = MPI_ERR_IN_STATUS;
    return code;
}

static int test_all(size_t count, ompi_request_t **requests, int *completed, ompi_status_public_t *statuses)
{
    int code = stock_all(count, requests, completed, statuses);
    return code == MPI_SUCCESS && *completed ? failed_of_all(count, requests) : code;
}

static int wait_all(size_t count, ompi_request_t **requests, ompi_status_public_t *statuses)
{
    int code = stock_wait_all(count, requests, statuses);
    return code == MPI_SUCCESS ? failed_of_all(count, requests) : code;
}

void pf_glue_request_install(void)
{
    stock_any = ompi_request_functions.req_test_any;
    stock_all = ompi_request_functions.req_test_all;
    stock_wait_all = ompi_request_functions.req_wait_all;
    ompi_request_functions.req_wait_all = wait_all;
    ompi_request_functions.req_test_any = test_any;
    ompi_request_functions.req_test_all = test_all;
}
