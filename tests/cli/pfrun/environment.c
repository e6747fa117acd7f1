/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank's environment: what launchers set in it, and that what one rank changes is no other's. Prints the
 * launcher's variables as a constructor, and as main() after MPI_Init and the changes of all ranks, see them.
 * With WITHOUT_MPI all is the process's. */
#define _GNU_SOURCE
#ifndef WITHOUT_MPI
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(what)                                                                                          \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            printf("wrong in line %d: %s\n", __LINE__, #what);                                               \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

extern char **environ;
const char *of_library(const char *name);

static char early[400];

static void list(char *text, size_t room)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "OMPI_COMM_WORLD_NODE_RANK",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "PMIX_RANK",
                                        "MPI_LOCALRANKID",
                                        "MPI_LOCALNRANKS",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS",
                                        "SLURM_LOCALID"};
    *text = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t at = strlen(text);
        const char *value = getenv(names[i]);
        snprintf(text + at, room - at, "%s%s", i ? " " : "", value ? value : "-");
    }
}

__attribute__((constructor)) static void begin(void)
{
    list(early, sizeof early);
}

/* Changes of all kinds, with a value of the rank's own, which the others must not see. */
static void change(const char *mine)
{
    static char entry[40]; /* one for each rank, as all globals */
    CHECK(setenv("ENV_SET", mine, 1) == 0 && setenv("ENV_SET", "not this", 0) == 0);
    CHECK(setenv("ENV_GIVEN", mine, 0) == 0 && unsetenv("ENV_GONE") == 0);
    CHECK(setenv("", mine, 1) == -1 && setenv("A=B", mine, 1) == -1 && unsetenv("A=B") == -1);
    snprintf(entry, sizeof entry, "ENV_PUT=%s", mine);
    CHECK(putenv(entry) == 0);
    for (int i = 0; i < 100; i++) { /* more than there is room for at first */
        char name[20];
        snprintf(name, sizeof name, "ENV_%d", i);
        CHECK(setenv(name, mine, 1) == 0);
    }
}

static int in_environ(const char *name, const char *value)
{
    int found = 0;
    size_t length = strlen(name);
    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            found += strcmp(*entry + length + 1, value) == 0 ? 1 : 100;
    return found == 1;
}

static void check(const char *mine)
{
    CHECK(strcmp(getenv("ENV_SET"), mine) == 0 && in_environ("ENV_SET", mine));
    CHECK(strcmp(secure_getenv("ENV_PUT"), mine) == 0 && in_environ("ENV_PUT", mine));
    CHECK(strcmp(getenv("ENV_GIVEN"), "given") == 0 && !getenv("ENV_GONE"));
    CHECK(strcmp(getenv("ENV_99"), mine) == 0 && in_environ("ENV_99", mine));
    CHECK(strcmp(of_library("ENV_SET"), mine) == 0);
    CHECK(!getenv("ENV") && !getenv("ENV_SET=") && !getenv(""));
}

/* The program may bring a list of its own. */
static void replace(void)
{
    static char *own[] = {"OWN=1", NULL};
    environ = own;
    CHECK(strcmp(getenv("OWN"), "1") == 0 && !getenv("ENV_SET"));
    CHECK(setenv("OWN_2", "2", 1) == 0 && strcmp(getenv("OWN_2"), "2") == 0 && environ != own && !own[1]);
    CHECK(clearenv() == 0 && !getenv("OWN") && setenv("OWN_3", "3", 1) == 0 && in_environ("OWN_3", "3"));
}

int main(int argc, char **argv, char **variables)
{
    char now[400], mine[20];
    CHECK(argc == 1 && argv[0] && variables == environ);
    list(now, sizeof now);
    CHECK(strcmp(early, now) == 0);
    snprintf(mine, sizeof mine, "rank%s", getenv("PMIX_RANK") ? getenv("PMIX_RANK") : "");
    change(mine);
#ifndef WITHOUT_MPI
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD); /* the others have changed theirs */
#endif
    list(now, sizeof now);
    CHECK(strcmp(early, now) == 0);
    check(mine);
    printf("%s\n", now);
    replace();
#ifndef WITHOUT_MPI
    MPI_Finalize();
#endif
    return 0;
}
