/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks through a plan round by round and prices its messages: from arrival dates to dates of leaving. */
#include "adapters/analytic/coll/evaluate/evaluate.h"

#include <limits.h>
#include <math.h>

#include "base/memory.h"

static bool combines(enum pf_action action)
{
    return action == PF_COMBINE || action == PF_RELAY || action == PF_STRIDED || action == PF_PREFIX;
}

/* Recursive doubling combines what comes from a lower rank with the result, too; MPI_Exscan's first such is
 * the result. */
static double work_on_result(const struct pf_coll *coll, int from, int to, size_t bytes)
{
    if (coll->plan.stage[0].at != pf_at_scan_doubling || from > to)
        return 0;
    return coll->plan.call.kind == PF_COLL_EXSCAN && (from ^ to) == (to & -to)
               ? pf_cost_copy_own(coll->colls->cost, bytes)
               : pf_cost_combine(coll->colls->cost, bytes);
}

/* How long the receiver of a message then works on its data. */
static double work_on(const struct pf_coll *coll, enum pf_action action, int from, int to, size_t bytes)
{
    if (action == PF_BRUCK && coll->plan.call.mpich)
        return pf_cost_gaps(coll->colls->cost, bytes);
    double more = action == PF_PREFIX ? work_on_result(coll, from, to, bytes) : 0;
    return combines(action) ? pf_cost_combine(coll->colls->cost, bytes) + more : 0;
}

/* And its sender before. */
static double prepare(const struct pf_coll *coll, const struct pf_step *step)
{
    bool packs = step->action == PF_BRUCK && coll->plan.call.mpich;
    return packs ? pf_cost_gaps(coll->colls->cost, step->bytes) : 0;
}

/* How long a rank takes to post the receive of a message and the `before` receives before it. */
static double posting(const struct pf_coll *coll, int from, int to, int before, size_t bytes)
{
    double post = pf_cost_post(coll->colls->cost, bytes);
    if (!coll->posts)
        return (before + 1) * post;
    int others = coll->posts[(size_t)to * ((size_t)coll->plan.call.n + 1) + (size_t)from];
    return post + others * pf_cost_post(coll->colls->cost, SIZE_MAX);
}

/* How long it takes to post all receives of a round, the first message of which has so many bytes. */
static double posting_all(const struct pf_coll *coll, int rank, int receives, size_t bytes)
{
    if (!coll->posts)
        return receives * pf_cost_post(coll->colls->cost, bytes);
    int n = coll->plan.call.n;
    return coll->posts[(size_t)rank * ((size_t)n + 1) + (size_t)n] *
           pf_cost_post(coll->colls->cost, SIZE_MAX);
}

/* MPICH's inner nodes gather into a block of their own and send it with theirs. */
static bool has_gaps(const struct pf_coll *coll, const struct pf_step *step)
{
    const struct pf_coll_call *call = &coll->plan.call;
    return step->gaps || (call->mpich && call->kind == PF_COLL_GATHER && step->bytes > call->bytes);
}

/* A send of the round is safe at a date. In rounds of one long message, or with short ones, what comes
 * meanwhile may make it later; of several short ones the last is looked at. */
static void note_end(const struct pf_coll *coll, int rank, const struct pf_step *step,
                     const struct pf_cost_inflow *inflow, double safe)
{
    struct pf_ending ending = {*inflow, safe};
    struct pf_member *m = &coll->member[rank];
    if (safe >= m->sent.safe)
        m->sent = (struct pf_coll_sent){safe, step->bytes, pf_evaluate_world(coll, step->peer)};
    if (!inflow->node)
        pf_cost_answer_to(coll->colls->cost, pf_evaluate_world(coll, rank),
                          pf_evaluate_world(coll, step->peer), step->bytes, safe, &ending.inflow);
    if (ending.inflow.node && (m->single || ending.inflow.answers))
        m->went = ending;
}

/* Prices a message of a round when the dates of both ranks are known. The receiver posts `before` receives
 * before its own. */
