/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/self.h"
#include "lowlevel/nic/nic.h"

/*
 * A double of the NIC, the engine and the actor for lowlevel/ucx: commands wait in one queue until they are
 * carried out, the oldest first, which takes no time.
 */

/* The process that calls. */
extern pf_self_t *fake_caller;

/* What has been given to the NIC: kinds as letters (P, G, R, A), and bytes. */
extern char fake_kinds[64];
extern size_t fake_payload[64];
extern int fake_count;

void fake_forget(void);
bool fake_carry_out(void); /* one; false: there was none */
void fake_carry_out_all(void);

/* A process that is parked wakes up after the next command that wakes it; it must not park for nothing. */
extern int fake_parks;
