/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks every clock there is, and sleeps in every way. Prints the simulated time at the end, and with an
 * argument also whether the clocks have shown it. */
#include <mpi.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

static double steady()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double of_system()
{
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

static double free_clocks()
{
    double sum = of_system() + steady();
    sum += double(std::clock()) + double(std::time(nullptr));
    sum += double(std::chrono::high_resolution_clock::now().time_since_epoch().count());
    return sum;
}

static void charged_clocks()
{
    timespec ts = {};
    timeval tv = {};
    clock_gettime(CLOCK_MONOTONIC, &ts);
    gettimeofday(&tv, nullptr);
}

int main(int argc, char **argv)
{
    double sum = free_clocks();
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 3000 * (me + 1); i++)
        sum += free_clocks();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 10 + me; i++)
        charged_clocks();
    std::this_thread::sleep_for(std::chrono::microseconds(30));
    usleep(20);
    timespec pause = {0, 10000};
    nanosleep(&pause, nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    double before = MPI_Wtime(), first = steady();
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    double slept = steady() - first;
    MPI_Barrier(MPI_COMM_WORLD);
    double now = MPI_Wtime();
    std::printf("rank %d end %.12f%s\n", me, now, std::isnan(sum) ? "!" : "");
    if (argc > 1)
        std::printf("%s\n", slept >= 9e-6 && slept < 1e-3 && steady() - first >= now - before - 1e-7
                                ? "shown"
                                : "wrong");
    MPI_Finalize();
    return 0;
}
