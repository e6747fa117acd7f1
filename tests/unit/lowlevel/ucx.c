/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated UCX over a double of the NIC: protocols, matching, requests, datatypes, settings, one-sided
 * calls and active messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/config.h"
#include "lowlevel/ucx/internal.h"
#include "tests/unit/lowlevel/fake_nic.h"

enum { BYTE = 1 << UCP_DATATYPE_SHIFT, MOST = 4000 };

/* What the callers of two processes have. */
static struct peer {
    pf_self_t self;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep; /* to the other */
} peers[2];

struct user {
    int inits, cleanups, calls;
    ucs_status_t status;
    size_t length;
};

static int inits, cleanups;
static double paid;
static int notices;
static unsigned char out[MOST], in[MOST];

static void count_init(void *request)
{
    inits++;
    *(struct user *)request = (struct user){.inits = 1};
}

static void count_cleanup(void *request)
{
    (void)request;
    cleanups++;
}

static void count_pay(pf_self_t *self, double seconds)
{
    (void)self;
    paid += seconds;
}

static void count_notice(void *arg)
{
    ++*(int *)arg;
}

static int set_up(void **state)
{
    const ucp_params_t params = {UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                                     UCP_PARAM_FIELD_REQUEST_INIT | UCP_PARAM_FIELD_REQUEST_CLEANUP,
                                 UCP_FEATURE_TAG, sizeof(struct user), count_init, count_cleanup};
    ucp_ep_params_t ep = {UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, NULL};
    ucp_address_t *address;
    size_t length;
    (void)state;
    memset(peers, 0, sizeof peers);
    inits = cleanups = notices = 0;
    for (int i = 0; i < 2; i++) {
        peers[i].self.rank = i;
        fake_caller = &peers[i].self;
        assert_int_equal(ucp_init_version(1, 13, &params, NULL, &peers[i].context), UCS_OK);
        assert_int_equal(ucp_worker_create(peers[i].context, NULL, &peers[i].worker), UCS_OK);
        pf_ucx_idle_at_least(fake_caller, PF_UCX_OPENMPI, 2);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ucp_worker_get_address(peers[!i].worker, &address, &length), UCS_OK);
        ep.address = address;
        assert_int_equal(ucp_ep_create(peers[i].worker, &ep, &peers[i].ep), UCS_OK);
        assert_int_equal(ucp_ep_query(peers[i].ep, NULL), UCS_ERR_UNSUPPORTED); /* it has no transports */
        ucp_worker_release_address(peers[!i].worker, address);
    }
    for (int i = 0; i < MOST; i++)
        out[i] = (unsigned char)(i * 7 + 1);
    memset(in, 0, sizeof in);
    fake_forget();
    paid = 0;
    pf_ucx_set_pay(PF_UCX_OPENMPI, count_pay);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_carry_out_all();
    for (int i = 0; i < 2; i++) {
        struct ucx_process *process = peers[i].self.ucx[PF_UCX_OPENMPI];
        ucp_worker_destroy(peers[i].worker);
        free(peers[i].worker);
        ucp_cleanup(peers[i].context);
        free(process);
    }
    assert_int_equal(inits, cleanups);
    return 0;
}

/* The network and both processors, until nothing happens any more. */
static void settle(void)
{
    for (int i = 0; i < 10; i++) {
        fake_carry_out_all();
        for (int k = 0; k < 2; k++) {
            peers[k].self.ucx[PF_UCX_OPENMPI]->idle = -100; /* a poll in vain does not park */
            ucp_worker_progress(peers[k].worker);
        }
    }
}

static void sent(void *request, ucs_status_t status, void *data)
{
    struct user *user = request;
    (void)data;
    user->calls++;
    user->status = status;
}

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *data)
{
    sent(request, status, data);
    ((struct user *)request)->length = info->length;
}

static struct user *start_send(size_t length, ucp_tag_t tag, uint32_t flags)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | flags, .cb.send = sent};
    return ucp_tag_send_nbx(peers[0].ep, out, length, tag, &param);
}

static struct user *start_receive(size_t room, ucp_tag_t tag, ucp_tag_t mask)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FLAG_NO_IMM_CMPL, .cb.recv = received};
    return ucp_tag_recv_nbx(peers[1].worker, in, room, tag, mask, &param);
}

