/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment as a rank sees it. A list of pointers for each rank, which shares its strings with the
 * process, and one piece of memory for the list and for the variables of a launcher.
 *
 * What a rank sets is its own, but the process's environment gets it too: the C library itself reads that one
 * (TZ, LANG, what a child process inherits), as do Open MPI and libraries that serve all ranks.
 */
#include "middleware/process/libc_environment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/host.h>

#include "base/memory.h"
#include "middleware/core/job_state.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_process.h"

/* Where a rank is among those of its host. */
struct place {
    sg_host_t host;
    int rank, local, local_size;
};

struct environment {
    char ***variable; /* what the rank's program sees as environ */
    char ****others;  /* the same of its libraries, which follow that one */
    int other_count;
    char **own;  /* that, where the program has no variable of its own */
    char **list; /* the list that was made here last, of `room` pointers; the program may have another */
    int room;
};

static struct environment *environments; /* by rank */
static struct place *places;             /* the same */
static char ***process_variable;         /* environ of a program that runs without the simulator */

static int by_host(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->host != y->host)
        return (uintptr_t)x->host < (uintptr_t)y->host ? -1 : 1;
    return x->rank - y->rank;
}

static int by_rank(const void *a, const void *b)
{
    return ((const struct place *)a)->rank - ((const struct place *)b)->rank;
}

/* Jobs of a workload do not see each other. In a workload all ranks are known. */
static bool are_together(const struct place *a, const struct place *b)
{
    return a->host == b->host &&
           (!pf_job_state.ranks || pf_job_state.ranks[a->rank].job == pf_job_state.ranks[b->rank].job);
}

/* When the first rank begins, all of them have their hosts. */
static void find_places(int n)
{
    places = pf_calloc((size_t)n, sizeof *places);
    for (int i = 0; i < n; i++) {
        sg_actor_t actor = sg_actor_by_pid(i + 1);
        places[i] = (struct place){.host = actor ? sg_actor_get_host(actor) : NULL, .rank = i};
    }
    qsort(places, (size_t)n, sizeof *places, by_host);
    for (int first = 0, end; first < n; first = end) {
        for (end = first; end < n && are_together(&places[end], &places[first]); end++)
            places[end].local = end - first;
        for (int i = first; i < end; i++)
            places[i].local_size = end - first;
    }
    qsort(places, (size_t)n, sizeof *places, by_rank);
}

/* Variables of launchers: Open MPI's, PMI and PMIx, Hydra's, and Slurm's, which stand there only if pfrun
 * itself runs in a job of Slurm and would otherwise be those of pfrun. */
enum value { RANK, SIZE, LOCAL_RANK, LOCAL_SIZE };
static const struct {
    const char *name;
    enum value value;
    bool replaced_only;
} variables[] = {
    {"OMPI_COMM_WORLD_RANK", RANK, false},
    {"OMPI_COMM_WORLD_SIZE", SIZE, false},
    {"OMPI_COMM_WORLD_LOCAL_RANK", LOCAL_RANK, false},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", LOCAL_SIZE, false},
    {"OMPI_COMM_WORLD_NODE_RANK", LOCAL_RANK, false},
    {"PMI_RANK", RANK, false},
    {"PMI_SIZE", SIZE, false},
    {"PMIX_RANK", RANK, false},
    {"MPI_LOCALRANKID", LOCAL_RANK, false},
    {"MPI_LOCALNRANKS", LOCAL_SIZE, false},
    {"SMPI_GLOBAL_SIZE", SIZE, true},
    {"SLURM_PROCID", RANK, true},
    {"SLURM_NTASKS", SIZE, true},
    {"SLURM_NPROCS", SIZE, true},
    {"SLURM_LOCALID", LOCAL_RANK, true},
};
enum { VARIABLES = sizeof variables / sizeof variables[0], DIGITS = 12 };

static struct {
    char **list; /* without what each rank has its own of */
    int count;
    size_t bytes;          /* of a rank's own variables, */
    bool given[VARIABLES]; /* and which they are */
} start;

