/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals and crashes end in one line, and what is known of the run so far. */
#include "tools/pfrun/signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <link.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/child.h"
#include "base/log.h"
#include "base/self.h"
#include "base/source_line.h"
#include "base/streams.h"
#include "loader/image.h"
#include "lowlevel/platform/load.h"
#include "lowlevel/simgrid/last_words.h"
#include "middleware/summary/live.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/workload.h"
#include "middleware/process/job.h"
#include "middleware/process/program_frame.h"
#include "tools/pfrun/engine.h"
#include "tools/pfrun/replay.h"
#include "tools/pfrun/workdir.h"

#define STACK_SIZE (256 * 1024)
#define MAX_FRAMES 48
/* Touching memory this close to the stack pointer is taken for a stack that was too small. */
#define NEAR_STACK (64 * 1024)
/* How often a run that is to stop looks whether it can, and how many times before it does not wait longer. */
#define LOOK_EVERY 10000 /* us */
#define MOST_LOOKS 100
/* A second signal after this many seconds does not wait at all. timeout(1) sends its first one twice. */
#define SECOND_SIGNAL 0.5
/* As long as all that is done at the end may take. */
#define SECONDS_TO_END 10

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
    {SIGALRM, "a time limit (SIGALRM)"},
};

#define CRASH_COUNT (sizeof crashes / sizeof crashes[0])
#define STOP_COUNT  (sizeof stops / sizeof stops[0])

static bool watching_exit;

/* What a stop from outside has come to. */
static struct {
    volatile sig_atomic_t signal; /* 0: there was none */
    struct timespec date;
    int looks;
    pthread_t thread; /* of the simulation */
} stop;

static int end_status = 70; /* when cleaning up itself hangs or crashes */
static pid_t ending;        /* the thread that does that */

/* Return addresses may be damaged: the unwinder reads code there, and crashes itself. */
static struct {
    volatile sig_atomic_t going;
    sigjmp_buf end;
} walk;

/* As backtrace(), but what is known before a damaged frame is kept. */
static int walk_stack(void **frames)
{
    volatile int count = 0;
    memset(frames, 0, MAX_FRAMES * sizeof *frames);
    walk.going = 1;
    if (sigsetjmp(walk.end, 1) == 0)
        count = backtrace(frames, MAX_FRAMES);
    else
        while (count < MAX_FRAMES && frames[count])
            count++;
    walk.going = 0;
    return count;
}

/* The running actor, as text: a rank, another actor, or the simulator itself. The name of a rank's actor is
 * its number from the start, before the rank has an identity of ours. */
static void name_runner(char *text, size_t size)
{
    const char *name = engine_actor_name();
    const pf_self_t *self = name ? pf_self() : NULL;
    int of = pf_job_rank_of_thread();
    if (of >= 0) {
        char rank[180];
        snprintf(text, size, "a thread of %s", pf_workload_rank_name(of, rank, sizeof rank));
    } else if (self)
        pf_workload_rank_name(self->rank, text, size);
    else if (!name)
        snprintf(text, size, "the simulator");
    else if (strspn(name, "0123456789") == strlen(name))
        pf_workload_rank_name(atoi(name), text, size);
    else
        snprintf(text, size, "actor '%s'", name);
}

/* The program of which this is in a rank's copy; NULL: of none. */
static const char *application_at(const struct pf_image_place *place)
{
    int number = place->file ? pf_job_program_at(place->file) : -1;
    return number >= 0 ? pf_job_program(number)->path : NULL;
}

/* "in FUNCTION at FILE:LINE (PROGRAM+OFFSET)"; false when nothing is known. */
static bool source_line(char *text, size_t size, const char *application, unsigned long offset)
{
    struct pf_source_place place = {.offset = offset};
    pf_source_lines(application, &place, 1);
    snprintf(text, size, "in %s%s%s (%s+0x%lx)", place.function, *place.line ? " at " : "", place.line,
             application, offset);
    return *place.function;
}

/* The innermost frame in the application's own copy says most; without one, the innermost of all, and the
 * answer is false. */