static inline void price_message(struct pf_coll *coll, int rank, const struct pf_step *step,
                                 enum pf_cost_mode mode, int before)
{
    struct pf_cost *cost = coll->colls->cost;
    struct pf_member *m = &coll->member[rank], *target = &coll->member[step->peer];
    struct pf_cost_sent sent;
    struct pf_cost_received got;
    double posted =
        pf_later(target->looks, target->clock + posting(coll, rank, step->peer, before, step->bytes));
    int src = pf_evaluate_world(coll, rank), dst = pf_evaluate_world(coll, step->peer);
    if (__builtin_expect(step->gaps, 0)) {
        pf_cost_send(cost, src, dst, step->bytes, m->cpu + prepare(coll, step), mode, &sent);
        sent.gaps = true;
        pf_cost_receive(cost, src, dst, step->bytes, &sent, posted, &got);
    } else {
        pf_cost_message(cost, src, dst, step->bytes, m->cpu + prepare(coll, step), posted, mode, &sent, &got);
    }
    pf_evaluate_sends(coll, rank, mode, m->cpu, got.safe);
    m->cpu = sent.returns;
    m->safe = pf_later(m->safe, got.safe);
    note_end(coll, rank, step, sent.rendezvous ? &got.inflow : &sent.inflow, got.safe);
    if (target->single)
        target->came = (struct pf_ending){got.inflow, got.complete};
    pf_evaluate_received(target, &got, work_on(coll, step->action, rank, step->peer, step->bytes));
    coll->tally->bytes += step->bytes;
    coll->tally->messages++;
}

static inline void begin_round(struct pf_member *m)
{
    m->cpu = m->safe = m->looks = m->clock;
    m->first = INFINITY;
    m->last = m->busy = 0;
    m->came.inflow.node = m->went.inflow.node = 0;
}

static inline void end_round(struct pf_member *m)
{
    double end = pf_later(m->cpu, m->safe);
    if (m->first < INFINITY)
        end = pf_later(end, pf_later(m->last, pf_later(m->first, m->cpu) + m->busy));
    m->clock = end;
}

/* A round of one long message in each direction ends when these do, which share NICs and links with messages
 * that have been priced since. Returns whether that has changed. Over UCX the caller of the collective waits
 * no second time for what is so late. */
static bool outlast(const struct pf_coll *coll, struct pf_member *m)
{
    double before = m->clock;
    struct pf_ending *of[] = {&m->came, &m->went};
    for (int i = 0; i < 2; i++) {
        if (!of[i]->inflow.node)
            continue;
        m->clock = pf_later(m->clock, of[i]->end + pf_cost_late(coll->colls->cost, &of[i]->inflow));
        if (pf_cost_in_pieces(coll->colls->cost))
            m->inflow.spare = of[i]->inflow.spare + m->clock - of[i]->end;
    }
    return m->clock > before;
}

static struct pf_round empty_round(struct pf_coll *coll)
{
    return (struct pf_round){.step = coll->colls->step,
                             .peer = coll->colls->peer,
                             .mode = coll->plan.call.nonblocking ? PF_COST_STANDARD : PF_COST_BLOCKING};
}

static void leave_round(struct pf_member *m)
{
    end_round(m);
    m->inside = false;
    m->round++;
}

/* A rank has completed the round in which it waited. */
static void go_on(struct pf_coll *coll, int rank)
{
    leave_round(&coll->member[rank]);
    pf_evaluate_put(coll, rank);
}

static bool complete(const struct pf_member *m)
{
    return m->missing == 0 && m->unsafe == 0;
}

/* libnbc's linear schedules go from rank to rank. */
static int place_of_receive(const struct pf_coll *coll, int from, int to)
{
    const struct pf_stage *stage = &coll->plan.stage[coll->member[to].stage];
    if (stage->nth)
        return pf_nth_receive_from(&coll->plan, from, to);
    return coll->member[to].in_turn ? from - (from > to) : 0;
}

static double posted_at(const struct pf_coll *coll, int from, int to, size_t bytes)
{
    const struct pf_member *target = &coll->member[to];
    if (!coll->posts && pf_cost_post(coll->colls->cost, bytes) <= 0 && target->late <= 0)
        return target->open;
    int place = place_of_receive(coll, from, to);
    return target->open + posting(coll, from, to, place, bytes) +
           (place > target->late_from ? target->late : 0);
}

static void note_flow(struct pf_flows *in, size_t bytes, const struct pf_cost_sent *sent,
                      const struct pf_cost_received *got)
{
    in->begin = in->count++ == 0 || sent->returns < in->begin ? sent->returns : in->begin;
    in->latest = pf_later(in->latest, sent->returns);
    in->begins += sent->returns;
    in->end = pf_later(in->end, got->arrival);
    in->answer = pf_later(in->answer, got->safe - got->arrival);
    in->bytes += bytes;
}

