/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exec() of a rank, which the process of all ranks must survive: the new program is a child process, and the
 * rank ends as that does. One that calls MPI would be alone in it, also as a child's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/elf_search.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_environment.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/own_library.h"

static bool calls_mpi(const char *path)
{
    struct pf_elf elf;
    bool calls = pf_elf_read(&elf, path) == PF_ELF_GOOD && pf_own_library_is_for_openmpi(&elf);
    pf_elf_free(&elf);
    return calls;
}

/* A child that was refused may be one of a script, which goes on. */
static bool *refused;

__attribute__((constructor)) static void share(void)
{
    void *page = mmap(NULL, sizeof *refused, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    refused = page == MAP_FAILED ? NULL : page;
}

bool pf_exec_refused(void)
{
    return refused && *refused;
}

/* With what is preloaded already (NULL: nothing); NULL: ours is not there, or has a name that cannot be in
 * such a list. Made once for each such text. */
static char *preload(const char *given)
{
    static char ours[PATH_MAX], *of, *made;
    static bool looked;
    if (!looked && (!pf_own_library_find(ours, "parfocal/openmpi/libparfocal_child.so",
                                         "ompi_abi/libparfocal_child.so") ||
                    strpbrk(ours, " :")))
        *ours = '\0';
    looked = true;
    if (*ours && (!made || strcmp(of, given ? given : "") != 0)) {
        of = pf_strdup(given ? given : "");
        made = pf_asprintf("LD_PRELOAD=%s%s%s", of, *of ? ":" : "", ours);
    }
    return *ours ? made : NULL;
}

char **pf_exec_environment(char *const *given)
{
    static const char name[] = "LD_PRELOAD=";
    size_t count = 0, place;
    while (given && given[count])
        count++;
    char **all = pf_calloc(count + 2, sizeof *all);
    if (count > 0)
        memcpy(all, given, count * sizeof *all);
    for (place = 0; place < count && strncmp(all[place], name, sizeof name - 1) != 0;)
        place++;
    char *text = preload(place < count ? all[place] + sizeof name - 1 : NULL);
    if (text)
        all[place] = text;
    return all;
}

/* What execvp() makes of a script without a first line that names what runs it. */
static int spawn_shell(pid_t *child, const char *file, char *const *argv, char *const *environment)
{
    size_t count = 0;
    while (argv[count])
        count++;
    char **all = pf_calloc(count + 2, sizeof *all);
    all[0] = "sh";
    all[1] = (char *)file;
    for (size_t i = 1; i < count; i++)
        all[i + 1] = argv[i];
    int error = posix_spawn(child, "/bin/sh", NULL, NULL, all, environment);
    free(all);
    return error;
}

/* The end of a rank, or of its child that was to become that program. */
static int replace(const char *file, char *const *argv, char *const *given, bool search)
{
    const struct pf_process *p = pf_process();
    char path[PATH_MAX];
    bool found = search && !strchr(file, '/') && pf_elf_search(path, getenv("PATH"), "", file);
    char *here = pf_folder_name(file);
    bool alone = p && calls_mpi(found ? path : here);
    if (here != file)
        free(here);
    if (alone && refused)
        *refused = true;
    if (alone)
        pf_die("rank %d starts '%s' in its place or its child's, which calls MPI: name that as pfrun's "
               "program",
               p->rank, file);
    char **environment = pf_exec_environment(given);
    pid_t child;
    int status, error;
    if (!p || pf_in_child()) {
        (search ? execvpe : execve)(file, argv, environment);
        free(environment);
        return -1;
    }
    pf_spawn_enter();
    error = (search ? posix_spawnp : posix_spawn)(&child, file, NULL, NULL, argv, environment);
    if (error == ENOEXEC && search)
        error = spawn_shell(&child, found ? path : file, argv, environment);
    pf_spawn_leave();
    free(environment);
    errno = error;
    if (error)
        return -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    pf_libc__exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    return -1;
}

int pf_libc_execve(const char *file, char *const *argv, char *const *environment)
{
    return replace(file, argv, environment, false);
}

int pf_libc_execv(const char *file, char *const *argv)
{
    return replace(file, argv, pf_environment(), false);
}

int pf_libc_execvp(const char *file, char *const *argv)
{
    return replace(file, argv, pf_environment(), true);
}

int pf_libc_execvpe(const char *file, char *const *argv, char *const *environment)
{
    return replace(file, argv, environment, true);
}

int pf_libc_fexecve(int descriptor, char *const *argv, char *const *environment)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return replace(path, argv, environment, false);
}

int pf_libc_execveat(int folder, const char *file, char *const *argv, char *const *environment, int flags)
{
    char *path = *file == '/' || folder == AT_FDCWD ? pf_strdup(file)
                                                    : pf_asprintf("/proc/self/fd/%d/%s", folder, file);
    int result = (flags & AT_EMPTY_PATH) && !*file ? pf_libc_fexecve(folder, argv, environment)
                                                   : replace(path, argv, environment, false);
    free(path);
    return result;
}

/* The arguments as an array, up to the NULL, which is read too. */
static char **gather(const char *first, va_list *rest)
{
    size_t count = 1, room = 16;
    char **all = pf_calloc(room, sizeof *all);
    all[0] = (char *)first;
    for (bool more = first; more; more = all[count++]) {
        if (count == room)
            all = pf_reallocarray(all, room *= 2, sizeof *all);
        all[count] = va_arg(*rest, char *);
    }
    return all;
}

/* `environment`: an argument behind them is that. */
static int replace_by_list(const char *file, const char *first, va_list *rest, bool environment, bool search)
{
    char **argv = gather(first, rest);
    int result = replace(file, argv, environment ? va_arg(*rest, char *const *) : pf_environment(), search);
    free(argv);
    return result;
}

int pf_libc_execl(const char *file, const char *first, ...)
{
    va_list rest;
    va_start(rest, first);
    int result = replace_by_list(file, first, &rest, false, false);
    va_end(rest);
    return result;
}

int pf_libc_execlp(const char *file, const char *first, ...)
{
    va_list rest;
    va_start(rest, first);
    int result = replace_by_list(file, first, &rest, false, true);
    va_end(rest);
    return result;
}

int pf_libc_execle(const char *file, const char *first, ...)
{
    va_list rest;
    va_start(rest, first);
    int result = replace_by_list(file, first, &rest, true, false);
    va_end(rest);
    return result;
}