static void finish(struct user *user, ucs_status_t status)
{
    assert_non_null(user);
    assert_int_equal(user->calls, 1);
    assert_int_equal(user->status, status);
    user->calls = 0;
    ucp_request_free(user);
}

/* Thresholds of main(): short up to 92 bytes, pieces of 1000, zcopy from 1500, rendezvous from 2500 or 3500.
 */
static void check_protocol(size_t length, uint32_t flags, const char *kinds, bool immediate)
{
    for (int unexpected = 0; unexpected < 2; unexpected++) {
        struct user *send = NULL, *receive = NULL;
        fake_forget();
        memset(in, 0, sizeof in);
        if (!unexpected)
            receive = start_receive(MOST, 5, ~0ULL);
        send = start_send(length, 5, flags);
        assert_int_equal(send == NULL, immediate);
        settle();
        if (unexpected)
            receive = start_receive(MOST, 5, ~0ULL);
        settle();
        assert_int_equal(receive->length, length);
        assert_memory_equal(in, out, length);
        assert_string_equal(fake_kinds, kinds);
        finish(receive, UCS_OK);
        if (send)
            finish(send, UCS_OK);
    }
}

static void test_protocols(void **state)
{
    struct pf_ucx_counters counters;
    (void)state;
    check_protocol(0, 0, "P", true);
    check_protocol(92, 0, "P", true);
    check_protocol(93, 0, "P", true);
    check_protocol(1000, 0, "P", true);
    check_protocol(1001, 0, "PP", true);
    check_protocol(1500, 0, "PPA", false);
    check_protocol(2499, 0, "PPPA", false);
    check_protocol(2500, 0, "PGRP", false);
    check_protocol(2500, UCP_OP_ATTR_FLAG_FAST_CMPL, "PPP", true);
    check_protocol(3500, UCP_OP_ATTR_FLAG_FAST_CMPL, "PGRP", false);
    pf_ucx_counters(&peers[0].self, &counters);
    assert_int_equal(counters.sends_short, 4);
    assert_int_equal(counters.sends_bcopy, 8);
    assert_int_equal(counters.sends_zcopy, 4);
    assert_int_equal(counters.sends_rndv, 4);
    pf_ucx_counters(&peers[1].self, &counters);
    assert_int_equal(counters.unexpected, 10);
}

