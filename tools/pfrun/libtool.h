/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Programs of libtool projects. Until it is installed, such a program is a script that adds the project's
 * libraries to LD_LIBRARY_PATH, relinks the program where that is necessary, and executes it. A program that
 * pfcc linked then executes its launcher (tools/pfcc/pfstart.c), which is pfrun again.
 */

/* If `path` is such a script for a program that pfcc linked, executes it and does not return. `argv` holds
 * pfrun's `argc` arguments, `program` is the place in it where the program's own begin. */
void libtool_run_script(const char *path, int argc, char **argv, char **program);

/* The arguments of a pfrun that such a program executed: the options of the first pfrun, the program, its
 * arguments. Otherwise `argv` itself. The result lives as long as the process. */
char **libtool_arguments(int *argc, char **argv);
