/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "middleware/core/rank.h"

/*
 * The critical path of the run and what it would be with faster parts (-explain, -what-if):
 * lowlevel/engine/chain.h follows it, this room says where ranks are, and what comes out.
 */

/* Begins, if the configuration asks for it; dies of a bad what_if. */
void pf_critical_path_begin(int ranks);

/* The rank has moved to another phase or model, or has computed between these dates. */
void pf_critical_path_moved(struct pf_rank *r);
void pf_critical_path_computed(struct pf_rank *r, double begin, double end);

/* The rank's account opens, or closes. */
void pf_critical_path_open(struct pf_rank *r);
void pf_critical_path_close(struct pf_rank *r);

/* The path of a run that has come to its end, NULL or nothing if there is none. */
json_t *pf_critical_path_json(void);
void pf_critical_path_print(FILE *out);
