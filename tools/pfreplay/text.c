/* SPDX-License-Identifier: BSD-3-Clause */
/* Other formats, rewritten as lines. */
#include "tools/pfreplay/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

void replay_text_begin(struct replay_text *text, int ranks)
{
    const char *folder = getenv("TMPDIR");
    char *name = pf_asprintf("%s/parfocal-replay-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(name);
    if (fd < 0 || unlink(name) != 0 || !(text->out = fdopen(fd, "r+")))
        pf_die("-replay: cannot write to '%s': %s", name, strerror(errno));
    free(name);
    snprintf(text->path, sizeof text->path, "/proc/self/fd/%d", fd);
    fprintf(text->out, "# parfocal-replay 1 ranks %d\n", ranks);
}

void replay_text_end(struct replay_text *text, struct replay_source *source, const char *name)
{
    if (fflush(text->out) != 0)
        pf_die("-replay: no room for '%s' as text: %s", name, strerror(errno));
    replay_ti_open_file(source, pf_strdup(text->path), name);
}
