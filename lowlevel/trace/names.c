/* SPDX-License-Identifier: BSD-3-Clause */
#include "lowlevel/trace/names.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/log.h"

struct pf_trace_named {
    char *text;
    int number;
    UT_hash_handle hh;
};

int pf_trace_number(struct pf_trace_names *names, const char *text, bool *is_new)
{
    struct pf_trace_named *named;
    HASH_FIND_STR(names->first, text, named);
    *is_new = !named;
    if (named)
        return named->number;
    named = calloc(1, sizeof *named);
    if (!named || !(named->text = strdup(text)))
        pf_die("out of memory for the trace");
    named->number = names->count++;
    HASH_ADD_KEYPTR(hh, names->first, named->text, strlen(named->text), named);
    return named->number;
}

void pf_trace_names_free(struct pf_trace_names *names)
{
    struct pf_trace_named *named, *next;
    HASH_ITER(hh, names->first, named, next)
    {
        HASH_DEL(names->first, named);
        free(named->text);
        free(named);
    }
}
