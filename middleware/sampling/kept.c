/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of the process that wait for orders. */
#include "middleware/sampling/kept.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/account/compute.h"
#include "middleware/core/job_state.h"
#include "middleware/sampling/copies.h"
#include "middleware/sampling/cut.h"
#include "middleware/sampling/marks.h"

/* Calls of a cell at first, for each rank: in model analytic they cost some eight times what making a copy
 * does, which goes with the ranks, too. */
#define CALLS_OF_RANK 4096ull

struct kept {
    pid_t pid;
    int fd;
    unsigned mark;
    uint64_t cell;
    unsigned begin, end; /* the spans that it is asked for */
    bool works;
    struct pf_told_buffer told;
};

static struct {
    struct kept *kept;
    unsigned count;
    uint64_t calls; /* of a cell at first, */
    unsigned level; /* and now so many times two of them */
    uint64_t next;  /* the cell in which the next one is made */
    double cost;
} all;

/* What is asked of a waiting copy; the spans come after it. */
struct order {
    unsigned first, count;
};

/* Which of the two cells that make this one keeps its place. */
static unsigned choice(unsigned level, uint64_t cell)
{
    uint64_t seed = pf_marks_mix((uint64_t)pf_config.windows_seed + 1);
    return pf_marks_mix(seed ^ pf_marks_mix((uint64_t)level << 56 ^ cell)) & 1;
}

/* After how many calls the place of a cell comes. */
static uint64_t place(uint64_t cell)
{
    for (unsigned level = all.level; level > 0; level--)
        cell = 2 * cell + choice(level, cell);
    uint64_t seed = pf_marks_mix((uint64_t)pf_config.windows_seed + 1);
    return cell * all.calls + pf_marks_mix(seed ^ pf_marks_mix(cell)) % all.calls;
}

