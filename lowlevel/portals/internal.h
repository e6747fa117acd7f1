/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

/* The interface is what this library exports. */
#pragma GCC visibility push(default)
#include "lowlevel/portals/include/portals4.h"
#pragma GCC visibility pop

#include "base/config.h"
#include "base/pool.h"
#include "base/self.h"
#include "lowlevel/engine/dates.h"
#include "lowlevel/nic/nic.h"
#include "lowlevel/portals/match.h"
#include "lowlevel/portals/runtime.h"
#include "lowlevel/portals/trigger_queue.h"

/*
 * Objects of one process are found through handles: kind (4 bits), generation (28), slot (32). A handle of a
 * freed object is recognised by its generation.
 */
enum ptl_kind { PTL_KIND_FREE, PTL_KIND_NI, PTL_KIND_EQ, PTL_KIND_CT, PTL_KIND_MD, PTL_KIND_LE, PTL_KIND_ME };

struct ptl_slot {
    void *object;
    uint32_t generation;
    uint32_t next_free;
    uint8_t kind;
};

struct ptl_written;

struct ptl_waiter {
    struct pf_waiter waiter;
    struct ptl_waiter *next;
};

/* Every simulated process belongs to the same user. */
#define PTL_THE_UID 1000

/* Of what belongs to no network: an event that no message has caused, an operation whose network is that of
 * the process when it starts. */
#define PTL_NO_NETWORK 0xff

#define PTL_NI_KINDS   4 /* matching or not, logical or physical */

struct ptl_process {
    pf_self_t *self;
    struct pf_nic *nic;
    uint32_t nid, pid;
    int init_count;
    bool free_mode;
    bool aborted;
    bool service;           /* its messages use the service network */
    bool watched;           /* its end is noticed */
    uint8_t network;        /* by which its operations go, see pf_portals_enter */
    uint8_t reacts;         /* that of the event which it handles, or PTL_NO_NETWORK */
    struct pf_event burial; /* when it has ended without PtlFini */
    struct ptl_ni *nis[PTL_NI_KINDS];
    struct ptl_ni *closed; /* interfaces given back; messages may still point at them */

    struct ptl_slot *slots;
    uint32_t slot_count, slot_capacity, free_slot;

    /* progress.c */
    struct ptl_waiter *parked;
    struct ptl_waiter *spare_waiters;
    const char *reads; /* see pf_portals_reads_when_woken */
    const uint32_t *read_places;
    int read_count;
    int kept;                  /* events, since it fell asleep, see pf_portals_keep_events */
    long idle;                 /* -1: a poll has just found something */
    long least_idle_passes;    /* see pf_portals_idle_at_least */
    bool polls_are_free;       /* see pf_portals_count_polls */
    bool send_needs_ack;       /* see pf_portals_send_needs_ack */
    bool in_poll;              /* it sleeps because of polls in vain */
    bool releases;             /* it sleeps until something is not used any more, see ptl_in_use */
    pf_portals_keeps_t *keeps; /* see pf_portals_keep_events */
    const void *keeps_arg;
    uint64_t changes;               /* of the state that a poll can see */
    struct pf_dates memory_changes; /* by messages that post no event */
    struct pf_event memory_event;   /* the first of them */
    struct ptl_written *written;    /* see pf_portals_watch_memory; NULL: not watched */
    bool observed;                  /* by an observer of each change */
    bool header_since_search;       /* what the latest search has answered is out of date */
    long stuck_passes;
    double stuck_date;
    unsigned int next_queue, next_counter; /* where a poll of several begins */
    const char *last_call;
    const char *blocked_in;
    void (*notify)(void *arg);
    void *notify_arg;
    struct ptl_waiter *queue_parked; /* actors blocked because of a full command queue */
    int queued_commands;             /* given to the NIC and not taken by it yet */

    struct pf_portals_counters counters;
};

