/* SPDX-License-Identifier: BSD-3-Clause */
/* The job as the launcher sees it: prepare, create ranks, identify, finish. */
#include "middleware/process/libc_process.h"
#include "middleware/process/job.h"

#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <uthash.h>
#include <xbt/log.h>

#include "base/child.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/network/external/external.h"
#include "lowlevel/network/packet/carried.h"
#include "lowlevel/network/packet/report.h"
#include "lowlevel/portals/runtime.h"
#include "lowlevel/ucx/runtime.h"
#include "middleware/compute/compute.h"
#include "middleware/compute/critical_path.h"
#include "middleware/summary/communication.h"
#include "middleware/summary/summary.h"
#include "middleware/check/check.h"
#include "middleware/comm/group.h"
#include "middleware/agree/schedule.h"
#include "middleware/comm/routing.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/upcalls.h"
#include "middleware/object/info.h"
#include "middleware/datatype/op.h"
#include "middleware/p2p/request.h"
#include "middleware/process/handed.h"
#include "middleware/process/libc_alarm.h"
#include "middleware/process/ranks.h"
#include "middleware/process/worlds.h"
#include "middleware/sampling/sampling.h"

/* Does a program hold this name (of a function that it calls)? */
static bool program_names(int number, const char *name)
{
    FILE *file = fopen(pf_job_program(number)->path, "rb");
    if (!file)
        return true; /* nothing is known about it */
    char buffer[1 << 14];
    size_t length = strlen(name), kept = 0, got;
    bool found = false;
    while (!found && (got = fread(buffer + kept, 1, sizeof buffer - kept, file)) > 0) {
        found = memmem(buffer, kept + got, name, length) != NULL;
        size_t tail = kept + got < length ? kept + got : length; /* the name may lie across the border */
        memmove(buffer, buffer + kept + got - tail, tail);
        kept = tail;
    }
    fclose(file);
    return found;
}

/* Notes about messages are only kept in a run that can change its model. */
static void find_out_about_switches(void)
{
    pf_job_state.may_switch = *pf_config.load || *pf_config.regions || !pf_job_program_count();
    for (int i = 0; i < pf_job_state.world_count; i++) {
        unsigned models = pf_world_models(&pf_job_state.worlds[i]);
        pf_job_state.may_switch |= (models & (models - 1)) != 0;
    }
    static const char *const names[] = {"pf_model_switch", "pf_comm_model_set", "parfocal_model"};
    for (int i = 0; i < pf_job_program_count(); i++)
        for (int k = 0; k < 3 && !pf_job_state.may_switch; k++)
            pf_job_state.may_switch = program_names(i, names[k]);
    pf_job_state.alone = !pf_job_state.may_switch;
    pf_job_state.may_switch |= pf_config.check; /* it reads the notes */
}

/* The traffic of all NICs for the summary; that of programs without MPI is also in their phase. */
static void account_for_portals(void)
{
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.size; i++) {
        struct pf_rank *r = &pf_job_state.ranks[i];
        struct pf_portals_counters counters;
        if (!r->self.portals)
            continue;
        pf_portals_counters(&r->self, &counters);
        pf_summary_add_portals(&counters);
        if (r->portals_program && r->state != PF_RANK_RUNNING && r->state != PF_RANK_FINALIZED) {
            r->account->slot->messages += counters.messages;
            r->account->slot->bytes += counters.bytes_put + counters.bytes_got;
        }
    }
}

static void account_for_ucx(void)
{
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.size; i++) {
        struct pf_ucx_counters counters;
        const pf_self_t *self = &pf_job_state.ranks[i].self;
        if (!self->ucx[PF_UCX_OPENMPI] && !self->ucx[PF_UCX_MPICH])
            continue;
        pf_ucx_counters(self, &counters);
        pf_summary_add_ucx(&counters);
    }
}

static int finish(int status)
{
    account_for_portals();
    account_for_ucx();
    bool written = pf_network_finish();
    written &= pf_summary_finish(status);
    return written || status ? status : 1;
}

/* Of the rank that runs, when it is in no call. */
static struct pf_account *computing(void)
{
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.size; i++) {
        struct pf_account *account = pf_job_state.ranks[i].account;
        if (account && !account->inside && pf_job_state.ranks[i].state == PF_RANK_RUNNING)
            return account;
    }
    return NULL;
}

int pf_job_rank_of_thread(void)
{
    const struct pf_process *p = sg_actor_self() ? NULL : pf_process();
    return p ? p->rank : -1;
}

bool pf_job_computes(void)
{
    return computing();
}