/* Receives a message in whose round `to` is. The sender may wait for that. */
static void receive(struct pf_coll *coll, int from, int to, size_t bytes, enum pf_action action,
                    const struct pf_cost_sent *sent)
{
    struct pf_cost *cost = coll->colls->cost;
    struct pf_member *source = &coll->member[from], *target = &coll->member[to];
    struct pf_cost_received got;
    pf_cost_receive(cost, pf_evaluate_world(coll, from), pf_evaluate_world(coll, to), bytes, sent,
                    posted_at(coll, from, to, bytes), &got);
    if (target->open < target->clock && got.complete < target->clock) { /* during the round before */
        got.complete = target->clock;
        got.work = 0;
    }
    pf_evaluate_received(target, &got, work_on(coll, action, from, to, bytes));
    if (coll->flows)
        note_flow(&target->in, bytes, sent, &got);
    target->missing--;
    if (target->single)
        target->came = (struct pf_ending){got.inflow, got.complete};
    if (target->sole)
        pf_cost_inflow_set(&target->inflow, &got.inflow);
    bool still = source->inside && source->stage == target->stage && source->round == target->round;
    if (coll->early && still && source->single && !sent->rendezvous)
        source->safe = source->went.end = got.safe; /* as price_message() has it */
    if (sent->rendezvous) {
        source->safe = pf_later(source->safe, got.safe);
        source->unsafe--;
        if (source->single)
            source->went = (struct pf_ending){got.inflow, got.safe};
        if (source->sole)
            pf_cost_inflow_set(&source->inflow, &got.inflow);
    }
}

static void keep(struct pf_coll *coll, int from, int to, const struct pf_step *step,
                 const struct pf_cost_sent *sent)
{
    const struct pf_member *m = &coll->member[from];
    struct pf_early *early = pf_pool_get(&coll->colls->early);
    *early = (struct pf_early){NULL, *sent, step->bytes, from, m->stage, m->round, step->action};
    struct pf_early **place = &coll->member[to].early;
    while (*place &&
           ((*place)->stage < m->stage || ((*place)->stage == m->stage && (*place)->round <= m->round)))
        place = &(*place)->next;
    early->next = *place;
    *place = early;
}

static void send_at_once(struct pf_coll *coll, int rank, const struct pf_round *round)
{
    struct pf_cost *cost = coll->colls->cost;
    pf_cost_together_begin(cost, pf_evaluate_world(coll, rank));
    for (int i = 0; i < round->sends; i++)
        pf_cost_together_add(cost, pf_evaluate_world(coll, rank),
                             pf_evaluate_world(coll, round->step[i].peer), round->step[i].bytes);
}

/* Messages to all other ranks that are sent at once share the NIC, whatever their order: they are priced in
 * an order in which no two ranks send to the same rank at once. */
static int first_send(const struct pf_coll *coll, int rank, const struct pf_round *round)
{
    int first = 0;
    if (!coll->plan.stage[coll->member[rank].stage].nth || !pf_cost_shares(coll->colls->cost) ||
        pf_nth_goes_around(&coll->plan))
        return 0;
    while (first < round->sends && round->step[first].peer < rank)
        first++;
    return first;
}

/* Whether the target receives from other ranks first, one after the other, so that the message is unexpected.
 */
static bool receives_in_turn(const struct pf_coll *coll, const struct pf_member *target,
                             const struct pf_member *source)
{
    const struct pf_stage *stage = &coll->plan.stage[source->stage];
    return stage->in_turn && target->stage == source->stage &&
           target->round < source->round - (target->inside ? 0 : 1);
}

/* The receives of the round are posted before the sends, or each before the send to the same rank; they are
 * assumed to be as large as the sends. */
