/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path of a run, as text and JSON, and the factors of -what-if. */
#include "middleware/compute/critical_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/engine/chain.h"
#include "lowlevel/network/packet/crossed.h"
#include "middleware/account/accounting.h"
#include "middleware/core/call_site.h"
#include "middleware/core/sites.h"
#include "pf_fn.h"

enum { MOST_SITES = 20, MOST_LINKS = 200, PLACES = 32 };

struct phase_factor {
    char *name;
    double factor;
    bool met;
};

static struct {
    struct phase_factor *phases;
    int phase_count;
    double *of_row; /* factor of each pair of phase and model, 0: not looked up */
    int rows;
    struct pf_sites *sites;
    struct memo {
        const void *address;
        struct pf_chain_place place; /* call: -1 for none yet */
    } * memo;                        /* PLACES of each rank: where it was lately, by address */
    struct pf_chain_report report;
    bool reported, any;
} all;

/* ---- -what-if ---- */

static double factor_of(const char *item, const char *value)
{
    char *end;
    double factor = value ? strtod(value, &end) : 0;
    if (!value || end == value || *end || !(factor >= 1e-6 && factor <= 1e6))
        pf_die("-what-if: '%s' is not KEY=FACTOR with a factor from 1e-6 to 1e6 (link_bw=2: twice as fast)",
               item);
    return factor;
}

static void refuse_second(const char *item)
{
    pf_die("-what-if: '%s' has its factor already (each key stands once)", item);
}

static void add_phase(const char *item, const char *name, double factor)
{
    for (int i = 0; i < all.phase_count; i++)
        if (strcmp(all.phases[i].name, name) == 0)
            refuse_second(item);
    all.phases = pf_reallocarray(all.phases, (size_t)all.phase_count + 1, sizeof *all.phases);
    all.phases[all.phase_count++] = (struct phase_factor){pf_strdup(name), factor, false};
}

static void set_rank(const char *item, const char *text, double factor, int ranks, double **of_rank)
{
    char *end;
    long rank = strtol(text, &end, 10);
    if (end == text || *end || rank < 0 || rank >= ranks)
        pf_die("-what-if: '%s' names no rank of 0 to %d", item, ranks - 1);
    if (!*of_rank) {
        *of_rank = pf_malloc((size_t)ranks * sizeof **of_rank);
        for (int i = 0; i < ranks; i++)
            (*of_rank)[i] = 0; /* none is given */
    }
    if ((*of_rank)[rank] != 0)
        refuse_second(item);
    (*of_rank)[rank] = factor;
}

static void set_class(const char *item, const char *key, double factor, struct pf_chain_factors *factors)
{
    static const char *const keys[] = {"compute", "software", "collectives", "nic",
                                       "latency", "link_bw",  "files"};
    _Static_assert(sizeof keys / sizeof keys[0] == PF_CHAIN_CLASSES, "a key for each class");
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        if (strcmp(key, keys[what]) == 0) {
            if (factors->of_class[what] != 0)
                refuse_second(item);
            factors->of_class[what] = factor;
            return;
        }
    const char *near = pf_nearest_word(key, keys, PF_CHAIN_CLASSES);
    pf_die("-what-if: there is no key '%s'%s%s%s; there are compute, software, collectives, nic, latency, "
           "link_bw, files, rank:N and phase:NAME",
           key, near ? ", maybe " : "", near ? near : "", near ? "?" : "");
}

static void set_factor(char *item, int ranks, struct pf_chain_factors *factors, double **of_rank)
{
    char *whole = pf_strdup(item), *value = strrchr(item, '=');
    if (value)
        *value++ = 0;
    double factor = factor_of(whole, value);
    if (strncmp(item, "rank:", 5) == 0)
        set_rank(whole, item + 5, factor, ranks, of_rank);
    else if (strncmp(item, "phase:", 6) == 0)
        add_phase(whole, item + 6, factor);
    else
        set_class(whole, item, factor, factors);
    free(whole);
}

static __attribute__((noinline)) void move(struct memo *memo, const pf_self_t *self)
{
    const struct pf_rank *r = self->mpi;
    int row = r->account->slot->row;
    PF_ARRAY_REACH(all.of_row, all.rows, row);
    if (all.of_row[row] == 0) {
        all.of_row[row] = 1.0;
        for (int i = 0; i < all.phase_count; i++)
            if (strcmp(all.phases[i].name, r->account->slot->phase) == 0) {
                all.of_row[row] = all.phases[i].factor;
                all.phases[i].met = true;
            }
    }
    int site = pf_sites_number(all.sites, self->rank, r->call.site, r->call.fn);
    *memo = (struct memo){r->call.site, {row, site, r->call.fn + 1, all.of_row[row]}};
}

