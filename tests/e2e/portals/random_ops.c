/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random programs against a model of the specification: in each step every rank may change its own lists,
 * then all send to different ranks at once; return codes, events and every byte of memory must be the
 * model's. Usage: random_ops [first seed [number of seeds]]
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)

enum { RANKS = 4, STEPS = 60, SLOTS = 48, SLOT = 256, EXPECTED = 400, MOST = 120 };

struct entry {
    int id;
    ptl_me_t me;
    ptl_list_t list;
    ptl_size_t local_offset;
    int headers;
    bool used_up;
    ptl_handle_me_t handle;
};

struct header {
    struct entry *entry;
    ptl_event_kind_t kind;
    ptl_match_bits_t bits;
    int from;
    ptl_size_t rlength, mlength, offset;
    const void *start;
};

struct expected {
    ptl_event_kind_t type;
    ptl_ni_fail_t fail;
    intptr_t id;
    ptl_size_t mlength;
    const void *start; /* NULL: not compared */
};

/* All ranks are in one process and share the model; a rank that changes something enters it first. */
static struct state {
    struct entry *lists[2][MOST];
    int lengths[2];
    struct header unexpected[MOST];
    int headers;
    struct expected expected[EXPECTED];
    int expected_count;
    bool slot_used[SLOTS];
    _Alignas(16) unsigned char memory[SLOTS * SLOT], model[SLOTS * SLOT];
} states[RANKS];

static unsigned int seed;

static unsigned int draw(uint64_t *random, unsigned int below)
{
    *random = *random * 6364136223846793005U + 1442695040888963407U;
    return (unsigned int)(*random >> 33) % below;
}

static void expect(struct state *s, ptl_event_kind_t type, intptr_t id, ptl_size_t mlength, const void *start)
{
    CHECK(s->expected_count < EXPECTED);
    s->expected[s->expected_count++] = (struct expected){type, PTL_NI_OK, id, mlength, start};
}

static void remove_entry(struct state *s, struct entry *entry)
{
    struct entry **list = s->lists[entry->list];
    int at = 0;
    while (list[at] != entry)
        at++;
    memmove(&list[at], &list[at + 1], (size_t)(--s->lengths[entry->list] - at) * sizeof *list);
}

static void free_entry(struct state *s, struct entry *entry)
{
    s->slot_used[entry->id] = false;
    free(entry);
}

static bool key_matches(const ptl_me_t *me, ptl_match_bits_t bits, int from)
{
    ptl_process_t id = world_address(from);
    return ((bits ^ me->match_bits) & ~me->ignore_bits) == 0 &&
           (me->match_id.phys.pid == PTL_PID_ANY || me->match_id.phys.pid == id.phys.pid);
}

static ptl_size_t room(const struct entry *entry, ptl_size_t place)
{
    return place < entry->me.length ? entry->me.length - place : 0;
}

/* The model of a message that comes to `s`; NULL with *fail when it is refused. */
static struct entry *arrive(struct state *s, int from, ptl_match_bits_t bits, ptl_size_t length,
                            ptl_size_t offset, unsigned int needs, ptl_size_t *place, ptl_size_t *mlength,
                            ptl_ni_fail_t *fail)
{
    struct entry *found = NULL;
    for (int list = 0; list < 2 && !found; list++)
        for (int i = 0; i < s->lengths[list] && !found; i++) {
            struct entry *entry = s->lists[list][i];
            *place = entry->me.options & PTL_ME_MANAGE_LOCAL ? entry->local_offset : offset;
            if (key_matches(&entry->me, bits, from) &&
                (!(entry->me.options & PTL_ME_NO_TRUNCATE) || length <= room(entry, *place)))
                found = entry;
        }
    *fail = !found ? PTL_NI_DROPPED : (found->me.options & needs) != needs ? PTL_NI_OP_VIOLATION : PTL_NI_OK;
    if (*fail != PTL_NI_OK)
        return NULL;
    *mlength = length < room(found, *place) ? length : room(found, *place);
    return found;
}