static void send(struct pf_coll *coll, int rank, const struct pf_round *round)
{
    struct pf_cost *cost = coll->colls->cost;
    struct pf_member *m = &coll->member[rank];
    bool alternates = m->in_turn && round->sends == round->receives;
    if ((round->sends > 0 || coll->posts) && !alternates)
        m->cpu += posting_all(coll, rank, round->receives, round->step[0].bytes);
    int first = first_send(coll, rank, round);
    if (round->sends > 1 && pf_cost_shares(cost))
        send_at_once(coll, rank, round);
    for (int i = 0; i < round->sends; i++) {
        int place = (i + first) % round->sends;
        const struct pf_step *step = &round->step[place];
        double begun = first ? place * pf_cost_gap(cost, step->bytes) : 0;
        struct pf_member *target = &coll->member[step->peer];
        struct pf_cost_sent sent;
        if (alternates)
            m->cpu += pf_cost_post(cost, step->bytes);
        pf_cost_send(cost, pf_evaluate_world(coll, rank), pf_evaluate_world(coll, step->peer), step->bytes,
                     m->cpu + begun + prepare(coll, step), round->mode, &sent);
        pf_evaluate_sends(coll, rank, round->mode, m->cpu, sent.safe);
        sent.gaps = has_gaps(coll, step);
        m->cpu = sent.returns - begun;
        if (coll->plan.stage[m->stage].nth) /* NICs are shared at both ends */
            sent.inflow.node = 0;
        double safe = !sent.rendezvous && receives_in_turn(coll, target, m)
                          ? pf_cost_safe_unexpected(cost, &sent)
                          : sent.safe;
        if (sent.rendezvous) {
            m->unsafe++;
        } else {
            note_end(coll, rank, step, &sent.inflow, safe);
            m->safe = pf_later(m->safe, safe);
        }
        coll->tally->bytes += step->bytes;
        if (!target->inside || target->stage != m->stage || target->round != m->round) {
            keep(coll, rank, step->peer, step, &sent);
            continue;
        }
        receive(coll, rank, step->peer, step->bytes, step->action, &sent);
        if (sent.rendezvous && i + 1 < round->sends && round->step[i + 1].peer != step->peer &&
            round->mode == PF_COST_BLOCKING && pf_cost_in_pieces(cost))
            m->cpu = pf_later(m->cpu, m->safe); /* the next one begins when it is over */
        if (complete(target))
            go_on(coll, step->peer);
    }
    coll->tally->messages += (uint64_t)round->sends;
}

static void receive_early(struct pf_coll *coll, int rank)
{
    struct pf_member *m = &coll->member[rank];
    struct pf_early *early;
    while ((early = m->early) && early->stage == m->stage && early->round == m->round) {
        receive(coll, early->from, rank, early->bytes, early->action, &early->sent);
        /* A sender that is still sending continues by itself. */
        if (early->sent.rendezvous && early->from != rank && complete(&coll->member[early->from]))
            go_on(coll, early->from);
        m->early = early->next;
        pf_pool_put(&coll->colls->early, early);
    }
}

/* Receives are posted before the round's sends: posting one whose message has arrived may take longer. */
static void post_late(const struct pf_coll *coll, int rank)
{
    struct pf_member *m = &coll->member[rank];
    const struct pf_early *early = m->early;
    double late = 0;
    int from = INT_MAX;
    m->late = 0;
    if (coll->plan.stage[m->stage].ahead)
        return;
    for (; early && early->stage == m->stage && early->round == m->round; early = early->next) {
        double posted = posted_at(coll, early->from, rank, early->bytes);
        double more = pf_cost_post_end(coll->colls->cost, early->bytes, &early->sent, posted) - posted;
        if (more > 0 && place_of_receive(coll, early->from, rank) < from)
            from = place_of_receive(coll, early->from, rank);
        late = pf_later(late, more);
    }
    m->late = late;
    m->late_from = from;
    m->cpu += late;
}