static bool is_named(const char *entry, const char *name, size_t length)
{
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static char **find(char **list, const char *name, size_t length)
{
    for (; list && *list; list++)
        if (is_named(*list, name, length))
            return list;
    return NULL;
}

static int count(char **list)
{
    int n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* What the ranks begin with is kept when the first one begins, since that one may change the process's. */
static void keep_process(void)
{
    start.list = pf_malloc(((size_t)count(environ) + 1) * sizeof *start.list);
    for (int i = 0; i < VARIABLES; i++) {
        start.given[i] =
            !variables[i].replaced_only || find(environ, variables[i].name, strlen(variables[i].name));
        start.bytes += start.given[i] ? strlen(variables[i].name) + DIGITS : 0;
    }
    for (char **entry = environ; entry && *entry; entry++) {
        bool replaced = false;
        for (int i = 0; i < VARIABLES && !replaced; i++)
            replaced = start.given[i] && is_named(*entry, variables[i].name, strlen(variables[i].name));
        if (!replaced)
            start.list[start.count++] = *entry;
    }
}

static void make(struct environment *e, int rank)
{
    const struct place *place = &places[rank];
    const struct pf_world *job = pf_job_state.ranks ? pf_job_state.ranks[rank].job : pf_job_state.worlds;
    const int values[] = {rank - job->first, job->size, place->local, place->local_size};
    int n = start.count;
    e->room = n + VARIABLES + 1;
    e->list = pf_malloc((size_t)e->room * sizeof *e->list + start.bytes);
    memcpy(e->list, start.list, (size_t)n * sizeof *e->list);
    char *text = (char *)(e->list + e->room);
    for (int i = 0; i < VARIABLES; i++) {
        if (!start.given[i])
            continue;
        e->list[n++] = text;
        text += sprintf(text, "%s=%d", variables[i].name, values[variables[i].value]) + 1;
    }
    e->list[n] = NULL;
    e->own = e->list;
    e->variable = &e->own;
}

/* Also in a child process that the rank has made; NULL outside a rank. */
static struct environment *of_caller(void)
{
    int rank = (int)pf_process_actor() - 1;
    if (rank < 0 || rank >= pf_job_state.size)
        return NULL;
    if (!environments) {
        environments = pf_calloc((size_t)pf_job_state.size, sizeof *environments);
        find_places(pf_job_state.size);
        keep_process();
    }
    struct environment *e = &environments[rank];
    if (!e->variable)
        make(e, rank);
    return e;
}

void pf_program_environment(char ***variable)
{
    struct environment *e = of_caller();
    *variable = e ? e->list : environ;
    if (!e) {
        process_variable = variable;
        return;
    }
    if (e->variable != &e->own) {
        e->others = pf_realloc(e->others, ((size_t)e->other_count + 1) * sizeof *e->others);
        e->others[e->other_count++] = e->variable;
    }
    e->variable = variable; /* libraries come before the program that needs them */
}

static void set_list(struct environment *e, char **list)
{
    *e->variable = list;
    for (int i = 0; i < e->other_count; i++)
        *e->others[i] = list;
}

char **pf_environment(void)
{
    struct environment *e = of_caller();
    return e ? *e->variable : environ;
}

char ***pf_environment_variable(void)
{
    struct environment *e = of_caller();
    return e ? e->variable : NULL;
}

/* A program without the simulator: its variable and the C library's are to be the same. */
static void to_process(void)
{
    if (process_variable)
        environ = *process_variable;
}

static void from_process(void)
{
    if (process_variable)
        *process_variable = environ;
}

char *pf_libc_getenv(const char *name)
{
    struct environment *e = of_caller();
    if (!e) {
        to_process();
        return getenv(name);
    }
    size_t length = strlen(name);
    char **entry = find(*e->variable, name, length);
    return entry ? *entry + length + 1 : NULL;
}

char *pf_libc_secure_getenv(const char *name)
{
    return getauxval(AT_SECURE) ? NULL : pf_libc_getenv(name);
}

/* Takes `entry`, NAME=VALUE, into the rank's environment. What it replaces stays in memory, as in the C
 * library: the program may have a pointer to it. */
static void put(struct environment *e, char *entry, size_t length)
{
    char **old = find(*e->variable, entry, length);
    if (old) {
        *old = entry;
        return;
    }
    int n = count(*e->variable);
    if (*e->variable != e->list || n + 2 > e->room) {
        e->room = 2 * n + 16;
        char **larger = pf_malloc((size_t)e->room * sizeof *larger);
        memcpy(larger, *e->variable ? *e->variable : larger, (size_t)n * sizeof *larger);
        set_list(e, e->list = larger); /* the first list has strings behind it, and is not freed */
    }
    e->list[n] = entry;
    e->list[n + 1] = NULL;
}

static bool is_name(const char *name)
{
    if (name && *name && !strchr(name, '='))
        return true;
    errno = EINVAL;
    return false;
}

int pf_libc_setenv(const char *name, const char *value, int overwrite)
{
    struct environment *e = of_caller();
    int result = 0;
    if (!e) {
        to_process();
        result = setenv(name, value, overwrite);
        from_process();
        return result;
    }
    if (!is_name(name))
        return -1;
    if (!overwrite && find(*e->variable, name, strlen(name)))
        return 0;
    put(e, pf_asprintf("%s=%s", name, value), strlen(name));
    return setenv(name, value, 1);
}

static void take_out(char **list, const char *name)
{
    size_t length = strlen(name);
    char **entry = list;
    while ((entry = find(entry, name, length)))
        for (char **next = entry; (*next = next[1]); next++)
            ;
}

int pf_libc_unsetenv(const char *name)
{
    struct environment *e = of_caller();
    if (!is_name(name))
        return -1;
    to_process();
    if (e)
        take_out(*e->variable, name);
    int result = unsetenv(name);
    from_process();
    return result;
}

int pf_libc_putenv(char *entry)
{
    struct environment *e = of_caller();
    const char *end = strchr(entry, '=');
    if (!end)
        return pf_libc_unsetenv(entry);
    to_process();
    if (e)
        put(e, entry, (size_t)(end - entry));
    int result = putenv(entry);
    from_process();
    return result;
}

int pf_libc_clearenv(void)
{
    struct environment *e = of_caller();
    if (e) {
        set_list(e, NULL);
        return 0; /* other ranks, and the C library, go on with theirs */
    }
    int result = clearenv();
    from_process();
    return result;
}