/* Copies on both sides, at 1e6 B/s; 1 s for each registration; none of a short message's sender. */
static void test_cost(void **state)
{
    static const struct {
        size_t length;
        double seconds;
    } rows[] = {{50, 50e-6}, {1000, 2000e-6}, {1001, 2002e-6}, {2000, 1 + 2000e-6}, {3000, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        paid = 0;
        struct user *receive = start_receive(MOST, 5, ~0ULL), *send = start_send(rows[i].length, 5, 0);
        settle();
        assert_true(paid > rows[i].seconds - 1e-9 && paid < rows[i].seconds + 1e-9);
        finish(receive, UCS_OK);
        if (send)
            finish(send, UCS_OK);
    }
    pf_ucx_free_mode(&peers[0].self, PF_UCX_OPENMPI, true);
    pf_ucx_free_mode(&peers[1].self, PF_UCX_OPENMPI, true);
    paid = 0;
    start_send(1000, 5, 0);
    settle();
    finish(start_receive(MOST, 5, ~0ULL), UCS_OK);
    assert_true(paid == 0);
}

/* The oldest that matches, under any mask, on both sides. */
static void test_matching(void **state)
{
    (void)state;
    struct user *other = start_receive(MOST, 7, ~0ULL), *low = start_receive(MOST, 0x105, 0xff),
                *any = start_receive(MOST, 0, 0);
    start_send(10, 0x305, 0);
    start_send(20, 0x999, 0);
    settle();
    assert_int_equal(low->length, 10);
    assert_int_equal(any->length, 20);
    assert_int_equal(other->calls, 0);
    finish(low, UCS_OK);
    finish(any, UCS_OK);
    start_send(30, 8, 0);
    start_send(40, 7, 0);
    start_send(50, 8, 0);
    settle();
    finish(other, UCS_OK);
    any = start_receive(MOST, 0, 0);
    assert_int_equal(any->length, 30);
    finish(any, UCS_OK);
    any = start_receive(MOST, 8, ~0ULL);
    assert_int_equal(any->length, 50);
    finish(any, UCS_OK);
}

static void old_received(void *request, ucs_status_t status, ucp_tag_recv_info_t *info)
{
    received(request, status, info, NULL);
}

static void test_probe(void **state)
{
    ucp_tag_recv_info_t info;
    (void)state;
    assert_null(ucp_tag_probe_nb(peers[1].worker, 5, ~0ULL, 0, &info));
    start_send(1700, 0x15, UCP_OP_ATTR_FLAG_FAST_CMPL);
    start_send(60, 0x25, 0);
    settle();
    assert_non_null(ucp_tag_probe_nb(peers[1].worker, 5, 0xf, 0, &info));
    assert_int_equal(info.length, 1700);
    assert_int_equal(info.sender_tag, 0x15);
    ucp_tag_message_h message = ucp_tag_probe_nb(peers[1].worker, 5, 0xf, 1, &info);
    assert_int_equal(info.length, 1700);
    struct user *next = start_receive(MOST, 5, 0xf);
    assert_int_equal(next->length, 60);
    finish(next, UCS_OK);
    struct user *taken = ucp_tag_msg_recv_nb(peers[1].worker, in, MOST, BYTE, message, old_received);
    assert_memory_equal(in, out, 1700);
    finish(taken, UCS_OK);
}

static void test_cancel(void **state)
{
    (void)state;
    struct user *receive = start_receive(MOST, 5, ~0ULL);
    ucp_request_cancel(peers[1].worker, receive);
    finish(receive, UCS_ERR_CANCELED);
    struct user *send = start_send(3000, 5, 0);
    ucp_request_cancel(peers[0].worker, send); /* goes on, as in UCX */
    settle();
    assert_int_equal(send->calls, 0);
    receive = start_receive(MOST, 5, ~0ULL);
    ucp_request_cancel(peers[1].worker, receive); /* too late */
    settle();
    finish(receive, UCS_OK);
    finish(send, UCS_OK);
}

static void old_sent(void *request, ucs_status_t status)
{
    sent(request, status, NULL);
}

static void test_synchronous(void **state)
{
    static const size_t lengths[] = {10, 500, 2000};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct user *send = ucp_tag_send_sync_nb(peers[0].ep, out, lengths[i], BYTE, 5, old_sent);
        settle();
        int before = send->calls;
        struct user *receive = start_receive(MOST, 5, ~0ULL);
        settle();
        assert_int_equal(before, 0);
        finish(receive, UCS_OK);
        finish(send, UCS_OK);
    }
}

static void test_truncation(void **state)
{
    static const size_t lengths[] = {50, 1200, 3000};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct user *send = start_send(lengths[i], 5, 0), *receive = start_receive(40, 5, ~0ULL);
        settle();
        assert_int_equal(receive->length, lengths[i]);
        finish(receive, UCS_ERR_MESSAGE_TRUNCATED);
        if (send)
            finish(send, UCS_OK);
        assert_int_equal(in[40], 0);
    }
}

/* Memory of the caller, and requests that it gives up early. */
static void test_requests(void **state)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_tag_recv_info_t info;
    (void)state;
    assert_int_equal(ucp_context_query(peers[1].context, &attr), UCS_OK);
    char *memory = malloc(attr.request_size);
    assert_non_null(memory);
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST,
                                 .request = memory + attr.request_size};
    ucp_tag_recv_nbx(peers[1].worker, in, MOST, 5, ~0ULL, &param);
    assert_int_equal(ucp_request_test(param.request, &info), UCS_INPROGRESS);
    start_send(30, 5, 0);
    settle();
    assert_int_equal(ucp_request_test(param.request, &info), UCS_OK);
    assert_int_equal(info.length, 30);
    free(memory);

    int before = inits;
    for (int i = 0; i < 100; i++) {
        struct user *receive = start_receive(MOST, 5, ~0ULL);
        ucp_request_free(receive);
        struct user *send = start_send(3000, 5, 0);
        assert_int_equal(ucp_request_check_status(send), UCS_INPROGRESS);
        ucp_request_free(send);
        settle();
        assert_int_equal(receive->calls + send->calls, 0);
    }
    assert_true(inits - before <= 32); /* they are used again */
}