struct ptl_ni {
    struct ptl_process *process;
    struct ptl_ni *next; /* in the list of closed ones */
    ptl_handle_ni_t handle;
    unsigned int options;
    int references;
    bool closed;
    ptl_ni_limits_t limits;
    struct ptl_pt **pts; /* NULL: never used, as nearly all are */
    ptl_process_t *map;
    struct ptl_process **map_processes;
    ptl_size_t map_size;
    uint32_t logical_id;
    int eq_count, ct_count, md_count, entry_count, unexpected_count, triggered_count;
    ptl_sr_value_t status[PTL_SR_LAST];
};

/* An event in a queue, and the network of the message that has caused it. */
struct ptl_eq_place {
    ptl_event_t event;
    uint8_t network;
    struct pf_chain *path; /* why it is there, NULL unless paths are followed */
};

struct ptl_eq {
    struct ptl_ni *ni;
    ptl_handle_eq_t handle;
    struct ptl_eq_place *ring;
    uint64_t capacity, head, tail;   /* head: next to read, tail: next to write, modulo capacity */
    uint32_t notices;                /* of the capacity: kept free for PT_DISABLED */
    uint32_t spare_notices;          /* of these: of table entries that have been freed */
    uint32_t reserved;               /* for the events of messages that flow control has let in */
    uint32_t in_flight;              /* events on their way through PCIe */
    struct pf_event_fifo deliveries; /* these */
    bool dropped;
    bool freed;
};

struct ptl_ct {
    struct ptl_ni *ni;
    ptl_handle_ct_t handle;
    ptl_ct_event_t value;   /* in the NIC: what triggers */
    ptl_ct_event_t visible; /* in memory: what the process reads */
    ptl_ct_event_t last_read;
    struct ptl_trigger_queue triggers;
    struct ptl_ct *next_dirty;
    uint32_t in_flight;
    bool dirty;
    bool freed;
};

struct ptl_md {
    struct ptl_ni *ni;
    ptl_handle_md_t handle;
    ptl_md_t md;
    struct ptl_eq *eq;
    struct ptl_ct *ct;
    ptl_size_t length; /* in bytes, also for an IOVEC */
    int pending;       /* operations that still use it */
};

struct ptl_unexpected;

struct ptl_pt {
    bool used;
    bool enabled;
    unsigned int options;
    struct ptl_eq *eq;
    ptl_handle_eq_t eq_handle;
    struct ptl_match_list lists[2]; /* priority, overflow */
    struct ptl_match_list unexpected;
    int busy;         /* messages that still move data */
    double last_done; /* when the latest of those that are done is in memory */
    bool notice_due;  /* PT_DISABLED is to be posted when nothing is busy any more */
};

/* A list entry; matching ones use all of `me`. */
struct ptl_le {
    struct ptl_match_node match; /* in a list of the table entry */
    struct ptl_ni *ni;
    ptl_handle_any_t handle;
    ptl_me_t me;
    void *user_ptr;
    struct ptl_ct *ct;
    ptl_size_t length;       /* in bytes, also for an IOVEC */
    ptl_size_t local_offset; /* MANAGE_LOCAL */
    double linked_date;      /* when the NIC has the command: no event of the entry is older */
    ptl_pt_index_t pt_index;
    ptl_list_t list;
    int pending;    /* messages that still move data */
    int unexpected; /* headers that have not been claimed */
    bool linked;
    bool auto_unlinked;
    bool unlink_posted;
    uint8_t events; /* reserved for its end */
};

enum ptl_operation { PTL_DO_PUT, PTL_DO_GET, PTL_DO_ATOMIC, PTL_DO_FETCH };

#define PTL_MAX_COMMAND_DATA 416

/* Messages up to this length are ordered by address: the payload of a get is read when it matches, whatever
 * is written before its reply leaves. */
#define PTL_ORDERED_SIZE 64

/*
 * An operation and, in turn, its request, answer or acknowledgement on the network.
 */
struct ptl_message {
    struct pf_nic_message nic;
    enum ptl_operation operation;
    struct ptl_process *from, *to;
    struct ptl_ni *ni;    /* the initiator's */
    struct ptl_ni *to_ni; /* the target's, from matching on */

