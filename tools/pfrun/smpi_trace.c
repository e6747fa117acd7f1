/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the traces that SimGrid writes by itself. */
#include "tools/pfrun/smpi_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/output_file.h"
#include "base/streams.h"

static const char *trace;

void smpi_trace_try(const char *file)
{
    struct stat info;
    pf_output_check(file);
    bool there = stat(file, &info) == 0;
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        pf_die(
            "trace: cannot write the file '%s': %s (name one in a directory that exists and can be written)",
            file, strerror(errno));
    close(fd);
    if (!there)
        unlink(file); /* a run that ends before it begins leaves nothing */
}

void smpi_trace_expect(const char *file)
{
    smpi_trace_try(file);
    trace = file;
}

/* A disk that is full has no room for one block more, and a line that was cut off has no end. */
static bool is_whole(const char *file)
{
    static const char block[4096];
    char last = '\n';
    struct stat info;
    int fd = open(file, O_RDWR | O_CLOEXEC);
    bool good = fd >= 0 && fstat(fd, &info) == 0;
    if (good && S_ISREG(info.st_mode)) {
        good = (info.st_size == 0 || pread(fd, &last, 1, info.st_size - 1) == 1) &&
               pwrite(fd, block, sizeof block, info.st_size) == sizeof block;
        if (good && last != '\n')
            errno = EIO;
        int error = errno;
        good = ftruncate(fd, info.st_size) == 0 && good && last == '\n';
        errno = error;
    } else if (good && S_ISCHR(info.st_mode)) {
        good = write(fd, "\n", 1) == 1;
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (!good)
        fprintf(stderr, "parfocal: error: the trace '%s' is not complete: %s\n", file, strerror(error));
    return good;
}

/* The time-independent format has a file of its own for each rank. */
static bool ranks_are_whole(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s_files", trace);
    DIR *directory = opendir(path);
    bool good = true;
    for (struct dirent *entry; directory && good && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "%s_files/%s", trace, entry->d_name);
        if (entry->d_name[0] != '.')
            good = is_whole(path);
    }
    if (directory)
        closedir(directory);
    return good;
}

bool smpi_trace_complete(void)
{
    pf_flush_all();
    return !trace || (is_whole(trace) && ranks_are_whole());
}
