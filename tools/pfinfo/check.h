/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_PFINFO_CHECK_H
#define PF_PFINFO_CHECK_H

/* The self test of the installation: one line per test on stdout. Returns the number of failures. */
int check_installation(void);

#endif
