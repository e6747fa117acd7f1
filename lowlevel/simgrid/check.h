/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Is what private.h says of SimGrid's objects true of the library in this process? Makes one object of each
 * kind, and compares its members with what SimGrid's own functions say of it. Called by an actor that is a
 * rank and has not communicated yet; some microseconds of wall-clock, no simulated time, and nothing is left.
 * False, with one line in `why` that says what is not as expected and what to do, where it is not.
 */
bool pf_simgrid_check(char *why, size_t room);

#ifdef __cplusplus
}
#endif
