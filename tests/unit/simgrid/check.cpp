/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The self-check of SimGrid's private layouts, by a rank of a job of SMPI. The argument is what it is to
 * object to: a program that was built with a wrong layout passes if the check names the fault in one line,
 * and the one that was built with the right layout, without an argument, if it has no objection, twice.
 */
#include <cstdio>
#include <cstring>
#include <new>

#include "lowlevel/simgrid/check.h"
#include "lowlevel/simgrid/one_rank.h"

static const char *expected;
static bool good;

static bool look()
{
    char why[400] = "";
    bool same = pf_simgrid_check(why, sizeof why);
    if (*why)
        puts(why);
    bool line = strstr(why, "this SimGrid is not the") == why && !strchr(why, '\n') &&
                strstr(why, "; install the package ");
    return expected ? !same && line && strstr(why, expected) : same && !*why;
}

static void rank()
{
    double start = simgrid::s4u::Engine::get_clock();
    good = look() && (expected || look()) && simgrid::s4u::Engine::get_clock() == start;
    fflush(stdout);
    if (expected)
        _Exit(good ? 0 : 1); /* a wrong layout may have written anywhere */
}

int main(int argc, char **argv)
{
    expected = argc > 1 ? argv[1] : nullptr;
    pf_simgrid_one_rank(argv, TEST_PLATFORM, rank);
    return good ? 0 : 1;
}
