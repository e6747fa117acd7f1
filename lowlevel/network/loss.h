/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/*
 * Messages that a network loses at random. One generator for the whole run: the same seed gives the same
 * losses, because messages are sent in the same order.
 */

/* Whether the next message is lost, by this probability. */
bool pf_loss_draw(double probability);

static inline bool pf_loss_strikes(double probability)
{
    return probability > 0.0 && pf_loss_draw(probability);
}
