/* SPDX-License-Identifier: BSD-3-Clause */
/* The temporary directory of a run. */
#include "tools/pfrun/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

static struct {
    char name[4096];
    int fd; /* the open directory: carries the lock and finds the files at the end */
    bool keep;
} workdir = {.fd = -1};

struct entry { /* what the system call getdents64 fills in */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* Unlinks the plain files in an open directory. Nothing of ours makes subdirectories. */
static void empty_directory(int fd)
{
    char buffer[2048] __attribute__((aligned(8)));
    long got;
    lseek(fd, 0, SEEK_SET);
    while ((got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(buffer + at);
            unlinkat(fd, entry->name, 0);
            at += entry->length;
        }
    }
}

void workdir_remove(void)
{
    if (workdir.fd < 0 || workdir.keep)
        return;
    empty_directory(workdir.fd);
    rmdir(workdir.name);
    workdir.fd = -1;
}

void workdir_keep(void)
{
    workdir.keep = true;
    fprintf(stderr, "pfrun: temporary files are kept in %s\n", workdir.name);
}

const char *workdir_name(void)
{
    return *workdir.name ? workdir.name : NULL;
}

/* The lock of a dead process is gone, whatever its end was. */
static void remove_if_dead(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && info.st_uid == getuid() && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        empty_directory(fd);
        rmdir(path);
    }
    close(fd);
}

static void remove_leftovers(const char *base, const char *prefix)
{
    DIR *directory = opendir(base);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[sizeof workdir.name + 300];
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
        remove_if_dead(path);
    }
    closedir(directory);
}

/* Locks the new directory. Returns false when another run took it for a leftover in the moment before the
 * lock. */
static bool lock(void)
{
    struct stat here, there;
    workdir.fd = open(workdir.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (workdir.fd >= 0 && flock(workdir.fd, LOCK_EX | LOCK_NB) == 0 && fstat(workdir.fd, &here) == 0 &&
        stat(workdir.name, &there) == 0 && here.st_ino == there.st_ino)
        return true;
    if (workdir.fd >= 0)
        close(workdir.fd);
    workdir.fd = -1;
    return false;
}

const char *workdir_make(const char *base)
{
    char prefix[40];
    snprintf(prefix, sizeof prefix, "pfrun-%u-", (unsigned)getuid());
    remove_leftovers(base, prefix);
    for (int attempt = 0; attempt < 10; attempt++) {
        if (snprintf(workdir.name, sizeof workdir.name, "%s/%s%ld-XXXXXX", base, prefix, (long)getpid()) >=
            (int)sizeof workdir.name)
            pf_die("the name of the temporary directory '%s' is too long", base);
        if (!mkdtemp(workdir.name))
            pf_die("cannot make a temporary directory in '%s': %s (-tmpdir names another place)", base,
                   strerror(errno));
        if (lock()) {
            pf_at_end(workdir_remove);
            return workdir.name;
        }
    }
    pf_die("cannot lock a temporary directory in '%s' (-tmpdir names another place)", base);
}

/* The variable holds the descriptor, whose lock lasts over exec, and the name. */
static const char handed_over[] = "PFRUN_WORKDIR";

void workdir_hand_over(void)
{
    char text[sizeof workdir.name + 20];
    snprintf(text, sizeof text, "%d:%s", workdir.fd, workdir.name);
    fcntl(workdir.fd, F_SETFD, 0);
    setenv(handed_over, text, 1);
}

const char *workdir_adopt(void)
{
    const char *text = getenv(handed_over);
    int fd = text ? atoi(text) : -1;
    const char *name = text ? strchr(text, ':') : NULL;
    if (!name || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return NULL;
    snprintf(workdir.name, sizeof workdir.name, "%s", name + 1);
    workdir.fd = fd;
    unsetenv(handed_over);
    pf_at_end(workdir_remove);
    return workdir.name;
}
