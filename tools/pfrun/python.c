/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs in Python. */
#include "tools/pfrun/python.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/config.h"
#include "base/helper.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/process/handed.h"
#include "tools/pfpython/pfpython.h"
#include "tools/pfrun/checks.h"
#include "tools/pfrun/script.h"

static struct python python;

/* python, python3, python3.11 and the like, in any folder. */
static bool is_interpreter(const char *path)
{
    static const char stem[] = "python";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strncmp(name, stem, sizeof stem - 1) != 0)
        return false;
    for (name += sizeof stem - 1; *name; name++)
        if (!isdigit((unsigned char)*name) && *name != '.')
            return false;
    return true;
}

/* What it prints about itself: the real program (a shim may stand in PATH), and its library. */
static const char question[] = "import os, sys, sysconfig\n"
                               "name = sysconfig.get_config_var('INSTSONAME') or ''\n"
                               "path = os.path.join(sysconfig.get_config_var('LIBDIR') or '', name)\n"
                               "print(sys.executable, path if os.path.exists(path) else name, sep='\\n')";

static void find_library(const char *program)
{
    pid_t child;
    int status = 1;
    char executable[PATH_MAX] = "", library[PATH_MAX] = "";
    char *const asking[] = {(char *)program, "-c", (char *)question, NULL};
    FILE *answer = script_ask(asking, &child);
    bool complete =
        answer && fgets(executable, sizeof executable, answer) && fgets(library, sizeof library, answer);
    if (answer)
        fclose(answer);
    waitpid(child, &status, 0);
    executable[strcspn(executable, "\n")] = library[strcspn(library, "\n")] = '\0';
    if (!complete || status != 0 || !*executable)
        pf_die("'%s' does not print what Python it is", program);
    if (!strstr(library, ".so"))
        pf_die("'%s' was built without a shared library (--enable-shared), of which each rank needs a copy",
               executable);
    if (python.program && strcmp(python.program, executable) != 0)
        pf_die("%s and %s: programs in Python need one interpreter", python.program, executable);
    python = (struct python){pf_strdup(executable), pf_strdup(library)};
}

/* The library's name up to ".so", which is also that of Debian's package. */
static char *stem_of_library(void)
{
    const char *slash = strrchr(python.library, '/'), *name = slash ? slash + 1 : python.library;
    return pf_asprintf("%.*s", (int)(strstr(name, ".so") - name), name);
}

/* Where the module parfocal is, before the folders that the user has set. */
static void add_modules(const char *helper)
{
    const char *given = getenv("PYTHONPATH");
    char *path = pf_asprintf("%.*s/python%s%s", (int)(strrchr(helper, '/') - helper), helper,
                             given && *given ? ":" : "", given ? given : "");
    setenv("PYTHONPATH", path, 1);
    free(path);
}

/* Of all programs, once. */
static void hand_over(const char *helper, const char *stem)
{
    add_modules(helper);
    pf_config.private = pf_asprintf("%s%s%s", pf_config.private, *pf_config.private ? "," : "", stem);
    pf_hand(&python);
}

void python_prepare(struct part *part)
{
    char *name = part->app[0];
    if (!is_interpreter(name) || !check_find(name))
        return;
    bool first = !python.program;
    find_library(name);
    char *stem = stem_of_library();
    void *library = dlopen(python.library, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        pf_die("'%s': its library %s is missing (apt-get install %s)", python.program, python.library, stem);
    dlclose(library);
    char **all = pf_calloc((size_t)part->app_argc + 1, sizeof *all);
    memcpy(all, part->app, (size_t)part->app_argc * sizeof *all);
    all[0] = pf_helper_find("pfpython");
    if (!all[0])
        pf_die("the program that runs Python is not there: " PF_LIBEXEC "/pfpython");
    if (first)
        hand_over(all[0], stem);
    if (!part->shown)
        part->shown = part->app_argc > 1 && *part->app[1] != '-' ? part->app[1] : name;
    part->app = all;
}
