/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A field code: diffusion by a stencil, and a Poisson equation by a 3-D Fourier transform.
 *
 * A periodic grid of n x n x n points is cut into pencils along z, one per rank, or with `-x RANKS` into
 * slabs. Each time step has two parts that load a network in opposite ways, and each is a phase that a
 * schedule can give a model of its own:
 *
 * - stencil: u <- S u, `-m` times; S averages the 27 points around a point. Small messages to eight
 *   neighbours, and a reduction: bound by latency.
 * - fft: (S - 1) phi = u - mean(u), by a transform and its inverse. Four transpositions, each an MPI_Alltoall
 *   in the rows or columns of the ranks: bound by the bandwidth of whatever links lie between them.
 *
 *   pfrun -np 64 -platform dragonfly:256 -model analytic -schedule fft=packet,stencil=analytic ./spectral
 *
 * S is a convolution, so that modes keep their shape: u at the end is known point by point, and phi is put
 * into the equation. With a plain mpicc, pf_phase() compiles to nothing.
 */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NPEER = 8, NMODE = 3, CHANGE = 0, ENERGY = 1 };

static const double PI = 3.14159265358979323846;
static const double TOLERANCE = 1e-11; /* of u and of the equation, whose values are about 1 */

/* The field at the start: cosines with these wave numbers, of height 1 / NMODE. */
static const int MODES[NMODE][3] = {{1, 0, 2}, {2, 1, 0}, {1, 3, 1}};
/* Neighbours; opposite ones are i and 7 - i. */
static const int TOWARDS[NPEER][2] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}};

typedef struct {
    int rank, ranks, n, steps, sweeps;
    int dims[2], coord[2];    /* ranks in x and in y, and this one */
    int len[2];               /* own points in x and in y; all n in z */
    MPI_Comm grid, along[2];  /* all ranks; those that differ in x, in y */
    int peer[NPEER];          /* ranks around */
    MPI_Datatype edge[NPEER]; /* what goes to each of them */
    double *u, *next, *phi;   /* with a layer of ghosts in x and in y; z varies fastest */
    double complex *a, *b,
        *c;                /* own points without ghosts: the field, and two buffers of the transpositions */
    double complex *roots; /* exp(-2 pi i k / n) */
    double sums[2];        /* of the last sweep: of (S u - u)^2 and of u^2, over n^3 */
    double seconds;        /* simulated time of all steps, of the slowest rank */
} field_t;

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fprintf(stderr, "spectral: no memory for %zu values\n", count);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}

/* ---- pencils ---- */

/* Place of the first point in z of column (i, j); own ones have numbers from 1. */
static size_t column(const field_t *f, int i, int j)
{
    return ((size_t)i * (size_t)(f->len[1] + 2) + (size_t)j) * (size_t)f->n;
}

static size_t with_ghosts(const field_t *f)
{
    return column(f, f->len[0] + 2, 0);
}

static size_t own_points(const field_t *f)
{
    return (size_t)f->len[0] * (size_t)f->len[1] * (size_t)f->n;
}

/* A corner is one column; what goes sideways in y has a column in each row of x. */
static void make_edges(field_t *f)
{
    int row = (f->len[1] + 2) * f->n;

    for (int i = 0; i < NPEER; i++) {
        int rows = TOWARDS[i][0] ? 1 : f->len[0], columns = TOWARDS[i][1] ? 1 : f->len[1];
        int to[2] = {f->coord[0] + TOWARDS[i][0], f->coord[1] + TOWARDS[i][1]};

        MPI_Type_vector(rows, columns * f->n, row, MPI_DOUBLE, &f->edge[i]);
        MPI_Type_commit(&f->edge[i]);
        MPI_Cart_rank(f->grid, to, &f->peer[i]);
    }
}

/* How many ranks lie along x and along y; false when the grid cannot be cut into equal parts like that. */
static int choose_dims(field_t *f)
{
    if (f->dims[0] && f->ranks % f->dims[0])
        f->dims[1] = 0;
    else
        MPI_Dims_create(f->ranks, 2, f->dims);
    return f->dims[1] && f->n % f->dims[0] == 0 && f->n % f->dims[1] == 0;
}

