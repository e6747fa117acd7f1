/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs in R. */
#include "tools/pfrun/r.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/memory.h"
#include "tools/pfrun/checks.h"
#include "tools/pfrun/script.h"

static bool is_called(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* Its program, and the variables of which its shell script knows the values. */
static char *ask_r(const char *front)
{
    static char question[] =
        "n <- c('R_HOME', 'R_SHARE_DIR', 'R_INCLUDE_DIR', 'R_DOC_DIR', 'LD_LIBRARY_PATH');"
        "cat(file.path(R.home('bin'), 'exec', 'R'), paste(n, Sys.getenv(n), sep = '='), sep = '\\n')";
    const char *slash = strrchr(front, '/');
    char *r = pf_asprintf("%.*sR", slash ? (int)(slash + 1 - front) : 0, front);
    char *const asking[] = {r, "--no-echo", "--vanilla", "-e", question, NULL};
    char line[PATH_MAX + 40], *program = NULL;
    pid_t child;
    int status;
    FILE *answer = script_ask(asking, &child);
    while (answer && fgets(line, sizeof line, answer)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, '=');
        if (!program)
            program = pf_strdup(line);
        else if (value && value[1])
            putenv(pf_strdup(line));
    }
    if (answer)
        fclose(answer);
    if (waitpid(child, &status, 0) < 0 || status || !program)
        pf_die("'%s' does not print where R is", r);
    free(r);
    return program;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What Rscript makes of its arguments: options, then a file or expressions, then those of the program. */
static char **of_rscript(char *const *given, int count)
{
    char **all = pf_calloc((size_t)count + 6, sizeof *all);
    int n = 1, i = 0;
    bool expressions = false;
    all[n++] = "--no-echo";
    all[n++] = "--no-restore";
    for (; i < count && given[i][0] == '-'; i++) {
        bool expression = strcmp(given[i], "-e") == 0;
        if (begins(given[i], "--default-packages="))
            setenv("R_DEFAULT_PACKAGES", strchr(given[i], '=') + 1, 1);
        else if (strcmp(given[i], "--verbose") != 0)
            all[n++] = given[i];
        if (expression && i + 1 < count)
            all[n++] = given[++i];
        expressions |= expression;
    }
    if (i < count && !expressions)
        all[n++] = pf_asprintf("--file=%s", given[i++]);
    if (i < count)
        all[n++] = "--args";
    while (i < count)
        all[n++] = given[i++];
    return all;
}

void r_prepare(struct part *part)
{
    char *name = part->app[0], **given = part->app + 1;
    int count = part->app_argc - 1;
    bool rscript = is_called(name, "Rscript");
    if (!check_find(name) || !(rscript || is_called(name, "R")))
        return;
    char **all = pf_calloc((size_t)count + 2, sizeof *all);
    if (count > 0 && !rscript && strcmp(given[0], "CMD") == 0)
        pf_die("R CMD %s: only R itself can be run (R -f FILE)", count > 1 ? given[1] : "");
    memcpy(all + 1, given, (size_t)count * sizeof *all);
    part->shown = part->shown ? part->shown : count > 0 && given[0][0] != '-' ? given[0] : name;
    part->app = rscript ? of_rscript(given, count) : all;
    part->app[0] = ask_r(name);
    for (part->app_argc = 1; part->app[part->app_argc];)
        part->app_argc++;
}
