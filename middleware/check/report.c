/* SPDX-License-Identifier: BSD-3-Clause */
/* What has been found: one line each, and how many of each kind. */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/config.h"
#include "base/streams.h"
#include "middleware/summary/summary.h"
#include "middleware/check/internal.h"
#include "middleware/core/call_site.h"
#include "middleware/core/job_state.h"
#include "middleware/core/upcalls.h"

/* A program that does one thing wrong in a loop does it very often. */
#define LINES_SHOWN 100

static const char *const names[PF_CHECK_KIND_COUNT] = {
#define X(kind, name) #name,
    PF_CHECK_KINDS(X)
#undef X
};

static unsigned long found[PF_CHECK_KIND_COUNT];

static unsigned long total(void)
{
    unsigned long sum = 0;
    for (int i = 0; i < PF_CHECK_KIND_COUNT; i++)
        sum += found[i];
    return sum;
}

bool pf_check_on;

void pf_check_found(enum pf_check_kind kind, const struct pf_rank *r, const char *format, ...)
{
    va_list args;
    unsigned long before = total();
    found[kind]++;
    if (r && r->check)
        r->check->reported = r->check->calls;
    if (before > LINES_SHOWN)
        return;
    pf_flush_all();
    if (before == LINES_SHOWN) {
        fprintf(stderr, "parfocal: check: more than %d findings: the others are only counted\n", LINES_SHOWN);
        return;
    }
    fprintf(stderr, "parfocal: check: ");
    if (r)
        fprintf(stderr, "rank %d: ", r->self.rank);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

const char *pf_check_place_text(int fn, const void *site)
{
    static char texts[8][400];
    static int next;
    char where[300];
    char *text = texts[next++ % 8];
    if (fn == PF_CHECK_UNSEEN)
        return "a call by its PMPI_ name";
    if (total() > LINES_SHOWN) /* it will not be printed, and finding out takes long */
        return pf_fn_name(fn);
    snprintf(text, sizeof texts[0], "%s at %s", pf_fn_name(fn), pf_call_site(site, where, sizeof where));
    return text;
}

int pf_check_status(int status)
{
    if (!pf_config.check || total() == 0)
        return status;
    fprintf(stderr, "parfocal: check: %lu finding%s", total(), total() == 1 ? "" : "s");
    const char *before = ": ";
    for (int i = 0; i < PF_CHECK_KIND_COUNT; i++) {
        if (!found[i])
            continue;
        fprintf(stderr, "%s%lu ", before, found[i]);
        for (const char *c = names[i]; *c; c++)
            fputc(*c == '_' ? ' ' : *c, stderr);
        before = ", ";
    }
    fputc('\n', stderr);
    return status ? status : PF_CHECK_STATUS;
}

void pf_check_stuck(void)
{
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.size; i++) {
        const struct pf_rank *r = &pf_job_state.ranks[i];
        if (r->check && r->state == PF_RANK_RUNNING && r->call.model >= 0)
            pf_check_found(PF_CHECK_DEADLOCK, r, "%s never ends",
                           pf_check_place_text(r->call.fn, r->call.site));
    }
    pf_check_status(1);
}

void pf_check_unfinalized(const struct pf_rank *r)
{
    if (r->check)
        pf_check_found(PF_CHECK_MISSING, r, "it ends without MPI_Finalize; its last call was %s",
                       pf_check_place_text(r->call.fn, r->call.site));
}

void pf_check_twice(struct pf_rank *r, int fn, const void *site)
{
    if (!r || !r->check)
        return;
    pf_check_found(PF_CHECK_FATAL, r, "%s: MPI is initialised already", pf_check_place_text(fn, site));
    pf_check_status(1);
}

/* Adds no second report of the same call. */
static void fatal(struct pf_rank *r, const char *error)
{
    if (r->check && r->check->reported != r->check->calls)
        pf_check_found(PF_CHECK_FATAL, r, "%s: %s", pf_check_place_text(r->call.fn, r->call.site), error);
    pf_check_status(1);
}

/* How much was found, for the summary. */
static json_t *counts(void)
{
    json_t *object = json_pack("{s:I}", "findings", (json_int_t)total());
    for (int i = 0; i < PF_CHECK_KIND_COUNT; i++)
        json_object_set_new(object, names[i], json_integer((json_int_t)found[i]));
    return object;
}

void pf_check_enable(void)
{
    if (!pf_check_on)
        pf_summary_add_section("check", counts);
    pf_check_on = true;
    pf_upcalls.fatal = fatal;
    pf_upcalls.stuck = pf_check_stuck;
}
