/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that pfrun runs for a Python interpreter, which is a program at one place in memory: the same
 * interpreter as a library, of which each rank has a copy (middleware/process/private_system.h).
 */
#include <dlfcn.h>
#include <stdio.h>

#include <parfocal.h>

#include "middleware/process/handed.h"
#include "tools/pfpython/pfpython.h"

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
    argv[0] = python->program; /* from which it finds its own modules */
    return run(argc, argv);
}
