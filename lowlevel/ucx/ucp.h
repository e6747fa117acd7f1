/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The binary interface of UCX (libucp, libucs, libucm) as far as Open MPI's pml/ucx and osc/ucx and MPICH use
 * it: names, values and layouts are those of UCX 1.13 and of all versions with the same libucp.so.0. Of
 * structures that callers fill in, only the beginning that is read here.
 */
#define UCP_API_MAJOR   1
#define UCP_API_MINOR   13
#define UCP_API_RELEASE 1

/* In one byte, as callers expect it. */
typedef enum ucs_status {
    UCS_OK = 0,
    UCS_INPROGRESS = 1,
    UCS_ERR_NO_MEMORY = -4,
    UCS_ERR_INVALID_PARAM = -5,
    UCS_ERR_INVALID_ADDR = -7,
    UCS_ERR_MESSAGE_TRUNCATED = -9,
    UCS_ERR_CANCELED = -16,
    UCS_ERR_UNSUPPORTED = -22,
    UCS_ERR_LAST = -100
} __attribute__((packed)) ucs_status_t;

/* A status, or a request. */
typedef void *ucs_status_ptr_t;
#define UCS_STATUS_PTR(status) ((void *)(intptr_t)(status))

typedef uint64_t ucp_tag_t;
typedef uint64_t ucp_datatype_t;
typedef struct ucp_context *ucp_context_h;
typedef struct ucp_worker *ucp_worker_h;
typedef struct ucp_ep *ucp_ep_h;
typedef struct ucp_ep *ucp_rkey_h; /* see rma.c */
typedef struct ucp_mem *ucp_mem_h;
typedef struct ucp_config ucp_config_t;
typedef struct ucp_address ucp_address_t;
typedef struct ucx_message *ucp_tag_message_h;

/* What a worker's address says; callers pass it on as bytes. */
struct ucp_address {
    uint32_t mark;
    int32_t rank, user, number;
};

typedef struct ucp_tag_recv_info {
    ucp_tag_t sender_tag;
    size_t length;
} ucp_tag_recv_info_t;

/* Datatypes: the class in the lowest bits; above them the size of an element, or the address of a
 * description. */
enum {
    UCP_DATATYPE_CONTIG = 0,
    UCP_DATATYPE_IOV = 2,
    UCP_DATATYPE_GENERIC = 7,
    UCP_DATATYPE_SHIFT = 3,
    UCP_DATATYPE_CLASSES = 7
};

typedef struct ucp_dt_iov {
    void *buffer;
    size_t length;
} ucp_dt_iov_t;

typedef struct ucp_generic_dt_ops {
    void *(*start_pack)(void *context, const void *buffer, size_t count);
    void *(*start_unpack)(void *context, void *buffer, size_t count);
    size_t (*packed_size)(void *state);
    size_t (*pack)(void *state, size_t offset, void *dest, size_t max_length);
    ucs_status_t (*unpack)(void *state, size_t offset, const void *src, size_t length);
    void (*finish)(void *state);
} ucp_generic_dt_ops_t;

enum {
    UCP_PARAM_FIELD_FEATURES = 1 << 0,
    UCP_PARAM_FIELD_REQUEST_SIZE = 1 << 1,
    UCP_PARAM_FIELD_REQUEST_INIT = 1 << 2,
    UCP_PARAM_FIELD_REQUEST_CLEANUP = 1 << 3
};
enum {
    UCP_FEATURE_TAG = 1 << 0,
    UCP_FEATURE_RMA = 1 << 1,
    UCP_FEATURE_AMO32 = 1 << 2,
    UCP_FEATURE_AMO64 = 1 << 3,
    UCP_FEATURE_AM = 1 << 6
};

typedef struct ucp_params {
    uint64_t field_mask;
    uint64_t features;
    size_t request_size;
    void (*request_init)(void *request);
    void (*request_cleanup)(void *request);
} ucp_params_t;

enum {
    UCP_ATTR_FIELD_REQUEST_SIZE = 1 << 0,
    UCP_ATTR_FIELD_THREAD_MODE = 1 << 1,
    UCP_ATTR_FIELD_MEMORY_TYPES = 1 << 2
};
enum { UCS_THREAD_MODE_SINGLE = 0 };
enum { UCS_MEMORY_TYPES_HOST = 1 };

typedef struct ucp_context_attr {
    uint64_t field_mask;
    size_t request_size;
    int thread_mode;
    uint64_t memory_types;
} ucp_context_attr_t;

