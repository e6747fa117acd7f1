/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the calls of all ranks into one file, for a replay. */
#include "middleware/observing/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/host.h>
#include <xbt/config.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/trace/trace.h"
#include "middleware/comm/comm.h"
#include "middleware/compute/compute.h"
#include "middleware/core/rank.h"
#include "middleware/core/upcalls.h"
#include "middleware/observing/start.h"
#include "middleware/observing/tracing.h"
#include "middleware/process/ranks.h"
#include "pf_fn.h"

/* A rank's lines lie in pieces of an unnamed file in the folder of the result, where earlier lines can be
 * completed. The last piece is in memory. */
#define PIECE 16384

struct recorder;
struct spool {
    off_t *pieces;
    size_t count, room, used;
    char *last;
    double since, entered; /* dates of the rank */
    bool computes;         /* `entered` is that of the call that is being made */
};

bool pf_recording_on;

static struct {
    char *path;
    bool kept; /* the user wants the file; else it has no name, and is for a trace */
    FILE *out;
    int fd;
    off_t end;
    int ranks, closed;
    void (*take)(int fd);
    bool dates;   /* it wants them, in comments */
    bool charges; /* computation is simulated, or replayed */
    struct spool *spools;
    struct recorder *recorders;
} all;

static struct recorder *record_self(void);
static long record_emit(struct recorder *me, const char *text, size_t length);
static void record_amend(struct recorder *me, long at, const char *text, size_t length);
static double record_computed(struct recorder *me, int *sleeps);
static void record_closed(struct recorder *me);

static void record_left(struct recorder *me)
{
    (void)me; /* simulated time does not pass while something is written */
}

static void note_comm(struct recorder *me, MPI_Comm handle, int number);

#define RECORD_NEW_COMM   note_comm
#define RECORD_CALL(name) pf_PMPI_##name
#define RECORD_FUNCTION   __attribute__((visibility("hidden")))
#include "record_tables.h"
#include "middleware/observing/record_core.h"
#include "middleware/observing/record_functions.h"
#include "record_trace.h"

static double date_of(const struct pf_rank *r)
{
    const struct pf_instance *in = r->ahead;
    return pf_engine_now() + (in ? in->ops->ahead(in) : 0.0);
}

static struct pf_rank *calling(void)
{
    const pf_self_t *self = pf_self();
    return self ? self->mpi : NULL;
}

static struct recorder *record_self(void)
{
    struct pf_rank *r = calling();
    return r && all.recorders && r->state == PF_RANK_RUNNING ? &all.recorders[r->self.rank] : NULL;
}

static void write_piece(struct spool *spool)
{
    spool->pieces = record_grow(spool->pieces, &spool->room, spool->count + 1, sizeof *spool->pieces);
    spool->pieces[spool->count++] = all.end;
    if (pwrite(all.fd, spool->last, PIECE, all.end) != PIECE)
        pf_die("cannot record into '%s': %s", all.path, strerror(errno));
    all.end += PIECE;
    spool->used = 0;
}

static long record_emit(struct recorder *me, const char *text, size_t length)
{
    struct spool *spool = &all.spools[me->rank];
    long at = (long)(spool->count * PIECE + spool->used);
    if (!spool->last)
        spool->last = pf_malloc(PIECE);
    while (length > 0) {
        size_t part = length < PIECE - spool->used ? length : PIECE - spool->used;
        memcpy(spool->last + spool->used, text, part);
        spool->used += part;
        text += part;
        length -= part;
        if (spool->used == PIECE)
            write_piece(spool);
    }
    return at;
}

static void record_amend(struct recorder *me, long at, const char *text, size_t length)
{
    struct spool *spool = &all.spools[me->rank];
    for (size_t i = 0; i < length; i++) {
        size_t piece = ((size_t)at + i) / PIECE, inside = ((size_t)at + i) % PIECE;
        if (piece == spool->count)
            spool->last[inside] = text[i];
        else if (pwrite(all.fd, text + i, 1, spool->pieces[piece] + (off_t)inside) != 1)
            pf_die("cannot record into '%s': %s", all.path, strerror(errno));
    }
}

/* A comment, where dates are wanted. */
static void __attribute__((format(printf, 2, 3))) note(struct recorder *me, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    int length = all.dates ? vasprintf(&text, format, args) : 0;
    va_end(args);
    if (length > 0)
        record_emit(me, text, (size_t)length);
    free(text);
}

static void note_comm(struct recorder *me, MPI_Comm handle, int number)
{
    const struct pf_comm *comm = all.dates ? pf_comm_of(calling(), handle) : NULL;
    uint64_t hash = 0;
    for (int i = 0; comm && i < comm->shared->size; i++)
        hash = hash * 0x100000001b3u + (uint64_t)comm->shared->world_ranks[i] + 1;
    if (comm)
        note(me, "# comm %d %d %d %d %d %" PRIu64 "\n", me->rank, number,
             comm->shared->other ? -1 : comm->shared->id, comm->me, comm->shared->size, hash);
}

static void note_call(struct recorder *me, const struct pf_rank *r, double begin, double end)
{
    note(me, "# at %d %.17g %.17g %s %s\n", me->rank, begin, end,
         r->observed ? pf_fn_name(r->observed->fn) : "-", pf_model_name(r->model));
}

/* The call that has just returned began when its computation had been charged. Where none is charged,
 * something else has taken time, such as a look at the clock. */
