/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What /proc says of the process is about pfrun. A rank finds its own program and command line there, as
 * tools do that name a report after the program, also under the number that getpid() has given to it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "middleware/core/job_programs.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/program.h"

enum { LONGEST = 128 };

/* Of a program of the job. */
struct proc {
    int argc;
    char *const *argv;
    char *program; /* its file */
    char command_line[40], name[40];
};

static struct proc *all;

static struct proc *own(void)
{
    return all ? &all[pf_program_number()] : NULL;
}

void pf_proc_set(int argc, char *const *argv, const char *path)
{
    if (!all)
        all = pf_calloc((size_t)pf_job_program_count() + 1, sizeof *all);
    struct proc *proc = own();
    if (proc->program)
        return;
    proc->argc = argc;
    proc->argv = argv;
    proc->program = realpath(path, NULL);
}

static char *base_name(char *path)
{
    char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void pf_proc_take_name(void)
{
    if (pf_job_program_count() < 2 || !own() || !own()->argv)
        return;
    program_invocation_name = own()->argv[0];
    program_invocation_short_name = base_name(program_invocation_name);
}

/* What follows "/proc/self/" in a name, or "/proc/" and the caller's number; NULL: it is another one. */
static const char *own_file(const char *name)
{
    if (!name || strncmp(name, "/proc/", 6) != 0 || !own() || !own()->program || !pf_process())
        return NULL;
    name += 6;
    if (strncmp(name, "self/", 5) == 0)
        return name + 5;
    char *end;
    long number = isdigit((unsigned char)*name) ? strtol(name, &end, 10) : -1;
    return number >= 0 && *end == '/' && number == pf_libc_getpid() ? end + 1 : NULL;
}

/* A file in memory, which each open() reads from its beginning. */
static void make(char *path, size_t size, char *const *words, int count, char end)
{
    int file = memfd_create("parfocal-proc", MFD_CLOEXEC);
    for (int i = 0; file >= 0 && i < count; i++)
        if (write(file, words[i], strlen(words[i])) < 0 || write(file, &end, 1) < 0)
            break;
    snprintf(path, size, "/proc/self/fd/%d", file);
}

/* The rank's number and name; and no parent, or a walk from parent to parent might come by that number again.
 */
static void write_status(FILE *out, const char *line)
{
    int number = pf_libc_getpid();
    if (strncmp(line, "Name:", 5) == 0)
        fprintf(out, "Name:\t%.15s\n", program_invocation_short_name);
    else if (strncmp(line, "Tgid:", 5) == 0 || strncmp(line, "Pid:", 4) == 0)
        fprintf(out, "%.*s\t%d\n", (int)strcspn(line, "\t"), line, number);
    else if (strncmp(line, "PPid:", 5) == 0)
        fputs("PPid:\t0\n", out);
    else
        fputs(line, out);
}

static void write_stat(FILE *out, const char *line)
{
    const char *rest = strrchr(line, ')');
    char state = rest ? rest[2] : 'R';
    rest = rest ? strchr(rest + 4, ' ') : NULL; /* behind the parent */
    fprintf(out, "%d (%.15s) %c 0%s", pf_libc_getpid(), program_invocation_short_name, state,
            rest ? rest : "\n");
}

/* What is asked for now, in a file in memory. */
static const char *rewrite(const char *file, void (*write)(FILE *out, const char *line))
{
    static int memory = -1;
    static char path[40];
    char *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/self/%s", file);
    FILE *in = fopen(path, "re"), *out = NULL;
    if (memory >= 0)
        close(memory); /* others may have it open */
    memory = memfd_create("parfocal-proc", MFD_CLOEXEC);
    if (in && (out = fdopen(dup(memory), "w"))) {
        pf_proc_take_name();
        while (getline(&line, &room, in) > 0)
            write(out, line);
        snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    }
    if (out)
        fclose(out);
    if (in)
        fclose(in);
    free(line);
    return path;
}

const char *pf_proc_name(const char *name)
{
    static _Thread_local char other[LONGEST];
    const char *file = own_file(name);
    struct proc *proc = own();
    if (!file)
        return name;
    if (strcmp(file, "exe") == 0)
        return proc->program;
    if (strcmp(file, "cmdline") == 0) {
        if (!*proc->command_line)
            make(proc->command_line, sizeof proc->command_line, proc->argv, proc->argc, 0);
        return proc->command_line;
    }
    if (strcmp(file, "comm") == 0) {
        char shortened[16]; /* as the system does */
        pf_proc_take_name();
        snprintf(shortened, sizeof shortened, "%s", program_invocation_short_name);
        if (!*proc->name)
            make(proc->name, sizeof proc->name, &(char *){shortened}, 1, '\n');
        return proc->name;
    }
    if (strcmp(file, "stat") == 0)
        return rewrite(file, write_stat);
    if (strcmp(file, "status") == 0)
        return rewrite(file, write_status);
    snprintf(other, sizeof other, "/proc/self/%s", file);
    return other;
}

ssize_t pf_libc_readlink(const char *name, char *buffer, size_t size)
{
    const char *file = own_file(name);
    if (file && strcmp(file, "exe") == 0) {
        size_t length = strnlen(own()->program, size);
        memcpy(buffer, own()->program, length);
        return (ssize_t)length;
    }
    pf_folder_enter();
    ssize_t length = readlink(pf_proc_name(name), buffer, size);
    pf_folder_leave();
    return length;
}

ssize_t pf_libc___readlink_chk(const char *name, char *buffer, size_t size, size_t room)
{
    if (size > room)
        abort();
    return pf_libc_readlink(name, buffer, size);
}