static void conclude(struct state *s, struct entry *entry, const struct header *header)
{
    expect(s, header->kind, entry->id, header->mlength, header->mlength ? header->start : NULL);
    bool used_up = entry->me.options & PTL_ME_USE_ONCE;
    if (entry->me.options & PTL_ME_MANAGE_LOCAL) {
        entry->local_offset += header->mlength;
        used_up |= room(entry, entry->local_offset) < entry->me.min_free;
    }
    if (entry->list == PTL_OVERFLOW_LIST) {
        CHECK(s->headers < MOST);
        s->unexpected[s->headers++] = *header;
        entry->headers++;
    }
    if (!used_up)
        return;
    remove_entry(s, entry);
    entry->used_up = true;
    expect(s, PTL_EVENT_AUTO_UNLINK, entry->id, 0, NULL);
    if (entry->list == PTL_PRIORITY_LIST)
        free_entry(s, entry);
}

/* The model of an entry that looks for a header: its index, -1 for none. */
static int find_header(const struct state *s, const ptl_me_t *me)
{
    for (int i = 0; i < s->headers; i++) {
        const struct header *h = &s->unexpected[i];
        ptl_size_t place = me->options & PTL_ME_MANAGE_LOCAL ? 0 : h->offset;
        bool fits = place <= me->length && h->rlength <= me->length - place;
        if (key_matches(me, h->bits, h->from) && (fits || !(me->options & PTL_ME_NO_TRUNCATE)))
            return i;
    }
    return -1;
}

static void claim(struct state *s, int index, intptr_t id, bool unlinks)
{
    struct header h = s->unexpected[index];
    memmove(&s->unexpected[index], &s->unexpected[index + 1], (size_t)(--s->headers - index) * sizeof h);
    expect(s, (ptl_event_kind_t)(h.kind + 1), id, h.mlength,
           h.mlength ? h.start : NULL); /* the overflow kind */
    if (--h.entry->headers == 0 && h.entry->used_up) {
        expect(s, PTL_EVENT_AUTO_FREE, h.entry->id, 0, NULL);
        free_entry(s, h.entry);
    }
    if (unlinks)
        expect(s, PTL_EVENT_AUTO_UNLINK, id, 0, NULL);
}

static ptl_me_t random_me(struct state *s, int slot, uint64_t *random)
{
    unsigned int options = PTL_ME_EVENT_LINK_DISABLE;
    options |= draw(random, 8)   ? PTL_ME_OP_PUT | PTL_ME_OP_GET
               : draw(random, 2) ? PTL_ME_OP_PUT
                                 : PTL_ME_OP_GET;
    options |= draw(random, 2) ? PTL_ME_USE_ONCE : 0;
    options |= draw(random, 3) ? 0 : PTL_ME_MANAGE_LOCAL;
    options |= draw(random, 4) ? 0 : PTL_ME_NO_TRUNCATE;
    ptl_me_t me = {.start = s->memory + slot * SLOT,
                   .length = 1 + draw(random, SLOT),
                   .ct_handle = PTL_CT_NONE,
                   .uid = PTL_UID_ANY,
                   .options = options,
                   .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                   .match_bits = draw(random, 4),
                   .ignore_bits = draw(random, 3) ? 0 : draw(random, 4),
                   .min_free = draw(random, 2) * draw(random, 100)};
    if (draw(random, 3) == 0)
        me.match_id.phys.pid = world_address((int)draw(random, RANKS)).phys.pid;
    return me;
}

static void append(struct endpoint *e, struct state *s, uint64_t *random)
{
    int slot = 0;
    while (slot < SLOTS && s->slot_used[slot])
        slot++;
    if (slot == SLOTS)
        return;
    struct entry *entry = calloc(1, sizeof *entry);
    *entry = (struct entry){.id = slot, .me = random_me(s, slot, random), .list = draw(random, 4) == 0};
    s->slot_used[slot] = true;
    bool once = entry->me.options & PTL_ME_USE_ONCE, claimed = false;
    int header;
    while (entry->list == PTL_PRIORITY_LIST && !(once && claimed) &&
           (header = find_header(s, &entry->me)) >= 0) {
        claim(s, header, entry->id, once);
        claimed = true;
    }
    CHECK(PtlMEAppend(e->ni, e->pt, &entry->me, entry->list, (void *)(intptr_t)entry->id, &entry->handle) ==
          PTL_OK);
    if (once && claimed)
        free_entry(s, entry);
    else
        s->lists[entry->list][s->lengths[entry->list]++] = entry;
}

