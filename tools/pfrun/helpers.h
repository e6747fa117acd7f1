/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Becomes pfsample: the options that pfrun has read as `given`, its command line, of which the first
 * `options` words are its name and these options. */
void helper_sample(char *given, char **argv, int options) __attribute__((noreturn));
