/* SPDX-License-Identifier: BSD-3-Clause */
/* Says when a run was mostly the sleep of SMPI's tests and probes. */
#include "adapters/smpi/smpi_functions.h"

#include <simgrid/engine.h>
#include <smpi/smpi.h>
#include <xbt/config.h>

#include "adapters/adapter.h"
#include "base/log.h"
#include "pf_own.h"

/* Shorter sleeps are no trap: about what an empty test takes in the other models. */
#define HARMLESS 1e-6

static double polled; /* seconds, all ranks */
static int ranks, ended;

void pf_smpi_polls_slept(double seconds)
{
    polled += seconds;
}

/* Defines NAME, which calls SMPI's function and counts the time. */
#define POLL(name, function, parameters, arguments)                                                          \
    static int name parameters                                                                               \
    {                                                                                                        \
        double begin = simgrid_get_clock();                                                                  \
        int code = function arguments;                                                                       \
        polled += simgrid_get_clock() - begin;                                                               \
        return code;                                                                                         \
    }

POLL(test, PMPI_Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))
POLL(testall, PMPI_Testall, (int n, MPI_Request *requests, int *flag, MPI_Status *statuses),
     (n, requests, flag, statuses))
POLL(testany, PMPI_Testany, (int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status),
     (n, requests, index, flag, status))
POLL(testsome, PMPI_Testsome, (int n, MPI_Request *requests, int *count, int *indices, MPI_Status *statuses),
     (n, requests, count, indices, statuses))
POLL(iprobe, PMPI_Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
     (source, tag, comm, flag, status))

/* As SMPI's, whose loop has no end where nothing comes. Waiting is not counted. */
static int probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    for (int i = 0; i < PF_PROBE_LOOKS; i++) {
        int found = 0, code = PMPI_Iprobe(source, tag, comm, &found, status);
        if (code != MPI_SUCCESS || found)
            return code;
    }
    return PF_PROBE_AGAIN;
}

void pf_smpi_polls_install(struct pf_own_fn *fn)
{
    fn->Probe = probe;
    fn->Test = test;
    fn->Testall = testall;
    fn->Testany = testany;
    fn->Testsome = testsome;
    fn->Iprobe = iprobe;
}

void pf_smpi_polls_begin(void)
{
    ranks++;
}

void pf_smpi_polls_end(void)
{
    double all = simgrid_get_clock() * ranks;
    double test = sg_cfg_get_double("smpi/test"), probe = sg_cfg_get_double("smpi/iprobe");
    /* Ranks that wait for one that sleeps lose as much without sleeping. */
    if (++ended < ranks || polled <= all / 4 || (test <= HARMLESS && probe <= HARMLESS))
        return;
    pf_warn(
        "%.0f %% of the ranks' simulated time passed in tests and probes of model smpi, which sleep (%g and "
        "%g "
        "s, and longer): with --cfg=smpi/test:1e-7 --cfg=smpi/iprobe:1e-7 --cfg=smpi/grow-injected-times:no "
        "they take what they take in the other models",
        100 * polled / all, test, probe);
}