/* Evaluates rounds of a rank until it must wait or another rank's turn is earlier. */
static void advance(struct pf_coll *coll, int rank)
{
    const struct pf_plan *plan = &coll->plan;
    struct pf_member *m = &coll->member[rank];
    if (outlast(coll, m) && (coll->queue_length || m->clock > coll->until)) {
        pf_evaluate_put(coll, rank);
        return;
    }
    while (m->stage < plan->stages) {
        const struct pf_stage *stage = &plan->stage[m->stage];
        struct pf_round round = empty_round(coll);
        m->round = stage->at(plan, stage, rank, m->round, &round);
        if (m->round >= stage->rounds) {
            m->stage++;
            m->round = 0;
            continue;
        }
        if (coll->with_data)
            m->clock = pf_later(m->clock, coll->colls->handles(pf_evaluate_world(coll, rank)));
        m->clock += pf_cost_types(coll->colls->cost, round.types);
        m->open = stage->ahead && m->round > 0 ? m->began : m->clock;
        m->began = m->clock;
        begin_round(m);
        m->missing = round.receives;
        m->sole = round.sends + round.receives == 1;
        m->single = !stage->nth && round.sends <= 1 && round.receives <= 1;
        m->inflow.node = 0;
        m->unsafe = 0;
        m->inside = true;
        m->in_turn = plan->call.nonblocking && !plan->call.cut && round.receives > 1 &&
                     round.receives == plan->call.n - 1;
        post_late(coll, rank);
        if (coll->early)
            receive_early(coll, rank);
        send(coll, rank, &round);
        receive_early(coll, rank);
        if (!complete(m))
            return;
        leave_round(m);
        outlast(coll, m);
        m->turn = m->clock;
        if (m->turn > coll->until || (coll->queue_length && pf_evaluate_before(coll, coll->queue[0], rank))) {
            pf_evaluate_put(coll, rank);
            return;
        }
    }
    coll->done[coll->done_length++] = rank;
}

void pf_evaluate_on(struct pf_coll *coll)
{
    while (coll->queue_length && coll->member[coll->queue[0]].turn <= coll->until)
        advance(coll, pf_evaluate_first(coll));
}

void pf_evaluate_from(struct pf_coll *coll, int rank)
{
    pf_evaluate_put(coll, rank);
    pf_evaluate_on(coll);
}

/* The number of a rank's message to another, in the order in which it starts them. */
static int number_to(const struct pf_plan *plan, int rank, int to)
{
    if (pf_nth_goes_around(plan))
        return pf_shift(rank, to, plan->call.n);
    return to + (to < rank);
}

/* When a rank has sent all messages of an exchange, and looks for those that wait for it. */
static double looks_at(const struct pf_coll *coll, const struct pf_stage *stage, int rank)
{
    double date = coll->member[rank].clock;
    struct pf_step step;
    for (int i = 1; i < coll->plan.call.n && pf_cost_in_pieces(coll->colls->cost); i++)
        if (stage->nth(&coll->plan, rank, i, &step))
            date += pf_cost_asking(coll->colls->cost, pf_evaluate_world(coll, rank),
                                   pf_evaluate_world(coll, step.peer), step.bytes);
    return date;
}

static size_t largest_of(const size_t *bytes, int n)
{
    size_t largest = 0;
    for (int i = 0; i < n; i++)
        largest = bytes[i] > largest ? bytes[i] : largest;
    return largest;
}

/* An upper bound for the longest message of a stage: a block where all ranks send to all, otherwise all data.
 */
static size_t longest(const struct pf_coll *coll, const struct pf_stage *stage)
{
    const struct pf_coll_call *call = &coll->plan.call;
    size_t most = stage->nth ? call->bytes : coll->plan.total;
    if (call->rows) {
        most = 0;
        for (int r = 0; r < call->n; r++) {
            size_t row = largest_of(call->rows[r], call->n);
            most = row > most ? row : most;
        }
    } else if (stage->nth && call->counts) {
        most = largest_of(call->counts, call->n);
    }
    return most;
}

static void exchange_one(struct pf_coll *coll, const struct pf_stage *stage, int rank, int number, bool first)
{
    struct pf_member *m = &coll->member[rank];
    bool sends_first = pf_sends_first(&coll->plan);
    struct pf_step step;
    if (!stage->nth(&coll->plan, rank, number, &step))
        return;
    double post = pf_cost_post(coll->colls->cost, step.bytes);
    if (!m->in_turn)
        m->cpu += first && !coll->posts ? (coll->plan.call.n - 1) * post : 0;
    else if (!sends_first)
        m->cpu += post;
    m->turn += pf_cost_gap(coll->colls->cost, step.bytes);
    price_message(coll, rank, &step, PF_COST_STANDARD, pf_nth_receive_from(&coll->plan, rank, step.peer));
    if (m->in_turn && sends_first)
        m->cpu += post;
}

/* Each rank sends to all: its NIC takes one message after the other long before they have left. They find
 * links and NICs as those left them that were taken before. */