/* Every second byte. */
static int states;

static void *start_pack(void *context, const void *buffer, size_t count)
{
    size_t *packing = malloc(2 * sizeof *packing);
    (void)context;
    assert_non_null(packing);
    packing[0] = (size_t)(uintptr_t)buffer;
    packing[1] = count;
    states++;
    return packing;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return start_pack(context, buffer, count);
}

static size_t packed_size(void *packing)
{
    return ((size_t *)packing)[1];
}

static size_t pack(void *packing, size_t offset, void *to, size_t most)
{
    const unsigned char *from = (const unsigned char *)((size_t *)packing)[0];
    size_t part = most < 100 ? most : 100; /* not all at once */
    for (size_t i = 0; i < part; i++)
        ((unsigned char *)to)[i] = from[2 * (offset + i)];
    return part;
}

static ucs_status_t unpack(void *packing, size_t offset, const void *from, size_t length)
{
    unsigned char *to = (unsigned char *)((size_t *)packing)[0];
    for (size_t i = 0; i < length; i++)
        to[2 * (offset + i)] = ((const unsigned char *)from)[i];
    return UCS_OK;
}

static void end_packing(void *packing)
{
    states--;
    free(packing);
}

static void test_generic(void **state)
{
    static const ucp_generic_dt_ops_t ops = {start_pack, start_unpack, packed_size,
                                             pack,       unpack,       end_packing};
    static const struct {
        size_t count;
        const char *kinds;
    } rows[] = {{50, "P"}, {1600, "PP"}};
    static unsigned char wide[2 * MOST];
    ucp_datatype_t type;
    (void)state;
    for (int i = 0; i < 2; i++) { /* from pieces into one */
        fake_forget();
        assert_int_equal(ucp_dt_create_generic(&ops, NULL, &type), UCS_OK);
        for (size_t k = 0; k < 2 * rows[i].count; k++)
            wide[k] = (unsigned char)k;
        struct user *send = ucp_tag_send_nb(peers[0].ep, wide, rows[i].count, type, 5, old_sent);
        settle();
        finish(start_receive(MOST, 5, ~0ULL), UCS_OK);
        assert_null(send);
        assert_string_equal(fake_kinds, rows[i].kinds);
        for (size_t k = 0; k < rows[i].count; k++)
            assert_int_equal(in[k], (unsigned char)(2 * k));
        ucp_dt_destroy(type);
    }
    /* A rendezvous into pieces. */
    fake_forget();
    memset(wide, 0, sizeof wide);
    assert_int_equal(ucp_dt_create_generic(&ops, NULL, &type), UCS_OK);
    struct user *receive = ucp_tag_recv_nb(peers[1].worker, wide, 3000, type, 5, ~0ULL, old_received);
    struct user *send = start_send(3000, 5, 0);
    settle();
    assert_string_equal(fake_kinds, "PPPPP"); /* RTS, RTR, and the data */
    finish(receive, UCS_OK);
    finish(send, UCS_OK);
    ucp_dt_destroy(type);
    for (int k = 0; k < 3000; k++)
        assert_int_equal(wide[2 * k], out[k]);
    assert_int_equal(states, 0);
}

static void test_parking(void **state)
{
    (void)state;
    pf_ucx_set_notify(&peers[1].self, PF_UCX_OPENMPI, count_notice, &notices);
    pf_ucx_enter(&peers[1].self, PF_UCX_OPENMPI, 3);
    assert_int_equal(pf_ucx_network_now(&peers[1].self, PF_UCX_OPENMPI), 3);
    struct user *receive = start_receive(MOST, 5, ~0ULL);
    start_send(30, 5, 0);
    for (int i = 0; i < 1000 && receive->calls == 0; i++)
        ucp_worker_progress(peers[1].worker);
    assert_int_equal(fake_parks, 1);
    assert_int_equal(notices, 0); /* it was there itself */
    finish(receive, UCS_OK);
    start_send(30, 5, 0);
    fake_carry_out_all();
    assert_int_equal(notices, 1);
}

