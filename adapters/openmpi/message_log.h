/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The file of PARFOCAL_OPENMPI_MESSAGES: opened once; false and a line in `why` when that cannot be. */
bool pf_message_log_open(char *why, size_t n);
bool pf_message_log_wanted(void);

/* One message that `from` gives to Open MPI's messaging layer now. Ranks are those of the job. */
void pf_message_log_write(int from, int to, size_t bytes, int tag);
