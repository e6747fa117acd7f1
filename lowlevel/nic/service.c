/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks belong to services and not to the application: configuration. */
#include <stdlib.h>

#include "base/config.h"
#include "base/log.h"
#include "lowlevel/nic/nic.h"

static long number(const char **text)
{
    char *end;
    long value = strtol(*text, &end, 10);
    if (end == *text || value < 0 || (*end && *end != ',' && *end != '-'))
        pf_die("PARFOCAL_NIC_SERVICE_RANKS is \"%s\": it must be a list of ranks such as 0,4-7",
               pf_config.nic_service_ranks);
    *text = end;
    return value;
}

bool pf_nic_serves(int rank)
{
    const char *text = pf_config.nic_service_ranks;
    bool found = false;
    while (*text) {
        long first = number(&text), last = first;
        if (*text == '-') {
            text++;
            last = number(&text);
        }
        found |= first <= rank && rank <= last;
        if (*text == ',')
            text++;
        else if (*text)
            number(&text); /* a second '-': says what is wrong */
    }
    return found;
}
