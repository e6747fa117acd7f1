/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes copies of the process, one for each window, and waits for them. */
#include "middleware/sampling/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/account/clock.h"
#include "middleware/sampling/cut.h"

/* A copy as the run sees it. */
struct copy {
    pid_t pid;
    int fd; /* -1: it has told all */
    unsigned window;
    struct pf_told_buffer told;
    int status;
    double cost;
};

static struct {
    struct copy *copies;
    unsigned count, running;
    int tell; /* in a copy: to the run; else -1 */
} all = {.tell = -1};

bool pf_copies_is_one(void)
{
    return all.tell >= 0;
}

void pf_copies_tell(const struct pf_told *told)
{
    if (!pf_told_write(all.tell, told))
        _exit(1);
}

void pf_copies_end(void)
{
    _exit(0);
}

void pf_copies_fail(const char *why)
{
    if (!pf_copies_is_one())
        return;
    pf_copies_tell(&(struct pf_told){.window = PF_TOLD_ALL, .failure = why});
    pf_copies_end();
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
    if (pf_told_read(&copy->told, copy->fd))
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

/* Until one of those that run has something to say. */
static void wait_for_some(void)
{
    struct pollfd *fds = pf_calloc(all.count, sizeof *fds);
    for (unsigned i = 0; i < all.count; i++)
        fds[i] = (struct pollfd){.fd = all.copies[i].fd, .events = POLLIN};
    if (poll(fds, all.count, -1) > 0)
        for (unsigned i = 0; i < all.count; i++)
            if (fds[i].revents)
                listen_to(&all.copies[i]);
    free(fds);
}

void pf_copies_become(int fd, pid_t original)
{
    for (unsigned i = 0; i < all.count; i++)
        if (all.copies[i].fd >= 0)
            close(all.copies[i].fd);
    free(all.copies); /* what others tell is not ours */
    all.copies = NULL;
    all.count = all.running = 0;
    all.tell = fd;
    pf_clock_forked();
    pf_on_death(on_death);
    if (!pf_cut_off(fd, original))
        pf_copies_fail("cannot be kept from writing files: the system has no filters for calls (seccomp)");
}

void pf_copies_limit(void)
{
    struct itimerval limit = {.it_value.tv_sec = (time_t)pf_config.windows_limit};
    limit.it_value.tv_usec = (suseconds_t)((pf_config.windows_limit - (double)limit.it_value.tv_sec) * 1e6);
    setitimer(ITIMER_REAL, &limit, NULL);
}

const char *pf_copies_setting(void)
{
    static char text[60];
    snprintf(text, sizeof text, "%s %s: ", pf_config_given("windows_by"), pf_config.windows_by);
    return text;
}

pid_t pf_copies_split(const int ends[2])
{
    pid_t run = getpid(), pid = pf_child_copy();
    if (pid < 0)
        pf_die("%sthe process cannot be copied: %s; windows_by run would do", pf_copies_setting(),
               strerror(errno));
    close(ends[pid == 0 ? 0 : 1]);
    if (pid == 0)
        pf_copies_become(ends[1], run);
    return pid;
}

bool pf_copies_make(unsigned window)
{
    char why[300];
    int ends[2];
    while (all.running >= (unsigned)pf_config.windows_jobs)
        wait_for_some();
    if (pf_cut_impossible(why, sizeof why))
        pf_die("%s%s; windows_by run would do", pf_copies_setting(), why);
    if (pipe2(ends, O_CLOEXEC) != 0)
        pf_die("%s%s", pf_copies_setting(), strerror(errno));
    pid_t pid = pf_copies_split(ends);
    if (pid == 0) {
        pf_copies_limit();
        return true;
    }
    all.copies = pf_reallocarray(all.copies, all.count + 1, sizeof *all.copies);
    all.copies[all.count++] = (struct copy){.pid = pid, .fd = ends[0], .window = window};
    all.running++;
    return false;
}

const char *pf_copies_status(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(text, size, "has not ended after %g s (windows_limit)", pf_config.windows_limit);
    else if (WIFSIGNALED(status))
        snprintf(text, size, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "has ended with status %d", WEXITSTATUS(status));
    return text;
}

static void hand_over(struct copy *copy, void (*take)(const struct pf_told *))
{
    char text[500];
    struct pf_told told;
    if (!pf_told_next(&copy->told, &told))
        told = (struct pf_told){.failure = pf_copies_status(copy->status, text, sizeof text)};
    told.window = copy->window;
    told.cost = copy->cost;
    take(&told);
    pf_told_free(&copy->told);
}

void pf_copies_finish(void (*take)(const struct pf_told *told))
{
    while (all.running > 0)
        wait_for_some();
    for (unsigned i = 0; i < all.count; i++)
        hand_over(&all.copies[i], take);
    free(all.copies);
    all.copies = NULL;
    all.count = 0;
}
