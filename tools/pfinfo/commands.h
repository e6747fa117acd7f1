/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "lowlevel/network/packet/picture.h"
#include "tools/pfinfo/fit.h"

/* The self test of the installation: one line per test on stdout. Returns the number of failures. */
int check_installation(void);

/* One line per MPI function: what answers it in each model, from the table that the wrappers are made of. */
void coverage_print(FILE *out);

/* Measures in the finer model, writes settings of SimGrid with which model smpi comes near to it (pfrun
 * -calibrated), and prints the error at sizes that were not used. Ends the process with one line on an error;
 * returns the exit status. */
int calibrate_smpi(const struct fit_request *request);

/* The library that records on a real machine how long ranks compute between their MPI calls; or, with
 * `calls`, the calls too. */
void record_print_program(FILE *out, bool calls);

/* Draws the routers and links of a built-in platform into a file, .svg or .html, and writes the links as text
 * to a file of the same name with .txt. `statistics`: a table that colours the links, or NULL. What is wrong
 * ends the process with one line. */
void picture_draw(const char *platform, int hosts, const char *file, const char *statistics);

/* picture_load.c: per port of the fabric; the caller frees it. */
struct pf_picture_load *picture_load_read(const char *file, const struct pf_fabric *fabric);