static bool name_place(char *text, size_t size, void *pc)
{
    void *frames[MAX_FRAMES];
    struct pf_image_place place, best = {0};
    int count = walk_stack(frames);
    bool known = pf_loaded_where(pc, &best);
    for (int i = 0; i < count && !application_at(&best); i++)
        if (pf_loaded_where(frames[i], &place) && application_at(&place)) {
            best = place;
            best.offset--; /* a return address: the call is before it */
            known = true;
        }
    const char *application = application_at(&best);
    if (!known)
        snprintf(text, size, "at address %p", pc);
    else if (!application || !source_line(text, size, application, best.offset))
        snprintf(text, size, "in %s (%s+0x%zx)", best.name ? best.name : "?",
                 application ? application : best.file, best.offset);
    return application;
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
    *pc = (void *)context->uc_mcontext.gregs[REG_RIP];
    *stack = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

/* The last resort when cleaning up itself hangs or crashes. Other threads that crash meanwhile wait for it.
 */
static void give_up(int signal)
{
    while (signal != SIGALRM && gettid() != ending)
        pause();
    if (walk.going && signal != SIGALRM)
        siglongjmp(walk.end, 1);
    workdir_remove();
    _exit(end_status);
}

static struct sigaction unguarded[CRASH_COUNT + 1]; /* what signals did before that */

static void guard_the_end(int status)
{
    struct itimerval once = {.it_value.tv_sec = SECONDS_TO_END};
    struct sigaction last = {.sa_handler = give_up, .sa_flags = SA_RESTART};
    end_status = status;
    ending = gettid();
    for (size_t i = 0; i <= CRASH_COUNT; i++)
        sigaction(i < CRASH_COUNT ? crashes[i].signal : SIGALRM, &last, &unguarded[i]);
    setitimer(ITIMER_REAL, &once, NULL);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

/* It is not the end. */
static void go_on(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    for (size_t i = 0; i <= CRASH_COUNT; i++)
        sigaction(i < CRASH_COUNT ? crashes[i].signal : SIGALRM, &unguarded[i], NULL);
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

/* Takes no lock, as dladdr() does. */
static bool is_code_of_application(void *pc)
{
    struct pf_image_place place = {0};
    struct dl_find_object object;
    if (!pf_image_where(pc, &place) && _dl_find_object(pc, &object) == 0 && object.dlfo_link_map)
        place.file = object.dlfo_link_map->l_name;
    return application_at(&place);
}

/* What MPI reads and writes there are buffers that the application has given to it, more likely than not. */
static bool in_mpi(void *pc)
{
    bool calls = !engine_actor_name() || (pf_self() && !pf_job_computes());
    return calls && !is_code_of_application(pc);
}

/* SimGrid has said why, and does not return. */
static _Noreturn void end_of_simgrid(const char *runner, const char *words)
{
    if (!*words)
        pf_die("SimGrid has ended the run; its message above has the reason");
    if (pf_platform_reading())
        pf_die("the platform '%s': SimGrid cannot read it: %s", pf_platform_reading(), words);
    if (!watching_exit)
        pf_die("SimGrid: %s", words);
    pf_die("%s: SimGrid cannot go on at simulated time %.9g s: %s", runner, engine_clock(), words);
}

/* The crash was in a function whose name `matches`, or in what it has called. */
static bool was_in(bool (*matches)(const char *name))
{
    void *frames[MAX_FRAMES];
    int count = walk_stack(frames);
    for (int i = 0; i < count; i++) {
        Dl_info symbol;
        if (dladdr(frames[i], &symbol) && symbol.dli_sname && matches(symbol.dli_sname))
            return true;
    }
    return false;
}

/* SimGrid crashes in the search for a route where a platform is not what it expects. */
static bool looks_for_route(const char *name)
{
    return strstr(name, "get_global_route");
}

/* The functions of the heap, in which the C library finds it damaged, or stumbles over that. */
static bool manages_heap(const char *name)
{
    static const char *const names[] = {"malloc",        "calloc",   "realloc",       "free",
                                        "aligned_alloc", "memalign", "posix_memalign"};
    if (strncmp(name, "__libc_", 7) == 0)
        name += 7;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* What the C library has said before it aborted, for debuggers (glibc's struct abort_msg_s); NULL where it
 * does not have that. */
struct said {
    unsigned size;
    char text[];
};
static struct said **said;

/* It gave up because of the heap: not at an assertion, nor at an overrun that it guards ("***"). Optimized,
 * free() need not be among the callers of what it ends with. */
static bool heap_is_damaged(void)
{
    return said && *said && !strstr((*said)->text, "Assertion `") && strncmp((*said)->text, "***", 3) != 0;
}

/* Of a rank that ends its job alone. */
static struct {
    int status, rank;
    char text[1800];
} last_crash;

/* Where the handler returns to: in the rank, on its stack. */
static void end_job(void)
{
    fesetenv(FE_DFL_ENV); /* floating point may trap */
    pf_flush_all();
    fprintf(stderr, "parfocal: error: %s\n", last_crash.text);
    pf_job_abort(last_crash.rank, last_crash.status);
}

/* Other jobs have data of their own, but the same heap, and the same SimGrid. */
static bool end_job_alone(int signal, bool application, ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    void *stack;
    if (!pf_job_ends_alone() || !(application || pf_job_computes()) ||
        (signal == SIGABRT && (*pf_simgrid_last_words() || heap_is_damaged())) || was_in(manages_heap) ||
        !(stack = pf_program_room((void *)registers[REG_RSP])))
        return false;
    go_on();
    last_crash.rank = pf_self()->rank;
    last_crash.status = 128 + signal;
    registers[REG_RSP] = (greg_t)stack - 8; /* as behind a call */
    registers[REG_RIP] = (greg_t)end_job;
    registers[REG_EFL] &= ~(greg_t)0x400; /* string operations count up */
    return true;
}

static void on_crash(int signal, siginfo_t *info, void *context)
{
    char runner[200], place[1200], address[220] = "";
    void *pc;
    uintptr_t stack;
    if (pf_in_child())
        end_child(signal);
    guard_the_end(128 + signal);
    program_counter(context, &pc, &stack);
    name_runner(runner, sizeof runner);
    bool application = name_place(place, sizeof place, pc);
    uintptr_t touched = (uintptr_t)info->si_addr;
    if (signal == SIGSEGV && touched + NEAR_STACK > stack && touched < stack + NEAR_STACK)
        snprintf(address, sizeof address, "; the stack may be too small (--cfg=contexts/stack-size:KIB)");
    else if (signal == SIGSEGV || signal == SIGBUS)
        snprintf(address, sizeof address, ", touching address %p%s", info->si_addr,
                 in_mpi(pc) ? " for MPI: buffers must be memory of the host that can be read and written "
                              "(device memory, as of cudaMalloc, is not supported)"
                            : "");
    snprintf(last_crash.text, sizeof last_crash.text, "%s: %s %s%s, at simulated time %.9g s", runner,
             crash_text(signal), place, address, engine_clock());
    if (end_job_alone(signal, application, context)) {
        pf_job_blame(pf_self(), 128 + signal, "%s %s", crash_text(signal), place);
        return;
    }
    pf_die_through(NULL);
    pf_flush_all();
    const char *words = pf_simgrid_last_words();
    bool thrown =
        pf_job_computes() && strncmp(words, "Uncaught exception", strlen("Uncaught exception")) == 0;
    if (signal == SIGABRT && thrown) /* by the rank: SimGrid answers for the C++ library */
        snprintf(last_crash.text, sizeof last_crash.text, "%s: u%s, at simulated time %.9g s", runner,
                 words + 1, engine_clock());
    else if (signal == SIGABRT && (*words || !(application || pf_job_computes())))
        end_of_simgrid(runner, words);
    if (pf_platform_reading())
        pf_die("the platform '%s': SimGrid cannot read it: %s", pf_platform_reading(), crash_text(signal));
    if (was_in(looks_for_route))
        pf_die("%s: SimGrid cannot find a route of the platform: %s", runner, crash_text(signal));
    fprintf(stderr, "parfocal: error: %s\n", last_crash.text);
    pf_end_because("%s: %s %s", runner, crash_text(signal), place);
    if (engine_actor_name())
        pf_job_blame(pf_self(), 128 + signal, "%s %s", crash_text(signal), place);
    pf_end_process(128 + signal);
}

/* From a place where nothing of ours, and nothing in the C library, is half done. */
static void end_stopped(void)
{
    const char *text = "a signal";
    for (size_t i = 0; i < STOP_COUNT; i++)
        if (stops[i].signal == stop.signal)
            text = stops[i].text;
    guard_the_end(128 + stop.signal);
    pf_flush_all();
    fprintf(stderr, "parfocal: error: stopped by %s at simulated time %.9g s\n", text, engine_clock());
    pf_end_because("stopped by %s at simulated time %.9g s", text, engine_clock());
    replay_print_places(stderr);
    pf_end_process(128 + stop.signal);
}

void signals_check(void)
{
    if (stop.signal)
        end_stopped();
}

/* The signal has interrupted the application's own code, or it is time. */
static bool may_end_here(const ucontext_t *context)
{
    void *pc;
    uintptr_t stack;
    program_counter(context, &pc, &stack);
    return is_code_of_application(pc) || ++stop.looks > MOST_LOOKS;
}

/* In the thread of the simulation, whichever thread the system has chosen. */
static bool is_elsewhere(int signal)
{
    if (pthread_equal(pthread_self(), stop.thread))
        return false;
    pthread_kill(stop.thread, signal);
    return true;
}

static void on_look(int signal, siginfo_t *info, void *context)
{
    if (!is_elsewhere(signal) && may_end_here(context))
        end_stopped();
}

static double seconds_since(const struct timespec *date)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - date->tv_sec) + 1e-9 * (double)(now.tv_nsec - date->tv_nsec);
}

/*
 * The run ends at the next call of MPI, when the simulated time advances (signals_check()), or in the middle
 * of the application's own code, whichever comes first. What never comes to one of these, such as a rank that
 * waits for input, is ended where it is after a second.
 */
static void on_stop(int signal, siginfo_t *info, void *context)
{
    struct itimerval often = {.it_interval.tv_usec = LOOK_EVERY, .it_value.tv_usec = LOOK_EVERY};
    struct sigaction look = {.sa_sigaction = on_look, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    if (pf_in_child())
        end_child(signal);
    if (is_elsewhere(signal))
        return;
    if (stop.signal) {
        end_status = 128 + signal;
        if (signal != SIGXCPU && signal != SIGPIPE && seconds_since(&stop.date) > SECOND_SIGNAL)
            give_up(SIGALRM);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &stop.date);
    stop.signal = signal;
    if (may_end_here(context))
        end_stopped();
    pf_job_stop_at_call(end_stopped);
    sigaction(SIGALRM, &look, NULL);
    sigdelset(&((ucontext_t *)context)->uc_sigmask, SIGALRM);
    setitimer(ITIMER_REAL, &often, NULL);
}

/* The run goes on: the application's own calls are not interrupted for this. */
static void on_question(int signal)
{
    int kept = errno;
    char line[PF_LIVE_LINE];
    size_t length = pf_live_line(line);
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0) {
        /* there is no reader */
    }
    errno = kept;
}

/* Where the hard limit of CPU time is the soft one too, as ulimit -t sets them, the system gives no warning.
 */
static void ask_for_warning(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_max == RLIM_INFINITY ||
        limit.rlim_cur < limit.rlim_max || limit.rlim_max < 2)
        return;
    limit.rlim_cur = limit.rlim_max - (limit.rlim_max > 10 ? 2 : 1);
    setrlimit(RLIMIT_CPU, &limit);
}

/* A run under nohup goes on. */
static void catch_stops(void)
{
    struct sigaction catch = {.sa_sigaction = on_stop, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART}, old;
    for (size_t i = 0; i < STOP_COUNT; i++)
        if (stops[i].signal != SIGHUP || sigaction(SIGHUP, NULL, &old) != 0 || old.sa_handler != SIG_IGN)
            sigaction(stops[i].signal, &catch, NULL);
}

void signals_install(void)
{
    static char *stack;
    stop.thread = pthread_self();
    said = dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE");
    if (!stack && (stack = malloc(STACK_SIZE))) {
        void *frame[1];
        backtrace(frame, 1); /* loads the unwinder, which a handler could not do safely */
        ask_for_warning();
    }
    if (stack) { /* instead of SimGrid's own too, which is too small for what is called under AddressSanitizer
                  */
        stack_t own = {.ss_sp = stack, .ss_size = STACK_SIZE};
        sigaltstack(&own, NULL);
    }
    struct sigaction crash = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    struct sigaction question = {.sa_handler = on_question, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaction(SIGUSR1, &question, NULL);
    for (size_t i = 0; i < CRASH_COUNT; i++)
        sigaction(crashes[i].signal, &crash, NULL);
    if (!stop.signal)
        catch_stops();
}

/* A real exit() in the middle of the run would end all ranks without a word. */
static void on_process_exit(int status, void *unused)
{
    if (pf_in_child())
        pf_end_process(status);
    if (!watching_exit && pf_streams_kept()) /* the C library would wait for them */
        pf_end_process(status);
    if (!watching_exit)
        return;
    char runner[200];
    name_runner(runner, sizeof runner);
    pf_flush_all();
    fprintf(stderr, "parfocal: error: %s called exit(%d) at simulated time %.9g s; that ends the run\n",
            runner, status, engine_clock());
    pf_end_because("%s called exit(%d)", runner, status);
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