/* Whatever ends the run before its end: what is known so far. */
static void end_early(void)
{
    if (pf_job_state.over)
        return;
    if (pf_job_state.ranks) {
        if (computing())
            pf_account_stop(computing());
        pf_job_state.over = true;
        if (*pf_end_reason() && !pf_handed_refused()) {
            pf_carried_gather(true);
            pf_job_print_places(stderr);
            pf_summary_add_section("rank_states", pf_job_places);
        }
        pf_account_close_all(simgrid_get_clock());
    }
    finish(pf_end_status());
}

void pf_job_watch_end(void)
{
    static bool watches;
    if (!watches)
        pf_at_end(end_early);
    watches = true;
}

unsigned pf_job_models(void)
{
    unsigned models = 0;
    pf_worlds_read();
    for (int i = 0; i < pf_job_state.world_count; i++)
        models |= pf_world_models(&pf_job_state.worlds[i]);
    return models;
}

/* Reads the settings that choose models. Once, from the launcher or from the first rank. */
static void read_settings(void)
{
    static bool read;
    if (read)
        return;
    read = true;
    pf_config_load();
    pf_account_start();
    pf_job_watch_end();
    pf_worlds_read();
    find_out_about_switches();
    pf_job_state.strict = pf_job_state.may_switch && *pf_config.agree == 's';
    pf_ledger_on = pf_job_state.may_switch && !pf_job_state.strict;
}

/* Its own rank cannot go on in a child; the calls of all interfaces say so. */
static void close_in_child(void)
{
    pf_self_t *self = sg_actor_self() ? pf_self() : NULL; /* a thread of a rank may make children */
    if (!self)
        return;
    if (self->mpi)
        self->mpi->open = false;
    self->portals = NULL;
    memset(self->ucx, 0, sizeof self->ucx);
    self->shmem = NULL;
}

int pf_job_prepare(int np)
{
    pf_job_state.size = np;
    pf_child_watch(close_in_child);
    read_settings();
    pf_worlds_number(np);
    return PF_SUCCESS;
}

/* The models that the user wants from the start (-load). Those of the schedule come when they are needed. */
static void load_requested(void)
{
    const char *list = pf_config.load;
    while (*list) {
        size_t length = strcspn(list, ",");
        enum pf_model model;
        if (!pf_model_parse(list, length, &model))
            pf_die("unknown model '%.*s' in PARFOCAL_LOAD; models: %s", (int)length, list, pf_model_list());
        pf_model_load(model);
        list += length + (list[length] == ',');
    }
    pf_sampling_load();
}

static void create_rank(int i)
{
    struct pf_rank *r = &pf_job_state.ranks[i];
    sg_actor_t actor = sg_actor_by_pid(i + 1); /* SMPI starts rank i as actor i + 1 */
    sg_host_t host = actor ? sg_actor_get_host(actor) : NULL;
    r->job = pf_world_of(i);
    r->self = (pf_self_t){.rank = i, .size = pf_job_state.size, .host = host, .mpi = r};
    r->call.model = PF_MODEL_NONE;
    r->call.fn = -1;
    r->bsend_impl = -1;
    r->model = PF_MODEL_SMPI;
    if (!actor) {
        r->state = PF_RANK_LEFT;
        pf_job_state.missing = i;
    }
    r->active = r->models[PF_MODEL_SMPI] = r->instances[PF_IMPL_SMPI] =
        pf_adapter_get(PF_IMPL_SMPI)->ops->instance(i, "");
    r->active->model = PF_MODEL_SMPI;
    pf_model_withhold_world(r->active);
    pf_job_state.selves[i] = &r->self;
    pf_schedule_cursor_init(&r->cursor, r->job->schedule);
    r->base = r->active;
}

/* A rank that cannot go on ends its job alone, if it can. */
static void end_job(const char *message)
{
    if (!pf_job_ends_alone())
        return;
    pf_die_less();
    pf_job_blame(pf_self(), 1, "%s", message);
    pf_job_abort(pf_self()->rank, 1);
}

/* What the rooms below ask of those above them. */
static void register_rooms(void)
{
    pf_die_through(end_job);
    pf_upcalls.file_name = pf_folder_name;
    pf_upcalls.rank_of_thread = pf_process_rank_of_thread;
    pf_upcalls.errhandler_of = pf_comm_errhandler;
    pf_upcalls.looks_at_signals = pf_alarm_look;
    pf_object_register(PF_KIND_COMM, &pf_comm_ops);
    pf_object_register(PF_KIND_GROUP, &pf_group_ops);
    pf_object_register(PF_KIND_DATATYPE, &pf_datatype_ops);
    pf_object_register(PF_KIND_OP, &pf_op_ops);
    pf_object_register(PF_KIND_INFO, &pf_info_ops);
}

