/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "tools/pfrun/hosts.h"
#include "tools/pfrun/options.h"

/* pfrun -workload: reads the file of options->workload. Its programs become those of the run, in the order of
 * the jobs. Ends the process with one line on bad input. */
void workload_read(struct options *options);

/* Gives the jobs to the middleware (core/workload.h), if there is a workload, and refuses what is for one job
 * only. When the command line is read. */
void workload_begin(const struct options *options);

/* How many hosts the jobs need, each as many as its ranks at least; 0: there is no workload. */
int workload_hosts(void);

/* Once the platform of this name is there: appends the host of each rank. */
void workload_place(struct hosts *hosts, const char *platform);
