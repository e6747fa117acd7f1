/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes copies of the process, one for each window, and waits for them. */
#include "middleware/sampling/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/account/accounting.h"
#include "middleware/account/clock.h"
#include "middleware/sampling/cut.h"

/* A copy as the run sees it. What it tells begins with a letter, D: the application's seconds and dates, as
 * they lie in memory; F: text. */
struct copy {
    pid_t pid;
    int fd; /* -1: it has told all */
    unsigned window;
    char *told;
    size_t used, room;
    int status;
    double cost;
};

static struct {
    struct copy *copies;
    unsigned count, running;
    int tell;                      /* in a copy: to the run; else -1 */
    struct pf_account_spent begin; /* of the copy */
} all = {.tell = -1};

bool pf_copies_is_one(void)
{
    return all.tell >= 0;
}

static _Noreturn void tell(char kind, const void *what, size_t size)
{
    const char *rest = what;
    ssize_t put = write(all.tell, &kind, 1);
    while (put > 0 && size > 0) {
        put = write(all.tell, rest, size);
        rest += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    _exit(put > 0 ? 0 : 1);
}

void pf_copies_tell(const double *dates, size_t count)
{
    double *told = pf_calloc(count + 1, sizeof *told);
    told[0] = pf_account_application_since(&all.begin);
    memcpy(told + 1, dates, count * sizeof *dates);
    tell('D', told, (count + 1) * sizeof *told);
}

void pf_copies_fail(const char *why)
{
    if (pf_copies_is_one())
        tell('F', why, strlen(why));
}

/* The copy's error message is what the run says of it. */
static void on_death(const char *message)
{
    char why[400];
    snprintf(why, sizeof why, "has ended: %s", message);
    pf_copies_fail(why);
}

void pf_copies_prepare(void)
{
    pf_cut_prepare();
}

/* Takes what the copy says, and when it is silent its status. */
static void listen_to(struct copy *copy)
{
    struct rusage usage;
    if (copy->room - copy->used < 4096) {
        copy->room = 2 * copy->room + 8192;
        copy->told = pf_realloc(copy->told, copy->room);
    }
    ssize_t got = read(copy->fd, copy->told + copy->used, copy->room - copy->used);
    if (got > 0)
        copy->used += (size_t)got;
    if (got > 0 || (got < 0 && errno == EINTR))
        return;
    close(copy->fd);
    copy->fd = -1;
    all.running--;
    pid_t ended;
    do
        ended = wait4(copy->pid, &copy->status, 0, &usage);
    while (ended < 0 && errno == EINTR);
    if (ended == copy->pid) /* else the application has waited for any child, and got this one */
        copy->cost = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Until one of those that run has something to say. That is nobody's time: theirs counts for itself. */
static void wait_for_some(void)
{
    uint64_t begin = pf_account_ticks();
    struct pollfd *fds = pf_calloc(all.count, sizeof *fds);
    for (unsigned i = 0; i < all.count; i++)
        fds[i] = (struct pollfd){.fd = all.copies[i].fd, .events = POLLIN};
    if (poll(fds, all.count, -1) > 0)
        for (unsigned i = 0; i < all.count; i++)
            if (fds[i].revents)
                listen_to(&all.copies[i]);
    free(fds);
    pf_account_mark += pf_account_ticks() - begin;
}

static void be_copy(int fd, pid_t run)
{
    for (unsigned i = 0; i < all.count; i++)
        if (all.copies[i].fd >= 0)
            close(all.copies[i].fd);
    free(all.copies); /* what others tell is not ours */
    all.copies = NULL;
    all.count = all.running = 0;
    all.tell = fd;
    all.begin = pf_account_spent();
    pf_clock_forked();
    pf_on_death(on_death);
    if (!pf_cut_off(fd, run))
        pf_copies_fail("cannot be kept from writing files: the system has no filters for calls (seccomp)");
}

bool pf_copies_make(unsigned window)
{
    char why[300];
    int ends[2];
    while (all.running >= (unsigned)pf_config.windows_jobs)
        wait_for_some();
    if (pf_cut_impossible(why, sizeof why))
        pf_die("%s fork: %s; windows_by run would do", pf_config_given("windows_by"), why);
    if (pipe2(ends, O_CLOEXEC) != 0)
        pf_die("%s fork: %s", pf_config_given("windows_by"), strerror(errno));
    pf_cut_note();
    pid_t run = getpid(), pid = pf_child_copy();
    if (pid < 0)
        pf_die("%s fork: the process cannot be copied: %s; windows_by run would do",
               pf_config_given("windows_by"), strerror(errno));
    close(ends[pid == 0 ? 0 : 1]);
    if (pid == 0) {
        be_copy(ends[1], run);
        return true;
    }
    all.copies = pf_reallocarray(all.copies, all.count + 1, sizeof *all.copies);
    all.copies[all.count++] = (struct copy){.pid = pid, .fd = ends[0], .window = window};
    all.running++;
    return false;
}

/* In words, when it has not told them. */
static const char *how_it_ended(const struct copy *copy, char *text, size_t size)
{
    if (WIFSIGNALED(copy->status) && WTERMSIG(copy->status) == SIGALRM)
        snprintf(text, size, "its copy has not ended after %g s (windows_limit)", pf_config.windows_limit);
    else if (WIFSIGNALED(copy->status))
        snprintf(text, size, "its copy was ended by signal %d (%s)", WTERMSIG(copy->status),
                 strsignal(WTERMSIG(copy->status)));
    else
        snprintf(text, size, "its copy has ended with status %d", WEXITSTATUS(copy->status));
    return text;
}

static void hand_over(struct copy *copy, void (*take)(unsigned, const struct pf_copy_result *))
{
    char text[500];
    struct pf_copy_result result = {.cost = copy->cost};
    size_t size = copy->used > 0 ? copy->used - 1 : 0;
    double *told = NULL;
    if (size > 0 && copy->told[0] == 'D' && size % sizeof *told == 0) {
        told = pf_malloc(size);
        memcpy(told, copy->told + 1, size);
        result.cost = copy->cost > told[0] ? copy->cost - told[0] : 0.0;
        result.dates = told + 1;
        result.count = size / sizeof *told - 1;
    } else if (copy->used > 0 && copy->told[0] == 'F') {
        snprintf(text, sizeof text, "its copy %.*s", (int)size, copy->told + 1);
        result.failure = text;
    } else {
        result.failure = how_it_ended(copy, text, sizeof text);
    }
    take(copy->window, &result);
    free(told);
    free(copy->told);
}

void pf_copies_finish(void (*take)(unsigned window, const struct pf_copy_result *result))
{
    while (all.running > 0)
        wait_for_some();
    for (unsigned i = 0; i < all.count; i++)
        hand_over(&all.copies[i], take);
    free(all.copies);
    all.copies = NULL;
    all.count = 0;
}
