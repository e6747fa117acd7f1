/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TEST_OPENMPI_JOB_H
#define PF_TEST_OPENMPI_JOB_H

/* Open MPI's own header, for types and constants. Its functions and objects are one per rank here: fetch them
 * by name. */
#include <mpi.h>

#include "adapters/openmpi/openmpi.h"

struct rank {
    pf_self_t self; /* first: the data of the rank's actors are a pointer to it */
    struct pf_ompi_instance *inst;
    MPI_Comm world;
    MPI_Datatype type_int, type_double, type_char;
    MPI_Op sum;
    void *helper; /* scenario_progress */
};

/* A native function of the rank; every call counts as an entry of the middleware's. */
#define CALL(rank, name)                                                                                     \
    (pf_ompi_enter((rank)->inst, 0), (__typeof__(&PMPI_##name))pf_ompi_symbol((rank)->inst, "PMPI_" #name))

void test_fail(const struct rank *rank, const char *file, int line, const char *what)
    __attribute__((noreturn));

#define CHECK(rank, condition)                                                                               \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            test_fail(rank, __FILE__, __LINE__, #condition);                                                 \
    } while (0)

/* The job of the process, then by each rank: its instance, and a list of scenarios. */
void test_open(int size, pf_self_t *const *selves, const char *scenarios);
void test_create_instances(struct rank *rank);
void test_run_scenarios(struct rank *rank, const char *scenarios);

/* The scenarios, each run by all ranks. */
void scenario_local(struct rank *rank);
void scenario_ring(struct rank *rank);
void scenario_rendezvous(struct rank *rank);
void scenario_strided(struct rank *rank);
void scenario_collectives(struct rank *rank);
void scenario_communicators(struct rank *rank);
void scenario_nonblocking(struct rank *rank);
void scenario_probe(struct rank *rank);
void scenario_shadows(struct rank *rank);
void scenario_progress(struct rank *rank);
void scenario_tags(struct rank *rank);
void scenario_shared(struct rank *rank);
void scenario_window(struct rank *rank);
void scenario_unexpected(struct rank *rank);
void scenario_memory(struct rank *rank);
void scenario_pingpong(struct rank *rank);
void scenario_abort(struct rank *rank);

#endif
