/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank sees of itself as a process: the flags of its arithmetic, and its parents in /proc. */
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PARENTS = 100 };

static int parent_of(int process)
{
    char path[60], line[1000] = "";
    int parent = -1;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (end)
        sscanf(end + 3, "%d", &parent);
    if (file)
        fclose(file);
    return parent;
}

static int number_in_status(const char *key)
{
    char line[1000];
    int number = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file) && number < 0)
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), "%d", &number);
    if (file)
        fclose(file);
    return number;
}

int main(int argc, char **argv)
{
    int flags = fetestexcept(FE_ALL_EXCEPT), steps = 0;
    MPI_Init(&argc, &argv);
    for (int process = getpid(); process > 0 && steps < MOST_PARENTS; steps++)
        process = parent_of(process);
    printf("flags %d invalid %d end %d number %d\n", flags, fetestexcept(FE_INVALID) != 0,
           steps < MOST_PARENTS, number_in_status("Pid:") == getpid());
    MPI_Finalize();
    return 0;
}
