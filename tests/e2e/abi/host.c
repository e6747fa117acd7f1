/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows no MPI and opens a part that does, as an interpreter does with a module. The part uses
 * the program's variable, and another library (-DUNDER) that keeps a count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#ifdef PART
#include <mpi.h>

extern int host_number;
int under_count(void);
int part_run(void)
{
    int rank, size, sum;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    host_number += rank;
    int number = host_number + under_count();
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int bad = host_number != 7 + rank || sum != 8 * size + size * (size - 1) / 2;
    if (rank == 0)
        puts(bad ? "host: FAIL" : "host: PASS");
    MPI_Finalize();
    return bad;
}
#elif defined UNDER
#include <mpi.h>

int under_count(void)
{
    static int count;
    MPI_Barrier(MPI_COMM_WORLD);
    return ++count;
}
#else
extern void *__libc_stack_end;
int host_number = 7;

/* Where a collector of garbage would look for references. */
static int stack_is_wrong(void)
{
    pthread_attr_t attributes;
    void *begin, *here = &attributes;
    size_t size;
    return pthread_getattr_np(pthread_self(), &attributes) != 0 ||
           pthread_attr_getstack(&attributes, &begin, &size) != 0 || here < begin ||
           here >= (void *)((char *)begin + size) || here >= __libc_stack_end ||
           __libc_stack_end > (void *)((char *)begin + size);
}

int main(int argc, char **argv)
{
    int (*run)(void) = NULL;
    void *part = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (part)
        *(void **)&run = dlsym(part, "part_run");
    if (argc > 1 && !run)
        fprintf(stderr, "host: %s\n", dlerror());
    return stack_is_wrong() || (argc > 1 && !run) || (run && run());
}
#endif