typedef struct ucp_worker_params {
    uint64_t field_mask;
    int thread_mode;
} ucp_worker_params_t;

enum { UCP_WORKER_ATTR_FIELD_THREAD_MODE = 1 << 0, UCP_WORKER_ATTR_FIELD_ADDRESS = 1 << 1 };

typedef struct ucp_worker_attr {
    uint64_t field_mask;
    int thread_mode;
    uint32_t address_flags;
    ucp_address_t *address;
    size_t address_length;
} ucp_worker_attr_t;

enum { UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = 1 << 0 };

typedef struct ucp_ep_params {
    uint64_t field_mask;
    const ucp_address_t *address;
} ucp_ep_params_t;

typedef struct ucp_ep_attr ucp_ep_attr_t;

typedef void (*ucp_send_callback_t)(void *request, ucs_status_t status);
typedef void (*ucp_send_nbx_callback_t)(void *request, ucs_status_t status, void *user_data);
typedef void (*ucp_tag_recv_callback_t)(void *request, ucs_status_t status, ucp_tag_recv_info_t *info);
typedef void (*ucp_tag_recv_nbx_callback_t)(void *request, ucs_status_t status,
                                            const ucp_tag_recv_info_t *info, void *user_data);

enum {
    UCP_OP_ATTR_FIELD_REQUEST = 1 << 0,
    UCP_OP_ATTR_FIELD_CALLBACK = 1 << 1,
    UCP_OP_ATTR_FIELD_USER_DATA = 1 << 2,
    UCP_OP_ATTR_FIELD_DATATYPE = 1 << 3,
    UCP_OP_ATTR_FLAG_NO_IMM_CMPL = 1 << 16,
    UCP_OP_ATTR_FLAG_FAST_CMPL = 1 << 17
};

typedef struct {
    uint32_t op_attr_mask;
    uint32_t flags;
    void *request; /* the end of memory for one */
    union {
        ucp_send_nbx_callback_t send;
        ucp_tag_recv_nbx_callback_t recv;
        ucp_send_callback_t old_send; /* of the older calls; they ignore what the others get more */
        ucp_tag_recv_callback_t old_recv;
    } cb;
    ucp_datatype_t datatype;
    void *user_data;
} ucp_request_param_t;

/* Integers of 4 or 8 bytes. A conditional swap finds its new value where it puts the old one. */
typedef enum ucp_atomic_post_op {
    UCP_ATOMIC_POST_OP_ADD,
    UCP_ATOMIC_POST_OP_AND,
    UCP_ATOMIC_POST_OP_OR,
    UCP_ATOMIC_POST_OP_XOR
} ucp_atomic_post_op_t;
typedef enum ucp_atomic_fetch_op {
    UCP_ATOMIC_FETCH_OP_FADD,
    UCP_ATOMIC_FETCH_OP_SWAP,
    UCP_ATOMIC_FETCH_OP_CSWAP,
    UCP_ATOMIC_FETCH_OP_FAND,
    UCP_ATOMIC_FETCH_OP_FOR,
    UCP_ATOMIC_FETCH_OP_FXOR
} ucp_atomic_fetch_op_t;

enum { UCP_MEM_MAP_ALLOCATE = 1 << 1 };

/* Callers fill in all of them, and ask for both below. */
typedef struct ucp_mem_map_params {
    uint64_t field_mask;
    void *address;
    size_t length;
    unsigned flags;
} ucp_mem_map_params_t;

typedef struct ucp_mem_attr {
    uint64_t field_mask;
    void *address;
    size_t length;
} ucp_mem_attr_t;

typedef struct ucp_am_recv_param {
    uint64_t recv_attr;
    ucp_ep_h reply_ep;
} ucp_am_recv_param_t;

typedef ucs_status_t (*ucp_am_callback_t)(void *arg, void *data, size_t length, ucp_ep_h reply_ep,
                                          unsigned flags);
typedef ucs_status_t (*ucp_am_recv_callback_t)(void *arg, const void *header, size_t header_length,
                                               void *data, size_t length, const ucp_am_recv_param_t *param);

typedef struct ucp_am_handler_param {
    uint64_t field_mask;
    unsigned id;
    uint32_t flags;
    ucp_am_recv_callback_t cb;
    void *arg;
} ucp_am_handler_param_t;

