/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a run writes. */
#include "base/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

void pf_output_check(const char *path)
{
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode) && info.st_uid != geteuid() && info.st_uid != 0)
        pf_die("'%s' is a symbolic link that another user has made (number %u), and is not written through: "
               "remove it, or name another file",
               path, (unsigned)info.st_uid);
}

FILE *pf_output_open(const char *path, const char *mode)
{
    pf_output_check(path);
    return fopen(path, mode);
}
