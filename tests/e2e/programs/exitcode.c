/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none stock=no exit=5 */
/* What main returns on one rank is the exit status of the run. */
#include "check.h"

int main(int argc, char **argv)
{
    int status;

    check_begin(&argc, &argv);
    status = check_end("exitcode");
    return check_rank == 1 ? 5 : status;
}
