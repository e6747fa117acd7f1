/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals and crashes end in one line. */
#include "tools/pfrun/signals.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/child.h"
#include "base/log.h"
#include "base/self.h"
#include "base/source_line.h"
#include "loader/image.h"
#include "middleware/account/live.h"
#include "tools/pfrun/engine.h"
#include "tools/pfrun/workdir.h"

#define STACK_SIZE (256 * 1024)
#define MAX_FRAMES 48
/* Touching memory this close to the stack pointer is taken for a stack that was too small. */
#define NEAR_STACK (64 * 1024)

static const struct {
    int signal;
    const char *text;
} crashes[] = {
    {SIGSEGV, "segmentation fault (SIGSEGV)"},
    {SIGBUS, "bus error (SIGBUS)"},
    {SIGFPE, "arithmetic error (SIGFPE)"},
    {SIGILL, "illegal instruction (SIGILL)"},
    {SIGABRT, "abort (SIGABRT)"},
};

static const struct {
    int signal;
    const char *text;
} stops[] = {
    {SIGINT, "^C (SIGINT)"},
    {SIGTERM, "SIGTERM"},
    {SIGHUP, "SIGHUP"},
    {SIGQUIT, "SIGQUIT"},
    {SIGPIPE, "a closed pipe (SIGPIPE)"},
    {SIGXCPU, "the limit of CPU time (SIGXCPU)"},
};

#define CRASH_COUNT (sizeof crashes / sizeof crashes[0])
#define STOP_COUNT  (sizeof stops / sizeof stops[0])

static const char *application_name = "";
static bool watching_exit;

/* Who runs now, as text: a rank, another actor, or the simulator itself. The name of a rank's actor is its
 * number from the start, before the rank has an identity of ours. */
static void name_runner(char *text, size_t size)
{
    const char *name = engine_actor_name();
    const pf_self_t *self = name ? pf_self() : NULL;
    if (self)
        snprintf(text, size, "rank %d", self->rank);
    else if (!name)
        snprintf(text, size, "the simulator");
    else if (strspn(name, "0123456789") == strlen(name))
        snprintf(text, size, "rank %s", name);
    else
        snprintf(text, size, "actor '%s'", name);
}

/* The rank's copy of the application: of its image, or in the temporary directory under the application's own
 * name. */
static bool in_application(const struct pf_image_place *place)
{
    const char *dir = workdir_name(), *base = strrchr(application_name, '/');
    base = base ? base + 1 : application_name;
    size_t length = dir ? strlen(dir) : 0;
    if (place->file && strcmp(place->file, application_name) == 0)
        return true;
    return dir && place->file && strncmp(place->file, dir, length) == 0 &&
           strncmp(place->file + length + 1, base, strlen(base)) == 0;
}

/* "in FUNCTION at FILE:LINE (PROGRAM+OFFSET)"; false when nothing is known. */
static bool source_line(char *text, size_t size, unsigned long offset)
{
    char function[300], line[300];
    if (!pf_source_line(application_name, offset, function, sizeof function, line, sizeof line))
        return false;
    snprintf(text, size, "in %s%s%s (%s+0x%lx)", function, *line ? " at " : "", line, application_name,
             offset);
    return true;
}

/* The innermost frame in the application's own copy says most; without one, the innermost of all, and the
 * answer is false. */
static bool name_place(char *text, size_t size, void *pc)
{
    void *frames[MAX_FRAMES];
    struct pf_image_place place, best = {0};
    int count = backtrace(frames, MAX_FRAMES);
    bool known = pf_loaded_where(pc, &best);
    for (int i = 0; i < count && !in_application(&best); i++)
        if (pf_loaded_where(frames[i], &place) && in_application(&place)) {
            best = place;
            best.offset--; /* a return address: the call is before it */
            known = true;
        }
    if (!known)
        snprintf(text, size, "at address %p", pc);
    else if (!in_application(&best) || !source_line(text, size, best.offset))
        snprintf(text, size, "in %s (%s+0x%zx)", best.name ? best.name : "?",
                 in_application(&best) ? application_name : best.file, best.offset);
    return in_application(&best);
}

static const char *crash_text(int signal)
{
    for (size_t i = 0; i < CRASH_COUNT; i++)
        if (crashes[i].signal == signal)
            return crashes[i].text;
    return "signal";
}

