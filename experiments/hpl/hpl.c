/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPL alone: HPC Challenge's unmodified HPL without the other benchmarks. Reads hpccinf.txt, appends to
 * hpccoutf.txt. The linker puts the functions here before some of HPL's own (ld --wrap, see build.py):
 *
 * - phases for MPI_Pcontrol: 1 panel factorisation, 2 broadcast of a panel, 3 update, 0 the rest;
 * - argument update=sample: the update's products are sampled; update=flops: they are not executed, and they
 *   take as long as the node's speed says. Either way the matrix is wrong then;
 * - argument wait=block: waits for a panel instead of probing for it.
 */
#include <hpcc.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum level { REST, FACTORISATION, BROADCAST, UPDATE };

static enum level level;
static int samples, counts_flops, blocks; /* the arguments */

static void enter(enum level next)
{
    if (next != level)
        MPI_Pcontrol(next);
    level = next;
}

/* ---- phases ---- */

void __real_HPL_pdfact(HPL_T_panel *panel);
int __real_HPL_bcast(HPL_T_panel *panel, int *flag);
void __real_HPL_pdupdateTT(HPL_T_panel *cast, int *flag, HPL_T_panel *panel, const int n);

void __wrap_HPL_pdfact(HPL_T_panel *panel)
{
    enter(FACTORISATION);
    __real_HPL_pdfact(panel);
    enter(REST);
}

/* Called again and again until it has succeeded; within an update it is a part of that. */
int __wrap_HPL_bcast(HPL_T_panel *panel, int *flag)
{
    if (panel && level == REST)
        enter(BROADCAST);
    return __real_HPL_bcast(panel, flag);
}

void __wrap_HPL_pdupdateTT(HPL_T_panel *cast, int *flag, HPL_T_panel *panel, const int n)
{
    enter(UPDATE);
    __real_HPL_pdupdateTT(cast, flag, panel, n);
    enter(REST);
}

/* ---- computation ---- */

/* A product is made of pieces of so many columns, or rows of a triangular one, all of which take as long. */
#define PIECE 32

/* Pieces of about the same length are one sample, of all ranks together. */
#define CLASS 64

void __real_HPL_dgemm(const enum HPL_ORDER order, const enum HPL_TRANS ta, const enum HPL_TRANS tb,
                      const int m, const int n, const int k, const double alpha, const double *a,
                      const int lda, const double *b, const int ldb, const double beta, double *c,
                      const int ldc);
void __real_HPL_dtrsm(const enum HPL_ORDER order, const enum HPL_SIDE side, const enum HPL_UPLO uplo,
                      const enum HPL_TRANS ta, const enum HPL_DIAG diag, const int m, const int n,
                      const double alpha, const double *a, const int lda, double *b, const int ldb);

void __wrap_HPL_dgemm(const enum HPL_ORDER order, const enum HPL_TRANS ta, const enum HPL_TRANS tb,
                      const int m, const int n, const int k, const double alpha, const double *a,
                      const int lda, const double *b, const int ldb, const double beta, double *c,
                      const int ldc)
{
    const size_t step = tb == HplNoTrans ? (size_t)ldb : 1;
    const int whole = n / PIECE * PIECE;
    char tag[40];
    if (level == UPDATE && counts_flops) {
        smpi_execute_flops(2.0 * m * n * k);
        return;
    }
    if (level != UPDATE || !samples) {
        __real_HPL_dgemm(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        return;
    }
    snprintf(tag, sizeof tag, "dgemm %d", m / CLASS);
    SMPI_SAMPLE_GLOBAL_TAG(int j = 0, j < whole, j += PIECE, 10, 0.05, tag)
    __real_HPL_dgemm(order, ta, tb, m, PIECE, k, alpha, a, lda, b + (size_t)j * step, ldb, beta,
                     c + (size_t)j * (size_t)ldc, ldc);
    if (whole < n)
        __real_HPL_dgemm(order, ta, tb, m, n - whole, k, alpha, a, lda, b + (size_t)whole * step, ldb, beta,
                         c + (size_t)whole * (size_t)ldc, ldc);
}

/* The update has them from the right, whose rows do not depend on each other. */
void __wrap_HPL_dtrsm(const enum HPL_ORDER order, const enum HPL_SIDE side, const enum HPL_UPLO uplo,
                      const enum HPL_TRANS ta, const enum HPL_DIAG diag, const int m, const int n,
                      const double alpha, const double *a, const int lda, double *b, const int ldb)
{
    const int whole = m / PIECE * PIECE;
    if (level == UPDATE && counts_flops) {
        smpi_execute_flops((double)m * n * (side == HplRight ? n : m));
        return;
    }
    if (level != UPDATE || side != HplRight || !samples) {
        __real_HPL_dtrsm(order, side, uplo, ta, diag, m, n, alpha, a, lda, b, ldb);
        return;
    }
    SMPI_SAMPLE_GLOBAL_TAG(int i = 0, i < whole, i += PIECE, 10, 0.05, "dtrsm")
    __real_HPL_dtrsm(order, side, uplo, ta, diag, PIECE, n, alpha, a, lda, b + i, ldb);
    if (whole < m)
        __real_HPL_dtrsm(order, side, uplo, ta, diag, m - whole, n, alpha, a, lda, b + whole, ldb);
}

/* ---- waiting ---- */

#undef MPI_Iprobe
int __real_pf_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);

int __wrap_pf_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    if (!blocks)
        return __real_pf_MPI_Iprobe(source, tag, comm, flag, status);
    *flag = 1;
    return MPI_Probe(source, tag, comm, status);
}

int main(int argc, char **argv)
{
    HPL_RuntimeData data;
    int failure = 0;

    for (int i = 1; i < argc; i++) {
        samples |= strcmp(argv[i], "update=sample") == 0;
        counts_flops |= strcmp(argv[i], "update=flops") == 0;
        blocks |= strcmp(argv[i], "wait=block") == 0;
    }
    MPI_Init(&argc, &argv);
    HPL_main(argc, argv, &data, &failure);
    MPI_Finalize();
    return failure;
}