static void exchange_by_date(struct pf_coll *coll, const struct pf_stage *stage)
{
    int n = coll->plan.call.n;
    for (int r = 0; r < n && n > 1; r++) {
        coll->member[r].round = 0;
        pf_evaluate_put(coll, r);
    }
    while (coll->queue_length) {
        int rank = coll->queue[0], number = ++coll->member[rank].round;
        exchange_one(coll, stage, rank, number, number == 1);
        coll->member[rank].turn = pf_later(coll->member[rank].turn, coll->member[rank].cpu);
        if (number + 1 < n)
            pf_evaluate_replace_first(coll, rank);
        else
            pf_evaluate_first(coll);
    }
}

/* Prices the first message of each rank, then the second of each, and so on, or by date where each NIC takes
 * one after the other. Where the messages of a rank share its NIC, their order does not matter: they are
 * priced in an order in which no two ranks send to the same rank at once. */
static void exchange_all(struct pf_coll *coll, const struct pf_stage *stage)
{
    const struct pf_plan *plan = &coll->plan;
    const struct pf_cost *cost = coll->colls->cost;
    int n = plan->call.n;
    bool together = pf_cost_shares(cost);
    for (int r = 0; r < n && coll->posts; r++)
        coll->member[r].cpu += posting_all(coll, r, 0, 0);
    for (int r = 0; r < n; r++)
        coll->member[r].looks = looks_at(coll, stage, r);
    if (pf_cost_by_nic(cost) &&
        (plan->call.nonblocking || !pf_cost_shares_above(cost, longest(coll, stage)))) {
        exchange_by_date(coll, stage);
        return;
    }
    for (int i = 1; i < n; i++)
        for (int r = 0; r < n; r++)
            exchange_one(coll, stage, r, together ? number_to(plan, r, pf_unshift(r, n - i, n)) : i, i == 1);
}

/* Before any of their messages. */
static void make_types(struct pf_coll *coll, const struct pf_stage *stage, int k)
{
    for (int r = 0; r < coll->plan.call.n; r++) {
        struct pf_member *m = &coll->member[r];
        struct pf_round round = empty_round(coll);
        if (m->round > k || stage->at(&coll->plan, stage, r, k, &round) > k)
            continue;
        m->clock += pf_cost_types(coll->colls->cost, round.types);
        begin_round(m);
    }
}

static void exchange_round(struct pf_coll *coll, const struct pf_stage *stage, int k)
{
    if (coll->plan.typed && pf_cost_types(coll->colls->cost, 1) > 0)
        make_types(coll, stage, k);
    for (int r = 0; r < coll->plan.call.n; r++) {
        struct pf_member *m = &coll->member[r];
        if (m->round > k)
            continue;
        struct pf_round round = empty_round(coll);
        m->round = stage->at(&coll->plan, stage, r, k, &round);
        if (m->round > k)
            continue;
        m->single = round.sends <= 1 && round.receives <= 1;
        if (round.sends > 0 && !pf_sends_first(&coll->plan))
            m->cpu += round.receives * pf_cost_post(coll->colls->cost, round.step[0].bytes);
        if (round.sends > 1 && pf_cost_shares(coll->colls->cost))
            send_at_once(coll, r, &round);
        for (int i = 0; i < round.sends; i++)
            price_message(coll, r, &round.step[i], round.mode, 0);
        m->round = k + 1;
    }
}

/* Whether posting a receive after its message was sent may block its rank. */
static bool may_block(const struct pf_coll *coll, const struct pf_stage *stage)
{
    return pf_cost_post_blocks(coll->colls->cost, longest(coll, stage));
}

bool pf_evaluate_shares(const struct pf_coll *coll)
{
    size_t most = 0;
    for (int i = 0; i < coll->plan.stages; i++) {
        size_t bytes = longest(coll, &coll->plan.stage[i]);
        most = bytes > most ? bytes : most;
    }
    return pf_cost_shares_above(coll->colls->cost, most);
}

static bool in_turns(const struct pf_coll *coll, const struct pf_stage *stage)
{
    return stage->nth && coll->plan.call.nonblocking && may_block(coll, stage);
}

