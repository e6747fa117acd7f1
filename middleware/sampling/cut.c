/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a copy of the process off from the files, signals and memory of the original. */
#include "middleware/sampling/cut.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "middleware/account/live.h"
#include "middleware/core/job_state.h"
#include "middleware/io/file.h"

struct file {
    int fd;
    dev_t device;
    ino_t inode;
};

/* Open from the start; the last has -1. */
static struct file *inherited;

/* Where files that are read were when a copy was about to be made, if not at their begin; the last has the
 * number -1. */
static struct reading {
    int fd;
    off_t at;
} * readings;

/* The open files, behind the last a -1; freed by the caller. Those that listing them opens are gone again. */
static int *open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    size_t count = 0, room = 64;
    int *fds = pf_malloc(room * sizeof *fds);
    while (dir && (entry = readdir(dir))) {
        int fd = entry->d_name[0] == '.' ? -1 : atoi(entry->d_name);
        if (fd < 0 || fd == dirfd(dir))
            continue;
        if (count + 1 == room)
            fds = pf_reallocarray(fds, room *= 2, sizeof *fds);
        fds[count++] = fd;
    }
    if (dir)
        closedir(dir);
    fds[count] = -1;
    return fds;
}

void pf_cut_prepare(void)
{
    int *fds = open_files();
    size_t count = 0, kept = 0;
    struct stat info;
    while (fds[count] >= 0)
        count++;
    inherited = pf_calloc(count + 1, sizeof *inherited);
    for (size_t i = 0; i < count; i++)
        if (fstat(fds[i], &info) == 0)
            inherited[kept++] = (struct file){fds[i], info.st_dev, info.st_ino};
    inherited[kept].fd = -1;
    free(fds);
}

static bool is_inherited(int fd, const struct stat *info)
{
    for (const struct file *file = inherited; file->fd >= 0; file++)
        if (file->fd == fd && file->device == info->st_dev && file->inode == info->st_ino)
            return true;
    return false;
}

/* The file's name, or what else the system says that it is. */
static const char *name_of(int fd, char *name, size_t size)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, size - 1);
    name[length > 0 ? length : 0] = 0;
    return name;
}

/* Images of libraries, of which each rank maps its own. */
static bool is_memory(int fd)
{
    char name[300];
    return strncmp(name_of(fd, name, sizeof name), "/memfd:", 7) == 0;
}

/* A regular file that the application both reads and writes: a copy could do neither without the other
 * noticing. */
static bool has_file_for_both(char *why, size_t size)
{
    int *fds = open_files();
    bool found = false;
    struct stat info;
    char name[200];
    for (int *fd = fds; *fd >= 0 && !found; fd++) {
        int flags = fcntl(*fd, F_GETFL);
        found = flags >= 0 && (flags & O_ACCMODE) == O_RDWR && fstat(*fd, &info) == 0 &&
                S_ISREG(info.st_mode) && !is_inherited(*fd, &info) && !is_memory(*fd);
        if (found)
            snprintf(why, size, "the program has '%s' open to read and to write",
                     name_of(*fd, name, sizeof name));
    }
    free(fds);
    return found;
}

/* Memory that a copy would change for the original; the pages of a replayed program's messages carry nothing
 * that anybody looks at. */
static bool has_shared_memory(char *why, size_t size)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (maps && !found && getline(&line, &room, maps) > 0) {
        char rights[8];
        int name = 0;
        if (sscanf(line, "%*s %7s %*s %*s %*s %n", rights, &name) < 1 || strncmp(rights, "rw", 2) != 0)
            continue;
        found = rights[3] == 's' && !strstr(line, "/memfd:parfocal-replay");
        line[strcspn(line, "\n")] = 0;
        if (found)
            snprintf(why, size, "memory is shared (%s)", name ? line + name : "");
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

static int thread_count(void)
{
    struct stat info;
    return stat("/proc/self/task", &info) == 0 ? (int)info.st_nlink - 2 : 1;
}

bool pf_cut_impossible(char *why, size_t size)
{
    int threads = thread_count() - pf_live_runs();
    for (enum pf_model model = 0; model < PF_MODEL_COUNT; model++)
        if (pf_job_state.ranks[0].models[model] && strcmp(pf_model_network(model), "external") == 0) {
            snprintf(why, size, "the network is simulated by another program");
            return true;
        }
    if (threads > 1)
        snprintf(why, size, "the process has %d threads", threads);
    else if (pf_file_open_count > 0)
        snprintf(why, size, "the program has files of MPI open");
    else
        return has_shared_memory(why, size) || has_file_for_both(why, size);
    return true;
}

static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, number == SIGUSR1 || number == SIGPIPE ? SIG_IGN : SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void die_with(pid_t original)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != original) /* it has died before we could say so */
        _exit(1);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    struct itimerval limit = {.it_value.tv_sec = (time_t)pf_config.windows_limit};
    limit.it_value.tv_usec = (suseconds_t)((pf_config.windows_limit - (double)limit.it_value.tv_sec) * 1e6);
    setitimer(ITIMER_REAL, &limit, NULL);
}

