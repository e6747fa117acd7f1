/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays the recording of the run on an ideal network. */
#include "tools/pfrun/ideal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/helper.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/trace/trace.h"
#include "middleware/observing/start.h"
#include "middleware/summary/summary.h"
#include "tools/pfrun/paraver.h"

/* Neither latency nor bytes take time, nor software; a standard send above 64 KiB still waits for its
 * receive. */
#define IDEAL                                                                                                \
    "PARFOCAL_ANALYTIC_SET=defaults = plain; latency_factor = 0; bandwidth = 1e30; "                         \
    "memory.latency_factor = 0; memory.bandwidth = 1e30"

static int recording = -1;

static void take(int fd)
{
    recording = fd;
}

void ideal_expect(const struct options *options)
{
    const char *instead = options->workload                         ? "the jobs of -workload"
                          : options->replay                         ? "a run that plays a trace"
                          : *pf_config.markers                      ? "a run that is sampled"
                          : pf_config.check                         ? "a run that is checked (PARFOCAL_CHECK)"
                          : *pf_config.report || *pf_config.summary ? NULL
                                                                    : "a run without -report DIR";
    if (instead)
        pf_die("-explain=ideal: not for %s", instead);
    if (*pf_config.replay_record || paraver_expected() || pf_trace_wants_recording())
        pf_die("-explain=ideal records the run for itself: leave -trace replay, prv and otf2 to another run");
    pf_recording_hand_to(take, false);
    pf_config.analytic_explain = true;
}

/* No setting of this run holds for the other one. */
static char **variables(void)
{
    size_t count = 0, all = 0;
    while (environ[all])
        all++;
    char **list = pf_calloc(all + 5, sizeof *list);
    for (size_t i = 0; i < all; i++)
        if (strncmp(environ[i], "PARFOCAL_", strlen("PARFOCAL_")) != 0)
            list[count++] = environ[i];
    list[count++] = pf_strdup(IDEAL);
    list[count++] = pf_strdup("PARFOCAL_REPLAY_RANKS=yes"); /* which have phases */
    list[count++] = pf_strdup("PARFOCAL_SUMMARY=/proc/self/fd/1");
    return list;
}

/* What it has to say is why it has failed. */
static const char *reason(FILE *errors)
{
    static char line[400];
    static const char mark[] = "parfocal: error: ";
    rewind(errors);
    while (fgets(line, sizeof line, errors))
        if (strncmp(line, mark, sizeof mark - 1) == 0) {
            line[strcspn(line, "\n")] = 0;
            return line + sizeof mark - 1;
        }
    return "it ends early";
}

void ideal_run(void)
{
    char *words[] = {"pfrun",  "-replay",  "/proc/self/fd/0", "-platform", "star",
                     "-model", "analytic", "-quiet",          NULL};
    int result[2];
    if (!pf_config.explain_ideal || *pf_end_reason())
        return;
    if (recording < 0) {
        pf_warn("-explain=ideal: nothing was recorded, for only calls of MPI by C and C++ are");
        return;
    }
    FILE *errors = tmpfile();
    if (!errors || pipe2(result, O_CLOEXEC) != 0) {
        pf_warn("-explain=ideal: cannot play the run on an ideal network: no file or pipe can be made");
        return;
    }
    pid_t child =
        pf_helper_start(words[0], words, variables(), (int[]){recording, result[1], fileno(errors)});
    close(result[1]);
    bool read = pf_summary_read_ideal(fdopen(result[0], "r"));
    if (pf_helper_wait(child) != 0 || !read)
        pf_warn("-explain=ideal: the run does not play on an ideal network: %s", reason(errors));
    fclose(errors);
    close(recording);
}
