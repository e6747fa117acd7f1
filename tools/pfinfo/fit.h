/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

struct fit_request {
    const char *model;  /* the finer one that is measured, or a file of times measured elsewhere */
    const char *target; /* what is fitted: "analytic" or "smpi" */
    const char *output; /* file of parameters that is written */
    char **run;         /* arguments for pfrun, such as -np 16 -platform x.xml */
    int run_count;
};

/* Measures in the model, writes parameters of model analytic that reproduce it, and prints the error at sizes
 * that were not used. Ends the process with one line on an error; returns the exit status. */
int fit_model(const struct fit_request *request);

/* The program that measures, for a real machine: what it prints is such a file. */
void fit_print_program(FILE *out);
