/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread-local variables of two libraries, one of which uses the other's, and of threads: each rank's and
 * each thread's begin as they are written. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

extern __thread int first_number, first_zero;
int *first_own(void);
int *second_sees(void);

#if defined FIRST
__thread int first_number = 7, first_zero;
int *first_own(void)
{
    static __thread int own = 5;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return &own;
}
#elif defined SECOND
int *second_sees(void)
{
    static __thread int room[5000] = {3};
    room[0] += first_zero;
    return room[0] == 3 + first_zero ? &first_number : NULL;
}
#else
#ifdef OWN
__thread int first_number = 7; /* which the libraries use, too */
enum { THREADS = 0 };
#else
enum { THREADS = 3 };
#endif
static int bad;

static void check(int line, int good)
{
    if (!good)
        printf("threaded: line %d\n", line);
    bad += !good;
}

static void *thread(void *arg)
{
    int *rank = arg;
    int *seen = second_sees();
    check(__LINE__, seen && *seen == 7);
    *seen += 1000 + *rank;
    check(__LINE__, *second_sees() == 1007 + *rank);
    return seen;
}

int main(int argc, char **argv)
{
    int rank;
    pthread_t threads[3];
    void *used[3] = {NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *own = first_own(), *seen = second_sees();
    check(__LINE__, *own == 5 && seen && *seen == 7);
    *own += rank;
    *seen += 10 * rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, &rank);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], &used[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    check(__LINE__, *first_own() == 5 + rank && *second_sees() == 7 + 10 * rank);
#ifdef OWN
    check(__LINE__, first_number == 7 + 10 * rank);
#endif
    check(__LINE__, first_own() == own && second_sees() == seen && used[0] != seen);
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(bad ? "threaded: FAIL" : "threaded: PASS");
    MPI_Finalize();
    return bad != 0;
}
#endif
