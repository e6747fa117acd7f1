/* SPDX-License-Identifier: BSD-3-Clause */
/* Scripts, and what their interpreters say about themselves. */
#include "tools/pfrun/script.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "tools/pfrun/checks.h"

/* The words of a script's first line, behind #!, without env and its option -S; NULL at the end. Their
 * number, 0 if the file is no script. */
static int read_words(const char *path, char **words, int room)
{
    char line[256] = "", *save;
    FILE *file = fopen(path, "r");
    bool script = file && fgets(line, sizeof line, file) && strncmp(line, "#!", 2) == 0;
    int count = 0;
    if (file)
        fclose(file);
    if (!script)
        return 0;
    for (char *word = strtok_r(line + 2, " \t\r\n", &save); word && count + 1 < room;
         word = strtok_r(NULL, " \t\r\n", &save)) {
        const char *slash = strrchr(word, '/');
        bool env = count == 0 && (strcmp(slash ? slash + 1 : word, "env") == 0 || strcmp(word, "-S") == 0);
        if (!env)
            words[count++] = pf_strdup(word);
    }
    words[count] = NULL;
    return count;
}

bool script_prepare(struct part *part)
{
    enum { WORDS = 16 };
    char *words[WORDS], *path = check_find(part->app[0]);
    int count = path && access(path, X_OK) == 0 ? read_words(path, words, WORDS) : 0;
    if (count == 0)
        return false;
    char **all = pf_calloc((size_t)(count + part->app_argc) + 1, sizeof *all);
    memcpy(all, words, (size_t)count * sizeof *all);
    memcpy(all + count, part->app, (size_t)part->app_argc * sizeof *all);
    all[count] = path;
    part->shown = part->shown ? part->shown : part->app[0];
    part->app = all;
    part->app_argc += count;
    return true;
}

FILE *script_ask(char *const *command, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe(ends) != 0)
        pf_die("'%s': %s", command[0], strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int error = posix_spawnp(child, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error)
        pf_die("cannot run '%s': %s", command[0], strerror(error));
    return fdopen(ends[0], "r");
}
