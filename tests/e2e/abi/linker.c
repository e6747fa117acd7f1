/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program asks the dynamic linker for: its own names, those of MPI and of the C library, and
 * libraries. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "linker: line %d: %s\n", __LINE__, #condition);                                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
        }                                                                                                    \
    } while (0)

int linker_number = 7;
int linker_function(int by);
int linker_function(int by)
{
    return linker_number * by;
}

static void own_names(int rank)
{
    void *self = dlopen(NULL, RTLD_LAZY);
    CHECK(self);
    int *number = dlsym(self, "linker_number");
    CHECK(number == &linker_number && dlsym(RTLD_DEFAULT, "linker_number") == number);
    *number = rank; /* of this rank only */
    MPI_Barrier(MPI_COMM_WORLD);
    int (*function)(int);
    *(void **)&function = dlvsym(self, "linker_function", "NONE");
    if (!function)
        *(void **)&function = dlsym(self, "linker_function");
    CHECK(function && function(3) == 3 * rank);
    CHECK(!dlsym(self, "linker_nothing") && dlclose(self) == 0);
    Dl_info info;
    CHECK(dladdr((void *)function, &info) && strcmp(info.dli_sname, "linker_function") == 0);
    CHECK(strstr(info.dli_fname, "linker") && info.dli_saddr == (void *)function);
}

static void names_of_others(int rank)
{
    int (*get_rank)(MPI_Comm, int *), own = -1;
    *(void **)&get_rank = dlsym(RTLD_DEFAULT, "MPI_Comm_rank");
    CHECK(get_rank && get_rank(MPI_COMM_WORLD, &own) == MPI_SUCCESS && own == rank);
    static const char *const names[] = {"libmpi.so.40", "libmpi.so"};
    for (int i = 0; i < 2; i++) {
        void *mpi = dlopen(names[i], RTLD_LAZY | RTLD_GLOBAL);
        *(void **)&get_rank = mpi ? dlsym(mpi, "MPI_Comm_rank") : NULL;
        own = -1;
        CHECK(get_rank && get_rank(MPI_COMM_WORLD, &own) == MPI_SUCCESS && own == rank);
    }
    char *(*get)(const char *);
    *(void **)&get = dlsym(RTLD_DEFAULT, "getenv");
    CHECK(get && setenv("LINKER_RANK", rank ? "one" : "zero", 1) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(strcmp(get("LINKER_RANK"), rank ? "one" : "zero") == 0);
}

/* Each rank has its own, also where another library of the program is needed. */
static void libraries(void)
{
    static const char *const names[] = {"found.so", "over.so"};
    for (int i = 0; i < 2; i++) {
        void *plug = dlopen(names[i], RTLD_NOW);
        int (*calls)(MPI_Comm);
        *(void **)&calls = plug ? dlsym(plug, "library_calls") : NULL;
        CHECK(calls && calls(MPI_COMM_WORLD) == 1 && calls(MPI_COMM_WORLD) == 2);
    }
    void *library = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL);
    double (*cosine)(double);
    *(void **)&cosine = library ? dlsym(library, "cos") : NULL;
    CHECK(cosine && cosine(0) == 1 && dlclose(library) == 0);
    CHECK(!dlopen("./nosuch.so", RTLD_NOW) && dlerror());
    void *frames[4];
    int count = backtrace(frames, 4);
    char **lines = backtrace_symbols(frames, count);
    CHECK(count > 0 && lines && strchr(lines[0], '['));
    free(lines);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(strcmp(argv[0], program_invocation_name) == 0);
    CHECK(strcmp(program_invocation_short_name, "linker") == 0);
    own_names(rank);
    names_of_others(rank);
    libraries();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("linker: PASS");
    return MPI_Finalize();
}