    /* The header */
    ptl_process_t initiator;
    ptl_uid_t uid;
    ptl_pt_index_t pt_index;
    ptl_match_bits_t match_bits;
    ptl_size_t remote_offset;
    ptl_size_t rlength;
    ptl_hdr_data_t hdr_data;
    ptl_op_t atomic_operation;
    ptl_datatype_t atomic_type;

    /* The initiator's side */
    ptl_ack_req_t ack_req;
    void *user_ptr;
    struct ptl_md *md;     /* source of a put, destination of a get */
    ptl_size_t offset;     /* in it */
    struct ptl_md *get_md; /* destination of a fetch */
    ptl_size_t get_offset;
    bool send_posted;

    /* What the target found */
    struct ptl_le *entry;
    struct ptl_unexpected *unexpected;
    ptl_size_t place; /* offset in the entry */
    ptl_size_t mlength;
    ptl_list_t list;
    ptl_ni_fail_t fail;
    bool ack_disabled;

    bool has_data;  /* the payload came with the command, or the reply's has been read */
    bool has_event; /* an event is reserved */
    unsigned char operand[32];
    unsigned char data[PTL_MAX_COMMAND_DATA];
};

/* The header of a message that came before its list entry. */
struct ptl_unexpected {
    struct ptl_match_node match;
    struct ptl_le *entry; /* of the overflow list */
    ptl_event_t event;    /* what a claim reports */
    uint8_t network;      /* by which it came */
    bool complete;        /* the data are there */
    bool claimed;         /* waiting for the data only */
    ptl_me_t claim;       /* options, counter of the claiming entry */
    struct ptl_ct *claim_ct;
    bool claim_unlinks; /* followed by AUTO_UNLINK of the claiming entry */
    struct ptl_ni *ni;
    enum ptl_operation operation;
    struct pf_chain_date came; /* if paths are followed */
};

/* process.c */
struct ptl_process *ptl_current(void); /* the caller's, NULL before PtlInit */
/* For PtlInit, or what comes before it. */
struct ptl_process *ptl_process_create(pf_self_t *self);
struct ptl_process *ptl_find_process(uint32_t nid, uint32_t pid);
void *ptl_object(ptl_handle_any_t handle, enum ptl_kind kind); /* of the caller */
void *ptl_lookup(const struct ptl_process *process, ptl_handle_any_t handle, enum ptl_kind kind);
ptl_handle_any_t ptl_handle_new(struct ptl_process *process, enum ptl_kind kind, void *object);
void ptl_handle_free(struct ptl_process *process, ptl_handle_any_t handle);
int ptl_invalid(void); /* what a call with a wrong handle or argument returns, also before PtlInit */
struct ptl_ni *ptl_object_ni(const struct ptl_process *process, ptl_handle_any_t handle);
void ptl_for_each_object(struct ptl_process *process, enum ptl_kind kind, struct ptl_ni *ni,
                         void (*fn)(void *object));

static inline bool ptl_is_matching(const struct ptl_ni *ni)
{
    return ni->options & PTL_NI_MATCHING;
}

/* ni.c */
void ptl_ni_close(struct ptl_ni *ni);

/* address.c */
struct ptl_process *ptl_resolve(struct ptl_ni *ni, ptl_process_t id);
bool ptl_target_valid(struct ptl_ni *ni, ptl_process_t id);
ptl_process_t ptl_own_id(const struct ptl_ni *ni);

/* eq.c */
/* Writes an event that the NIC generates at `date` (not before now), because of a message of `network` or
 * PTL_NO_NETWORK; eq may be NULL. Returns when the event is in memory, `date` when there is none. */
double ptl_eq_post(struct ptl_eq *eq, const ptl_event_t *event, uint8_t network, double date);
/* Sets room aside for events to come; false when there is not so much. Released before they are posted. */
bool ptl_eq_reserve(struct ptl_eq *eq, unsigned int events);
void ptl_eq_release(struct ptl_eq *eq, unsigned int events);
/* A table entry with flow control has one event of its own, PT_DISABLED. False without memory. */
bool ptl_eq_add_notice(struct ptl_eq *eq);
void ptl_eq_remove_notice(struct ptl_eq *eq);
void ptl_eq_drop(void *eq);

