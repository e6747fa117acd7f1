/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that pfrun runs for a Python interpreter, which is a program at one place in memory: the same
 * interpreter as a library, of which each rank has a copy (middleware/process/private_system.h).
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <parfocal.h>

#include "middleware/core/call_site.h"
#include "middleware/process/handed.h"
#include "tools/pfpython/pfpython.h"

/* What is called of it when a run ends with a diagnosis: its stable interface. */
static struct {
    int (*Ensure)(void);
    void (*Release)(int);
    void *(*GetFrame)(void);
    void *(*GetCode)(void *frame);
    int (*GetLineNumber)(void *frame);
    void *(*GetAttrString)(void *object, const char *name);
    const char *(*AsUTF8)(void *object);
    void (*DecRef)(void *object);
} api;

static bool find_api(void *library)
{
    static const char *const names[] = {
        "PyGILState_Ensure",     "PyGILState_Release",     "PyEval_GetFrame",  "PyFrame_GetCode",
        "PyFrame_GetLineNumber", "PyObject_GetAttrString", "PyUnicode_AsUTF8", "Py_DecRef"};
    void *found[sizeof names / sizeof names[0]];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!(found[i] = dlsym(library, names[i])))
            return false;
    _Static_assert(sizeof found == sizeof api, "one for each name");
    memcpy(&api, found, sizeof api);
    return true;
}

/* The line that called into MPI: what mpi4py does itself has no frame. */
static bool place(char *text, size_t size)
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
    argv[0] = python->program; /* from which it finds its own modules */
    return run(argc, argv);
}
