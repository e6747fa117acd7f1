/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct pf_modex_key; /* the list of them: NULL at first */

/* What ranks of one stack publish for each other when they start: a handful of keys, and a value of each rank
 * under each. Every rank asks for the values of all others, so a look-up must not search among ranks. */

/* Publishes a value of a rank; the bytes are copied, and replace those that it has published before. `type`
 * is the publisher's own. */
void pf_modex_put(struct pf_modex_key **keys, int rank, const char *key, int type, const void *data,
                  size_t n);

/* What a rank has published; false when it has not. The bytes stay until it publishes others. */
bool pf_modex_get(struct pf_modex_key *keys, int rank, const char *key, int *type, const void **data,
                  size_t *n);
