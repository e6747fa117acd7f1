/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/config.h"
#include "base/self.h"
#include "lowlevel/nic/nic.h"
#include "lowlevel/portals/match.h"
#include "lowlevel/ucx/runtime.h"
#include "lowlevel/ucx/settings.h"
#include "lowlevel/ucx/ucp.h"

/* Of what belongs to no network: nothing that a process does now is an answer. */
#define UCX_NO_NETWORK 0xff

enum { UCX_MOST_WORKERS = 4, UCX_MOST_HANDLERS = 8 }; /* of a process, of a worker */

/* A simulated process: where it waits, and what its NIC does for it. */
struct ucx_process {
    pf_self_t *self;
    enum pf_ucx_user user;
    struct pf_nic *nic;
    bool free_mode;
    bool service;         /* its messages use the service network */
    bool polls;           /* it is parked in ucp_worker_progress */
    bool queues;          /* or because its command queue is full */
    bool looks_at_memory; /* in its polls: a NIC that has written there wakes it */
    uint8_t network;      /* by which its operations go */
    uint8_t reacts;       /* that of the message which it handles, or UCX_NO_NETWORK */
    long idle;            /* polls in vain in a row */
    long least_idle;      /* see pf_ucx_idle_at_least */
    int queued_commands;  /* given to the NIC and not taken by it yet */
    struct pf_waiter waiter;
    void (*notify)(void *arg);
    void *notify_arg;
    struct ucp_worker *workers[UCX_MOST_WORKERS];
    int worker_count;
    struct pf_ucx_counters counters;
    const struct pf_ucx_pretence *pretence; /* or NULL */
};

struct ucp_context {
    struct ucx_process *process;
    size_t user_size; /* of what the caller has behind each request */
    void (*init)(void *request);
    void (*cleanup)(void *request);
    struct ucp_request *spare;
    struct ucx_chunk *chunks;
};

/* Of active messages: one of both functions. */
struct ucx_handler {
    ucp_am_callback_t old;
    ucp_am_recv_callback_t cb;
    void *arg;
};

struct ucp_worker {
    struct ucp_context *context;
    struct ucx_process *process;
    int number; /* of the process's */
    bool closed;
    struct ptl_match_list expected, unexpected;
    struct ucx_message *first, *last; /* arrived, not looked at */
    struct pf_event_fifo deliveries;  /* on their way through PCIe */
    struct ucp_ep *eps;
    struct ucx_handler handlers[UCX_MOST_HANDLERS];
    long pending;                /* writes and reads */
    struct ucp_request *flushes; /* that wait for their end */
};

struct ucp_ep {
    struct ucp_worker *worker, *peer;
    struct ucp_ep *next; /* of the worker */
    long pending;        /* writes and reads */
};

/* What is sent or received: a caller's buffer and its type. The caller may give back its own type meanwhile:
 * what it has begun keeps it. */
struct ucx_data {
    void *buffer;
    size_t count;
    ucp_datatype_t datatype;
    void *state; /* of packing or unpacking, NULL of data in one piece */
};

/* The caller knows a request by the address behind it, where its own part begins. */
struct ucp_request {
    _Alignas(16) struct ptl_match_node match; /* of a receive, in the worker's list */
    struct ucp_context *context;              /* that it goes back to; NULL: it is the caller's memory */
    struct ucp_request *next;                 /* spare, or of the worker's flushes */
    struct ucx_data data;
    ucp_tag_recv_info_t info;
    union {
        ucp_send_nbx_callback_t send;
        ucp_tag_recv_nbx_callback_t recv;
    } cb;
    void *user_data;
    struct ucp_worker *worker; /* of a receive */
    const struct ucp_ep *ep;   /* of a flush; NULL: of all of its worker */
    ucs_status_t status;
    bool receives;
    bool calls_back;
    bool waits; /* a receive in the worker's list */
    bool complete;
    bool released;
};

/*
 * The messages of the protocols (UCX's names in brackets): data with the envelope (eager), an envelope alone
 * (rndv RTS), the request for data that are not in one piece (rndv RTR) and these data, further pieces of
 * either, the news that a send is over (rndv ATS, sync ack, and the NIC's acknowledgement), a read from the
 * sender's memory (rndv get); active messages, and what callers write, read and change by themselves.
 */
enum ucx_kind {
    UCX_EAGER,
    UCX_RTS,
    UCX_RTR,
    UCX_DATA,
    UCX_PIECE,
    UCX_DONE,
    UCX_FETCH,
    UCX_AM,
    UCX_WRITE,
    UCX_READ,
    UCX_ATOMIC
};

