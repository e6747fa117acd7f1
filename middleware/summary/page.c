/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of a run: page.html, with the summary in it. */
#include "middleware/summary/page.h"

#include <stdlib.h>
#include <string.h>

#include "lowlevel/network/packet/report.h"
#include "middleware/page_html.h"

/* By one write: there are tens of thousands of tokens. */
bool pf_page_print_json(const json_t *object, size_t flags, FILE *out)
{
    char *text = json_dumps(object, flags | JSON_REAL_PRECISION(17));
    bool written = text && fputs(text, out) != EOF;
    free(text);
    return written;
}

bool pf_page_print(const json_t *summary, FILE *out)
{
    static const char place[] = "@SUMMARY@", picture[] = "@PICTURE@";
    const char *middle = strstr(page_html, picture), *tail = strstr(page_html, place);
    const char *after = middle + sizeof picture - 1;
    bool begun = fwrite(page_html, 1, (size_t)(middle - page_html), out) == (size_t)(middle - page_html);
    pf_network_draw(out);
    /* A slash is escaped so that no name of a phase ends the script. */
    return begun && fwrite(after, 1, (size_t)(tail - after), out) == (size_t)(tail - after) &&
           pf_page_print_json(summary, JSON_COMPACT | JSON_ESCAPE_SLASH, out) &&
           fputs(tail + sizeof place - 1, out) != EOF;
}