_Static_assert((int)PF_FN_COUNT < (int)PF_CHAIN_CALLS, "functions have numbers from 1 on");

static const struct pf_chain_place *where(const pf_self_t *self)
{
    static const struct pf_chain_place nowhere = {0, 0, 0, 1.0};
    const struct pf_rank *r = self->mpi;
    if (!r || !r->account)
        return &nowhere;
    uintptr_t at = (uintptr_t)r->call.site;
    struct memo *memo = &all.memo[(size_t)self->rank * PLACES + (at >> 2 ^ at >> 7 ^ at >> 12) % PLACES];
    if (memo->address != r->call.site || memo->place.call != r->call.fn + 1 ||
        memo->place.phase != r->account->slot->row)
        move(memo, self);
    return &memo->place;
}

void pf_critical_path_begin(int ranks)
{
    struct pf_chain_factors factors = {{0}, NULL}; /* 0: none is given */
    double *of_rank = NULL;
    bool shown = *pf_config.report || *pf_config.summary || pf_config.table;
    char *text = pf_strdup(pf_config.what_if), *rest = text;
    for (char *item; (item = strsep(&rest, ",")) && *pf_config.what_if;)
        set_factor(item, ranks, &factors, &of_rank);
    free(text);
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        factors.of_class[what] = factors.of_class[what] != 0 ? factors.of_class[what] : 1.0;
    for (int i = 0; of_rank && i < ranks; i++)
        of_rank[i] = of_rank[i] != 0 ? of_rank[i] : 1.0;
    factors.of_rank = of_rank;
    if (*pf_config.what_if || (pf_config.analytic_explain && shown)) {
        all.sites = pf_sites_new(ranks);
        all.memo = pf_calloc_lines((size_t)ranks * PLACES, sizeof *all.memo);
        for (int i = 0; i < ranks * PLACES; i++)
            all.memo[i].place.call = -1; /* no rank is there */
        pf_chain_begin(ranks, *pf_config.what_if ? &factors : NULL, where, pf_network_crossed);
    }
}

/* ---- where ranks are ---- */

void pf_critical_path_moved(struct pf_rank *r)
{
    pf_chain_moved(&r->self);
    if (pf_chain_on)
        pf_chain_spend(&r->self, simgrid_get_clock(), PF_CHAIN_SOFTWARE);
}

void pf_critical_path_computed(struct pf_rank *r, double begin, double end)
{
    if (pf_chain_on)
        pf_chain_compute(&r->self, begin, end);
}

void pf_critical_path_open(struct pf_rank *r)
{
    pf_chain_moved(&r->self);
    if (pf_chain_on)
        pf_chain_open(&r->self, simgrid_get_clock());
}

/* ---- results ---- */

static double total(const double spent[PF_CHAIN_CLASSES])
{
    double sum = 0;
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        sum += spent[what];
    return sum;
}

static int by_time_of_link(const void *a, const void *b)
{
    const struct pf_chain_link_share *x = a, *y = b;
    double more = y->latency + y->transfer - x->latency - x->transfer;
    if (more != 0)
        return (more > 0) - (more < 0);
    return x->kind != y->kind ? x->kind - y->kind : (x->number > y->number) - (x->number < y->number);
}

static int by_time_of_message(const void *a, const void *b)
{
    const struct pf_chain_message_share *x = a, *y = b;
    double more = total(y->spent) - total(x->spent);
    if (more != 0)
        return (more > 0) - (more < 0);
    return x->call != y->call           ? x->call - y->call
           : x->protocol != y->protocol ? x->protocol - y->protocol
                                        : x->size - y->size;
}