static void evaluate_stage(struct pf_coll *coll, const struct pf_stage *stage)
{
    int n = coll->plan.call.n;
    for (int r = 0; r < n; r++) {
        coll->member[r].round = 0;
        coll->member[r].in_turn = stage->nth && coll->plan.call.nonblocking;
        coll->member[r].single = false;
        begin_round(&coll->member[r]);
    }
    for (int k = 0; k < stage->rounds; k++) {
        if (pf_evaluate_as_flows(coll, stage))
            pf_evaluate_flows(coll, stage);
        else if (in_turns(coll, stage))
            pf_evaluate_turns(coll, stage);
        else if (stage->nth)
            exchange_all(coll, stage);
        else
            exchange_round(coll, stage, k);
        for (int r = 0; r < n; r++) {
            end_round(&coll->member[r]);
            outlast(coll, &coll->member[r]);
            begin_round(&coll->member[r]);
        }
    }
}

/* Messages to one rank share its NIC, so a send ends with all others of its size to the same rank. */
static void end_sends(struct pf_coll *coll)
{
    struct pf_step step;
    for (int r = 0; r < coll->plan.call.n; r++)
        for (int i = 1; i < coll->plan.call.n; i++) {
            if (!coll->plan.stage[0].nth(&coll->plan, r, i, &step) || step.bytes == 0)
                continue;
            const struct pf_flows *in = &coll->member[step.peer].in;
            double part = fmin(1, (double)in->count * (double)step.bytes / (double)in->bytes);
            double whole = in->end - (in->latest - in->begins / in->count) - in->begin;
            double end = in->begin + part * whole + in->answer;
            coll->member[r].clock = pf_later(coll->member[r].clock, end);
        }
}

/* Whether the arrivals of ranks are so far apart that a message can arrive before its receive is posted,
 * which then blocks. */
static bool out_of_step(const struct pf_coll *coll)
{
    double first = INFINITY, last = 0;
    bool blocks = false;
    for (int i = 0; i < coll->plan.stages; i++)
        blocks |= may_block(coll, &coll->plan.stage[i]);
    if (coll->plan.call.n < 2 || !blocks || in_turns(coll, &coll->plan.stage[0]) ||
        pf_evaluate_as_flows(coll, &coll->plan.stage[0]))
        return false;
    for (int r = 0; r < coll->plan.call.n; r++) {
        double clock = coll->member[r].clock;
        first = clock < first ? clock : first;
        last = pf_later(last, clock);
    }
    return last - first >
           pf_cost_soonest(coll->colls->cost, pf_evaluate_world(coll, 0), pf_evaluate_world(coll, 1));
}

/* Counts the receives that take time to post, where a blocking exchange posts all receives before it sends.
 */
static void count_posts(struct pf_coll *coll)
{
    const struct pf_coll_call *call = &coll->plan.call;
    struct pf_colls *colls = coll->colls;
    size_t n = (size_t)call->n;
    if (!call->rows || call->cut || call->nonblocking || !coll->plan.stage[0].nth ||
        pf_cost_post(colls->cost, longest(coll, &coll->plan.stage[0])) <= 0)
        return;
    if (colls->posts_room < call->n) {
        colls->posts_room = call->n;
        colls->posts = pf_reallocarray(colls->posts, n * (n + 1), sizeof *colls->posts);
    }
    for (size_t to = 0; to < n; to++) {
        int *posts = &colls->posts[to * (n + 1)];
        posts[0] = 0;
        for (size_t from = 0; from < n; from++)
            posts[from + 1] =
                posts[from] + (from != to && pf_cost_post(colls->cost, call->rows[from][to]) > 0);
    }
    coll->posts = colls->posts;
}

void pf_evaluate_together(struct pf_coll *coll)
{
    count_posts(coll);
    if (out_of_step(coll)) {
        const struct pf_plan *plan = &coll->plan;
        coll->flows = plan->stages == 1 && plan->stage[0].nth && pf_cost_shares(coll->colls->cost);
        for (int r = 0; r < coll->plan.call.n; r++) {
            coll->member[r].in = (struct pf_flows){0};
            pf_evaluate_put(coll, r);
        }
        while (coll->queue_length)
            advance(coll, pf_evaluate_first(coll));
        if (coll->flows)
            end_sends(coll);
        return;
    }
    for (int i = 0; i < coll->plan.stages; i++)
        evaluate_stage(coll, &coll->plan.stage[i]);
    for (int r = 0; r < coll->plan.call.n; r++)
        coll->done[coll->done_length++] = r;
}
