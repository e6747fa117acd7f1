/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of collectives. They move when their receiver leaves. A contribution that others have not used is
 * saved when its member leaves, because the application may then overwrite the buffer. Reductions combine in
 * the order of the ranks, with the operation and the datatype of the calling member.
 */
#include "adapters/analytic/collective/collective.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/local/types.h"

static char *place(const void *buffer, const int *displs, int i, int count, MPI_Datatype type)
{
    ptrdiff_t items = displs ? displs[i] : (ptrdiff_t)i * count;
    return (char *)(uintptr_t)buffer + items * pf_local_type_extent(type);
}

/* Block `i` of what a member sends, or of where it receives. */
struct block {
    char *at;
    int count;
    MPI_Datatype type;
};

static struct block send_block(const struct an_part *p, int i)
{
    if (p->send_types)
        return (struct block){(char *)(uintptr_t)p->send + p->send_displs[i], p->send_counts[i],
                              p->send_types[i]};
    int count = p->send_counts ? p->send_counts[i] : p->send_count;
    return (struct block){place(p->send, p->send_displs, i, count, p->send_type), count, p->send_type};
}

static struct block receive_block(const struct an_part *p, int i)
{
    if (p->receive_types)
        return (struct block){(char *)p->receive + p->receive_displs[i], p->receive_counts[i],
                              p->receive_types[i]};
    int count = p->receive_counts ? p->receive_counts[i] : p->receive_count;
    return (struct block){place(p->receive, p->receive_displs, i, count, p->receive_type), count,
                          p->receive_type};
}

/* A member receives more than its buffer holds. One that has left has received everything already. */
static void mark_truncated(const struct an_part *p)
{
    if (!p->left)
        p->request->status.MPI_ERROR = MPI_ERR_TRUNCATE;
}

/* To a block of `p`. */
static void move(struct block from, const struct an_part *p, struct block to)
{
    if (an_data_bytes(from.count, from.type) > an_data_bytes(to.count, to.type))
        mark_truncated(p);
    an_data_move(from.at, from.count, from.type, to.at, to.count, to.type);
}

/* What a member has saved: the offsets of its blocks and of the end of the last one, then the blocks. Its
 * lists of sizes and its datatypes may be freed like its buffers. */
static const size_t *offsets_of(const struct an_part *p)
{
    return (const size_t *)(const void *)p->packed;
}

static void unpack(const struct an_part *from, int i, const struct an_part *p, struct block to)
{
    const size_t *offsets = offsets_of(from);
    size_t bytes = offsets[i + 1] - offsets[i], room = an_data_bytes(to.count, to.type);
    if (bytes > room)
        mark_truncated(p);
    an_data_unpack(from->packed + offsets[i], bytes < room ? bytes : room, to.at, to.type);
}

static void save_blocks(struct an_part *p, int n, struct block (*block)(const struct an_part *, int))
{
    size_t bytes = ((size_t)n + 1) * sizeof(size_t);
    for (int i = 0; i < n; i++)
        bytes += an_data_bytes(block(p, i).count, block(p, i).type);
    p->packed = an_data_room(bytes, &p->packed_class);
    size_t *offsets = (size_t *)(void *)p->packed;
    offsets[0] = ((size_t)n + 1) * sizeof(size_t);
    for (int i = 0; i < n; i++) {
        struct block b = block(p, i);
        an_data_pack(b.at, b.count, b.type, p->packed + offsets[i]);
        offsets[i + 1] = offsets[i] + an_data_bytes(b.count, b.type);
    }
}

/* The only block of a member that does not send by blocks. */
static struct block whole(const void *buffer, int count, MPI_Datatype type)
{
    return (struct block){(char *)(uintptr_t)buffer, count, type};
}

static struct block whole_send(const struct an_part *p, int i)
{
    return whole(p->send, p->send_count, p->send_type);
}

