/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>

/* What each rank has sent to each other one (-explain with a report). Begins, if the configuration asks for
 * it. */
void pf_communication_begin(int ranks);

/* The matrix, and of each model that was used, what it contains; NULL: it was not wanted. */
json_t *pf_communication_json(void);
