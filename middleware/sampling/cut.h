/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_CUT_H
#define PF_MIDDLEWARE_SAMPLING_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* How a copy of the process is cut off from everything that it would share with the original. */

/* Before the application runs: what is open now is not the application's. */
void pf_cut_prepare(void);

/* Is there something that cannot be cut: other threads, shared memory, files that are read and written, MPI's
 * files, the connection to another simulator? Says what. */
bool pf_cut_impossible(char *why, size_t size);

/* In the original, just before a copy is made of it: where it is in the files that it reads. */
void pf_cut_note(void);

/* In a copy that has just been made of the process `original`: signals do what they do by default, files that
 * are read have places of their own, what is written goes nowhere but to `kept`, no file can be made, changed
 * or removed, and it ends with the original, or after PARFOCAL_WINDOWS_LIMIT. Returns false when the system
 * cannot keep it from changing files. */
bool pf_cut_off(int kept, pid_t original);

#endif