static double record_computed(struct recorder *me, int *sleeps)
{
    struct spool *spool = &all.spools[me->rank];
    struct pf_rank *r = calling();
    double seconds = spool->computes ? spool->entered - spool->since : 0;
    double date = date_of(r);
    note_call(me, r, spool->computes ? spool->entered : spool->since, date);
    spool->since = date;
    spool->computes = false;
    *sleeps = !all.charges || (all.take && !all.dates);
    return *sleeps ? seconds : seconds * sg_host_get_speed(r->self.host);
}

void pf_recording_entered(struct pf_rank *r, double date)
{
    if (!all.spools)
        return;
    all.spools[r->self.rank].entered = date;
    all.spools[r->self.rank].computes = true;
}

static void write_rank(const struct spool *spool, char *buffer)
{
    for (size_t i = 0; i < spool->count; i++)
        if (pread(all.fd, buffer, PIECE, spool->pieces[i]) != PIECE ||
            fwrite(buffer, 1, PIECE, all.out) != PIECE)
            pf_die("cannot record into '%s': %s", all.path, strerror(errno));
    fwrite(spool->last, 1, spool->used, all.out);
}

static void write_ranks(void)
{
    char *buffer = pf_malloc(PIECE);
    fprintf(all.out, "# parfocal-replay 1 ranks %d\n", all.ranks);
    for (int rank = 0; rank < all.ranks; rank++)
        write_rank(&all.spools[rank], buffer);
    free(buffer);
    if (all.take && fflush(all.out) == 0)
        all.take(dup(fileno(all.out)));
}

static void write_all(void)
{
    write_ranks();
    FILE *out = all.out;
    all.out = NULL;
    if (pf_trace_wants_recording() && fflush(out) == 0)
        pf_trace_recorded(dup(fileno(out)));
    if (fclose(out) != 0)
        pf_die("cannot record into '%s': %s", all.path, strerror(errno));
}

static void record_closed(struct recorder *me)
{
    (void)me;
    if (++all.closed == all.ranks)
        write_all();
}

void pf_recording_init(void)
{
    struct pf_rank *r = calling();
    if (!r)
        return;
    if (!all.spools) {
        all.ranks = pf_job_state.size;
        all.charges |= sg_cfg_get_boolean("smpi/simulate-computation") || *pf_config.computation_replay ||
                       *pf_config.computation_record;
        all.spools = pf_calloc((size_t)all.ranks, sizeof *all.spools);
        all.recorders = pf_calloc((size_t)all.ranks, sizeof *all.recorders);
    }
    if (all.recorders[r->self.rank].open)
        return;
    struct recorder *me = &all.recorders[r->self.rank];
    double date = date_of(r);
    record_begin_rank(me, r->self.rank);
    note(me, "# host %d %s\n", me->rank, sg_host_get_name(r->self.host));
    note_call(me, r, date, date);
    all.spools[r->self.rank].since = date;
}

void pf_recording_finalize(void)
{
    struct pf_rank *r = calling();
    struct recorder *me = record_self();
    if (me && me->open) {
        pf_recording_entered(r, date_of(r));
        record_end_rank(me);
    }
}

static void phase(struct pf_rank *r, const char *name)
{
    pf_compute_charge(r); /* that belongs to the phase before */
    if (all.spools)
        pf_recording_entered(r, date_of(r));
    record_remark("phase", name);
}

/* A recording that lacks the end of a rank is none. */
static void give_up(void)
{
    if (!all.out)
        return;
    if (all.take && all.spools)
        write_ranks();
    fclose(all.out);
    all.out = NULL;
    if (!all.kept)
        return;
    unlink(all.path);
    pf_warn("nothing is recorded in '%s': %d of %d ranks came to MPI_Finalize", all.path, all.closed,
            all.ranks);
}

static int open_nameless(void)
{
    char *name = pf_asprintf("%s.XXXXXX", all.path);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0 || unlink(name) != 0)
        pf_die("%s: cannot write next to '%s': %s", pf_config_given(all.kept ? "replay_record" : "trace"),
               all.path, strerror(errno));
    free(name);
    return fd;
}

static void open_files(void)
{
    all.out = all.kept ? pf_output_open(all.path, "w+e") : fdopen(open_nameless(), "w+");
    if (!all.out)
        pf_die("%s: cannot write the recording '%s': %s", pf_config_given("replay_record"), all.path,
               strerror(errno));
    all.fd = open_nameless();
}

void pf_recording_start(void)
{
    const char *folder = getenv("TMPDIR");
    all.kept = *pf_config.replay_record;
    if (all.kept && pf_config.check)
        pf_die("%s: a run that is checked (PARFOCAL_CHECK) records nothing",
               pf_config_given("replay_record"));
    if (all.take && pf_config.check)
        pf_die("-trace: a run that is checked (PARFOCAL_CHECK) records nothing, which prv needs");
    if (pf_config.check || !(all.kept || all.take || pf_trace_wants_recording()))
        return;
    all.path = all.kept ? pf_strdup(pf_config.replay_record)
                        : pf_asprintf("%s/parfocal-recording", folder && *folder ? folder : "/tmp");
    open_files();
    pf_at_end(give_up);
    pf_recording_on = true;
    pf_upcalls.phase = phase;
}

void pf_recording_hand_to(void (*take)(int fd), bool dates)
{
    all.take = take;
    all.dates = dates;
}

void pf_recording_charges(bool charges)
{
    all.charges = charges;
}

void pf_recording_finish(void)
{
    give_up();
    all.out = NULL;
}