/* In turn on the network, in the queue of a worker, and an unexpected message of it. */
struct ucx_message {
    struct pf_nic_message nic;
    struct pf_event arrival;
    struct pf_chain *path; /* why it is in the queue, NULL unless paths are followed */
    struct ptl_match_node match;
    struct ucx_message *next;
    struct ucp_worker *from, *to, *place; /* place: whose queue it comes into */
    struct ucp_request *send, *recv;
    struct ucp_ep *ep;  /* of a write, read or atomic, and of its acknowledgement; else NULL */
    const void *source; /* of a read or write by the NIC */
    void *target;
    struct ucx_message *head; /* of a piece: the first one */
    ucp_tag_t tag;
    size_t length; /* of all data */
    size_t part;   /* of these, with this message */
    size_t come;   /* of these, with this message and its pieces so far */
    void *bytes;   /* all data, a block of its own; a struct ucx_atomic */
    enum ucx_kind kind;
    bool zcopy; /* the sender's NIC reads the data where they are */
    bool sync;  /* the sender wants to know when it is received */
    bool acked; /* the sender's buffer is free when the NIC acknowledges it */
};

/* process.c */
struct ucx_process *ucx_process_of(pf_self_t *self, enum pf_ucx_user user); /* made at the first call */
struct ucx_process *ucx_process_find(int rank, enum pf_ucx_user user);      /* NULL: there is none */
/* A poll found nothing: may park. */
void ucx_process_idle(struct ucx_process *process);
void ucx_process_wake(struct ucx_process *process);
/* Waits until the NIC takes another command. */
void ucx_process_queue(struct ucx_process *process);
void ucx_process_pay(struct ucx_process *process, double seconds);
/* Pays for a copy from or to a buffer of UCX. */
void ucx_process_copy(struct ucx_process *process, size_t length);

/* message.c */
struct ucx_message *ucx_message_new(enum ucx_kind kind, struct ucp_worker *from, struct ucp_worker *to);
void ucx_message_free(struct ucx_message *m);
/* By the processor of m->from. */
void ucx_message_post(struct ucx_message *m);
/* An answer to `cause`, to where that came from. */
struct ucx_message *ucx_message_answer(enum ucx_kind kind, const struct ucx_message *cause);

/* protocol.c */
/* Sends m->bytes. */
void ucx_protocol_send(struct ucx_message *m);
/* A receive has met its message, eager or RTS, which is gone. */
void ucx_protocol_meets(struct ucx_message *m, struct ucp_request *recv);
/* What the worker does with any other message that has come, which is gone. */
void ucx_protocol_handle(struct ucx_message *m);

/* tag.c */
/* A message with an envelope: goes to the receive that waits for it, or is kept. */
void ucx_tag_arrived(struct ucx_message *m);

/* am.c */
/* All of an active message is there. Its tag is the handler's number and, above that, its header's length. */
enum { UCX_AM_ID_BITS = 16 };
void ucx_am_arrived(const struct ucx_message *m);

/* atomic.c */
/* What the target's NIC does with an integer. A conditional swap compares it with the second operand. */
struct ucx_atomic {
    ucp_atomic_fetch_op_t operation;
    uint64_t operands[2];
    uint64_t before;
    void *place;
};
void ucx_atomic_apply(struct ucx_message *m);

/* rma.c */
/* The acknowledgement of a write is there, or the data of a read. */
void ucx_rma_done(const struct ucx_message *m);

/* request.c */
struct ucp_request *ucx_request_new(struct ucp_worker *worker, const ucp_request_param_t *param);
static inline void *ucx_request_user(struct ucp_request *request)
{
    return request + 1;
}
void ucx_request_complete(struct ucp_request *request, ucs_status_t status);
/* ucp_init_version() by a library. */
ucs_status_t ucx_init(enum pf_ucx_user user, unsigned major, const ucp_params_t *params,
                      ucp_context_h *context);

/* datatype.c */
struct ucx_data ucx_data_begin(const void *buffer, size_t count, const ucp_request_param_t *param,
                               bool receives);
void ucx_data_end(struct ucx_data *data);
bool ucx_data_is_contiguous(const struct ucx_data *data);
size_t ucx_data_length(const struct ucx_data *data);
void ucx_data_pack(const struct ucx_data *data, void *bytes, size_t length);
/* Of more bytes than there is room for, the first. */
ucs_status_t ucx_data_unpack(const struct ucx_data *data, const void *bytes, size_t length);

/* Whether so many bytes go with the command to the NIC. */
static inline bool ucx_is_short(size_t length)
{
    return length <= pf_ucx_settings()->short_max;
}
