/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that pfrun runs for a Python interpreter, which is a program at one place in memory: the same
 * interpreter as a library, of which each rank has a copy (middleware/process/private_system.h).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <parfocal.h>

#include "middleware/compute/interpreter.h"
#include "middleware/core/call_site.h"
#include "middleware/process/handed.h"
#include "tools/pfpython/pfpython.h"

/* What is called of it when a run ends with a diagnosis: as its faulthandler does, without its lock, which
 * another thread may hold for ever, and also when it is about to end. */
static struct {
    void *(*GetThisThreadState)(void);
    void (*DumpTraceback)(int descriptor, void *thread);
} api;

static bool find_api(void *library)
{
    *(void **)&api.GetThisThreadState = dlsym(library, "PyGILState_GetThisThreadState");
    *(void **)&api.DumpTraceback = dlsym(library, "_Py_DumpTraceback");
    return api.GetThisThreadState && api.DumpTraceback;
}

/* The line that called into MPI: what mpi4py does itself has no frame. It is the first of the traceback,
 * which does not fill a pipe. */
static bool place(char *text, size_t size)
{
    char dump[700] = "", file[501], function[101];
    int ends[2], line;
    void *thread = api.GetThisThreadState();
    if (!thread || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    api.DumpTraceback(ends[1], thread);
    ssize_t length = read(ends[0], dump, sizeof dump - 1);
    close(ends[0]);
    close(ends[1]);
    const char *first = length > 0 ? strstr(dump, "File \"") : NULL;
    bool known =
        first && sscanf(first, "File \"%500[^\"]\", line %d in %100[^\n]", file, &line, function) == 3;
    if (known)
        snprintf(text, size, "%s:%d (%s)", file, line, function);
    return known;
}

int main(int argc, char **argv)
{
    const struct python *python = pf_handed();
    int (*run)(int, char **) = NULL;
    void *library = dlopen(python->library, RTLD_NOW | RTLD_GLOBAL);
    if (library)
        *(void **)&run = dlsym(library, "Py_BytesMain");
    if (!run) {
        fprintf(stderr, "parfocal: error: %s: %s\n", python->program, dlerror());
        return 1;
    }
    if (find_api(library))
        pf_call_place_set(place);
    pf_interpreter_begin((const void *)run);
    argv[0] = python->program; /* from which it finds its own modules */
    return run(argc, argv);
}
