/* SPDX-License-Identifier: BSD-3-Clause */
/* A layout of SimGrid's log that keeps critical messages. */
#include "lowlevel/simgrid/last_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <xbt/asserts.h>
#include <xbt/log.h>

XBT_LOG_EXTERNAL_CATEGORY(root);

/* As in SimGrid's src/xbt/log_private.hpp, 3.32 and 4.0. */
struct xbt_log_layout_s {
    bool (*do_layout)(const s_xbt_log_layout_t *layout, xbt_log_event_t event, const char *format);
    void (*free_)(const s_xbt_log_layout_t *layout);
    void *data;
};

static s_xbt_log_layout_t *stock; /* of all other messages */
static char words[600];

static bool lay_out(const s_xbt_log_layout_t *layout, xbt_log_event_t event, const char *format)
{
    if (event->priority != xbt_log_priority_critical)
        return stock->do_layout(stock, event, format);
    if (!*words) { /* backtraces follow */
        vsnprintf(words, sizeof words, format, event->ap);
        size_t blanks = strspn(words, "\n ");
        memmove(words, words + blanks, strlen(words + blanks) + 1);
        words[strcspn(words, "\n")] = 0;
    }
    xbt_log_no_loc = 1; /* or a backtrace is printed without a message */
    *event->buffer = 0;
    return true;
}

void pf_simgrid_keep_last_words(void)
{
    if (stock)
        return;
    stock = xbt_log_layout_simple_new(NULL);
    s_xbt_log_layout_t *current = _XBT_LOGV(root).layout; /* SimGrid frees it */
    if (current->do_layout == stock->do_layout)
        current->do_layout = lay_out;
}

const char *pf_simgrid_last_words(void)
{
    return words;
}
