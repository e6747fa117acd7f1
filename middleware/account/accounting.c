/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps wall-clock and simulated time per phase and model. */
#include "middleware/account/accounting.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/memory.h"

/* A name, and where the process's list has its pairs. */
struct phase {
    char *name;
    int rows[PF_MODEL_COUNT - PF_MODEL_NONE]; /* and one: 0 is none */
    UT_hash_handle hh;
};

/* One (phase, model) pair of the process. */
struct pair {
    const char *phase;
    enum pf_model model;
};

void (*pf_account_returns)(void);
uint64_t pf_account_mark;
struct pf_account *pf_account_computing;

static struct {
    bool running;
    uint64_t begin_ticks;
    struct timespec begin_time;
    uint64_t startup_ticks;
    double simulated; /* latest end of any rank */
    struct phase *phases;
    struct pair *pairs;
    int pair_count;
    struct pf_account *accounts, **last_account;
} process;

static double elapsed_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - process.begin_time.tv_sec) +
           1e-9 * (double)(now.tv_nsec - process.begin_time.tv_nsec);
}

double pf_account_seconds(uint64_t ticks)
{
    if (!process.running)
        return 0;
    double seconds = elapsed_seconds();
    uint64_t elapsed = pf_account_ticks() - process.begin_ticks;
    return elapsed ? (double)ticks * (seconds / (double)elapsed) : 0;
}

void pf_account_start(void)
{
    if (process.running)
        return;
    process.running = true;
    pf_clock_compare();
    clock_gettime(CLOCK_MONOTONIC, &process.begin_time);
    process.begin_ticks = pf_account_ticks();
    pf_account_mark = process.begin_ticks;
}

/* Some programs have a phase for each iteration. */
static struct phase *find_phase(const char *name)
{
    struct phase *phase;
    HASH_FIND_STR(process.phases, name, phase);
    if (phase)
        return phase;
    phase = pf_calloc(1, sizeof *phase);
    phase->name = pf_strdup(name);
    HASH_ADD_KEYPTR(hh, process.phases, phase->name, strlen(name), phase);
    return phase;
}

/* The index of a pair in the process's list. It is made at its first appearance in the simulated order of
 * events, which is the same in every run. */
static int find_pair(const char *name, enum pf_model model)
{
    struct phase *phase = find_phase(name);
    int *row = &phase->rows[model - PF_MODEL_NONE];
    if (*row > 0)
        return *row - 1;
    process.pairs = pf_array_double(process.pairs, (size_t)process.pair_count, sizeof *process.pairs);
    process.pairs[process.pair_count] = (struct pair){phase->name, model};
    *row = ++process.pair_count;
    return process.pair_count - 1;
}

static struct pf_account_slot *find_slot(struct pf_account *account, int row)
{
    for (struct pf_account_slot *slot = account->slots; slot && row <= account->highest; slot = slot->next)
        if (slot->row == row)
            return slot;
    if (!account->slots || row > account->highest)
        account->highest = row;
    struct pf_account_slot *slot = pf_calloc(1, sizeof *slot);
    slot->row = row;
    slot->phase = process.pairs[row].phase;
    slot->model = process.pairs[row].model;
    slot->next = account->slots;
    __atomic_store_n(&account->slots, slot, __ATOMIC_RELEASE);
    return slot;
}

static void begin_visit(struct pf_account *account, const char *phase, enum pf_model model, double now)
{
    account->slot = find_slot(account, find_pair(phase, model));
    account->slot->visits++;
    account->began = now;
    pf_timeline_visit(account->timeline, account->slot->row, now);
}

static void end_visit(struct pf_account *account, double now)
{
    account->slot->simulated += now - account->began;
    account->began = now;
    pf_timeline_end(account->timeline, now);
    if (now > process.simulated)
        process.simulated = now;
}

struct pf_account *pf_account_open(int rank, const char *phase, enum pf_model model, double now)
{
    pf_account_start();
    struct pf_account *account = pf_calloc(1, sizeof *account);
    account->rank = rank;
    account->timeline = pf_timeline_open(rank);
    uint64_t ticks = pf_account_ticks();
    process.startup_ticks += ticks - pf_account_mark;
    pf_account_mark = ticks;
    begin_visit(account, phase, model, now);
    if (!process.last_account)
        process.last_account = &process.accounts;
    __atomic_store_n(process.last_account, account, __ATOMIC_RELEASE);
    process.last_account = &account->next;
    return account;
}

void pf_account_move(struct pf_account *account, const char *phase, enum pf_model model, double now)
{
    const struct pf_account_slot *current = account->slot;
    if (!phase)
        phase = current->phase;
    if (model == PF_MODEL_NONE)
        model = current->model;
    bool switched = model != current->model;
    if (!switched && strcmp(phase, current->phase) == 0)
        return;
    pf_account_book(account);
    end_visit(account, now);
    account->app_elsewhere += current->app_ticks;
    account->overhead_elsewhere += current->overhead_ticks;
    begin_visit(account, phase, model, now);
    account->app_elsewhere -= account->slot->app_ticks;
    account->overhead_elsewhere -= account->slot->overhead_ticks;
    account->slot->switches += switched;
}