static void fill_with_length(void *arg, void *bytes, size_t length)
{
    memset(bytes, (int)length, length);
    ++*(int *)arg;
}

/* Sends go nowhere, receives end at once, and what has come stays where it is. */
static void test_pretence(void **state)
{
    int asked = 0;
    const struct pf_ucx_pretence pretence = {.fill = fill_with_length, .arg = &asked}, still = {.fill = NULL};
    (void)state;
    start_send(10, 5, 0);
    fake_carry_out_all();
    pf_ucx_pretend(&peers[1].self, PF_UCX_OPENMPI, &pretence);
    struct user *receive = start_receive(20, 5, ~0ULL);
    finish(receive, UCS_OK);
    assert_int_equal(asked, 1);
    assert_int_equal(in[19], 20);
    assert_int_equal(ucp_worker_progress(peers[1].worker), 0);
    pf_ucx_pretend(&peers[1].self, PF_UCX_OPENMPI, &still);
    receive = start_receive(MOST, 5, ~0ULL);
    start_send(15, 7, 0);
    assert_int_equal(ucp_worker_progress(peers[1].worker), 0);
    assert_int_equal(receive->calls, 0);
    pf_ucx_pretend(&peers[1].self, PF_UCX_OPENMPI, NULL);
    settle();
    assert_int_equal(receive->length, 10);
    finish(receive, UCS_OK);
    pf_ucx_pretend(&peers[0].self, PF_UCX_OPENMPI, &pretence);
    start_send(10, 6, 0);
    pf_ucx_pretend(&peers[0].self, PF_UCX_OPENMPI, &still);
    start_send(20, 8, 0);
    pf_ucx_pretend(&peers[0].self, PF_UCX_OPENMPI, NULL);
    settle();
    ucp_tag_recv_info_t info;
    assert_null(ucp_tag_probe_nb(peers[1].worker, 6, ~0ULL, 0, &info));
    assert_non_null(ucp_tag_probe_nb(peers[1].worker, 7, ~0ULL, 0, &info));
    assert_non_null(ucp_tag_probe_nb(peers[1].worker, 8, ~0ULL, 0, &info));
}

static void test_memory(void **state)
{
    ucp_mem_map_params_t params = {.address = in, .length = MOST};
    ucp_mem_attr_t attr = {0};
    ucp_rkey_h rkey;
    ucp_mem_h mem;
    uint64_t *packed;
    size_t size;
    (void)state;
    assert_int_equal(ucp_mem_map(peers[1].context, &params, &mem), UCS_OK);
    assert_true(paid == 1);
    assert_int_equal(ucp_mem_query(mem, &attr), UCS_OK);
    assert_ptr_equal(attr.address, in);
    assert_int_equal(attr.length, MOST);
    assert_int_equal(ucp_rkey_pack(peers[1].context, mem, (void **)&packed, &size), UCS_OK);
    assert_int_equal(size, PF_UCX_KEY);
    assert_int_equal(*packed, PF_UCX_KEY);
    assert_int_equal(ucp_ep_rkey_unpack(peers[0].ep, packed, &rkey), UCS_OK);
    assert_int_equal(ucp_ep_rkey_unpack(peers[0].ep, out, &rkey), UCS_ERR_INVALID_PARAM);
    ucp_rkey_destroy(rkey);
    ucp_rkey_buffer_release(packed);
    ucp_mem_unmap(peers[1].context, mem);
    params = (ucp_mem_map_params_t){.length = 10, .flags = UCP_MEM_MAP_ALLOCATE};
    assert_int_equal(ucp_mem_map(peers[1].context, &params, &mem), UCS_OK);
    ucp_mem_query(mem, &attr);
    assert_non_null(attr.address);
    ucp_mem_unmap(peers[1].context, mem);
}

static void ended(void *request, ucs_status_t status)
{
    sent(request, status, NULL);
}