static const struct pf_chain_report *report(void)
{
    if (!all.reported && pf_chain_on && pf_chain_is_too_long()) {
        pf_warn("no critical path: the run, or its time by -what-if, is longer than 18 simulated hours");
    } else if (!all.reported && pf_chain_on) {
        all.any = pf_chain_report(*pf_end_reason(), &all.report);
        if (all.any) {
            qsort(all.report.link, (size_t)all.report.links, sizeof *all.report.link, by_time_of_link);
            qsort(all.report.message, (size_t)all.report.messages, sizeof *all.report.message,
                  by_time_of_message);
        }
        for (int i = 0; i < all.phase_count && all.any; i++)
            if (!all.phases[i].met)
                pf_warn("-what-if: no rank was in a phase '%s'", all.phases[i].name);
    }
    all.reported = true;
    return all.any ? &all.report : NULL;
}

/* While the platform can still be asked for routes. */
void pf_critical_path_close(struct pf_rank *r)
{
    if (!pf_chain_on || !pf_chain_close(&r->self, simgrid_get_clock()))
        return;
    report();
}

/* At the end of the run the platform may have gone. */
static const struct pf_chain_report *final_report(void)
{
    pf_network_crossed_close();
    return report();
}

static json_t *by_class(const double spent[PF_CHAIN_CLASSES])
{
    json_t *object = json_object();
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        if (spent[what] > 0)
            json_object_set_new(object, pf_chain_class_name((enum pf_chain_class)what),
                                json_real(spent[what]));
    return object;
}

enum { MOST_LINES = MOST_SITES + PF_CHAIN_LONGEST };

/* Lines of the source, which take a while to find, by number of the place. */
struct lines {
    int count, number[MOST_LINES];
    char *text[MOST_LINES];
};

static const char *line_of(const struct lines *lines, int number)
{
    int i = 0;
    while (lines->number[i] != number)
        i++;
    return lines->text[i];
}

static void want_line(struct lines *lines, int number)
{
    int i = 0, fn;
    while (i < lines->count && lines->number[i] != number)
        i++;
    if (i == lines->count && number && pf_sites_address(all.sites, number, &fn))
        lines->number[lines->count++] = number;
}

static void find_lines(struct lines *lines)
{
    const void *addresses[MOST_LINES];
    int fn;
    for (int i = 0; i < lines->count; i++)
        addresses[i] = pf_sites_address(all.sites, lines->number[i], &fn);
    pf_call_sites(addresses, lines->count, lines->text);
}

/* The call at a place. */
static void set_site(json_t *object, int number, const struct lines *lines)
{
    int fn;
    const void *address = number ? pf_sites_address(all.sites, number, &fn) : NULL;
    if (address)
        json_object_set_new(object, "call", json_string(pf_fn_name(fn)));
    if (address && lines)
        json_object_set_new(object, "site", json_string(line_of(lines, number)));
}

/* The places with the most time, which `pieces` name by their number in this list. Returns how many. */
static int choose_sites(const struct pf_chain_report *path, int shown[MOST_SITES])
{
    int count = 0;
    for (; count < MOST_SITES; count++) {
        int most = -1;
        for (int i = 0; i < path->sites; i++) {
            bool used = !(total(path->site[i]) > 0);
            for (int k = 0; k < count; k++)
                used |= shown[k] == i;
            if (!used && (most < 0 || total(path->site[i]) > total(path->site[most])))
                most = i;
        }
        if (most < 0)
            break;
        shown[count] = most;
    }
    return count;
}

static json_t *sites(const struct pf_chain_report *path, const int shown[MOST_SITES], int count,
                     const struct lines *lines)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        json_t *one = json_pack("{s:o}", "spent_s", by_class(path->site[shown[i]]));
        set_site(one, shown[i], lines);
        json_array_append_new(array, one);
    }
    return array;
}

static json_t *longest(const struct pf_chain_report *path, const struct pf_account_row *rows,
                       const struct lines *lines)
{
    json_t *array = json_array();
    for (int i = 0; i < path->longest_count; i++) {
        json_t *one =
            json_pack("{s:s, s:i, s:s, s:f, s:f}", "class", pf_chain_class_name(path->longest[i].what),
                      "rank", path->longest[i].rank, "phase", rows[path->longest[i].phase].phase, "begin_s",
                      path->longest[i].begin, "spent_s", path->longest[i].spent);
        set_site(one, path->longest[i].site, lines);
        json_array_append_new(array, one);
    }
    return array;
}

