/* SPDX-License-Identifier: BSD-3-Clause */
/* From an address to a line of the source, by addr2line. */
#include "base/source_line.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 32 };

/* Returns where to read what it prints, -1 without it. */
static int start(const char *object, const struct pf_source_place *places, int count, pid_t *child)
{
    char addresses[AT_ONCE][2 + 2 * sizeof(long) + 1];
    char *argv[7 + AT_ONCE + 1] = {"addr2line", "-a", "-i", "-f", "-s", "-e", (char *)object};
    int ends[2];
    posix_spawn_file_actions_t actions;
    for (int i = 0; i < count; i++) {
        snprintf(addresses[i], sizeof addresses[i], "0x%lx", places[i].offset);
        argv[7 + i] = addresses[i];
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    /* Not by fork(): handlers of others would run in it, on whatever thread this is. */
    if (posix_spawnp(child, argv[0], &actions, NULL, argv, environ) != 0)
        *child = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    return ends[0];
}

/* What our own headers define inline is not what the program's author looks for. */
static bool is_own(const char *line)
{
    return strncmp(line, "shmem.h:", 8) == 0 || strncmp(line, "shmem_proto.h:", 14) == 0;
}

struct answer {
    struct pf_source_place *next, *end; /* of which the address comes next */
    bool named, settled;                /* the function is known; and its line */
    size_t length;
    char text[256];
};

/* Of each place it prints the address, the function, and file:line, both "?" when unknown; then the same of
 * those that this is inlined in. */
static void take(struct answer *a)
{
    a->text[a->length] = 0;
    a->length = 0;
    if (strncmp(a->text, "0x", 2) == 0 && a->next < a->end) {
        a->next++;
        a->named = a->settled = false;
    } else if (!a->settled && !a->named) {
        a->named = true;
        snprintf(a->next[-1].function, sizeof a->next->function, "%s", a->text[0] == '?' ? "" : a->text);
    } else if (!a->settled) {
        a->named = false;
        a->settled = !is_own(a->text);
        a->text[strcspn(a->text, " ")] = 0;
        snprintf(a->next[-1].line, sizeof a->next->line, "%.*s", (int)sizeof a->next->line - 1,
                 a->text[0] == '?' || a->text[0] == ':' ? "" : a->text);
    }
}

static void ask(const char *object, struct pf_source_place *places, int count)
{
    struct answer answer = {.next = places, .end = places + count, .settled = true};
    char some[512];
    pid_t child = -1;
    int from = start(object, places, count, &child);
    for (ssize_t got; from >= 0 && (got = read(from, some, sizeof some)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            if (some[i] == '\n')
                take(&answer);
            else if (answer.length + 1 < sizeof answer.text)
                answer.text[answer.length++] = some[i];
    if (from >= 0)
        close(from);
    if (child > 0)
        waitpid(child, NULL, 0);
}

void pf_source_lines(const char *object, struct pf_source_place *places, int count)
{
    for (int i = 0; i < count; i++)
        *places[i].function = *places[i].line = 0;
    for (int i = 0; i < count; i += AT_ONCE)
        ask(object, places + i, count - i < AT_ONCE ? count - i : AT_ONCE);
}
