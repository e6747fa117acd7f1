/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces for Paraver, which pfparaver rewrites as lines. */
#include <string.h>
#include <unistd.h>

#include "base/helper.h"
#include "tools/pfreplay/text.h"

static bool knows(const char *path, const char *head)
{
    return strncmp(head, "#Paraver ", 9) == 0;
}

/* The helper's lines have a title of their own. */
static void open_trace(struct replay_source *source, const char *path)
{
    struct replay_text text;
    char *words[] = {"pfparaver", "read", (char *)path, NULL};
    replay_text_begin(&text, 1);
    rewind(text.out);
    pf_helper_run(words[0], words, STDIN_FILENO, fileno(text.out));
    replay_text_end(&text, source, path);
}

const struct replay_source_ops replay_paraver = {.size = sizeof(struct replay_source_ops),
                                                 .name = "Paraver",
                                                 .knows = knows,
                                                 .open = open_trace,
                                                 .next = replay_ti_next,
                                                 .file = replay_ti_file,
                                                 .line = replay_ti_line};