/* What is seen of links, or what is not, by time. */
static json_t *links(const struct pf_chain_report *path, bool seen)
{
    json_t *array = json_array();
    char name[200];
    for (int i = 0; i < path->links && json_array_size(array) < MOST_LINKS; i++) {
        const struct pf_chain_link_share *one = &path->link[i];
        if ((one->kind != PF_CHAIN_LINK_UNSEEN) != seen)
            continue;
        pf_network_crossed_name(one->kind, one->number, name, sizeof name);
        json_array_append_new(array, json_pack("{s:s, s:f, s:f}", seen ? "link" : "why", name, "latency_s",
                                               one->latency, "transfer_s", one->transfer));
    }
    return array;
}

/* The rest of them, NULL: there is none. */
static json_t *other_links(const struct pf_chain_report *path)
{
    double latency = 0, transfer = 0;
    int count = 0;
    for (int i = 0; i < path->links; i++) {
        const struct pf_chain_link_share *one = &path->link[i];
        if (one->kind == PF_CHAIN_LINK_UNSEEN || ++count <= MOST_LINKS)
            continue;
        latency += one->latency;
        transfer += one->transfer;
    }
    return count <= MOST_LINKS ? NULL
                               : json_pack("{s:i, s:f, s:f}", "links", count - MOST_LINKS, "latency_s",
                                           latency, "transfer_s", transfer);
}

/* What a call of MPI is about, by the group of its function. */
static const char *about(int call)
{
    static const char *const groups[PF_FN_GROUP_COUNT] = {
        [PF_FN_GROUP_p2p] = "point-to-point", [PF_FN_GROUP_persistent] = "point-to-point",
        [PF_FN_GROUP_request] = "completion", [PF_FN_GROUP_coll] = "collective",
        [PF_FN_GROUP_icoll] = "collective",   [PF_FN_GROUP_neighbor] = "collective",
        [PF_FN_GROUP_rma] = "one-sided",      [PF_FN_GROUP_file] = "files",
    };
    static const enum pf_fn_group group_of[] = {
#define X(stem, route, group, smpi) PF_FN_GROUP_##group,
        PF_FN_LIST(X)
#undef X
    };
    const char *text = call > 0 ? groups[group_of[call - 1]] : NULL;
    return text ? text : "other";
}