/* A queue or counter that an object refers to may have been freed, and its memory used for another one, which
 * has another handle. */
static inline struct ptl_eq *ptl_live_eq(struct ptl_eq *eq, ptl_handle_eq_t handle, const struct ptl_ni *ni)
{
    return eq && !eq->freed && eq->handle == handle && eq->ni == ni ? eq : NULL;
}
static inline struct ptl_ct *ptl_live_ct(struct ptl_ct *ct, ptl_handle_ct_t handle, const struct ptl_ni *ni)
{
    return ct && !ct->freed && ct->handle == handle && ct->ni == ni ? ct : NULL;
}
static inline bool ptl_pt_used(const struct ptl_ni *ni, ptl_pt_index_t index)
{
    return index <= (ptl_pt_index_t)ni->limits.max_pt_index && ni->pts[index] && ni->pts[index]->used;
}

static inline struct ptl_eq *ptl_pt_eq(const struct ptl_ni *ni, const struct ptl_pt *pt)
{
    return ptl_live_eq(pt->eq, pt->eq_handle, ni);
}

/* ct.c */
/* The NIC counts at `date` (not before now); ct may be NULL. Both return when the value is in memory, `date`
 * when there is no counter. */
double ptl_ct_add(struct ptl_ct *ct, ptl_size_t success, ptl_size_t failure, double date);
double ptl_ct_count(struct ptl_ct *ct, bool bytes, ptl_size_t length, ptl_ni_fail_t fail, double date);
/* The NIC itself adds to the counter or sets it, now. */
void ptl_ct_change(struct ptl_ct *ct, const ptl_ct_event_t *value, bool set);
void ptl_ct_drop(void *ct);
struct ptl_trigger;
struct ptl_trigger_ops {
    size_t size;
    /* Its time has come, or it is given up. `ni`: of the counter that it has waited for. */
    void (*fire)(struct ptl_trigger *trigger, const struct ptl_ni *ni);
    void (*drop)(struct ptl_trigger *trigger, const struct ptl_ni *ni);
};
struct ptl_trigger {
    struct ptl_trigger_node node; /* with the threshold */
    const struct ptl_trigger_ops *ops;
    struct ptl_message *message;
    struct ptl_ct *ct;
    ptl_handle_ct_t ct_handle;
    ptl_ct_event_t value;
    bool set;
    struct ptl_le *entry;
    ptl_handle_any_t entry_handle;
};
/* Takes the trigger over; fires it when its time has come already. PTL_NO_SPACE when the NIC's slots are used
 * up. */
int ptl_trigger_add(struct ptl_ct *ct, const struct ptl_trigger *trigger);

/* list.c */
/* Makes the entry visible to messages; headers that wait for it are claimed first. `date`: when the NIC has
 * the command. */
void ptl_entry_link(struct ptl_le *entry, double date);
int ptl_entry_unlink(struct ptl_le *entry);

/* entry.c */
static inline struct ptl_pt *ptl_entry_pt(const struct ptl_le *entry)
{
    return entry->ni->pts[entry->pt_index];
}
void ptl_entry_post(struct ptl_le *entry, ptl_event_kind_t type, double date);
void ptl_entry_free(struct ptl_le *entry);
void ptl_entry_settle(struct ptl_le *entry, double date);
void ptl_entry_drop(void *entry);
void ptl_list_remove(struct ptl_le *entry);
/* When the NIC has a command without a message that the process gives now. */
double ptl_command_date(struct ptl_process *process);
struct ptl_match_key ptl_match_header(const struct ptl_ni *ni, ptl_match_bits_t match_bits,
                                      ptl_process_t initiator);
/* Whether `me` is what a call may pass for this table entry; appending needs room, too. */
int ptl_entry_check(struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me);
int ptl_append_check(struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me, ptl_list_t list);
void ptl_entry_fill(struct ptl_le *entry, struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me,
                    ptl_list_t list, void *user_ptr);