/* Broadcasts and scatters. When the root has nothing to send, other members leave before it arrives. */
static void move_from_root(struct an_collective *c, const struct an_leave *leaves, int n)
{
    const struct an_part *root = &c->parts[c->call.root];
    bool whole = c->call.kind == PF_COLL_BCAST;
    for (int i = 0; root->here && i < n; i++) {
        const struct an_part *p = &c->parts[leaves[i].member];
        if (whole ? p != root : !p->in_place)
            an_part_give(root, whole ? -1 : leaves[i].member, p, -1);
    }
}

static void gather_into(struct an_collective *c, const struct an_part *target)
{
    for (int i = 0; i < c->call.n; i++) {
        struct an_part *p = &c->parts[i];
        if ((p == target && p->in_place) || !p->here)
            continue;
        if (p->packed)
            unpack(p, 0, target, receive_block(target, i));
        else
            move(p->in_place ? receive_block(p, i) : whole_send(p, i), target, receive_block(target, i));
    }
}

static void move_gather(struct an_collective *c, const struct an_leave *leaves, int n)
{
    for (int i = 0; i < n; i++)
        if (leaves[i].member == c->call.root)
            gather_into(c, &c->parts[c->call.root]);
}

/* Whether each of the first `n` receive blocks is as large. */
static bool has_rooms_of(const struct an_part *p, const struct an_part *other, int n)
{
    bool same = true;
    for (int i = 0; same && i < n; i++) {
        struct block a = receive_block(p, i), b = receive_block(other, i);
        same = an_data_bytes(a.count, a.type) == an_data_bytes(b.count, b.type);
    }
    return same;
}

/* All members receive the same: when all leave together and the layouts allow it, it is assembled once. A
 * member may leave before others arrive whose blocks are empty. */
static void move_allgather(struct an_collective *c, const struct an_leave *leaves, int leaving)
{
    int n = c->call.n;
    for (int i = 0; leaving < n && i < leaving; i++)
        gather_into(c, &c->parts[leaves[i].member]);
    if (leaving < n)
        return;
    struct an_part *first = &c->parts[0];
    bool plain = c->call.kind == PF_COLL_ALLGATHER, whole = true;
    for (int i = 0; i < n; i++) {
        const struct an_part *p = &c->parts[i];
        struct block room = receive_block(first, i);
        plain = plain && !an_data_is_derived(p->receive_type);
        whole = whole && (p->in_place ||
                          an_data_bytes(p->send_count, p->send_type) == an_data_bytes(room.count, room.type));
    }
    gather_into(c, first);
    for (int i = 1; i < n; i++) {
        struct an_part *p = &c->parts[i];
        if (!whole || !has_rooms_of(p, first, plain ? 1 : n))
            gather_into(c, p);
        else if (plain && c->call.bytes > 0)
            memcpy(p->receive, first->receive, c->call.bytes * (size_t)n);
        else
            for (int b = 0; b < n; b++)
                move(receive_block(first, b), p, receive_block(p, b));
    }
}

/* Blocks of one size without gaps, when all leave together: looking up the datatypes for each block would
 * take longer than copying it. */
static bool is_plain_alltoall(const struct an_collective *c, int leaving)
{
    if (c->call.kind != PF_COLL_ALLTOALL || c->call.cut || leaving < c->call.n)
        return false;
    for (int i = 0; i < c->call.n; i++) {
        const struct an_part *p = &c->parts[i];
        if (p->in_place || an_data_is_derived(p->send_type) || an_data_is_derived(p->receive_type) ||
            an_data_bytes(p->send_count, p->send_type) != c->call.bytes ||
            an_data_bytes(p->receive_count, p->receive_type) != c->call.bytes)
            return false;
    }
    return true;
}

/* The receive buffers of the members from `first` to `last`. */
static inline void copy_columns(const struct an_collective *c, int first, int last, size_t bytes)
{
    for (int from = 0; from < c->call.n; from++) {
        const char *row = c->parts[from].send;
        for (int to = first; to < last; to++)
            memcpy((char *)c->parts[to].receive + (size_t)from * bytes, row + (size_t)to * bytes, bytes);
    }
}