static json_t *messages(const struct pf_chain_report *path)
{
    json_t *array = json_array();
    for (int i = 0; i < path->messages; i++) {
        const struct pf_chain_message_share *one = &path->message[i];
        json_t *object = json_pack("{s:s, s:s, s:o}", "kind", one->call ? about(one->call) : "ranks",
                                   "protocol", pf_chain_protocol_name((enum pf_chain_protocol)one->protocol),
                                   "spent_s", by_class(one->spent));
        if (one->call)
            json_object_set_new(object, "call", json_string(pf_fn_name(one->call - 1)));
        if (one->protocol && one->size + 1 < PF_CHAIN_SIZES)
            json_object_set_new(object, "at_most_bytes", json_integer(256 << 4 * one->size));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *pieces(const struct pf_chain_report *path, const struct pf_account_row *rows,
                      const int shown[MOST_SITES], int count)
{
    json_t *array = json_array();
    for (int i = 0; i < path->pieces; i++) {
        json_t *one =
            json_pack("{s:f, s:i, s:s, s:o}", "end_s", path->piece[i].end, "rank", path->piece[i].rank,
                      "phase", rows[path->piece[i].phase].phase, "spent_s", by_class(path->piece[i].spent));
        set_site(one, path->piece[i].site, NULL);
        for (int k = 0; k < count; k++)
            if (shown[k] == path->piece[i].site)
                json_object_set_new(one, "place", json_integer(k));
        json_array_append_new(array, one);
    }
    return array;
}

json_t *pf_critical_path_json(void)
{
    const struct pf_chain_report *path = final_report();
    if (!path)
        return NULL;
    struct pf_account_row *rows;
    size_t count = pf_account_rows(&rows, 0, INT_MAX);
    json_t *phases = json_array(), *ranks = json_array();
    for (int i = 0; i < path->phases && i < (int)count; i++)
        json_array_append_new(phases,
                              json_pack("{s:s, s:s, s:o}", "phase", rows[i].phase, "model",
                                        pf_model_name(rows[i].model), "spent_s", by_class(path->phase[i])));
    for (int i = 0; i < path->ranks; i++)
        if (path->of_rank[i] > 0)
            json_array_append_new(ranks, json_pack("{s:i, s:f}", "rank", i, "spent_s", path->of_rank[i]));
    int shown[MOST_SITES], places = choose_sites(path, shown);
    struct lines lines = {0};
    for (int i = 0; i < places; i++)
        want_line(&lines, shown[i]);
    for (int i = 0; i < path->longest_count; i++)
        want_line(&lines, path->longest[i].site);
    find_lines(&lines);
    json_t *object =
        json_pack("{s:f, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "end_s", path->end,
                  "last_rank", path->rank, "hops", (json_int_t)path->hops, "spent_s", by_class(path->sum),
                  "phases", phases, "ranks", ranks, "links", links(path, true), "unseen", links(path, false),
                  "messages", messages(path), "sites", sites(path, shown, places, &lines), "longest",
                  longest(path, rows, &lines), "pieces", pieces(path, rows, shown, places));
    for (int i = 0; i < lines.count; i++)
        free(lines.text[i]);
    free(rows);
    json_t *rest = other_links(path);
    if (rest)
        json_object_set_new(object, "other_links", rest);
    if (*pf_end_reason())
        json_object_set_new(object, "partial", json_true());
    else if (*pf_config.what_if)
        json_object_set_new(object, "what_if",
                            json_pack("{s:s, s:f, s:I, s:I}", "factors", pf_config.what_if, "predicted_s",
                                      path->predicted, "any_source", (json_int_t)path->taken, "reordered",
                                      (json_int_t)path->reversed));
    return object;
}

enum { PRINTED = 3 };

static void print_links(const struct pf_chain_report *path, FILE *out)
{
    char name[200];
    double whole = path->sum[PF_CHAIN_LATENCY] + path->sum[PF_CHAIN_TRANSFER];
    const char *separator = "  its time in the network by link: ";
    for (int i = 0; i < path->links && i < PRINTED && whole > 0; i++) {
        const struct pf_chain_link_share *one = &path->link[i];
        pf_network_crossed_name(one->kind, one->number, name, sizeof name);
        fprintf(out, "%s%s%s %.1f %%", separator, one->kind == PF_CHAIN_LINK_UNSEEN ? "not seen, " : "", name,
                100 * (one->latency + one->transfer) / whole);
        separator = ", ";
    }
    fputs(whole > 0 ? "\n" : "", out);
}

static void print_messages(const struct pf_chain_report *path, FILE *out)
{
    static const char *const sizes[] = {"256 B", "4 KiB", "64 KiB", "1 MiB", "more than 1 MiB"};
    const char *separator = "  by message: ";
    for (int i = 0, count = 0; i < path->messages && count < PRINTED && path->end > 0; i++) {
        const struct pf_chain_message_share *one = &path->message[i];
        if (!one->protocol)
            continue;
        fprintf(out, "%s%s %s %s%s %.1f %%", separator, pf_fn_name(one->call - 1),
                pf_chain_protocol_name((enum pf_chain_protocol)one->protocol),
                one->size + 1 < PF_CHAIN_SIZES ? "up to " : "", sizes[one->size],
                100 * total(one->spent) / path->end);
        separator = ", ";
        count++;
    }
    fputs(*separator == ',' ? "\n" : "", out);
}

void pf_critical_path_print(FILE *out)
{
    const struct pf_chain_report *path = final_report();
    if (!path)
        return;
    bool partial = *pf_end_reason();
    fprintf(out, "critical path %.9g s, %llu times from a rank to another, %s rank %d:", path->end,
            (unsigned long long)path->hops, partial ? "partial, of the furthest" : "last", path->rank);
    const char *separator = " ";
    for (int what = 0; what < PF_CHAIN_CLASSES; what++) {
        if (path->sum[what] > 0 && path->end > 0)
            fprintf(out, "%s%s %.1f %%", separator, pf_chain_class_name((enum pf_chain_class)what),
                    100 * path->sum[what] / path->end);
        separator = path->sum[what] > 0 ? ", " : separator;
    }
    fputc('\n', out);
    print_links(path, out);
    print_messages(path, out);
    if (*pf_config.what_if && !partial)
        fprintf(out, "what if %s: %.9g s, %+.1f %%\n", pf_config.what_if, path->predicted,
                path->end > 0 ? 100 * (path->predicted / path->end - 1) : 0.0);
    if (*pf_config.what_if && !partial && path->reversed)
        fprintf(out,
                "which may be otherwise: of %llu messages that are taken from any source %llu come in "
                "another order\n",
                (unsigned long long)path->taken, (unsigned long long)path->reversed);
}