static void unlink_some(struct state *s, uint64_t *random)
{
    int list = (int)draw(random, 2);
    if (s->lengths[list] == 0)
        return;
    struct entry *entry = s->lists[list][draw(random, (unsigned int)s->lengths[list])];
    if (entry->headers > 0) {
        CHECK(PtlMEUnlink(entry->handle) == PTL_IN_USE);
        return;
    }
    CHECK(PtlMEUnlink(entry->handle) == PTL_OK);
    remove_entry(s, entry);
    free_entry(s, entry);
}

static void search(struct endpoint *e, struct state *s, uint64_t *random)
{
    ptl_me_t me = random_me(s, 0, random);
    bool deletes = draw(random, 2), once = me.options & PTL_ME_USE_ONCE, found = false;
    int header;
    if (!once && !deletes)
        me.options |= PTL_ME_USE_ONCE, once = true;
    while (!(once && found) && (header = find_header(s, &me)) >= 0) {
        found = true;
        if (deletes)
            claim(s, header, -1, false);
        else
            expect(s, PTL_EVENT_SEARCH, -1, s->unexpected[header].mlength, NULL);
    }
    if (!found) {
        expect(s, PTL_EVENT_SEARCH, -1, 0, NULL);
        s->expected[s->expected_count - 1].fail = PTL_NI_NO_MATCH;
    }
    CHECK(PtlMESearch(e->ni, e->pt, &me, deletes ? PTL_SEARCH_DELETE : PTL_SEARCH_ONLY, (void *)-1) ==
          PTL_OK);
}

static void check_events(struct endpoint *e, struct state *s)
{
    ptl_event_t event;
    for (int i = 0; i < s->expected_count; i++) {
        const struct expected *x = &s->expected[i];
        CHECK(PtlEQWait(e->eq, &event) == PTL_OK);
        if (event.type != x->type || (intptr_t)event.user_ptr != x->id)
            fprintf(stderr, "seed %u: event %d of entry %ld, not %d of %ld\n", seed, event.type,
                    (long)(intptr_t)event.user_ptr, x->type, (long)x->id);
        CHECK(event.type == x->type && (intptr_t)event.user_ptr == x->id && event.ni_fail_type == x->fail);
        if (x->type != PTL_EVENT_AUTO_UNLINK && x->type != PTL_EVENT_AUTO_FREE && x->fail == PTL_NI_OK)
            CHECK(event.mlength == x->mlength && (!x->start || event.start == x->start));
    }
    s->expected_count = 0;
    CHECK(PtlEQGet(e->eq, &event) == PTL_EQ_EMPTY);
    CHECK(memcmp(s->memory, s->model, sizeof s->model) == 0);
}

static void change_lists(struct endpoint *e, struct state *s, uint64_t *random)
{
    switch (draw(random, 5)) {
    case 0:
    case 1:
        append(e, s, random);
        break;
    case 2:
        unlink_some(s, random);
        break;
    case 3:
        search(e, s, random);
        break;
    }
}

enum { DO_PUT, DO_GET, DO_ATOMIC, DO_FETCH, DO_SWAP };

static void change_model(unsigned char *model, ptl_size_t mlength, const uint64_t *data, int what)
{
    if (what == DO_PUT)
        memcpy(model, data, mlength);
    for (ptl_size_t i = 0; what >= DO_ATOMIC && i < mlength / 8; i++) {
        uint64_t value;
        memcpy(&value, model + 8 * i, 8);
        value = what == DO_SWAP ? data[i] : value + data[i];
        memcpy(model + 8 * i, &value, 8);
    }
}