/* Short, copied and read in place; the last with a request. No processor but the caller's has a part. */
static void test_one_sided(void **state)
{
    static const size_t lengths[] = {50, 1000, 2000, 3000};
    const uint64_t place = (uintptr_t)in;
    (void)state;
    for (int i = 0; i < 3; i++) {
        fake_forget();
        memset(in, 0, sizeof in);
        assert_int_equal(ucp_put_nbi(peers[0].ep, out, lengths[i], place, NULL),
                         i < 2 ? UCS_OK : UCS_INPROGRESS);
        assert_int_equal(in[0], 0);
        struct user *flush = ucp_worker_flush_nb(peers[0].worker, 0, ended);
        assert_int_equal(ucp_request_check_status(flush), UCS_INPROGRESS);
        settle();
        assert_memory_equal(in, out, lengths[i]);
        assert_string_equal(fake_kinds, "PA");
        finish(flush, UCS_OK);
        assert_null(ucp_worker_flush_nb(peers[0].worker, 0, ended));
    }
    assert_int_equal(ucp_put(peers[0].ep, out + 1, 2000, place, NULL), UCS_OK);
    assert_null(ucp_put_nb(peers[0].ep, out, 50, place + 3000, NULL, ended));
    struct user *put = ucp_put_nb(peers[0].ep, out, 2000, place + 2000, NULL, ended);
    settle();
    finish(put, UCS_OK);
    assert_memory_equal(in, out + 1, 2000);
    assert_memory_equal(in + 2000, out, 2000);
    assert_int_equal(ucp_ep_flush(peers[0].ep), UCS_OK);
    fake_forget();
    memset(out, 0, 2000);
    assert_int_equal(ucp_get_nbi(peers[0].ep, out, 50, place, NULL), UCS_INPROGRESS);
    struct user *get = ucp_get_nb(peers[0].ep, out + 50, 1950, place + 50, NULL, ended);
    settle();
    finish(get, UCS_OK);
    assert_memory_equal(in, out, 2000);
    assert_string_equal(fake_kinds, "GGRR");
}

/* What an operation makes of 6 and its operand, in so many bytes; a conditional swap expects 6. */
static void check_atomic(ucp_atomic_fetch_op_t operation, size_t size, uint64_t operand, uint64_t after)
{
    uint64_t before = 6, place[2] = {6, 77}, result = operand;
    bool conditional = operation == UCP_ATOMIC_FETCH_OP_CSWAP;
    fake_forget();
    struct user *user = ucp_atomic_fetch_nb(peers[0].ep, operation, conditional ? 6 : operand, &result, size,
                                            (uintptr_t)place, NULL, ended);
    assert_int_equal(place[0], 6);
    settle();
    finish(user, UCS_OK);
    assert_memory_equal(&result, &before, size);
    assert_memory_equal(place, &after, size);
    assert_int_equal(place[1], 77);
    assert_string_equal(fake_kinds, "PR");
    assert_int_equal(fake_payload[0], conditional ? 2 * size : size);
    assert_int_equal(fake_payload[1], size);
}

static void test_atomics(void **state)
{
    static const size_t sizes[] = {4, 8};
    uint32_t pair[2] = {UINT32_MAX, 5};
    uint64_t other = 7;
    (void)state;
    for (int i = 0; i < 2; i++) {
        check_atomic(UCP_ATOMIC_FETCH_OP_FADD, sizes[i], 10, 16);
        check_atomic(UCP_ATOMIC_FETCH_OP_SWAP, sizes[i], 10, 10);
        check_atomic(UCP_ATOMIC_FETCH_OP_CSWAP, sizes[i], 10, 10);
        check_atomic(UCP_ATOMIC_FETCH_OP_FAND, sizes[i], 3, 2);
        check_atomic(UCP_ATOMIC_FETCH_OP_FOR, sizes[i], 3, 7);
        check_atomic(UCP_ATOMIC_FETCH_OP_FXOR, sizes[i], 3, 5);
    }
    struct user *user = ucp_atomic_fetch_nb(peers[0].ep, UCP_ATOMIC_FETCH_OP_CSWAP, 9, &other, sizeof other,
                                            (uintptr_t)&other, NULL, ended); /* not what is there */
    settle();
    finish(user, UCS_OK);
    assert_int_equal(other, 7);
    fake_forget();
    assert_int_equal(
        ucp_atomic_post(peers[0].ep, UCP_ATOMIC_POST_OP_ADD, 2, sizeof pair[0], (uintptr_t)pair, NULL),
        UCS_OK);
    user = ucp_ep_flush_nb(peers[0].ep, 0, ended);
    assert_int_equal(ucp_request_check_status(user), UCS_INPROGRESS);
    settle();
    finish(user, UCS_OK);
    assert_null(ucp_ep_flush_nb(peers[0].ep, 0, ended));
    assert_string_equal(fake_kinds, "PA");
    assert_int_equal(pair[0], 1);
    assert_int_equal(pair[1], 5); /* no carry */
    assert_int_equal(ucp_atomic_post(peers[0].ep, UCP_ATOMIC_POST_OP_ADD, 2, 2, (uintptr_t)pair, NULL),
                     UCS_ERR_INVALID_PARAM);
    assert_int_equal(
        (intptr_t)ucp_atomic_fetch_nb(peers[0].ep, UCP_ATOMIC_FETCH_OP_SWAP, 2, pair, 1, 0, NULL, ended),
        UCS_ERR_INVALID_PARAM);
}