/* Small blocks that share a cache line of the sender are copied one after the other. */
static void move_plain_alltoall(const struct an_collective *c)
{
    enum { LINE = 64 };
    size_t bytes = c->call.bytes;
    int n = c->call.n, width = bytes < LINE && bytes > 0 ? LINE / (int)bytes : 1;
    for (int first = 0; bytes > 0 && first < n; first += width) {
        int last = first + width < n ? first + width : n;
        if (bytes == sizeof(double)) /* the compiler then copies by itself */
            copy_columns(c, first, last, sizeof(double));
        else
            copy_columns(c, first, last, bytes);
    }
}

/* In place, a member sends from its receive buffer: that is saved before anything moves. A member that leaves
 * early receives nothing from those that have not arrived. */
static void move_alltoall(struct an_collective *c, const struct an_leave *leaves, int n)
{
    if (is_plain_alltoall(c, n)) {
        move_plain_alltoall(c);
        return;
    }
    for (int i = 0; i < c->call.n; i++)
        if (c->parts[i].here && c->parts[i].in_place && !c->parts[i].packed)
            save_blocks(&c->parts[i], c->call.n, send_block);
    for (int i = 0; i < n; i++)
        for (int from = 0; from < c->call.n; from++)
            if (c->parts[from].here)
                an_part_give(&c->parts[from], leaves[i].member, &c->parts[leaves[i].member], from);
}

/* ---- reductions ---- */

const void *an_part_contribution(const struct an_part *p)
{
    return p->saved.room ? p->saved.items : p->send;
}

/* A member of a reduction leaves before its contribution was used. Where the order makes no difference,
 * contributions are combined in one buffer, which stays in the cache. */
static void leave_reduction(struct an_collective *c, struct an_part *p)
{
    size_t bytes = an_data_bytes(p->send_count, p->send_type);
    bool first = !c->early.room;
    if (!pf_local_op_is_of_bits(p->op, p->send_type) || (!first && bytes != c->early_bytes)) {
        an_items_take(&p->saved, p->send, p->send_count, p->send_type);
        return;
    }
    if (first)
        an_items_take(&c->early, p->send, p->send_count, p->send_type);
    else
        pf_local_op_apply(p->op, p->send_type, p->send_count, p->send, c->early.items);
    c->early_bytes = bytes;
    p->combined = true;
}

int an_part_items(const struct an_collective *c, const struct an_part *p, int member)
{
    int n = c->call.cut ? pf_coll_side_size(&c->call, pf_coll_side(&c->call, member)) : c->call.n, total = 0;
    if (c->call.kind == PF_COLL_REDUCE_SCATTER_BLOCK)
        return p->send_count * n;
    if (c->call.kind != PF_COLL_REDUCE_SCATTER)
        return p->send_count;
    for (int i = 0; i < n; i++)
        total += p->receive_counts[i];
    return total;
}

/* Combines all contributions in the order of the ranks, except those combined when members left. */
static void combine(struct an_collective *c, const struct an_part *mine, int count, struct an_items *result)
{
    int i = c->call.n;
    const void *last = c->early.room ? c->early.items : an_part_contribution(&c->parts[--i]);
    an_items_take(result, last, count, mine->send_type);
    while (i-- > 0)
        if (!c->parts[i].combined)
            pf_local_op_apply(mine->op, mine->send_type, count, an_part_contribution(&c->parts[i]),
                              result->items);
}

/* How many items all members that have arrived contribute. Members whose call is empty may be missing. A
 * member with a smaller buffer than another member's contribution gets MPI_ERR_TRUNCATE. */
