/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The current folder of each rank, its mask for new files, and what its helper programs get. The process has
 * one of each, which are those that it began with but while a function runs that looks at them.
 */
#include "middleware/process/libc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/process/libc_environment.h"
#include "middleware/process/libc_process.h"

static struct {
    atomic_bool changed; /* a rank has a folder or a mask of its own */
    int folder;          /* the process's */
    mode_t mask;
    bool inside;
    pthread_mutex_t lock; /* threads of ranks look at them while other ranks run */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int depth; /* of functions that call others which look at them too */

static void note_change(void)
{
    if (process.changed)
        return;
    pthread_mutex_lock(&process.lock);
    if (!process.changed) {
        process.folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (process.folder < 0)
            pf_die("the current folder cannot be opened, so that no rank can have another one: %s",
                   strerror(errno));
        umask(process.mask = umask(077));
        process.changed = true;
    }
    pthread_mutex_unlock(&process.lock);
}

void pf_folder_enter(void)
{
    if ((!process.changed && depth == 0) || depth++ > 0)
        return;
    pthread_mutex_lock(&process.lock);
    const struct pf_process *p = pf_in_child() ? NULL : pf_process();
    process.inside = p && (p->folder || p->mask >= 0);
    if (!process.inside)
        return;
    int error = errno;
    if (p->mask >= 0)
        umask((mode_t)p->mask);
    if (p->folder && chdir(p->folder) != 0)
        pf_die("the current folder of rank %d, '%s', cannot be entered any more: %s", p->rank, p->folder,
               strerror(errno));
    errno = error;
}

void pf_folder_leave(void)
{
    if (depth == 0 || --depth > 0) /* 0: nothing had changed when it was entered */
        return;
    int error = errno;
    if (process.inside) {
        process.inside = false;
        umask(process.mask);
        if (fchdir(process.folder) != 0)
            pf_die("the folder in which the simulation was started cannot be entered any more: %s",
                   strerror(errno));
    }
    pthread_mutex_unlock(&process.lock);
    errno = error;
}

static int change(struct pf_process *p, const char *name, int descriptor)
{
    note_change();
    pf_folder_enter();
    process.inside = true; /* goes back */
    int result = name ? chdir(name) : fchdir(descriptor);
    char *folder = result == 0 ? getcwd(NULL, 0) : NULL;
    if (folder) {
        free(p->folder);
        p->folder = folder;
    }
    pf_folder_leave();
    return folder ? 0 : -1;
}

int pf_libc_chdir(const char *name)
{
    struct pf_process *p = pf_in_child() ? NULL : pf_process();
    return p ? change(p, name ? name : "", 0) : chdir(name);
}

int pf_libc_fchdir(int descriptor)
{
    struct pf_process *p = pf_in_child() ? NULL : pf_process();
    descriptor = pf_process_behind(descriptor);
    return p ? change(p, NULL, descriptor) : fchdir(descriptor);
}

mode_t pf_libc_umask(mode_t mask)
{
    struct pf_process *p = pf_in_child() ? NULL : pf_process();
    if (!p)
        return umask(mask);
    note_change();
    mode_t before = p->mask >= 0 ? (mode_t)p->mask : process.mask;
    p->mask = (int)(mask & 0777);
    return before;
}

char *pf_folder_name(const char *name)
{
    const struct pf_process *p = pf_process();
    const char *colon = strchr(name, ':'), *slash = strchr(name, '/');
    if (!p || !p->folder || *name == '/' || (colon && (!slash || colon < slash))) /* nfs:... */
        return (char *)name;
    return pf_asprintf("%s/%s", p->folder, name);
}

/* What the process had, while a rank has something else there. */
static struct {
    int descriptors[PF_STREAMS];
    char **environment;
} kept;

void pf_spawn_enter(void)
{
    const struct pf_process *p = pf_process();
    note_change(); /* only one thread at a time has what is kept */
    pf_folder_enter();
    kept.environment = environ;
    environ = pf_exec_environment(pf_environment());
    for (int n = 0; n < PF_STREAMS; n++) {
        kept.descriptors[n] = -1;
        if (!p || p->behind[n] == n)
            continue;
        kept.descriptors[n] = fcntl(n, F_DUPFD_CLOEXEC, PF_STREAMS);
        if (p->behind[n] >= 0)
            dup2(p->behind[n], n);
        else
            close(n);
    }
}

void pf_spawn_leave(void)
{
    const struct pf_process *p = pf_process();
    int error = errno;
    free(environ);
    environ = kept.environment;
    for (int n = 0; n < PF_STREAMS; n++) {
        if (!p || p->behind[n] == n)
            continue;
        if (kept.descriptors[n] >= 0) {
            dup2(kept.descriptors[n], n);
            close(kept.descriptors[n]);
        } else {
            close(n);
        }
    }
    pf_folder_leave();
    errno = error;
}

/* In a child process, which is alone. */
void pf_process_child(void)
{
    struct pf_process *p = pf_process();
    if (!p)
        return;
    depth = 0;
    process.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    environ = pf_environment(); /* execv() takes that */
    if (p->mask >= 0)
        umask((mode_t)p->mask);
    if (p->folder && chdir(p->folder) != 0)
        pf_die("the current folder of rank %d, '%s', cannot be entered any more: %s", p->rank, p->folder,
               strerror(errno));
    for (int n = 0; n < PF_STREAMS; n++) {
        if (p->behind[n] == n)
            continue;
        if (p->behind[n] >= 0)
            dup2(p->behind[n], n);
        else
            close(n);
        pf_process_redirect(p, n, p->behind[n] >= 0 ? n : -1);
    }
}
