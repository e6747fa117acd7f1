/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The self test of the installation: one line per test on stdout. Returns the number of failures. */
int check_installation(void);
