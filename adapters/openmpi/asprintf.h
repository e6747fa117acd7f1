/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asprintf() for Open MPI, which writes the name of each of its 1,800 settings with it, in each rank, mostly
 * by "%s%s". The C library takes its slow way for every format in a process that has the library for numbers
 * of quadruple precision (which SimGrid brings along, for Fortran): that registers a conversion of its own.
 */
#ifndef PF_OMPI_ASPRINTF_H
#define PF_OMPI_ASPRINTF_H

/* As __asprintf_chk(): the text is the caller's, to be given to free(); returns its length, or -1 if the
 * C library cannot write it. `flag` is not looked at. */
int pf_ompi_asprintf(char **text, int flag, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