/* Returns false when there are no equal parts. */
static int field_init(field_t *f)
{
    int periodic[2] = {1, 1}, keep[2][2] = {{1, 0}, {0, 1}};

    if (!choose_dims(f))
        return 0;
    MPI_Cart_create(MPI_COMM_WORLD, 2, f->dims, periodic, 0, &f->grid);
    MPI_Cart_coords(f->grid, f->rank, 2, f->coord);
    for (int d = 0; d < 2; d++) {
        f->len[d] = f->n / f->dims[d];
        MPI_Cart_sub(f->grid, keep[d], &f->along[d]);
    }
    make_edges(f);
    f->u = allocate(with_ghosts(f), sizeof *f->u);
    f->next = allocate(with_ghosts(f), sizeof *f->next);
    f->phi = allocate(with_ghosts(f), sizeof *f->phi);
    f->a = allocate(own_points(f), sizeof *f->a);
    f->b = allocate(own_points(f), sizeof *f->b);
    f->c = allocate(own_points(f), sizeof *f->c);
    f->roots = allocate((size_t)f->n, sizeof *f->roots);
    for (int k = 0; k < f->n; k++)
        f->roots[k] = cexp(-2 * PI * I * k / f->n);
    return 1;
}

static void field_free(field_t *f)
{
    for (int i = 0; i < NPEER; i++)
        MPI_Type_free(&f->edge[i]);
    for (int d = 0; d < 2; d++)
        MPI_Comm_free(&f->along[d]);
    MPI_Comm_free(&f->grid);
    free(f->u);
    free(f->next);
    free(f->phi);
    free(f->a);
    free(f->b);
    free(f->c);
    free(f->roots);
}

/* ---- the known solution ---- */

/* By which S multiplies a mode. */
static double symbol(const field_t *f, int kx, int ky, int kz)
{
    double w = 2 * PI / f->n;

    return (1 + 2 * cos(w * kx)) * (1 + 2 * cos(w * ky)) * (1 + 2 * cos(w * kz)) / 27;
}

/* u at a point of the whole grid after so many sweeps. */
static double known(const field_t *f, int x, int y, int z, int sweeps)
{
    double sum = 0;

    for (int m = 0; m < NMODE; m++) {
        const int *k = MODES[m];
        sum += pow(symbol(f, k[0], k[1], k[2]), sweeps) *
               cos(2 * PI / f->n * (k[0] * x + k[1] * y + k[2] * z)) / NMODE;
    }
    return sum;
}

/* What the sum over u^2 must be: half the square of each mode's height. */
static double known_energy(const field_t *f, int sweeps)
{
    double sum = 0;

    for (int m = 0; m < NMODE; m++)
        sum += pow(symbol(f, MODES[m][0], MODES[m][1], MODES[m][2]), 2 * sweeps) / (2 * NMODE * NMODE);
    return sum;
}

static double largest_error(const field_t *f, const double *values, int sweeps)
{
    double error = 0;

    for (int i = 0; i < f->len[0]; i++)
        for (int j = 0; j < f->len[1]; j++)
            for (int z = 0; z < f->n; z++) {
                int x = f->coord[0] * f->len[0] + i, y = f->coord[1] * f->len[1] + j;
                error = fmax(error,
                             fabs(values[column(f, i + 1, j + 1) + (size_t)z] - known(f, x, y, z, sweeps)));
            }
    return error;
}

static void fill(const field_t *f, double *values)
{
    for (int i = 0; i < f->len[0]; i++)
        for (int j = 0; j < f->len[1]; j++)
            for (int z = 0; z < f->n; z++)
                values[column(f, i + 1, j + 1) + (size_t)z] =
                    known(f, f->coord[0] * f->len[0] + i, f->coord[1] * f->len[1] + j, z, 0);
}

/* ---- phase stencil ---- */

static void exchange_halo(const field_t *f, double *values)
{
    MPI_Request requests[2 * NPEER];

    for (int i = 0; i < NPEER; i++) {
        int own[2], ghost[2];
        for (int d = 0; d < 2; d++) {
            own[d] = TOWARDS[i][d] > 0 ? f->len[d] : 1;
            ghost[d] = TOWARDS[i][d] > 0 ? f->len[d] + 1 : TOWARDS[i][d] < 0 ? 0 : 1;
        }
        MPI_Irecv(values + column(f, ghost[0], ghost[1]), 1, f->edge[i], f->peer[i], 7 - i, f->grid,
                  &requests[i]);
        MPI_Isend(values + column(f, own[0], own[1]), 1, f->edge[i], f->peer[i], i, f->grid,
                  &requests[NPEER + i]);
    }
    MPI_Waitall(2 * NPEER, requests, MPI_STATUSES_IGNORE);
}

/* out = S in; the ghosts of `in` must be up to date. Sums of nine columns first, then of three points in z.
 */
static void average(const field_t *f, const double *in, double *out, double *nine)
{
    int n = f->n;

    for (int i = 1; i <= f->len[0]; i++)
        for (int j = 1; j <= f->len[1]; j++) {
            double *to = out + column(f, i, j);
            memset(nine, 0, (size_t)n * sizeof *nine);
            for (int di = -1; di <= 1; di++)
                for (int dj = -1; dj <= 1; dj++) {
                    const double *from = in + column(f, i + di, j + dj);
                    for (int z = 0; z < n; z++)
                        nine[z] += from[z];
                }
            for (int z = 0; z < n; z++)
                to[z] = (nine[z] + nine[z ? z - 1 : n - 1] + nine[z < n - 1 ? z + 1 : 0]) / 27;
        }
}