void pf_cut_note(void)
{
    size_t count = 0;
    free(readings);
    readings = NULL;
    int *fds = open_files();
    for (int *fd = fds; *fd >= 0; fd++) {
        off_t at = lseek(*fd, 0, SEEK_CUR);
        if (at <= 0 || (fcntl(*fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
            continue;
        readings = pf_reallocarray(readings, count + 2, sizeof *readings);
        readings[count++] = (struct reading){*fd, at};
        readings[count].fd = -1;
    }
    free(fds);
}

/* A file that is read: the same one at the same place, but a place of our own. Of the common one the original
 * may have read more meanwhile. */
static void reopen(int fd)
{
    char link[40];
    off_t at = 0;
    for (const struct reading *reading = readings; reading && reading->fd >= 0; reading++)
        if (reading->fd == fd)
            at = reading->at;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int own = open(link, O_RDONLY | O_CLOEXEC);
    if (own < 0)
        return;
    if (at > 0)
        lseek(own, at, SEEK_SET);
    dup3(own, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
    close(own);
}

static void cut_files(int kept)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), *fds = open_files();
    struct stat info;
    for (int *fd = fds; *fd >= 0; fd++) {
        int flags = fcntl(*fd, F_GETFL), access = flags & O_ACCMODE;
        if (flags < 0 || *fd == kept || *fd == nowhere || fstat(*fd, &info) != 0)
            continue;
        bool reads = access == O_RDONLY && S_ISREG(info.st_mode); /* also on stdin */
        bool writes = access == O_WRONLY || (access == O_RDWR && is_inherited(*fd, &info));
        if ((*fd <= STDERR_FILENO && !reads) || writes)
            dup3(nowhere, *fd, fcntl(*fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
        else if (reads)
            reopen(*fd);
    }
    free(fds);
    close(nowhere);
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EROFS)
#define REFUSE_IF(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), REFUSE
/* A call that opens a file is refused when it may change it. */
#define REFUSE_CHANGES_IF(call, flags)                                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4), LOAD(args[flags]),                                    \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 0, 1), REFUSE, ALLOW

/* As on a file system that is mounted for reading only. */
static bool forbid_changes(void)
{
#ifdef ARCHITECTURE
    static struct sock_filter filter[] = {LOAD(arch),
                                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
                                          ALLOW,
                                          LOAD(nr),
                                          REFUSE_CHANGES_IF(SYS_openat, 2),
#ifdef SYS_open
                                          REFUSE_CHANGES_IF(SYS_open, 1),
                                          REFUSE_IF(SYS_creat),
                                          REFUSE_IF(SYS_unlink),
                                          REFUSE_IF(SYS_rename),
                                          REFUSE_IF(SYS_mkdir),
                                          REFUSE_IF(SYS_rmdir),
                                          REFUSE_IF(SYS_link),
                                          REFUSE_IF(SYS_symlink),
                                          REFUSE_IF(SYS_chmod),
#endif
                                          REFUSE_IF(SYS_openat2),
                                          REFUSE_IF(SYS_truncate),
                                          REFUSE_IF(SYS_unlinkat),
                                          REFUSE_IF(SYS_renameat2),
                                          REFUSE_IF(SYS_mkdirat),
                                          REFUSE_IF(SYS_linkat),
                                          REFUSE_IF(SYS_symlinkat),
                                          REFUSE_IF(SYS_mknodat),
                                          REFUSE_IF(SYS_fchmodat),
#ifdef SYS_renameat
                                          REFUSE_IF(SYS_renameat),
#endif
                                          ALLOW};
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#else
    return false;
#endif
}

bool pf_cut_off(int kept, pid_t original)
{
    die_with(original);
    reset_signals();
    cut_files(kept);
    return forbid_changes();
}
