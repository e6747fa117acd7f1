/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/export.h"

/*
 * A text file of settings, one a line: `key = value   # source`. Comment lines at its top are its
 * description. A key with a slash is a setting of SimGrid, any other a row of config.def.
 */
struct pf_setting {
    char *key, *value;
    char *source; /* what stands behind the '#'; may be empty */
    char *where;  /* FILE:LINE, for messages */
};

struct pf_setting_file {
    char *path;
    char *description; /* without the '#' of each line; its last line ends too */
    struct pf_setting *settings;
    size_t count;
};

/* Reads the file. Ends the process with one line, FILE:LINE and what is wrong there, when it cannot be read
 * or a line is no setting; a file that cannot be read is named as `given`, such as "-machine". The caller
 * frees it. */
PF_EXPORT struct pf_setting_file *pf_setting_file_read(const char *given, const char *path);
PF_EXPORT void pf_setting_file_free(struct pf_setting_file *file);

/* The text without blanks at its ends, within itself. */
static inline char *pf_trimmed(char *text)
{
    static const char blanks[] = " \t\r\n\v\f";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]))
        length--;
    text[length] = 0;
    return text;
}

/* Whether SimGrid can read the value of this setting of its own; false, with one line in `why`. */
PF_EXPORT bool pf_setting_simgrid_good(const char *key, const char *value, char *why, size_t size);

/* Whether a file of settings or a platform, which is data that another user may have written, may set this
 * of SimGrid: not what names files, libraries or programs. */
PF_EXPORT bool pf_setting_simgrid_data(const char *key);

/* Whether it is a setting of SimGrid. */
static inline bool pf_setting_is_simgrid(const struct pf_setting *setting)
{
    for (const char *c = setting->key; *c; c++)
        if (*c == '/')
            return true;
    return false;
}
