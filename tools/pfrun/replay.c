/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorded run instead of a program. */
#include "tools/pfrun/replay.h"

#include <stdlib.h>
#include <string.h>

#include <xbt/config.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/observing/start.h"
#include "middleware/process/handed.h"
#include "tools/pfrun/helpers.h"
#include "tools/pfreplay/source.h"

static struct replay_source *source;

static char *find_player(void)
{
    char *path = helper_find("pfreplay");
    if (!path)
        pf_die("-replay: the program that plays traces is not there: " PF_LIBEXEC "/pfreplay");
    return path;
}

void replay_prepare(struct options *options)
{
    source = replay_source_open(options->replay);
    if (options->np && options->np != source->ranks)
        pf_die("-np %d: the trace '%s' has %d ranks (leave -np out)", options->np, options->replay,
               source->ranks);
    options->np = source->ranks;
    if (options->replay_scale >= 0)
        source->scale = options->replay_scale;
    options->app = pf_calloc(2, sizeof *options->app);
    options->app[0] = find_player();
    options->app_argc = 1;
    pf_hand(source);
}

void replay_choose_time(void)
{
    source->computes = sg_cfg_get_boolean("smpi/simulate-computation");
    sg_cfg_set_boolean("smpi/simulate-computation", "no");
    pf_recording_charges(source->computes);
}

/* As many as fit a screen. */
#define MOST_PLACES 20

void replay_print_places(FILE *out)
{
    int printed = 0;
    for (int rank = 0; source && rank < source->ranks && printed < MOST_PLACES; rank++)
        if (!source->done[rank] && ++printed)
            fprintf(out, "parfocal: rank %d is at %s: line %ld\n", rank, source->ops->file(source, rank),
                    source->ops->line(source, rank));
}
