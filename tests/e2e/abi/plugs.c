/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins of a program, as the dynamic linker has them in a process: one (-DUSER) that calls MPI and needs
 * another (-DPLAIN), which counts, and may call MPI (-DCALLS); one that lacks a function (-DLACKS), and one
 * that uses the first (-DAFTER). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int plain_next(void);
#if defined PLAIN
int plain_next(void)
{
    static int count;
#ifdef CALLS
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    count -= size == 0;
#endif
    return ++count;
}
#elif defined LACKS
int not_there(void);
int lacks_call(void)
{
    return not_there();
}
#elif defined AFTER
int user_sum(void);
int after_sum(void)
{
    return user_sum();
}
#elif defined USER
int user_sum(void)
{
    int rank, sum, *number = dlsym(RTLD_DEFAULT, "main_number");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return number && *number == 5 && plain_next() == 1 ? sum : -1;
}
#else
int main_number = 5;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "plugs: line %d: %s\n", __LINE__, #condition);                                   \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
        }                                                                                                    \
    } while (0)

static int call(void *plug, const char *name)
{
    int (*function)(void);
    *(void **)&function = dlsym(plug, name);
    CHECK(function);
    return function();
}

int main(int argc, char **argv)
{
    int size;
    Dl_info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void *user = dlopen("./user.so", RTLD_NOW | RTLD_GLOBAL);
    CHECK(user && call(user, "user_sum") == size * (size - 1) / 2);
    MPI_Barrier(MPI_COMM_WORLD);
    void *plain = dlopen("libplain.so.1", RTLD_NOW); /* which is open already */
    CHECK(plain && call(plain, "plain_next") == 2);
    void *symbol = dlsym(RTLD_DEFAULT, "user_sum");
    CHECK(symbol && symbol == dlsym(user, "user_sum"));
    CHECK(dladdr(symbol, &info) && strcmp(info.dli_fname, "./user.so") == 0);
    CHECK(!dlopen("./lacks.so", RTLD_NOW));
    CHECK(strcmp(dlerror(), "./lacks.so: undefined symbol: not_there") == 0 && !dlerror());
    CHECK(chdir("deeper") == 0 && (plain = dlopen("./plain.so", RTLD_LAZY)) && chdir("..") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(call(plain, "plain_next") == 1);
    CHECK(dlclose(user) == 0 && dlopen("./after.so", RTLD_NOW)); /* what it defines is still there */
    MPI_Finalize();
    if (getenv("PMI_RANK")[0] == '0')
        puts("plugs: PASS");
    exit(0);
}
#endif
