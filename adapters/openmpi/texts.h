/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asprintf() and snprintf() for Open MPI, which writes the name of each of its 1,800 settings with the first,
 * in each rank, and five names for each rank that it meets with both, of texts and plain numbers alone. The C
 * library takes its slow way for each of them (printf_positional()), because a library of gfortran's has
 * conversions of its own: that was a sixth of what 16 ranks start with, and of what two ranks cost that meet.
 */
#pragma once

#include <stddef.h>

/* As __asprintf_chk(): the text is the caller's, to be given to free(); returns its length, or -1 if the
 * C library cannot write it. `flag` is not looked at. */
int pf_ompi_asprintf(char **text, int flag, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As __snprintf_chk(): at most `room` bytes with the zero at the end; returns the length that the whole text
 * has. `flag` and `size` are not looked at. */
int pf_ompi_snprintf(char *text, size_t room, int flag, size_t size, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