/* One that waits for a change of its memory is woken by each, whether its origin wants an answer or not. */
static void test_memory_wakes(void **state)
{
    volatile uint64_t place = 0;
    uint64_t result;
    (void)state;
    peers[1].self.ucx[PF_UCX_OPENMPI]->looks_at_memory = true;
    for (uint64_t i = 1; i <= 3; i++) {
        if (i == 1)
            ucp_put_nbi(peers[0].ep, &i, sizeof i, (uintptr_t)&place, NULL);
        else if (i == 2)
            ucp_atomic_post(peers[0].ep, UCP_ATOMIC_POST_OP_ADD, 1, sizeof place, (uintptr_t)&place, NULL);
        else
            ucp_request_free(ucp_atomic_fetch_nb(peers[0].ep, UCP_ATOMIC_FETCH_OP_FADD, 1, &result,
                                                 sizeof place, (uintptr_t)&place, NULL, ended));
        fake_forget();
        for (int polls = 0; polls < 1000 && place != i; polls++)
            ucp_worker_progress(peers[1].worker);
        assert_int_equal(place, i);
        assert_int_equal(fake_parks, 1);
        settle();
    }
}

/* What has come for one worker is handled while its process polls another. */
static void test_workers(void **state)
{
    ucp_worker_h second;
    (void)state;
    assert_int_equal(ucp_worker_create(peers[1].context, NULL, &second), UCS_OK);
    struct user *receive = start_receive(MOST, 5, ~0ULL);
    start_send(30, 5, 0);
    fake_carry_out_all();
    assert_int_equal(ucp_worker_progress(second), 1);
    finish(receive, UCS_OK);
    ucp_worker_destroy(second);
    free(second);
    peers[1].self.ucx[PF_UCX_OPENMPI]->worker_count--;
}

static struct {
    int calls;
    size_t header, length;
    unsigned char bytes[MOST];
} heard;

static ucs_status_t hear(void *arg, void *data, size_t length, ucp_ep_h reply_ep, unsigned flags)
{
    (void)reply_ep, (void)flags;
    heard.calls++;
    heard.header = *(size_t *)arg;
    heard.length = length;
    memcpy(heard.bytes, data, length);
    return UCS_OK;
}

static ucs_status_t hear_header(void *arg, const void *header, size_t header_length, void *data,
                                size_t length, const ucp_am_recv_param_t *param)
{
    assert_int_equal(param->recv_attr, 0);
    hear(arg, data, length, NULL, 0);
    memmove(heard.bytes + header_length, heard.bytes, length);
    memcpy(heard.bytes, header, header_length);
    heard.header = header_length;
    heard.length += header_length;
    return UCS_OK;
}

/* A caller that has released its request hears of its end nevertheless. */
static void send_active(int kind, size_t length)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = sent};
    const ucp_dt_iov_t parts[] = {{out, 30}, {out + 30, length - 30}};
    struct user *user;
    memset(&heard, 0, sizeof heard);
    if (kind == 0)
        user = ucp_am_send_nb(peers[0].ep, 3, out, length, BYTE, ended, 0);
    else if (kind == 1)
        user = ucp_am_send_nb(peers[0].ep, 3, parts, 2, UCP_DATATYPE_IOV, ended, 0);
    else
        user = ucp_am_send_nbx(peers[0].ep, 4, out, 30, out + 30, length - 30, &param);
    assert_int_equal(user != NULL, length >= 1500);
    if (user) {
        user->calls = 0; /* of the one that had this memory before */
        ucp_request_release(user);
    }
    settle();
    assert_int_equal(heard.calls, 1);
    assert_int_equal(heard.header, kind < 2 ? 7 : 30);
    assert_int_equal(heard.length, length);
    assert_memory_equal(heard.bytes, out, length);
    assert_int_equal(user ? user->calls : 1, 1);
}

