/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on intercommunicators: sizes and data. Members are numbered in the list of both sides. A member
 * receives its data from the other side when it leaves; its contribution is saved then, if others still need
 * it.
 */
#include "adapters/analytic/collective/collective.h"

#include "adapters/local/types.h"

void an_intercoll_fill(struct an_collective *c, const struct an_comm *comm, const struct an_part *part)
{
    struct pf_coll_call *call = &c->call;
    int side = pf_coll_side(call, comm->index);
    size_t sum = 0;
    if (pf_coll_is_rooted(call->kind))
        c->members = 1 + pf_coll_side_size(call, !pf_coll_side(call, part->root));
    call->side[0] = call->side[1] = part->pretend;
    switch (call->kind) {
    case PF_COLL_ALLGATHER:
    case PF_COLL_ALLTOALL:
        if (part->pretend)
            break;
        call->side[side] = an_data_sent(part->send_count, part->send_type);
        call->side[!side] = an_data_sent(part->receive_count, part->receive_type);
        break;
    case PF_COLL_REDUCE_SCATTER_BLOCK: /* both sides have vectors of one length */
        call->side[side] = an_data_sent(part->send_count, part->send_type);
        call->side[!side] = call->side[side] * (size_t)comm->size / (size_t)comm->peers;
        break;
    case PF_COLL_REDUCE_SCATTER:
        for (int i = 0; i < comm->size; i++)
            sum += an_data_sent(part->receive_counts[i], part->send_type);
        call->bytes = sum;
        break;
    default:
        break;
    }
}

/* Combines the contributions of the other side, in the order of its ranks. */
static void combine(const struct an_collective *c, const struct an_part *mine, int side, int count,
                    struct an_items *result)
{
    const struct an_part *others = &c->parts[pf_coll_leader(&c->call, !side)];
    int i = pf_coll_side_size(&c->call, !side) - 1;
    an_items_take(result, an_part_contribution(&others[i]), count, mine->send_type);
    while (i-- > 0)
        pf_local_op_apply(mine->op, mine->send_type, count, an_part_contribution(&others[i]), result->items);
}

/* Copies a member's part of the result. */
static void hand_out(const struct an_collective *c, const struct an_part *p, int rank, const char *items)
{
    int count = p->send_count, before = 0;
    if (c->call.kind == PF_COLL_REDUCE_SCATTER_BLOCK) {
        before = rank * count;
    } else if (c->call.kind == PF_COLL_REDUCE_SCATTER) {
        for (int i = 0; i < rank; i++)
            before += p->receive_counts[i];
        count = p->receive_counts[rank];
    }
    an_items_copy(items + before * pf_local_type_extent(p->send_type), p->receive, count, p->send_type);
}

/* Reduces for all members of one side that leave now; combined once. */
static void reduce_for(struct an_collective *c, int side, const struct an_leave *leaves, int n)
{
    struct an_items result = {0};
    bool combined = false;
    for (int i = 0; i < n; i++) {
        int member = leaves[i].member;
        const struct an_part *p = &c->parts[member];
        if (pf_coll_side(&c->call, member) != side ||
            (pf_coll_is_rooted(c->call.kind) && member != c->call.root) || an_part_items(c, p, member) == 0)
            continue;
        if (!combined)
            combine(c, p, side, an_part_items(c, p, member), &result);
        combined = true;
        hand_out(c, p, member - pf_coll_leader(&c->call, side), result.items);
    }
    if (combined)
        an_items_give_back(&result);
}

/* Copies the data of a member that leaves. */
static void receive(struct an_collective *c, int member)
{
    const struct pf_coll_call *call = &c->call;
    const struct an_part *p = &c->parts[member];
    int side = pf_coll_side(call, member), rank = member - pf_coll_leader(call, side),
        others = pf_coll_leader(call, !side);
    bool root = member == call->root;
    switch (call->kind) {
    case PF_COLL_BCAST:
        if (!root)
            an_part_give(&c->parts[call->root], -1, p, -1);
        break;
    case PF_COLL_SCATTER:
    case PF_COLL_SCATTERV:
        if (!root)
            an_part_give(&c->parts[call->root], rank, p, -1);
        break;
    case PF_COLL_GATHER:
    case PF_COLL_GATHERV:
        for (int i = 0; root && i < pf_coll_side_size(call, !side); i++)
            an_part_give(&c->parts[others + i], -1, p, i);
        break;
    case PF_COLL_ALLGATHER:
    case PF_COLL_ALLGATHERV:
        for (int i = 0; i < pf_coll_side_size(call, !side); i++)
            if (c->parts[others + i].here) /* one that has not arrived has an empty block */
                an_part_give(&c->parts[others + i], -1, p, i);
        break;
    case PF_COLL_ALLTOALL:
    case PF_COLL_ALLTOALLV:
    case PF_COLL_ALLTOALLW:
        for (int i = 0; i < pf_coll_side_size(call, !side); i++)
            if (c->parts[others + i].here)
                an_part_give(&c->parts[others + i], rank, p, i);
        break;
    default:
        break;
    }
}

static bool is_reduction(enum pf_coll_kind kind)
{
    return kind >= PF_COLL_REDUCE && kind <= PF_COLL_REDUCE_SCATTER_BLOCK;
}

void an_intercoll_move(struct an_collective *c, const struct an_leave *leaves, int n)
{
    bool over = c->left + n == c->members;
    for (int side = 0; is_reduction(c->call.kind) && side < 2; side++)
        reduce_for(c, side, leaves, n);
    for (int i = 0; i < n; i++)
        receive(c, leaves[i].member);
    for (int i = 0; !over && i < n; i++)
        an_part_save(c, leaves[i].member);
}
