/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher gives to a program of our own. */
#include "middleware/process/handed.h"

#include "middleware/core/rank.h"

static void *handed;

void pf_hand(void *what)
{
    handed = what;
}

void *pf_handed(void)
{
    return handed;
}

void pf_handed_plays(void)
{
    struct pf_account *account = pf_self()->mpi->account;
    account->plays = account->inside = true;
}

static bool refused;

void pf_handed_refuse(void)
{
    refused = true;
}

bool pf_handed_refused(void)
{
    return refused;
}