/* libucp. UCX's documentation says what they do. */
ucs_status_t ucp_config_read(const char *prefix, const char *file, ucp_config_t **config);
void ucp_config_release(ucp_config_t *config);
void ucp_get_version(unsigned *major, unsigned *minor, unsigned *release);
ucs_status_t ucp_init_version(unsigned major, unsigned minor, const ucp_params_t *params,
                              const ucp_config_t *config, ucp_context_h *context);
void ucp_cleanup(ucp_context_h context);
ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t *attr);
void ucp_context_print_info(ucp_context_h context, FILE *stream);
ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params,
                               ucp_worker_h *worker);
void ucp_worker_destroy(ucp_worker_h worker);
ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t *attr);
ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t **address, size_t *length);
void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address);
unsigned ucp_worker_progress(ucp_worker_h worker);
ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *ep);
ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr);
ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep);
void ucp_ep_destroy(ucp_ep_h ep);
ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned flags, ucp_send_callback_t cb);
ucs_status_t ucp_worker_fence(ucp_worker_h worker);
ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker, unsigned flags, ucp_send_callback_t cb);
ucs_status_t ucp_ep_flush(ucp_ep_h ep);
ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id, ucp_am_callback_t cb, void *arg,
                                       uint32_t flags);
ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker, const ucp_am_handler_param_t *param);
ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void *buffer, size_t count,
                                ucp_datatype_t datatype, ucp_send_callback_t cb, unsigned flags);
ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_length,
                                 const void *buffer, size_t count, const ucp_request_param_t *param);
ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *descriptor, void *buffer, size_t count,
                                      const ucp_request_param_t *param);
ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params, ucp_mem_h *mem);
ucs_status_t ucp_mem_query(ucp_mem_h mem, ucp_mem_attr_t *attr);
ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h mem);
ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h mem, void **buffer, size_t *size);
void ucp_rkey_buffer_release(void *buffer);
ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *buffer, ucp_rkey_h *rkey);
void ucp_rkey_destroy(ucp_rkey_h rkey);
ucs_status_t ucp_put(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey);
ucs_status_t ucp_put_nbi(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey);
ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep, const void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey,
                            ucp_send_callback_t cb);
ucs_status_t ucp_get_nbi(ucp_ep_h ep, void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey);
ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep, void *buffer, size_t length, uint64_t remote, ucp_rkey_h rkey,
                            ucp_send_callback_t cb);
ucs_status_t ucp_atomic_post(ucp_ep_h ep, ucp_atomic_post_op_t operation, uint64_t value, size_t size,
                             uint64_t remote, ucp_rkey_h rkey);
ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep, ucp_atomic_fetch_op_t operation, uint64_t value,
                                     void *result, size_t size, uint64_t remote, ucp_rkey_h rkey,
                                     ucp_send_callback_t cb);
ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops, void *context, ucp_datatype_t *datatype);
void ucp_dt_destroy(ucp_datatype_t datatype);
ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void *buffer, size_t count, ucp_datatype_t datatype,
                                 ucp_tag_t tag, ucp_send_callback_t cb);
ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep, const void *buffer, size_t count, ucp_datatype_t datatype,
                                      ucp_tag_t tag, ucp_send_callback_t cb);
ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
                                  const ucp_request_param_t *param);
ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
                                       const ucp_request_param_t *param);
ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void *buffer, size_t count, ucp_datatype_t datatype,
                                 ucp_tag_t tag, ucp_tag_t mask, ucp_tag_recv_callback_t cb);
ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer, size_t count, ucp_tag_t tag,
                                  ucp_tag_t mask, const ucp_request_param_t *param);
ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag, ucp_tag_t mask, int remove,
                                   ucp_tag_recv_info_t *info);
ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker, void *buffer, size_t count, ucp_datatype_t datatype,
                                     ucp_tag_message_h message, ucp_tag_recv_callback_t cb);
ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void *buffer, size_t count,
                                      ucp_tag_message_h message, const ucp_request_param_t *param);
ucs_status_t ucp_request_check_status(void *request);
int ucp_request_is_completed(void *request);
ucs_status_t ucp_request_test(void *request, ucp_tag_recv_info_t *info);
void ucp_request_free(void *request);
void ucp_request_release(void *request);
void ucp_request_cancel(ucp_worker_h worker, void *request);

/* libucs */
const char *ucs_status_string(ucs_status_t status);

/* libucm */
void ucm_set_external_event(int events);
ucs_status_t ucm_test_events(int events);
ucs_status_t ucm_test_external_events(int events);
void ucm_vm_munmap(void *address, size_t length);
