/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for the texts of a trace. */
#include "lowlevel/trace/names.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/memory.h"

struct pf_trace_entry {
    char *text;
    int number;
    UT_hash_handle hh;
};

int pf_trace_number(struct pf_trace_names *names, const char *text, bool *is_new)
{
    struct pf_trace_entry *named;
    HASH_FIND_STR(names->first, text, named);
    *is_new = !named;
    if (named)
        return named->number;
    named = pf_calloc(1, sizeof *named);
    named->text = pf_strdup(text);
    names->by_number =
        pf_array_double(names->by_number, (size_t)names->count, sizeof(struct pf_trace_entry *));
    named->number = names->count++;
    names->by_number[named->number] = named;
    HASH_ADD_KEYPTR(hh, names->first, named->text, strlen(named->text), named);
    return named->number;
}

int pf_trace_number_of_lasting(struct pf_trace_names *names, const char *text, const char *more, bool *is_new)
{
    char both[128];
    size_t place = (uintptr_t)text / 4 % (sizeof names->recent / sizeof names->recent[0]);
    *is_new = false;
    if (names->recent[place].text == text && names->recent[place].more == more)
        return names->recent[place].number;
    if (more)
        snprintf(both, sizeof both, "%s (%s)", text, more);
    int number = pf_trace_number(names, more ? both : text, is_new);
    names->recent[place].text = text;
    names->recent[place].more = more;
    names->recent[place].number = number;
    return number;
}

const char *pf_trace_named(const struct pf_trace_names *names, int number)
{
    return names->by_number[number]->text;
}

void pf_trace_names_free(struct pf_trace_names *names)
{
    HASH_CLEAR(hh, names->first);
    for (int i = 0; i < names->count; i++) {
        free(names->by_number[i]->text);
        free(names->by_number[i]);
    }
    free(names->by_number);
}
