/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes each message that is given to Open MPI, for comparison with a stock run. */
#include "adapters/openmpi/message_log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <simgrid/engine.h>

#include "base/config.h"
#include "base/output_file.h"

static FILE *file;

bool pf_message_log_open(char *why, size_t n)
{
    if (file || !*pf_config.openmpi_messages)
        return true;
    file = pf_output_open(pf_config.openmpi_messages, "w");
    if (!file) {
        snprintf(why, n, "PARFOCAL_OPENMPI_MESSAGES=%s cannot be written: %s", pf_config.openmpi_messages,
                 strerror(errno));
        return false;
    }
    fputs("time,from,to,bytes,tag\n", file);
    return true;
}

bool pf_message_log_wanted(void)
{
    return file != NULL;
}

void pf_message_log_write(int from, int to, size_t bytes, int tag)
{
    fprintf(file, "%.9f,%d,%d,%zu,%d\n", simgrid_get_clock(), from, to, bytes, tag);
}
