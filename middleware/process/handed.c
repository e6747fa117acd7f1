/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher gives to a program of our own. */
#include "middleware/process/handed.h"

#include <stddef.h>

static void *handed;

void pf_hand(void *what)
{
    handed = what;
}

void *pf_handed(void)
{
    return handed;
}
