/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own np=2 stock=no */
/* A probe that finds nothing takes as long after a switch as before the first one: otherwise a program that
 * waits by probing looks more often after a switch, and the simulation does more for it. */
#include "check.h"

enum { POLLS = 40 };

/* Simulated seconds of one probe in vain. */
static double price(int source, int tag, int matched)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < POLLS; i++) {
        MPI_Message message;
        int flag = 1;
        if (matched)
            CHECK_OK(MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
        else
            CHECK_OK(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(flag == 0);
    }
    return (MPI_Wtime() - begin) / POLLS;
}

/* SMPI's probes take longer each time, on any rank. */
static int same(double a, double b)
{
    int constant = check_simulated() && strcmp(pf_model_current(), "smpi") != 0;

    return !constant || (a - b < 1e-12 && b - a < 1e-12);
}

int main(int argc, char **argv)
{
    double before[3];

    check_begin(&argc, &argv);
    SWITCH_A();
    for (int round = 0; round < 3; round++) {
        double now[3] = {price(1 - check_rank, 5, 0), price(MPI_ANY_SOURCE, MPI_ANY_TAG, 0),
                         price(1 - check_rank, 5, 1)};

        for (int i = 0; i < 3; i++) {
            if (round == 0)
                before[i] = now[i];
            CHECK(same(before[i], now[i]));
        }
        SWITCH_B();
        MPI_Barrier(MPI_COMM_WORLD);
        SWITCH_A();
    }
    return check_end("polls");
}
