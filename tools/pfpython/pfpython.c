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

/* What is called of it when a run ends with a diagnosis. Its dump for crashes needs no lock, but is not
 * exported since Python 3.13; the others are its stable interface. */
static struct {
    void *(*GetThisThreadState)(void);
    void *(*GetInterpreter)(void *thread);
    void *(*FirstThread)(void *interpreter);
    void *(*NextThread)(void *thread);
    int (*Ensure)(void);
    void (*Release)(int);
    void *(*GetFrame)(void);
    void *(*GetCode)(void *frame);
    int (*GetLineNumber)(void *frame);
    void *(*GetAttrString)(void *object, const char *name);
    const char *(*AsUTF8)(void *object);
    void (*DecRef)(void *object);
} api;
static void (*dump_traceback)(int descriptor, void *thread);

static bool find_api(void *library)
{
    static const char *const names[] = {"PyGILState_GetThisThreadState",
                                        "PyThreadState_GetInterpreter",
                                        "PyInterpreterState_ThreadHead",
                                        "PyThreadState_Next",
                                        "PyGILState_Ensure",
                                        "PyGILState_Release",
                                        "PyEval_GetFrame",
                                        "PyFrame_GetCode",
                                        "PyFrame_GetLineNumber",
                                        "PyObject_GetAttrString",
                                        "PyUnicode_AsUTF8",
                                        "Py_DecRef"};
    void *found[sizeof names / sizeof names[0]];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!(found[i] = dlsym(library, names[i])))
            return false;
    _Static_assert(sizeof found == sizeof api, "one for each name");
    memcpy(&api, found, sizeof api);
    *(void **)&dump_traceback = dlsym(library, "_Py_DumpTraceback");
    return true;
}

/* The first line of the traceback, which does not fill a pipe. */
static bool place_in_dump(void *thread, char *text, size_t size)
{
    char dump[700] = "", file[501], function[101];
    int ends[2], line;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    dump_traceback(ends[1], thread);
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

static bool place_of_frame(char *text, size_t size)
{
    int state = api.Ensure();
    void *frame = api.GetFrame(), *code = frame ? api.GetCode(frame) : NULL;
    void *file = code ? api.GetAttrString(code, "co_filename") : NULL;
    void *function = code ? api.GetAttrString(code, "co_name") : NULL;
    bool known = file && function;
    if (known)
        snprintf(text, size, "%s:%d (%s)", api.AsUTF8(file), api.GetLineNumber(frame), api.AsUTF8(function));
    api.DecRef(file);
    api.DecRef(function);
    api.DecRef(code);
    api.Release(state);
    return known;
}

/* Another thread of the interpreter may hold its lock, and for ever. */
static bool is_alone(void *thread)
{
    return api.FirstThread(api.GetInterpreter(thread)) == thread && !api.NextThread(thread);
}

/* The line that called into MPI: what mpi4py does itself has no frame. The interpreter knows no thread when
 * it is about to end. */
static bool place(char *text, size_t size)
{
    void *thread = api.GetThisThreadState();
    if (!thread)
        return false;
    return dump_traceback ? place_in_dump(thread, text, size)
                          : is_alone(thread) && place_of_frame(text, size);
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
