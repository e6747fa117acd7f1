/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

/*
 * The environment of each rank: that of the process as it was when the rank began, and the variables by which
 * launchers give a process its place (OMPI_COMM_WORLD_RANK, PMI_RANK ...).
 */

/* `*variable` is what a program sees as environ: its private copy in a program that pfcc has linked, set here
 * to the environment of the calling rank, outside of the simulation to that of the process. Called by the
 * program's first constructor (tools/pfcc/pfstart.c). The variable must live as long as the rank. */
PF_EXPORT void pf_program_environment(char ***variable);

/* The environment of the calling rank, for its main(); outside of ranks that of the process. Belongs to the
 * rank. */
char **pf_environment(void);

/* The rank's variable itself, for libraries that are copies; NULL outside of ranks. */
char ***pf_environment_variable(void);
