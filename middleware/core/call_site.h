/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/* Where in the application's source an address is: "file.c:12", or the address when it is not known. */
const char *pf_call_site(const void *address, char *buffer, size_t size);

/* The same of many: neighbours in one object are looked up together. The caller frees the texts. */
void pf_call_sites(const void *const addresses[], int count, char *texts[]);

struct pf_rank;

/* Where a rank's program is now, in a language that is interpreted: the calls of MPI all come from its
 * interpreter. Called outside the rank, too. False if it does not know. */
typedef bool pf_call_place(char *text, size_t size);

/* Of the calling rank. */
PF_EXPORT void pf_call_place_set(pf_call_place *place);

/* Whether two ranks that call MPI at one address are at one place; they are if neither has an interpreter. */
bool pf_call_place_same(const struct pf_rank *a, const struct pf_rank *b);

/* Where the call of MPI is in which a rank is (NULL: no rank's): its place, or the address. */
const char *pf_call_site_of(const struct pf_rank *r, const void *address, char *buffer, size_t size);