/* One operation: the model first, then the same on the interface. */
static void communicate(struct endpoint *e, ptl_handle_eq_t eq, ptl_handle_md_t md, int rank, int to,
                        uint64_t *random)
{
    static const ptl_event_kind_t kinds[] = {PTL_EVENT_PUT, PTL_EVENT_GET, PTL_EVENT_ATOMIC,
                                             PTL_EVENT_FETCH_ATOMIC, PTL_EVENT_FETCH_ATOMIC};
    static const unsigned int needs[] = {PTL_ME_OP_PUT, PTL_ME_OP_GET, PTL_ME_OP_PUT,
                                         PTL_ME_OP_PUT | PTL_ME_OP_GET, PTL_ME_OP_PUT | PTL_ME_OP_GET};
    struct state *s = &states[to];
    int what = (int)draw(random, 5);
    uint64_t data[32], got[32], expected[32];
    for (int i = 0; i < 32; i++)
        data[i] = (uint64_t)draw(random, 1U << 30) << 31 ^ draw(random, 1U << 30);
    memset(got, 0x5a, sizeof got);
    memset(expected, 0x5a, sizeof expected);
    ptl_size_t length = what >= DO_ATOMIC ? 8 * (1 + draw(random, 10)) : draw(random, 257);
    ptl_size_t offset = draw(random, 3) ? 0 : draw(random, 200), place = 0, mlength = 0;
    ptl_match_bits_t bits = draw(random, 4);
    ptl_ni_fail_t fail;
    struct entry *entry = arrive(s, rank, bits, length, offset, needs[what], &place, &mlength, &fail);
    ptl_list_t list = entry ? entry->list : PTL_PRIORITY_LIST;
    if (entry) {
        unsigned char *at = s->model + entry->id * SLOT + place;
        if (what == DO_GET || what >= DO_FETCH)
            memcpy(expected, at, mlength);
        change_model(at, mlength, data, what);
        struct header header = {entry,  kinds[what], bits,   rank,
                                length, mlength,     offset, s->memory + (at - s->model)};
        conclude(s, entry, &header);
    }
    ptl_size_t from = (ptl_size_t)(uintptr_t)data, into = (ptl_size_t)(uintptr_t)got;
    ptl_process_t target = world_address(to);
    int status = what == DO_PUT ? PtlPut(md, from, length, PTL_ACK_REQ, target, e->pt, bits, offset, NULL, 0)
                 : what == DO_GET    ? PtlGet(md, into, length, target, e->pt, bits, offset, NULL)
                 : what == DO_ATOMIC ? PtlAtomic(md, from, length, PTL_ACK_REQ, target, e->pt, bits, offset,
                                                 NULL, 0, PTL_SUM, PTL_UINT64_T)
                 : what == DO_FETCH  ? PtlFetchAtomic(md, into, md, from, length, target, e->pt, bits, offset,
                                                      NULL, 0, PTL_SUM, PTL_UINT64_T)
                                     : PtlSwap(md, into, md, from, length, target, e->pt, bits, offset, NULL,
                                               0, NULL, PTL_SWAP, PTL_UINT64_T);
    CHECK(status == PTL_OK);
    ptl_event_t event;
    do
        CHECK(PtlEQWait(eq, &event) == PTL_OK);
    while (event.type == PTL_EVENT_SEND);
    if (event.ni_fail_type != fail || event.mlength != mlength)
        fprintf(stderr, "seed %u: operation %d: failure %d and not %d\n", seed, what, event.ni_fail_type,
                fail);
    CHECK(event.ni_fail_type == fail && event.mlength == mlength);
    CHECK(fail != PTL_NI_OK || (event.ptl_list == list && event.remote_offset == place));
    CHECK(memcmp(got, expected, sizeof got) == 0);
}

static void program(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    struct state *s = &states[rank];
    ptl_handle_eq_t eq;
    ptl_handle_md_t md;
    endpoint_open(&e, NI_OPTIONS, 0, 1024);
    CHECK(PtlEQAlloc(e.ni, 64, &eq) == PTL_OK);
    CHECK(PtlMDBind(e.ni, &(ptl_md_t){.length = PTL_SIZE_MAX, .eq_handle = eq, .ct_handle = PTL_CT_NONE},
                    &md) == PTL_OK);
    uint64_t own = seed * 1000003U + (unsigned int)rank, common = seed;
    for (int step = 0; step < STEPS; step++) {
        for (unsigned int i = draw(&own, 4); i > 0; i--)
            change_lists(&e, s, &own);
        check_events(&e, s);
        world_barrier();
        int shift = (int)draw(&common, RANKS);
        communicate(&e, eq, md, rank, (rank + shift) % RANKS, &own);
        world_barrier();
        check_events(&e, s);
        world_barrier();
    }
    endpoint_close(&e);
}

static unsigned int first_seed = 1, seeds = 25;

static void test_random(void **state)
{
    (void)state;
    for (seed = first_seed; seed < first_seed + seeds; seed++) {
        struct world world = {.nodes = seed % 3 ? RANKS : RANKS / 2, .ranks_per_node = seed % 3 ? 1 : 2};
        int status = world_run(&world, program);
        if (status != 0)
            fail_msg("seed %u: status %d", seed, status);
    }
}

int main(int argc, char *argv[])
{
    if (argc > 1)
        first_seed = (unsigned int)atol(argv[1]);
    if (argc > 2)
        seeds = (unsigned int)atol(argv[2]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