/* Codes look after each step how much has changed, and what of it is left. */
static void sweep(field_t *f, double *nine)
{
    double *old = f->u, mine[2] = {0, 0};

    exchange_halo(f, old);
    average(f, old, f->next, nine);
    f->u = f->next;
    f->next = old;
    for (int i = 1; i <= f->len[0]; i++)
        for (size_t at = column(f, i, 1); at < column(f, i, f->len[1] + 1); at++) {
            mine[CHANGE] += (f->u[at] - old[at]) * (f->u[at] - old[at]);
            mine[ENERGY] += f->u[at] * f->u[at];
        }
    MPI_Allreduce(mine, f->sums, 2, MPI_DOUBLE, MPI_SUM, f->grid);
    f->sums[CHANGE] /= pow(f->n, 3);
    f->sums[ENERGY] /= pow(f->n, 3);
}

/* ---- phase fft ---- */

/* One line, in place; n is a power of two. The inverse is not divided by n. */
static void transform_line(const field_t *f, double complex *line, int inverse)
{
    int n = f->n;

    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex swap = line[i];
            line[i] = line[j];
            line[j] = swap;
        }
    }
    for (int half = 1; half < n; half *= 2)
        for (int start = 0; start < n; start += 2 * half)
            for (int k = 0; k < half; k++) {
                double complex root = f->roots[k * (n / (2 * half))];
                double complex odd = line[start + half + k] * (inverse ? conj(root) : root);
                line[start + half + k] = line[start + k] - odd;
                line[start + k] += odd;
            }
}

static void transform(const field_t *f, double complex *lines, int inverse)
{
    for (size_t at = 0; at < own_points(f); at += (size_t)f->n)
        transform_line(f, lines + at, inverse);
}

/* Between lines that are whole, an array [p][q][n], and blocks [size][p][q][q] for an exchange. */
static void pack_lines(const field_t *f, int p, int q, double complex *lines, double complex *blocks,
                       int unpack)
{
    for (int rank = 0; rank < f->n / q; rank++)
        for (int i = 0; i < p; i++)
            for (int j = 0; j < q; j++)
                for (int k = 0; k < q; k++) {
                    double complex *line = &lines[(size_t)((i * q + j) * f->n + rank * q + k)];
                    double complex *block = &blocks[(size_t)(((rank * p + i) * q + k) * q + j)];
                    *(unpack ? line : block) = unpack ? *block : *line;
                }
}

/* Between those blocks and the lines after the exchange, an array [q][p][n]. */
static void pack_pieces(const field_t *f, int p, int q, double complex *lines, double complex *blocks,
                        int unpack)
{
    for (int rank = 0; rank < f->n / q; rank++)
        for (int i = 0; i < p; i++)
            for (int k = 0; k < q; k++) {
                double complex *line = &lines[(size_t)((k * p + i) * f->n + rank * q)];
                double complex *block = &blocks[(size_t)(((rank * p + i) * q + k) * q)];
                memcpy(unpack ? line : block, unpack ? block : line, (size_t)q * sizeof *line);
            }
}

/* Each rank has [p][q][n]; the ranks of `comm` put q together and cut n instead: [q][p][n]. Or the way back.
 */
static void transpose(field_t *f, MPI_Comm comm, int p, int q, int back)
{
    int block = p * q * q;

    (back ? pack_pieces : pack_lines)(f, p, q, f->a, f->b, 0);
    MPI_Alltoall(f->b, block, MPI_C_DOUBLE_COMPLEX, f->c, block, MPI_C_DOUBLE_COMPLEX, comm);
    (back ? pack_lines : pack_pieces)(f, p, q, f->a, f->c, 1);
}

/* Divides by S - 1, and by the number of points, which the transforms leave. The mean is lost. */
static void divide(const field_t *f)
{
    double points = pow(f->n, 3);
    double complex *at = f->a;

    for (int j = 0; j < f->len[0]; j++)
        for (int k = 0; k < f->len[1]; k++)
            for (int x = 0; x < f->n; x++) {
                int y = f->coord[0] * f->len[0] + j, z = f->coord[1] * f->len[1] + k;
                *at++ *= x || y || z ? 1 / (points * (symbol(f, x, y, z) - 1)) : 0;
            }
}

