/* SPDX-License-Identifier: BSD-3-Clause */
/* From an address to a line of the source, by addr2line. */
#include "base/source_line.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What addr2line prints: the function, then file:line, each "?" when unknown; then those that it is inlined
 * in. */
static size_t ask(const char *object, unsigned long offset, char *answer, size_t size)
{
    char address[32];
    char *argv[] = {"addr2line", "-i", "-f", "-s", "-e", (char *)object, address, NULL};
    int ends[2];
    posix_spawn_file_actions_t actions;
    snprintf(address, sizeof address, "0x%lx", offset);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child; /* not by fork(): handlers of others would run in it, on whatever thread this is */
    if (posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) != 0)
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; length + 1 < size && (got = read(ends[0], answer + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    answer[length] = 0;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return length;
}

/* What our own headers define inline is not what the program's author looks for. */
static bool is_own(const char *line)
{
    return strncmp(line, "shmem.h:", 8) == 0 || strncmp(line, "shmem_proto.h:", 14) == 0;
}

bool pf_source_line(const char *object, unsigned long offset, char *function, size_t function_size,
                    char *line, size_t line_size)
{
    char answer[2000], *name = answer;
    if (ask(object, offset, answer, sizeof answer) == 0 || answer[0] == '?')
        return false;
    char *second = strchr(answer, '\n');
    while (second && is_own(second + 1)) {
        char *next = strchr(second + 1, '\n');
        if (!next || !strchr(next + 1, '\n'))
            break;
        name = next + 1;
        second = strchr(name, '\n');
    }
    if (!second)
        return false;
    *second++ = 0;
    second[strcspn(second, " \n")] = 0;
    snprintf(function, function_size, "%s", name);
    snprintf(line, line_size, "%s", second[0] == '?' || second[0] == ':' ? "" : second);
    return true;
}