struct ptl_le *ptl_entry_new(struct ptl_ni *ni, ptl_pt_index_t pt_index, const ptl_me_t *me, ptl_list_t list,
                             void *user_ptr, enum ptl_kind kind);
/* A list entry as a matching one that matches everything. */
ptl_me_t ptl_me_of_le(const ptl_le_t *le);

/* unexpected.c */
struct ptl_unexpected *ptl_unexpected_new(struct ptl_pt *pt, const struct ptl_message *m);
void ptl_unexpected_complete(struct ptl_unexpected *header, double date);
/* Its data will not come. */
void ptl_unexpected_abandon(struct ptl_pt *pt, struct ptl_unexpected *header, double date);
void ptl_unexpected_drop_all(struct ptl_ni *ni, struct ptl_pt *pt);
/* Gives the headers that wait for the entry to it. True when the entry is used up by them. */
bool ptl_unexpected_claim_all(struct ptl_le *entry, double date);

/* message.c */
struct ptl_message *ptl_message_new(struct ptl_md *md, enum ptl_operation operation);
void ptl_message_free(struct ptl_message *m);
/* The payload of a put or atomic is read from the process's memory. */
void ptl_message_take_payload(struct ptl_message *m);
/* The NIC has the payload of a put or atomic. A short one it keeps for the case that it has to send it again:
 * then the process may use its memory. */
void ptl_message_kept(struct ptl_message *m);
/* The initiator learns the outcome of a put or atomic at `date`. The message is gone. */
void ptl_message_acknowledged(struct ptl_message *m, double date);
/* The same of a get or fetch: the data are in memory at `date`; the event follows them through the same
 * bus. */
void ptl_message_replied(struct ptl_message *m, double date);

/* initiator.c */
void ptl_message_start(struct ptl_message *m, bool triggered);
int ptl_message_put(struct ptl_message **out, ptl_handle_md_t md_handle, ptl_size_t local_offset,
                    ptl_size_t length, ptl_ack_req_t ack_req, ptl_process_t target_id,
                    ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
                    void *user_ptr, ptl_hdr_data_t hdr_data);
int ptl_message_get(struct ptl_message **out, ptl_handle_md_t md_handle, ptl_size_t local_offset,
                    ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
                    ptl_match_bits_t match_bits, ptl_size_t remote_offset, void *user_ptr);

/* target.c */
void ptl_target_match(struct ptl_message *m);
void ptl_target_complete(struct ptl_message *m);
void ptl_target_abandon(struct ptl_message *m); /* the network has lost it */
void ptl_target_read(struct ptl_message *m);    /* a reply's data have left */

/* atomic.c: what an atomic message does to the memory of its entry; a fetch leaves the old values in its
 * data. */
struct ptl_memory;
void ptl_atomic_apply(struct ptl_message *m, const struct ptl_memory *memory);
ptl_size_t ptl_type_size(ptl_datatype_t type); /* 0: no such type */
bool ptl_atomic_defined(ptl_op_t operation, ptl_datatype_t type);

/* atomic_calls.c: the arguments that the calls share */
struct ptl_atomic_call {
    ptl_handle_md_t put_md, get_md;
    ptl_size_t put_offset, get_offset, length;
    ptl_ack_req_t ack_req;
    ptl_process_t target_id;
    ptl_pt_index_t pt_index;
    ptl_match_bits_t match_bits;
    ptl_size_t remote_offset;
    void *user_ptr;
    ptl_hdr_data_t hdr_data;
    bool swap;
    const void *operand;
    ptl_op_t operation;
    ptl_datatype_t type;
};
/* What PtlAtomic, PtlFetchAtomic and PtlSwap, and their triggered forms, are asked for: by the names that the
 * specification gives to their arguments. */
#define PTL_ATOMIC_CALL                                                                                      \
    {                                                                                                        \
        .put_md = md_handle, .put_offset = local_offset, .ack_req = ack_req, PTL_ANY_ATOMIC_CALL             \
    }
