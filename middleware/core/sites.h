/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <stdio.h>

/*
 * Call sites. Each rank has the program at an address of its own. So a call site has for a name its offset in
 * the program, or in a shared library that and the library's name: the same for all ranks and in each run.
 */
struct pf_sites;

struct pf_sites *pf_sites_new(int ranks);
void pf_sites_free(struct pf_sites *sites);

/* The name of a call site of the rank. */
uint64_t pf_sites_name(struct pf_sites *sites, int rank, const void *address);

/* A small number for it, by order of first use: 0 is no place, and the number of names is the last one. And
 * an address at which a rank has it, with the function that is called there. */
int pf_sites_number(struct pf_sites *sites, int rank, const void *address, int fn);
const void *pf_sites_address(const struct pf_sites *sites, int number, int *fn);

/* The same as pf_sites_name(), and counts a call of this function (PF_FN_...) from there. */
void pf_sites_count(struct pf_sites *sites, int rank, const void *address, int fn);

/* One comment line for each call site: its name, its function, the least and most calls of any rank. In the
 * order of the names. */
void pf_sites_print(struct pf_sites *sites, FILE *out);