void pf_job_create_ranks(void)
{
    char why[256] = "";
    read_settings();
    register_rooms();
    const struct pf_adapter *smpi = pf_adapter_get(PF_IMPL_SMPI);
    struct pf_job job = {.size = pf_job_state.size, .ranks = NULL, .on_abort = pf_job_abort};
    if (smpi->ops->open(&job, why, sizeof why))
        pf_die("SMPI cannot be used: %s", why);
    if (pf_job_state.size == 0)
        pf_job_state.size = smpi->ops->instance(0, "")->job_size;
    if (pf_job_state.worlds->size == 0)
        pf_worlds_number(pf_job_state.size);
    pf_job_state.thread = pthread_self();
    if (pf_job_state.stop)
        pf_job_state.stop();
    pf_job_state.missing = -1;
    pf_job_state.ranks = pf_calloc((size_t)pf_job_state.size, sizeof *pf_job_state.ranks);
    pf_job_state.selves = pf_calloc((size_t)pf_job_state.size, sizeof *pf_job_state.selves);
    for (int i = 0; i < pf_job_state.size; i++)
        create_rank(i);
    pf_compute_begin(pf_job_state.size);
    pf_communication_begin(pf_job_state.size);
}

void pf_job_start_rank(struct pf_rank *r)
{
    if (pf_job_state.missing >= 0)
        pf_die("rank %d has no simulated process; start the program with pfrun", pf_job_state.missing);
    sg_actor_self_set_data(&r->self);
    if (r->account)
        pf_account_move(r->account, NULL, r->job->start_model, simgrid_get_clock());
    else
        r->account = pf_account_open(r->self.rank, "start", r->job->start_model, simgrid_get_clock());
    pf_critical_path_open(r);
    pf_comm_init_rank(r);
    load_requested();
    pf_model_load(r->job->start_model);
    pf_model_enforce(r, r->job->start_model);
}

/* Whatever MPI model is in force, Portals calls go to the simulated NIC. */
pf_self_t *pf_job_identify(void)
{
    if (!sg_actor_self_get_pid())
        return NULL;
    if (!pf_job_state.ranks)
        pf_job_create_ranks();
    int rank = (int)sg_actor_self_get_pid() - 1;
    if (rank < 0 || rank >= pf_job_state.size)
        return NULL;
    struct pf_rank *r = &pf_job_state.ranks[rank];
    if (r->job->name)
        pf_die("job '%s': a job of a workload communicates by MPI, and not by OpenSHMEM or calls of Portals "
               "(run the program by itself)",
               r->job->name);
    sg_actor_self_set_data(&r->self);
    r->portals_program = true;
    r->account = pf_account_open(rank, "start", PF_MODEL_PORTALS, simgrid_get_clock());
    pf_critical_path_open(r);
    return &r->self;
}

static int portals_left; /* ranks that have called Portals and not MPI, and have ended */

/* A thousand lines that say the same of each rank would hide the reason, which the first ones show. */
enum { RANKS_NAMED = 4 };

static void warn_unfinished(const struct pf_rank *r, int status, const char *missing, const char *last_call)
{
    static int ended;
    if (++ended <= RANKS_NAMED)
        pf_warn("rank %d has ended with status %d and without %s%s%s", r->self.rank, status, missing,
                last_call ? "; its last call was " : "", last_call ? last_call : "");
    else if (ended == RANKS_NAMED + 1)
        pf_warn("more ranks have ended so, which are not listed");
}

/* The end of a rank that has called Portals and not MPI. Messages may still come to what it has left open,
 * and its memory is about to go away. */
static void portals_rank_left(struct pf_rank *r, int status)
{
    r->state = PF_RANK_LEFT;
    if (pf_job_state.left_status == 0)
        pf_job_state.left_status = status;
    if (pf_portals_leave(&r->self))
        warn_unfinished(r, status, r->self.shmem ? "shmem_finalize" : "PtlFini", NULL);
    pf_account_close(r->account, simgrid_get_clock());
    pf_critical_path_close(r);
    if (pf_compute_on && r->computes)
        pf_compute_end(r);
    if (++portals_left == pf_job_state.size) /* or SMPI would warn at the end of a missing MPI_Finalize */
        xbt_log_control_set("smpi.thres:warning");
}

static bool plays_alone;

void pf_job_play_alone(void)
{
    plays_alone = true;
}