static void program_counter(const ucontext_t *context, void **pc, uintptr_t *stack)
{
#if defined(__x86_64__)
    *pc = (void *)context->uc_mcontext.gregs[REG_RIP];
    *stack = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
    (void)context;
    *pc = NULL;
    *stack = 0;
#endif
}

/* The last resort when cleaning up itself hangs or crashes. */
static void give_up(int signal)
{
    (void)signal;
    workdir_remove();
    _exit(70);
}

static void guard_the_end(void)
{
    signal(SIGALRM, give_up);
    alarm(10);
    for (size_t i = 0; i < CRASH_COUNT; i++)
        signal(crashes[i].signal, give_up);
    for (size_t i = 0; i < STOP_COUNT; i++)
        signal(stops[i].signal, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

/* What happens to other processes; returns when the signal is not fatal. */
static void end_child(int number)
{
    sigset_t one;
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(number);
}

static void on_crash(int signal, siginfo_t *info, void *context)
{
    char runner[64], place[1200], address[120] = "";
    void *pc;
    uintptr_t stack;
    if (pf_in_child())
        end_child(signal);
    guard_the_end();
    program_counter(context, &pc, &stack);
    name_runner(runner, sizeof runner);
    bool application = name_place(place, sizeof place, pc);
    uintptr_t touched = (uintptr_t)info->si_addr;
    if (signal == SIGSEGV && touched + NEAR_STACK > stack && touched < stack + NEAR_STACK)
        snprintf(address, sizeof address, "; the stack may be too small (--cfg=contexts/stack-size:KIB)");
    else if (signal == SIGSEGV || signal == SIGBUS)
        snprintf(address, sizeof address, ", touching address %p", info->si_addr);
    fflush(stdout);
    if (signal == SIGABRT && !application) {
        fprintf(stderr, "parfocal: error: SimGrid has given up; its message above says why\n");
        pf_end_process(1);
    }
    fprintf(stderr, "parfocal: error: %s: %s %s%s, at simulated time %.9g s\n", runner, crash_text(signal),
            place, address, engine_clock());
    pf_end_process(128 + signal);
}

static void on_stop(int signal)
{
    if (pf_in_child())
        end_child(signal);
    guard_the_end();
    const char *text = "a signal";
    for (size_t i = 0; i < STOP_COUNT; i++)
        if (stops[i].signal == signal)
            text = stops[i].text;
    fprintf(stderr, "parfocal: error: stopped by %s at simulated time %.9g s\n", text, engine_clock());
    pf_end_process(128 + signal);
}

/* The run goes on: nobody interrupts the application's own calls for this. */
static void on_question(int signal)
{
    (void)signal;
    int kept = errno;
    char line[PF_LIVE_LINE];
    size_t length = pf_live_line(line);
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0) {
        /* there is nobody to tell */
    }
    errno = kept;
}

void signals_install(const char *application)
{
    static char *stack;
    application_name = application;
    if (!stack && (stack = malloc(STACK_SIZE))) {
        stack_t own = {.ss_sp = stack, .ss_size = STACK_SIZE};
        sigaltstack(&own, NULL);
        void *frame[1];
        backtrace(frame, 1); /* loads the unwinder, which a handler could not do safely */
    }
    struct sigaction crash = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_ONSTACK};
    struct sigaction question = {.sa_handler = on_question, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaction(SIGUSR1, &question, NULL);
    for (size_t i = 0; i < CRASH_COUNT; i++)
        sigaction(crashes[i].signal, &crash, NULL);
    for (size_t i = 0; i < STOP_COUNT; i++)
        sigaction(stops[i].signal, &stop, NULL);
}

/* A real exit() in the middle of the run would end all ranks without a word. */
static void on_process_exit(int status, void *unused)
{
    (void)unused;
    if (pf_in_child())
        pf_end_process(status);
    if (!watching_exit)
        return;
    char runner[64];
    name_runner(runner, sizeof runner);
    fflush(stdout);
    fprintf(stderr, "parfocal: error: %s called exit(%d) at simulated time %.9g s; that ends the run\n",
            runner, status, engine_clock());
    pf_end_process(status ? status : 1);
}

void signals_watch_exit(void)
{
    static bool registered;
    watching_exit = true;
    if (!registered)
        on_exit(on_process_exit, NULL);
    registered = true;
}

void signals_unwatch_exit(void)
{
    watching_exit = false;
}