static void test_active_messages(void **state)
{
    static size_t seven = 7;
    const ucp_am_handler_param_t param = {.id = 4, .cb = hear_header, .arg = &seven};
    (void)state;
    assert_int_equal(ucp_worker_set_am_handler(peers[1].worker, 3, hear, &seven, 0), UCS_OK);
    assert_int_equal(ucp_worker_set_am_recv_handler(peers[1].worker, &param), UCS_OK);
    assert_int_equal(ucp_worker_set_am_handler(peers[1].worker, 999, hear, NULL, 0), UCS_ERR_INVALID_PARAM);
    for (int kind = 0; kind < 3; kind++) {
        send_active(kind, 50);
        send_active(kind, 1200);
        send_active(kind, 3900);
    }
}

/* Each library has a process of its own, and MPICH may ask for more. */
static void test_users(void **state)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AM};
    ucs_status_t (*init)(unsigned, unsigned, const ucp_params_t *, const ucp_config_t *, ucp_context_h *);
    ucp_context_h context;
    (void)state;
    fake_caller = &peers[0].self;
    assert_int_equal(ucp_init_version(1, 13, &params, NULL, &context), UCS_ERR_UNSUPPORTED);
    *(void **)&init = pf_ucx_function(PF_UCX_MPICH, "ucp_init_version");
    assert_int_equal(init(1, 13, &params, NULL, &context), UCS_OK);
    assert_ptr_not_equal(peers[0].self.ucx[PF_UCX_MPICH], peers[0].self.ucx[PF_UCX_OPENMPI]);
    ucp_cleanup(context);
    free(peers[0].self.ucx[PF_UCX_MPICH]);
}

static void test_command_queue(void **state)
{
    (void)state;
    for (int i = 0; i < pf_config.nic_command_queue + 5; i++)
        start_send(10, 5, 0);
    assert_true(fake_parks > 0);
    settle();
    for (int i = 0; i < pf_config.nic_command_queue + 5; i++)
        finish(start_receive(MOST, 5, ~0ULL), UCS_OK);
}

static void test_names(void **state)
{
    static const char *const names[] = {
#define UCX_FUNCTION(name) #name,
#include "lowlevel/ucx/functions.def"
#undef UCX_FUNCTION
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_non_null(pf_ucx_function(PF_UCX_OPENMPI, names[i]));
    assert_null(pf_ucx_function(PF_UCX_OPENMPI, "ucp_stream_send_nb"));
    assert_null(pf_ucx_function(PF_UCX_OPENMPI, "malloc"));
    assert_string_equal(ucs_status_string(UCS_ERR_CANCELED), "Request canceled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_protocols, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_matching, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_probe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cancel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_synchronous, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_truncation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_generic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parking, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pretence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_sided, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_atomics, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_wakes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_workers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_active_messages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_users, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_command_queue, set_up, tear_down),
        cmocka_unit_test(test_names),
    };
    /* UCX's own variables, in their own units and under both prefixes, which go before the configuration. */
    setenv("UCX_ZCOPY_THRESH", "1500", 1);
    setenv("UCX_MPI_IB_SEG_SIZE", "1000b", 1);
    setenv("UCX_RNDV_SEND_NBR_THRESH", "3500", 1);
    setenv("UCX_BCOPY_BW", "auto", 1);
    setenv("PARFOCAL_UCX_RNDV_THRESH", "2500", 1);
    setenv("PARFOCAL_UCX_BCOPY_BW", "1e6", 1);
    setenv("PARFOCAL_UCX_REG_TIME", "1", 1);
    setenv("PARFOCAL_NIC_PIO_MAX", "92", 1); /* as fake_nic.c has it, with the header */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
