/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asprintf() for Open MPI, which writes the name of each of its 1,800 settings with it, in each rank, mostly
 * by "%s%s". The C library was seen to take its slow way for each of them (printf_positional()), which was a
 * sixth of what 16 ranks start with.
 */
#ifndef PF_OMPI_ASPRINTF_H
#define PF_OMPI_ASPRINTF_H

/* As __asprintf_chk(): the text is the caller's, to be given to free(); returns its length, or -1 if the
 * C library cannot write it. `flag` is not looked at. */
int pf_ompi_asprintf(char **text, int flag, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