void pf_account_close(struct pf_account *account, double now)
{
    if (account->closed)
        return;
    account->closed = true;
    pf_account_book(account);
    end_visit(account, now);
}

void pf_account_close_all(double now)
{
    for (struct pf_account *account = process.accounts; account; account = account->next)
        pf_account_close(account, now);
}

struct pf_account_spent pf_account_spent(void)
{
    struct timespec now;
    uint64_t application = 0, overhead = 0;
    for (const struct pf_account *account = process.accounts; account; account = account->next) {
        application += account->app_elsewhere + account->slot->app_ticks;
        overhead += account->overhead_elsewhere + account->slot->overhead_ticks;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (struct pf_account_spent){(double)now.tv_sec + (double)now.tv_nsec * 1e-9,
                                     pf_account_seconds(application), pf_account_seconds(overhead)};
}

double pf_account_application_since(const struct pf_account_spent *then)
{
    struct pf_account_spent now = pf_account_spent();
    double application = now.application - then->application, overhead = now.overhead - then->overhead;
    return application > 0.0 ? (now.processor - then->processor) * application / (application + overhead)
                             : 0.0;
}

const char *pf_account_phase(const struct pf_account *account)
{
    return account->slot->phase;
}

static void add_slot(struct pf_account_row *row, const struct pf_account_slot *slot)
{
    struct pf_account_slot *total = &row->total;
    row->ranks++;
    total->app_ticks += slot->app_ticks;
    total->overhead_ticks += slot->overhead_ticks;
    if (slot->simulated > total->simulated)
        total->simulated = slot->simulated;
    total->computed += slot->computed;
    if (slot->computed > row->most_computed)
        row->most_computed = slot->computed;
    total->visits += slot->visits;
    total->calls += slot->calls;
    total->messages += slot->messages;
    total->bytes += slot->bytes;
    total->switches += slot->switches;
    total->promoted += slot->promoted;
    total->followed += slot->followed;
    total->followed_messages += slot->followed_messages;
    total->shadows += slot->shadows;
    total->shadow_ticks += slot->shadow_ticks;
    if (slot->shadow_simulated > total->shadow_simulated)
        total->shadow_simulated = slot->shadow_simulated;
}

size_t pf_account_rows(struct pf_account_row **out, int first, int count)
{
    size_t kept = 0;
    struct pf_account_row *rows = pf_calloc((size_t)process.pair_count + 1, sizeof *rows);
    for (int i = 0; i < process.pair_count; i++) {
        rows[i].phase = process.pairs[i].phase;
        rows[i].model = process.pairs[i].model;
        rows[i].total.row = i;
    }
    for (const struct pf_account *account = process.accounts; account; account = account->next) {
        bool wanted = account->rank >= first && account->rank - first < count;
        for (const struct pf_account_slot *slot = wanted ? account->slots : NULL; slot; slot = slot->next)
            add_slot(&rows[slot->row], slot);
    }
    for (int i = 0; i < process.pair_count; i++)
        if (rows[i].ranks > 0)
            rows[kept++] = rows[i];
    *out = rows;
    return kept;
}

double pf_account_computed(double *most)
{
    double sum = 0;
    *most = 0;
    for (const struct pf_account *account = process.accounts; account; account = account->next) {
        double own = 0;
        for (const struct pf_account_slot *slot = account->slots; slot; slot = slot->next)
            own += slot->computed;
        sum += own;
        *most = own > *most ? own : *most;
    }
    return sum;
}

/* The pair of most ranks by majority vote in one pass (Boyer and Moore); without a majority, one of the
 * candidates. */
static const struct pf_account_slot *majority(void)
{
    const struct pf_account_slot *candidate = NULL;
    int votes = 0;
    for (const struct pf_account *account = process.accounts; account; account = account->next) {
        if (account->closed)
            continue;
        if (votes == 0)
            candidate = account->slot;
        votes += account->slot->row == candidate->row ? 1 : -1;
    }
    return candidate;
}

void pf_account_glance(struct pf_account_glance *glance)
{
    const struct pf_account_slot *most = majority();
    *glance =
        (struct pf_account_glance){most ? most->phase : NULL, most ? most->model : PF_MODEL_NONE, 0, 0, 0};
    for (const struct pf_account *account = process.accounts; account; account = account->next) {
        glance->ranks += !account->closed;
        glance->ranks_there += most && !account->closed && account->slot->row == most->row;
        for (const struct pf_account_slot *slot = account->slots; slot; slot = slot->next)
            glance->messages += slot->messages;
    }
}

void pf_account_loaded(void)
{
    uint64_t now = pf_account_ticks();
    process.startup_ticks += now - pf_account_mark;
    pf_account_mark = now;
}

double pf_account_startup(void)
{
    return pf_account_seconds(process.startup_ticks);
}

double pf_account_wall(void)
{
    return process.running ? elapsed_seconds() : 0;
}

double pf_account_simulated(void)
{
    return process.simulated;
}
