/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "base/export.h"

/*
 * Ends the process with one line where the file is a symbolic link that another user has made, as one lies in
 * /tmp to have another user's file overwritten. Links of this user and of root are followed, and all those
 * of the folders on the way: their owner may write what is in them.
 */
PF_EXPORT void pf_output_check(const char *path);

/* fopen() behind that check. */
PF_EXPORT FILE *pf_output_open(const char *path, const char *mode);
