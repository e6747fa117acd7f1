/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces for Paraver. */
#include "tools/pfrun/paraver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/helper.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/observing/start.h"
#include "tools/pfrun/smpi_trace.h"

static struct {
    char *file;
    int recording; /* -1: there is none yet */
} trace = {.recording = -1};

static void take(int fd)
{
    trace.recording = fd;
}

/* A run that ends early has said why. */
static void write_early(void)
{
    if (trace.recording >= 0)
        paraver_write();
}

void paraver_expect(const char *file)
{
    static const char *const endings[] = {".prv", ".pcf", ".row"};
    size_t length = strlen(file);
    if (length <= 4 || strcmp(file + length - 4, endings[0]) != 0)
        pf_die("trace: '%s': the name of a file in the format prv ends in .prv", file);
    if (trace.file)
        pf_die("trace: a run writes one trace for Paraver, and '%s' is a second one", file);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *path = pf_asprintf("%.*s%s", (int)length - 4, file, endings[i]);
        smpi_trace_try(path);
        free(path);
    }
    trace.file = pf_strdup(file);
    pf_at_end(write_early);
    pf_recording_hand_to(take, true);
}

bool paraver_expected(void)
{
    return trace.file;
}

void paraver_write(void)
{
    char *file = trace.file, *words[] = {"pfparaver", "write", file, (char *)pf_config.trace_ranks, NULL};
    trace.file = NULL;
    if (!file)
        return;
    if (trace.recording < 0) {
        pf_warn("the trace '%s' is not written: no rank has called MPI", file);
        return;
    }
    lseek(trace.recording, 0, SEEK_SET);
    pf_helper_run(words[0], words, trace.recording, STDOUT_FILENO);
    free(file);
}
