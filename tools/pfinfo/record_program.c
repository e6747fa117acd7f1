/* SPDX-License-Identifier: BSD-3-Clause */
/* pfinfo --record-program: writes the recorder's source. */
#include "tools/pfinfo/commands.h"

#include "record_source.h"
#include "replay_source.h"

void record_print_program(FILE *out, bool calls)
{
    fputs(calls ? replay_source : record_source, out);
}
