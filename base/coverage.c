/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only in builds with -Db_coverage=true, once in each of our libraries: a run that ends by _exit writes the
 * counts of the lines it went through, which the compiler's library does at an ordinary exit only.
 */
#include "base/log.h"

void __gcov_dump(void); /* of the compiler's libgcov */

__attribute__((constructor)) static void dump_at_end(void)
{
    pf_at_end(__gcov_dump);
}