#define PTL_FETCH_CALL                                                                                       \
    {                                                                                                        \
        .put_md = put_md_handle, .put_offset = local_put_offset, .get_md = get_md_handle,                    \
        .get_offset = local_get_offset, PTL_ANY_ATOMIC_CALL                                                  \
    }
#define PTL_SWAP_CALL                                                                                        \
    {                                                                                                        \
        .put_md = put_md_handle, .put_offset = local_put_offset, .get_md = get_md_handle,                    \
        .get_offset = local_get_offset, .swap = true, .operand = operand, PTL_ANY_ATOMIC_CALL                \
    }
#define PTL_ANY_ATOMIC_CALL                                                                                  \
    .length = length, .target_id = target_id, .pt_index = pt_index, .match_bits = match_bits,                \
    .remote_offset = remote_offset, .user_ptr = user_ptr, .hdr_data = hdr_data, .operation = operation,      \
    .type = datatype
int ptl_message_atomic(struct ptl_message **out, const struct ptl_atomic_call *call);
int ptl_message_fetch(struct ptl_message **out, const struct ptl_atomic_call *call);

/* memory.c: plain or IOVEC memory */
struct ptl_memory {
    void *start;
    ptl_size_t length; /* bytes, or number of elements of an IOVEC */
    bool iovec;
};
ptl_size_t ptl_memory_length(const struct ptl_memory *memory);
void ptl_memory_copy(const struct ptl_memory *dst, ptl_size_t dst_offset, const struct ptl_memory *src,
                     ptl_size_t src_offset, ptl_size_t length);
/* The same for a message that has come to `dst`, perhaps later, but before anybody can see it. In an event.
 */
void ptl_memory_store(const struct ptl_memory *dst, ptl_size_t dst_offset, const struct ptl_memory *src,
                      ptl_size_t src_offset, ptl_size_t length);
void *ptl_memory_address(const struct ptl_memory *memory, ptl_size_t offset);
static inline struct ptl_memory ptl_md_memory(const struct ptl_md *md)
{
    return (struct ptl_memory){md->md.start, md->md.length, md->md.options & PTL_IOVEC};
}
static inline struct ptl_memory ptl_le_memory(const struct ptl_le *entry)
{
    return (struct ptl_memory){entry->me.start, entry->me.length, entry->me.options & PTL_IOVEC};
}

/* progress.c */
/* Something in the NIC of this process has changed; `idle_too`: the count of idle polls restarts. */
void ptl_state_changed(struct ptl_process *process, bool resets_idle);
/* The same, for an event that has come into a queue. */
void ptl_event_stored(const struct ptl_eq *eq, const ptl_event_t *event, bool resets_idle);
void ptl_active(struct ptl_process *process, const char *call);
/* Data are in the process's memory at `date`, and neither an event nor a counter says so. */
void ptl_memory_changed(struct ptl_process *process, double date);
/* These bytes of it (written.c). */
void ptl_memory_written(struct ptl_process *process, const void *address, size_t length, double date);
/* One poll found nothing. May block; true when it has. */
bool ptl_idle_pass(struct ptl_process *process, const char *call);
/* The process wants to release what is still used, and asks again in a loop: as polls in vain, such calls
 * block in the end. Returns `status`. */
int ptl_in_use(struct ptl_process *process, const char *call, int status);
/* Something of the process is not used any more. */
static inline void ptl_unused(struct ptl_process *process)
{
    if (__builtin_expect(process->releases, 0))
        ptl_state_changed(process, false);
}
/* Has it polled in vain so often that the next poll may block? */
bool ptl_idle_for_long(const struct ptl_process *process);
/* Blocks until the next change; false when `date` came first (negative: no limit). */
bool ptl_block(struct ptl_process *process, const char *call, double date);
/* Blocks until the date, whatever changes before. */
void ptl_wait_until(struct ptl_process *process, double date, const char *call);
/* Blocks while the command queue is full. */
void ptl_queue_wait(struct ptl_process *process);
/* The command queue has room again, or there is no point in waiting for it. */
void ptl_queue_moved(struct ptl_process *process);