static int common_count(const struct an_collective *c, const struct an_part *mine)
{
    int least = an_part_items(c, mine, 0), most = least;
    if (c->call.kind == PF_COLL_REDUCE_SCATTER) /* the lists of members that have left may be gone */
        return least;
    for (int i = 0; i < c->call.n; i++) {
        int count = c->parts[i].here ? an_part_items(c, &c->parts[i], i) : least;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    for (int i = 0; least < most && i < c->call.n; i++)
        if (c->parts[i].here && (c->call.kind != PF_COLL_REDUCE || i == c->call.root) &&
            an_part_items(c, &c->parts[i], i) < most)
            mark_truncated(&c->parts[i]);
    return least;
}

static void move_reduce(struct an_collective *c, const struct an_part *mine, const struct an_leave *leaves,
                        int n)
{
    struct an_items result;
    bool root_leaves = c->call.kind != PF_COLL_REDUCE;
    for (int i = 0; i < n; i++)
        root_leaves |= leaves[i].member == c->call.root;
    int total = root_leaves ? common_count(c, mine) : 0;
    if (total == 0)
        return;
    combine(c, mine, total, &result);
    const char *from = result.items;
    for (int i = 0; i < c->call.n; i++) {
        struct an_part *p = &c->parts[i];
        int count = c->call.kind == PF_COLL_REDUCE_SCATTER         ? mine->receive_counts[i]
                    : c->call.kind == PF_COLL_REDUCE_SCATTER_BLOCK ? total / c->call.n
                                                                   : total;
        if (c->call.kind != PF_COLL_REDUCE || i == c->call.root)
            an_items_copy(from, p->receive, count, mine->send_type);
        if (c->call.kind == PF_COLL_REDUCE_SCATTER || c->call.kind == PF_COLL_REDUCE_SCATTER_BLOCK)
            from += count * pf_local_type_extent(mine->send_type);
    }
    an_items_give_back(&result);
}

/* Computes the result of one member of a scan and adds it to the prefix. Its contribution may be in the
 * result's buffer, and an operation overwrites its second operand: so this works on a copy. */
static void scan_member(struct an_collective *c, const struct an_part *mine, struct an_part *p)
{
    struct an_items next;
    int shared = c->prefix_count < p->send_count ? c->prefix_count : p->send_count;
    an_items_take(&next, p->send, p->send_count, p->send_type);
    if (c->prefix.room) {
        pf_local_op_apply(mine->op, mine->send_type, shared, c->prefix.items, next.items);
        if (shared < c->prefix_count)
            mark_truncated(p);
    }
    if (c->call.kind != PF_COLL_EXSCAN)
        an_items_copy(next.items, p->receive, p->send_count, p->send_type);
    else if (c->prefix.room)
        an_items_copy(c->prefix.items, p->receive, shared, p->send_type);
    an_items_give_back(&c->prefix);
    c->prefix = next;
    c->prefix_count = p->send_count;
}

/* All members before one that leaves have arrived, so their results can be written too, even if they leave
 * later. Members whose call is empty may be missing. */
static void move_scan(struct an_collective *c, const struct an_part *mine, const struct an_leave *leaves,
                      int n)
{
    int last = 0;
    for (int i = 0; i < n; i++)
        if (leaves[i].member > last)
            last = leaves[i].member;
    for (; c->combined <= last; c->combined++)
        if (c->parts[c->combined].here)
            scan_member(c, mine, &c->parts[c->combined]);
}

/* ---- all kinds ---- */

/* The application may overwrite the buffers of a member that has left. */
static void save_items(struct an_collective *c, struct an_part *p, int member)
{
    an_items_take(&p->saved, p->send, an_part_items(c, p, member), p->send_type);
}

void an_part_save(struct an_collective *c, int member)
{
    struct an_part *p = &c->parts[member];
    bool root = member == c->call.root, inter = c->call.cut > 0;
    int peers = inter ? pf_coll_side_size(&c->call, !pf_coll_side(&c->call, member)) : c->call.n;
    switch (c->call.kind) {
    case PF_COLL_BCAST:
        if (root)
            save_blocks(p, 1, whole_send);
        break;
    case PF_COLL_SCATTER:
    case PF_COLL_SCATTERV:
        if (root)
            save_blocks(p, peers, send_block);
        break;
    case PF_COLL_GATHER:
    case PF_COLL_GATHERV:
        if (!root && !inter && c->parts[c->call.root].here) {
            an_part_give(p, -1, &c->parts[c->call.root], member);
            p->here = false;
        } else if (!root) {
            save_blocks(p, 1, whole_send);
        }
        break;
    case PF_COLL_ALLGATHER:
    case PF_COLL_ALLGATHERV:
        if (p->in_place && !inter) { /* it sends its own block of the receive buffer */
            struct block mine = receive_block(p, member);
            p->send = mine.at;
            p->send_count = mine.count;
            p->send_type = mine.type;
        }
        save_blocks(p, 1, whole_send);
        break;
    case PF_COLL_ALLTOALL:
    case PF_COLL_ALLTOALLV:
    case PF_COLL_ALLTOALLW:
        if (!p->packed)
            save_blocks(p, peers, send_block);
        break;
    case PF_COLL_REDUCE:
        if (!root && inter)
            save_items(c, p, member);
        else if (!root)
            leave_reduction(c, p);
        break;
    case PF_COLL_REDUCE_SCATTER: /* a member that receives nothing may leave early */
        save_items(c, p, member);
        break;
    case PF_COLL_ALLREDUCE:
    case PF_COLL_REDUCE_SCATTER_BLOCK:
        if (inter)
            save_items(c, p, member);
        break;
    default: /* no member leaves before all have arrived or its contribution has been used */
        break;
    }
}

static bool is_over(const struct an_collective *c, const struct an_leave *leaves, int n)
{
    if (c->left + n == c->call.n)
        return true;
    bool rooted_last =
        c->call.kind == PF_COLL_GATHER || c->call.kind == PF_COLL_GATHERV || c->call.kind == PF_COLL_REDUCE;
    for (int i = 0; rooted_last && i < n; i++)
        if (leaves[i].member == c->call.root)
            return true;
    return rooted_last && c->parts[c->call.root].left;
}

void an_collective_move(struct an_collective *c, int me, const struct an_leave *leaves, int n)
{
    const struct an_part *mine = &c->parts[me];
    switch (c->call.kind) {
    case PF_COLL_BCAST:
    case PF_COLL_SCATTER:
    case PF_COLL_SCATTERV:
        move_from_root(c, leaves, n);
        break;
    case PF_COLL_GATHER:
    case PF_COLL_GATHERV:
        move_gather(c, leaves, n);
        break;
    case PF_COLL_ALLGATHER:
    case PF_COLL_ALLGATHERV:
        move_allgather(c, leaves, n);
        break;
    case PF_COLL_ALLTOALL:
    case PF_COLL_ALLTOALLV:
    case PF_COLL_ALLTOALLW:
        move_alltoall(c, leaves, n);
        break;
    case PF_COLL_REDUCE:
        move_reduce(c, mine, leaves, n);
        break;
    case PF_COLL_ALLREDUCE:
    case PF_COLL_REDUCE_SCATTER:
    case PF_COLL_REDUCE_SCATTER_BLOCK:
        if (c->arrived == c->call.n && c->combined == 0) {
            move_reduce(c, mine, leaves, n);
            c->combined = c->call.n;
        }
        break;
    case PF_COLL_SCAN:
    case PF_COLL_EXSCAN:
        move_scan(c, mine, leaves, n);
        break;
    default:
        break;
    }
    bool over = is_over(c, leaves, n);
    for (int i = 0; i < n; i++) {
        c->parts[leaves[i].member].left = true;
        if (!over)
            an_part_save(c, leaves[i].member);
    }
}

void an_collective_forget(struct an_collective *c)
{
    for (int i = 0; i < c->call.n; i++) {
        struct an_part *p = &c->parts[i];
        an_items_give_back(&p->saved);
        if (p->packed)
            an_data_give_back(p->packed, p->packed_class);
        p->packed = NULL;
        free(p->kept);
        p->kept = NULL;
        p->here = p->left = p->combined = false; /* the record is reused */
    }
    an_items_give_back(&c->early);
    an_items_give_back(&c->prefix);
    c->prefix = (struct an_items){0};
}

/* ---- for inter.c ---- */

void an_part_give(const struct an_part *sender, int from, const struct an_part *receiver, int to)
{
    struct block target = to < 0 ? whole(receiver->receive, receiver->receive_count, receiver->receive_type)
                                 : receive_block(receiver, to);
    if (sender->packed)
        unpack(sender, from < 0 ? 0 : from, receiver, target);
    else
        move(from < 0 ? whole_send(sender, 0) : send_block(sender, from), receiver, target);
}
