/* SPDX-License-Identifier: BSD-3-Clause */
/* For slots that a network does not need. */
#include "lowlevel/network/network.h"

bool pf_network_no_limit(int src, int dst, int vn, double bytes, void (*credit)(void *arg), void *arg)
{
    return true;
}

double pf_network_no_event(void)
{
    return -1.0;
}

void pf_network_no_advance(double date)
{
}
