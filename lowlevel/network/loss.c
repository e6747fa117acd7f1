/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws whether a message is lost. */
#include "lowlevel/network/loss.h"

#include <stdint.h>

#include "base/config.h"

/* SplitMix64 (Steele, Lea, Flood 2014): every seed is good, one addition of state per number. */
static uint64_t next_number(void)
{
    static uint64_t state;
    static bool seeded;
    if (!seeded) {
        seeded = true;
        state = (uint64_t)pf_config.net_loss_seed;
    }
    uint64_t z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

bool pf_loss_draw(double probability)
{
    return (double)(next_number() >> 11) * 0x1p-53 < probability;
}
