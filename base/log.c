/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings and the end of the process with one line. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/child.h"

#define MAX_CLEANERS 8

static void (*cleaners[MAX_CLEANERS])(void);
static int cleaner_count;
static void (*on_death)(const char *message);

static void print_line(const char *kind, const char *format, va_list args)
{
    fflush(stdout);
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
}

void pf_on_death(void (*tell)(const char *message))
{
    on_death = tell;
}

void pf_die(const char *format, ...)
{
    va_list args;
    char message[400];
    va_start(args, format);
    print_line("error", format, args);
    va_end(args);
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (on_death)
        on_death(message);
    pf_end_process(1);
}

void pf_at_end(void (*clean)(void))
{
    if (cleaner_count < MAX_CLEANERS)
        cleaners[cleaner_count++] = clean;
}

void pf_end_process(int status)
{
    while (cleaner_count > 0 && !pf_in_child() && !pf_in_copy())
        cleaners[--cleaner_count]();
    fflush(NULL);
    _exit(status);
}