/* As any program does under mpirun. */
static void rank_left_alone(void)
{
    static int alone;
    if (++alone < pf_job_state.size || plays_alone)
        return;
    pf_warn("no rank has called MPI_Init");
    xbt_log_control_set("smpi.thres:warning"); /* SMPI would ask for MPI_Finalize */
}

static struct {
    int ranks, first, status;
} uninitialized; /* ranks that have ended so */

void pf_job_print_uninitialized(FILE *out)
{
    if (uninitialized.ranks)
        fprintf(out, "parfocal: rank %d has ended with status %d and without MPI_Init%s\n",
                uninitialized.first, uninitialized.status,
                uninitialized.ranks > 1 ? "; it is not the only one" : "");
}

void pf_job_rank_left(int status)
{
    static int failed;
    if (status && ++failed == RANKS_NAMED) /* SimGrid's line on each */
        xbt_log_control_set("smpi_kernel.thres:error");
    pf_self_t *self = pf_self();
    pf_world_left((int)sg_actor_self_get_pid() - 1, status);
    if (self)
        pf_upcalls.layer_left(self, status);
    if (self && self->mpi && self->mpi->state == PF_RANK_NEW && self->mpi->portals_program)
        portals_rank_left(self->mpi, status);
    else if (!self || !self->mpi || self->mpi->state == PF_RANK_NEW) {
        if (uninitialized.ranks++ == 0) {
            uninitialized.first = (int)sg_actor_self_get_pid() - 1;
            uninitialized.status = status;
        }
        if (status == 0)
            rank_left_alone();
    }
    if (!self || !self->mpi || self->mpi->state != PF_RANK_RUNNING)
        return;
    self->mpi->state = PF_RANK_LEFT;
    self->mpi->open = false;
    pf_portals_leave(&self->mpi->self);
    if (pf_job_state.left_status == 0)
        pf_job_state.left_status = status ? status : 1; /* an error, as under mpirun */
    warn_unfinished(self->mpi, status, "MPI_Finalize", pf_fn_name(self->mpi->call.fn));
    pf_check_unfinalized(self->mpi);
}

void pf_job_stop_at_call(void (*stop)(void))
{
    pf_job_state.stop = stop;
    memset(&pf_job_state.thread, 0, sizeof pf_job_state.thread);
}

int pf_job_left_status(void)
{
    return pf_job_state.left_status;
}

struct named_phase {
    const char *name;
    UT_hash_handle hh;
};

/* In the order in which they came, without the start. */
static size_t distinct_phases(const struct pf_account_row *rows, size_t count, const char **names)
{
    struct named_phase *all = pf_calloc(count + 1, sizeof *all), *seen = NULL, *same;
    size_t phases = 0;
    for (size_t i = 0; i < count; i++) {
        all[i].name = rows[i].phase;
        HASH_FIND_STR(seen, rows[i].phase, same);
        if (same || strcmp(rows[i].phase, "start") == 0)
            continue;
        HASH_ADD_KEYPTR(hh, seen, rows[i].phase, strlen(rows[i].phase), &all[i]);
        names[phases++] = rows[i].phase;
    }
    HASH_CLEAR(hh, seen);
    free(all);
    return phases;
}

static void report_schedule(const struct pf_world *world, FILE *out)
{
    struct pf_account_row *rows;
    size_t count = pf_account_rows(&rows, world->first, world->size);
    const char **names = pf_calloc(count + 1, sizeof *names);
    size_t phases = distinct_phases(rows, count, names);
    char overruled[100];
    snprintf(overruled, sizeof overruled, "%s says %s", pf_config_given("model"), pf_config.model);
    struct pf_schedule_offer offer = {.phases = names,
                                      .phase_count = phases,
                                      .simulated = pf_account_simulated(),
                                      .start_overruled = *pf_config.model ? overruled : NULL};
    for (int i = 0; i < world->size; i++)
        pf_schedule_offer_add(&offer, &pf_job_state.ranks[world->first + i].cursor);
    pf_schedule_report_missed(world->schedule, &offer, out);
    free(names);
    free(rows);
}

void pf_job_report_schedule(FILE *out)
{
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.world_count; i++)
        report_schedule(&pf_job_state.worlds[i], out);
}

int pf_job_finish(int status)
{
    pf_process_report();
    bool finished = pf_external_finish();
    status = status ? status : pf_job_state.left_status;
    status = status ? status : pf_exec_refused();
    status = finish(finished ? status : status ? status : 1);
    pf_job_state.over = true;
    memset(&pf_job_state.thread, 0, sizeof pf_job_state.thread);
    return status;
}
