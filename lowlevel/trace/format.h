/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * Numbers as text, with the digits of printf() but many times as fast: a record has some ten numbers. Both
 * return the end of what they write, which is not terminated.
 */
enum { PF_TRACE_NUMBER_ROOM = 400 }; /* bytes that are enough for any number */

char *pf_trace_put_whole(char *to, uint64_t number);
/* As "%.*f", with at most 12 places. */
char *pf_trace_put_fixed(char *to, double value, int places);