static double seconds(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

static void end(struct kept *kept)
{
    struct rusage usage;
    int status;
    pid_t ended;
    close(kept->fd);
    kill(kept->pid, SIGKILL);
    do
        ended = wait4(kept->pid, &status, 0, &usage);
    while (ended < 0 && errno == EINTR);
    if (ended == kept->pid)
        all.cost += seconds(&usage);
    pf_told_free(&kept->told);
}

/* Two cells become one; the copy at the start stays. */
static void thin_out(void)
{
    unsigned left = 1;
    all.level++;
    for (unsigned i = 1; i < all.count; i++) {
        struct kept *kept = &all.kept[i];
        if ((kept->cell & 1) == choice(all.level, kept->cell / 2)) {
            kept->cell /= 2;
            all.kept[left++] = *kept;
        } else {
            end(kept);
        }
    }
    all.count = left;
    all.next /= 2;
    if (left > 1 && all.next <= all.kept[left - 1].cell)
        all.next = all.kept[left - 1].cell + 1;
}

/* How many there may be: all of them together could come to need as much memory as each has now. */
static unsigned most(void)
{
    unsigned long total = 0, resident = 1;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lu %lu", &total, &resident) != 2)
        resident = 1;
    if (file)
        fclose(file);
    unsigned long room = (unsigned long)sysconf(_SC_PHYS_PAGES) / 2 / (resident ? resident : 1);
    return room < (unsigned long)pf_config.windows_kept ? (unsigned)room : (unsigned)pf_config.windows_kept;
}

static bool receive(int fd, void *what, size_t size)
{
    char *rest = what;
    while (size > 0) {
        ssize_t got = read(fd, rest, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        rest += got;
        size -= (size_t)got;
    }
    return true;
}

/* What a waiting copy does. It returns in a runner. */
static void wait_for_orders(int fd, struct pf_spans *spans, unsigned *first)
{
    char text[200];
    struct order order;
    int status = 0;
    for (;;) {
        if (!receive(fd, &order, sizeof order))
            _exit(0);
        *first = order.first;
        spans->count = order.count;
        spans->span = pf_calloc(order.count, sizeof *spans->span);
        if (!receive(fd, spans->span, order.count * sizeof *spans->span))
            _exit(0);
        pid_t me = getpid(), runner = pf_child_copy();
        if (runner == 0) {
            pf_copies_become(fd, me);
            pf_compute_replay_on();
            return;
        }
        free(spans->span);
        while (runner > 0 && waitpid(runner, &status, 0) < 0 && errno == EINTR)
            ;
        struct pf_told told = {.window = PF_TOLD_ALL, .ended = true};
        told.failure = runner < 0 ? "cannot be made" : pf_copies_status(status, text, sizeof text);
        if (!pf_told_write(fd, &told))
            _exit(0);
    }
}

/* Makes one that waits at a mark. Returns true in a runner, of which there may be many, much later. */
static bool make(unsigned mark, uint64_t cell, struct pf_spans *spans, unsigned *first)
{
    char why[300];
    int ends[2];
    if (pf_cut_impossible(why, sizeof why)) {
        if (all.count == 0) /* at the start; later on, windows of here are run from before */
            pf_die("%s%s; windows_by run would do", pf_copies_setting(), why);
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        pf_die("%s%s", pf_copies_setting(), strerror(errno));
    pid_t pid = pf_copies_split(ends);
    if (pid == 0) {
        for (unsigned i = 0; i < all.count; i++)
            close(all.kept[i].fd);
        wait_for_orders(ends[1], spans, first);
        return true;
    }
    all.kept = pf_reallocarray(all.kept, all.count + 1, sizeof *all.kept);
    all.kept[all.count++] = (struct kept){.pid = pid, .fd = ends[0], .mark = mark, .cell = cell};
    return false;
}

bool pf_kept_pass(unsigned mark, uint64_t calls, struct pf_spans *spans, unsigned *first)
{
    if (mark == 0)
        all.calls = CALLS_OF_RANK * (uint64_t)pf_job_state.size;
    if (mark == 0)
        return make(0, 0, spans, first);
    if (calls < place(all.next))
        return false;
    uint64_t cell = calls / (all.calls << all.level);
    while (all.next < cell && place(all.next + 1) <= calls)
        all.next++; /* places between which there is no mark */
    cell = all.next++;
    if (make(mark, cell, spans, first))
        return true;
    while (all.count > 2 && all.count > most())
        thin_out();
    return false;
}

void pf_kept_print(FILE *out)
{
    for (unsigned i = 0; i < all.count; i++)
        fprintf(out, "# kept %u\n", all.kept[i].mark);
}

/* The spans of a batch, and which of them have been told. */
struct batch {
    const struct pf_spans *spans;
    unsigned first;
    bool *told;
    void (*take)(const struct pf_told *);
};

static void pass_on(struct batch *batch, const struct kept *kept, struct pf_told told)
{
    for (unsigned i = kept->begin; i < kept->end; i++) {
        if (batch->told[i] || (told.window != PF_TOLD_ALL && told.window != batch->first + i))
            continue;
        struct pf_told one = told;
        one.window = batch->first + i;
        batch->told[i] = true;
        batch->take(&one);
    }
}

static void ask(struct batch *batch, struct kept *kept)
{
    struct order order = {.first = batch->first + kept->begin, .count = kept->end - kept->begin};
    size_t size = order.count * sizeof *batch->spans->span;
    const char *spans = (const char *)(batch->spans->span + kept->begin);
    kept->works = send(kept->fd, &order, sizeof order, MSG_NOSIGNAL) == (ssize_t)sizeof order &&
                  send(kept->fd, spans, size, MSG_NOSIGNAL) == (ssize_t)size;
    if (!kept->works)
        pass_on(batch, kept, (struct pf_told){.window = PF_TOLD_ALL, .failure = "is gone"});
}

static void listen_to(struct batch *batch, struct kept *kept)
{
    struct pf_told told = {.ended = false};
    bool open = pf_told_read(&kept->told, kept->fd);
    while (!told.ended && pf_told_next(&kept->told, &told))
        pass_on(batch, kept, told);
    if (!open && !told.ended)
        pass_on(batch, kept, (struct pf_told){.window = PF_TOLD_ALL, .failure = "is gone"});
    kept->works = open && !told.ended;
    if (!kept->works)
        pf_told_free(&kept->told);
}

/* Until one of those that work has something to say. Returns how many work. */
static unsigned wait_for_some(struct batch *batch)
{
    struct pollfd *fds = pf_calloc(all.count, sizeof *fds);
    unsigned working = 0;
    for (unsigned i = 0; i < all.count; i++)
        fds[i] = (struct pollfd){.fd = all.kept[i].works ? all.kept[i].fd : -1, .events = POLLIN};
    if (poll(fds, all.count, -1) > 0)
        for (unsigned i = 0; i < all.count; i++)
            if (fds[i].revents)
                listen_to(batch, &all.kept[i]);
    free(fds);
    for (unsigned i = 0; i < all.count; i++)
        working += all.kept[i].works;
    return working;
}

void pf_kept_run(const struct pf_spans *spans, unsigned first, void (*take)(const struct pf_told *told))
{
    struct batch batch = {.spans = spans, .first = first, .take = take};
    unsigned working = 0, next = 0;
    batch.told = pf_calloc(spans->count + 1, sizeof *batch.told);
    for (unsigned i = 0; i < all.count; i++) {
        struct kept *kept = &all.kept[i];
        kept->begin = next;
        while (next < spans->count && (i + 1 == all.count || spans->span[next].first < all.kept[i + 1].mark))
            next++;
        kept->end = next;
        if (kept->begin == kept->end)
            continue;
        while (working >= (unsigned)pf_config.windows_jobs)
            working = wait_for_some(&batch);
        ask(&batch, kept);
        working += kept->works;
    }
    while (working > 0)
        working = wait_for_some(&batch);
    free(batch.told);
}

double pf_kept_finish(void)
{
    for (unsigned i = 0; i < all.count; i++)
        end(&all.kept[i]);
    free(all.kept);
    all.kept = NULL;
    all.count = 0;
    return all.cost;
}
