/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of a run: page.html, with the summary in it. */
#include "middleware/summary/page.h"

#include <string.h>

#include "middleware/page_html.h"

bool pf_page_print(const json_t *summary, FILE *out)
{
    static const char place[] = "@SUMMARY@";
    const char *head = page_html, *tail = strstr(page_html, place);
    /* A slash is escaped so that no name of a phase ends the script. */
    return fwrite(head, 1, (size_t)(tail - head), out) == (size_t)(tail - head) &&
           json_dumpf(summary, out, JSON_COMPACT | JSON_ESCAPE_SLASH | JSON_REAL_PRECISION(17)) == 0 &&
           fputs(tail + sizeof place - 1, out) != EOF;
}
