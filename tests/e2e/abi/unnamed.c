/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that use each other without saying so, and a plug-in: a base that has no name of its own, a leaf
 * that does not name the base, and a plug-in of the base, whose constructors change its variable. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

extern int base_number;
int base_rank(void);
extern int *leaf_sees;
int plug_sees(void);

#if defined BASE
int base_number;
int base_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
#elif defined LEAF
int *leaf_sees = &base_number;
static void __attribute__((constructor)) begin(void)
{
    base_number += 1;
}
#elif defined PLUG
static void __attribute__((constructor)) begin(void)
{
    base_number += 10;
}
int plug_sees(void)
{
    return base_number + 100 * base_rank();
}
#else
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    void *plug = dlopen("libplug.so", RTLD_NOW);
    int (*sees)(void), bad = !plug;
    if (plug) {
        *(void **)&sees = dlsym(plug, "plug_sees");
        *leaf_sees += 1000 * base_rank();
        MPI_Barrier(MPI_COMM_WORLD);
        bad = base_number != 11 + 1000 * base_rank() || sees() != 11 + 1100 * base_rank();
    } else {
        printf("%d: %s\n", base_number, dlerror());
    }
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (base_rank() == 0)
        puts(bad ? "unnamed: FAIL" : "unnamed: PASS");
    MPI_Finalize();
    return bad;
}
#endif
