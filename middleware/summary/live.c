/* SPDX-License-Identifier: BSD-3-Clause */
/* The line of pfrun -progress. */
#include "middleware/summary/live.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <simgrid/engine.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "middleware/account/accounting.h"

static struct {
    pthread_t thread;
    sem_t end;
    bool running, terminal;
} live;

/* For the rate: what the line before said. */
static struct {
    double wall;
    uint64_t messages;
} before;

/* printf may allocate memory, which a signal handler must not. */
struct line {
    char *text;
    size_t length;
};

static void put(struct line *line, const char *text)
{
    for (; *text && line->length < PF_LIVE_LINE - 8; text++)
        line->text[line->length++] = *text;
}

static void put_digits(struct line *line, uint64_t number, int digits)
{
    char text[24], *first = text + sizeof text - 1;
    *first = 0;
    for (; number || digits > 0; number /= 10, digits--)
        *--first = (char)('0' + number % 10);
    put(line, first);
}

static void put_count(struct line *line, uint64_t number)
{
    put_digits(line, number, 1);
}

/* Four digits and a unit, each of which is `step` times the one before. */
static void put_quantity(struct line *line, double value, double step, const char *const units[], int count)
{
    int unit = 0, decimals = 0;
    for (; value >= step && unit + 1 < count; unit++)
        value /= step;
    for (double scaled = value; value > 0 && scaled < 999.95 && decimals < 3; decimals++)
        scaled *= 10;
    uint64_t one = 1;
    for (int i = 0; i < decimals; i++)
        one *= 10;
    uint64_t all = (uint64_t)(value * (double)one + 0.5);
    put_count(line, all / one);
    if (decimals > 0) {
        put(line, ".");
        put_digits(line, all % one, decimals);
    }
    put(line, units[unit]);
}

static void put_seconds(struct line *line, double seconds)
{
    static const char *const units[] = {" ns", " us", " ms", " s"};
    put_quantity(line, seconds * 1e9, 1000, units, 4);
}

/* Pages in memory are the second number of the file (proc(5)). */
static double resident_bytes(void)
{
    char text[128];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    double pages = 0;
    ssize_t at = 0;
    while (at < length && text[at] != ' ')
        at++;
    for (at++; at < length && text[at] >= '0' && text[at] <= '9'; at++)
        pages = 10 * pages + (text[at] - '0');
    return pages * (double)sysconf(_SC_PAGESIZE);
}

static void put_phase(struct line *line, const struct pf_account_glance *glance)
{
    put(line, ", ");
    put(line, glance->phase);
    put(line, " in ");
    put(line, pf_model_name(glance->model));
    if (glance->ranks_there == glance->ranks)
        return;
    put(line, " (");
    put_count(line, (uint64_t)glance->ranks_there);
    put(line, " of ");
    put_count(line, (uint64_t)glance->ranks);
    put(line, " ranks)");
}

static void put_messages(struct line *line, uint64_t messages, double wall)
{
    static const char *const rates[] = {" /s", " k/s", " M/s"};
    put(line, ", ");
    put_count(line, messages);
    put(line, " messages (");
    double rate = wall > before.wall ? (double)(messages - before.messages) / (wall - before.wall) : 0;
    put_quantity(line, rate, 1000, rates, 3);
    put(line, ")");
    before.messages = messages;
    before.wall = wall;
}

size_t pf_live_line(char text[PF_LIVE_LINE])
{
    static const char *const sizes[] = {" B", " KiB", " MiB", " GiB"};
    struct pf_account_glance glance;
    struct line line = {text, 0};
    double wall = pf_account_wall();
    pf_account_glance(&glance);
    put(&line, "parfocal: after ");
    put_seconds(&line, wall);
    if (glance.phase) {
        put(&line, ": simulated ");
        put_seconds(&line, simgrid_get_clock());
        put_phase(&line, &glance);
        put_messages(&line, glance.messages, wall);
    } else {
        put(&line, ": starting");
    }
    put(&line, ", ");
    put_quantity(&line, resident_bytes(), 1024, sizes, 4);
    return line.length;
}

static void show(const char *text, size_t length)
{
    if (write(STDERR_FILENO, text, length) < 0)
        live.terminal = false; /* there is no reader */
}

/* A line that the terminal would break could not be taken away again. Columns are counted as bytes: names of
 * phases in other scripts cut it earlier, never in the middle of a character. */
static size_t fit(const char *text, size_t length)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || length < size.ws_col)
        return length;
    length = size.ws_col - 1U;
    while (length > 0 && (text[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* On a terminal the cursor stays at the begin of the line, so that what the application writes takes its
 * place.
 */
static void refresh(void)
{
    char text[PF_LIVE_LINE];
    size_t length = pf_live_line(text);
    if (live.terminal)
        length = fit(text, length);
    for (const char *end = live.terminal ? "\033[K\r" : "\n"; *end; end++)
        text[length++] = *end;
    show(text, length);
}

static void *run(void *unused)
{
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        double whole = (double)next.tv_nsec * 1e-9 + pf_config.progress;
        next.tv_sec += (time_t)whole;
        next.tv_nsec = (long)((whole - (double)(time_t)whole) * 1e9);
        int woken;
        do
            woken = sem_clockwait(&live.end, CLOCK_MONOTONIC, &next);
        while (woken != 0 && errno == EINTR);
        if (woken == 0)
            return unused;
        refresh();
    }
}

/* All signals are for the thread of the simulation. */
void pf_live_start(void)
{
    if (!(pf_config.progress > 0))
        return;
    sigset_t all, kept;
    sigfillset(&all);
    live.terminal = isatty(STDERR_FILENO);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    live.running = sem_init(&live.end, 0, 0) == 0 && pthread_create(&live.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    if (!live.running)
        pf_warn("cannot start a thread for -progress: %s", strerror(errno));
}

void pf_live_stop(void)
{
    if (!live.running)
        return;
    live.running = false;
    sem_post(&live.end);
    pthread_join(live.thread, NULL);
    if (live.terminal)
        show("\033[K", 3);
}