static void copy_own(const field_t *f, double *values, double complex *own, int back)
{
    for (int i = 0; i < f->len[0]; i++)
        for (int j = 0; j < f->len[1]; j++)
            for (int z = 0; z < f->n; z++, own++) {
                double *value = &values[column(f, i + 1, j + 1) + (size_t)z];
                if (back)
                    *value = creal(*own);
                else
                    *own = *value;
            }
}

/* phi from u. Lines lie along z, then y, then x, and back. */
static void solve_poisson(field_t *f)
{
    copy_own(f, f->u, f->a, 0);
    transform(f, f->a, 0);
    transpose(f, f->along[1], f->len[0], f->len[1], 0);
    transform(f, f->a, 0);
    transpose(f, f->along[0], f->len[1], f->len[0], 0);
    transform(f, f->a, 0);
    divide(f);
    transform(f, f->a, 1);
    transpose(f, f->along[0], f->len[1], f->len[0], 1);
    transform(f, f->a, 1);
    transpose(f, f->along[1], f->len[0], f->len[1], 1);
    transform(f, f->a, 1);
    copy_own(f, f->phi, f->a, 1);
}

/* ---- phase report ---- */

/* Returns true when u, its energy and phi are right. */
static int report(field_t *f, double *nine)
{
    int sweeps = f->steps * f->sweeps, right;
    double mine[3] = {largest_error(f, f->u, sweeps), 0, f->seconds}, all[3];

    exchange_halo(f, f->phi);
    average(f, f->phi, f->next, nine);
    for (int i = 1; i <= f->len[0]; i++) /* the mean of u is zero */
        for (size_t at = column(f, i, 1); at < column(f, i, f->len[1] + 1); at++)
            mine[1] = fmax(mine[1], fabs(f->next[at] - f->phi[at] - f->u[at]));
    MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_MAX, f->grid);
    right = all[0] < TOLERANCE && all[1] < TOLERANCE &&
            fabs(f->sums[ENERGY] - known_energy(f, sweeps)) < TOLERANCE;
    if (f->rank == 0) {
        printf("spectral: %d^3 points on %d x %d ranks, %d steps of %d sweeps\n", f->n, f->dims[0],
               f->dims[1], f->steps, f->sweeps);
        printf("spectral: last change %.3e, energy %.6f, u is wrong by %.1e, the equation by %.1e\n",
               sqrt(f->sums[CHANGE]), f->sums[ENERGY], all[0], all[1]);
        printf("spectral: the slowest rank took %.9f s\n", all[2]);
        printf("spectral: %s\n", right ? "verified" : "WRONG");
    }
    return right;
}

/* Reads "-n N", "-s STEPS", "-m SWEEPS" and "-x RANKS"; returns false when anything else is there. */
static int parse(int argc, char **argv, field_t *f)
{
    for (int i = 1; i < argc; i += 2) {
        int *target = !strcmp(argv[i], "-n")   ? &f->n
                      : !strcmp(argv[i], "-s") ? &f->steps
                      : !strcmp(argv[i], "-m") ? &f->sweeps
                      : !strcmp(argv[i], "-x") ? &f->dims[0]
                                               : NULL;
        char *end = NULL;
        long value = target && i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;

        if (value < 1 || value > 1024 || *end)
            return 0;
        *target = (int)value;
    }
    return f->n >= 8 && (f->n & (f->n - 1)) == 0;
}

int main(int argc, char **argv)
{
    field_t field = {.n = 64, .steps = 2, .sweeps = 20};
    double *nine;
    int right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &field.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &field.ranks);
    if (!parse(argc, argv, &field)) {
        if (field.rank == 0)
            fprintf(stderr, "usage: spectral [-n points per side, a power of two from 8] [-s steps] [-m "
                            "sweeps in each] [-x ranks along x]\n");
        MPI_Finalize();
        return 2;
    }
    pf_phase("setup");
    if (!field_init(&field)) {
        if (field.rank == 0) {
            fprintf(stderr,
                    "spectral: %d points per side cannot be cut into equal parts for %d ranks, %d along x\n",
                    field.n, field.ranks, field.dims[0]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* which never ends: rank 0 speaks before the run is over */
    }
    nine = allocate((size_t)field.n, sizeof *nine);
    fill(&field, field.u);
    MPI_Barrier(field.grid);
    field.seconds = -MPI_Wtime();
    for (int step = 0; step < field.steps; step++) {
        pf_phase("stencil");
        for (int i = 0; i < field.sweeps; i++)
            sweep(&field, nine);
        pf_phase("fft");
        solve_poisson(&field);
    }
    field.seconds += MPI_Wtime();
    pf_phase("report");
    right = report(&field, nine);
    free(nine);
    field_free(&field);
    MPI_Finalize();
    return right ? 0 : 1;
}
