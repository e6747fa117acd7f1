/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings and the end of the process with one line. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/child.h"
#include "base/streams.h"

#define MAX_CLEANERS 16
#define MAX_WARNINGS 32

static void (*cleaners[MAX_CLEANERS])(void);
static int cleaner_count, end_status;
static char end_reason[400];
static char *warnings[MAX_WARNINGS];
static int warning_count;

static void print_line(const char *kind, const char *format, va_list args)
{
    pf_flush_all();
    fprintf(stderr, "parfocal: %s: ", kind);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void pf_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line("warning", format, args);
    va_end(args);
    va_start(args, format);
    if (warning_count < MAX_WARNINGS && vasprintf(&warnings[warning_count], format, args) >= 0)
        warning_count++;
    va_end(args);
}

const char *pf_warning(int index)
{
    return index < warning_count ? warnings[index] : NULL;
}

static atomic_int ending; /* the thread that ends the process, 0: none */
static void (*end_less)(const char *message);

/* One thread ends the process: what the others find wrong meanwhile has the end as its cause. */
static void end_alone(void)
{
    int other = 0, self = gettid();
    if (!atomic_compare_exchange_strong(&ending, &other, self) && other != self && !pf_in_child())
        while (true)
            pause();
}

void pf_die(const char *format, ...)
{
    va_list args;
    end_alone();
    va_start(args, format);
    print_line("error", format, args);
    va_end(args);
    va_start(args, format);
    char message[sizeof end_reason];
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (end_less)
        end_less(message);
    pf_end_because("%s", message);
    pf_end_process(1);
}

void pf_die_less(void)
{
    atomic_store(&ending, 0);
}

void pf_die_through(void (*end)(const char *message))
{
    end_less = end;
}

void pf_end_because(const char *format, ...)
{
    va_list args;
    if (*end_reason)
        return;
    va_start(args, format);
    vsnprintf(end_reason, sizeof end_reason, format, args);
    va_end(args);
}

const char *pf_end_reason(void)
{
    return end_reason;
}

int pf_end_status(void)
{
    return end_status;
}

void pf_at_end(void (*clean)(void))
{
    if (cleaner_count < MAX_CLEANERS)
        cleaners[cleaner_count++] = clean;
}

void pf_end_process(int status)
{
    end_alone();
    end_status = status;
    while (cleaner_count > 0 && !pf_in_child())
        cleaners[--cleaner_count]();
    pf_flush_all();
    _exit(status);
}
