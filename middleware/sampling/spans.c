/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the file of windows. */
#include "middleware/sampling/spans.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"

static struct {
    FILE *file;
    unsigned line;
} all;

static _Noreturn void refuse(const char *what)
{
    pf_die("%s: %s: line %u: %s", pf_config_given("windows"), pf_config.windows, all.line, what);
}

static _Noreturn void refuse_file(void)
{
    pf_die("%s: cannot read '%s': %s", pf_config_given("windows"), pf_config.windows, strerror(errno));
}

void pf_spans_open(void)
{
    int fd = open(pf_config.windows, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0 || !(all.file = fdopen(fd, "r")))
        refuse_file();
}

/* One line, without its comment; one that is empty then says nothing. */
static void read_line(struct pf_spans *spans, const char *text, bool overlap)
{
    struct pf_span span;
    char rest;
    if (!text[strspn(text, " \t\r")])
        return;
    if (strchr(text, '-') || sscanf(text, "%u %u %c", &span.first, &span.last, &rest) != 2)
        refuse("two numbers of marks are wanted, FIRST LAST");
    if (span.first >= span.last)
        refuse("the last mark must come after the first");
    const struct pf_span *before = spans->count ? &spans->span[spans->count - 1] : NULL;
    if (before && span.first < (overlap ? before->first : before->last))
        refuse(overlap ? "windows must stand in the order of their first marks"
                       : "a window must not begin before the one above ends");
    spans->span = pf_reallocarray(spans->span, spans->count + 1, sizeof span);
    spans->span[spans->count++] = span;
}

bool pf_spans_read(struct pf_spans *spans, bool overlap, bool batch)
{
    char *text = NULL;
    size_t room = 0;
    bool more = false;
    *spans = (struct pf_spans){0};
    while (!more && getline(&text, &room, all.file) > 0) {
        all.line++;
        more = batch && !text[strspn(text, " \t\r\n")];
        text[strcspn(text, "#\n")] = 0;
        read_line(spans, text, overlap);
    }
    if (ferror(all.file))
        refuse_file();
    free(text);
    return more;
}

void pf_spans_close(void)
{
    fclose(all.file);
    all.file = NULL;
}
