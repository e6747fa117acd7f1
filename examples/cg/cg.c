/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conjugate gradients on a 3-D grid: Parfocal's main example.
 *
 * It solves A x = b, where A is the 7-point Laplacian on n x n x n points with zero values outside the grid,
 * and b is A times a known u, so that the answer can be checked point by point. The grid is cut into boxes,
 * one per rank; a box carries one layer of ghost points, which halo_begin() and halo_end() fill from its six
 * neighbours.
 *
 * The program is ordinary MPI. Only the pf_phase() lines in main() know about Parfocal: they name the phases
 * that a schedule maps to models, for instance
 *
 *     pfrun -np 16 -model smpi -schedule solve=portals,report=smpi ./cg -n 32
 *
 * Operations are pending across both phase boundaries on purpose, because real codes do that:
 *     setup -> solve    the first halo exchange of p, and the allreduce of (b,b);
 *     solve -> report   the halo exchange of x, and the gather of the statistics.
 * The model that started an operation completes it. With a plain mpicc, pf_phase() compiles to nothing.
 */
#include <math.h>
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NDIM = 3, NFACE = 2 * NDIM, TAG_HALO = 100 };

static const double TOLERANCE = 1e-10; /* converged when |r| <= TOLERANCE |b| */
static const double MAX_ERROR = 1e-7;  /* allowed at a point of the solution, whose values are about 1 */

/* The box of one rank. Own points are numbered 1..len[d]; 0 and len[d]+1 are ghosts. x varies fastest in
 * memory. */
typedef struct {
    MPI_Comm comm;
    int rank, nranks;
    int n;                   /* points per side of the whole grid */
    int dims[NDIM];          /* ranks per direction */
    int len[NDIM];           /* own points per direction */
    int first[NDIM];         /* global number, from 0, of the first own point */
    int stride[NDIM];        /* distance in memory between neighbours */
    size_t size;             /* points of the box, with ghosts */
    int peer[NFACE];         /* rank behind face 2d (low side) and 2d+1 (high side), or MPI_PROC_NULL */
    MPI_Datatype face[NDIM]; /* one layer of own points perpendicular to direction d */
} grid_t;

/* A halo exchange under way: first the receives, then the sends. */
typedef struct {
    MPI_Request req[2 * NFACE];
} halo_t;

typedef struct {
    grid_t grid;
    double *x, *b, *r, *p, *q; /* solution, right-hand side, residual, direction, A p */
    double rr, bb;             /* (r,r) and (b,b) */
    double local_bb;           /* contribution of this rank; the buffer of a pending allreduce, like bb */
    int iterations;            /* of the last solution */
    halo_t halo;
    MPI_Request norm_req, stats_req;
} solver_t;

/* What each rank sends rank 0 about its part of the solve phase. */
typedef struct {
    double seconds, faces;
} stats_t;

/* ---- grid ---- */

static size_t point(const grid_t *g, int i, int j, int k)
{
    return (size_t)i + (size_t)j * g->stride[1] + (size_t)k * g->stride[2];
}

/* Cuts n points into `parts`; the first n % parts pieces get one point more. */
static void cut(int n, int parts, int index, int *first, int *len)
{
    int base = n / parts, rest = n % parts;

    *len = base + (index < rest);
    *first = index * base + (index < rest ? index : rest);
}

/* A layer perpendicular to x is a column of single points, to y a set of rows, to z one plane without its
 * ghosts. */
static void make_face_types(grid_t *g)
{
    const int *len = g->len, *stride = g->stride;
    MPI_Datatype column;

    MPI_Type_vector(len[1], 1, stride[1], MPI_DOUBLE, &column);
    MPI_Type_create_hvector(len[2], 1, stride[2] * (MPI_Aint)sizeof(double), column, &g->face[0]);
    MPI_Type_free(&column);
    MPI_Type_vector(len[2], len[0], stride[2], MPI_DOUBLE, &g->face[1]);
    MPI_Type_vector(len[1], len[0], stride[1], MPI_DOUBLE, &g->face[2]);
    for (int d = 0; d < NDIM; d++)
        MPI_Type_commit(&g->face[d]);
}

/* Returns false when some rank would have no point. */
static int grid_init(grid_t *g, int n)
{
    int coord[NDIM], below = 1;

    memset(g, 0, sizeof(*g));
    MPI_Comm_dup(MPI_COMM_WORLD, &g->comm);
    MPI_Comm_rank(g->comm, &g->rank);
    MPI_Comm_size(g->comm, &g->nranks);
    MPI_Dims_create(g->nranks, NDIM, g->dims);
    g->n = n;
    g->size = 1;
    for (int d = 0; d < NDIM; d++) {
        if (g->dims[d] > n)
            return 0;
        coord[d] = g->rank / below % g->dims[d];
        cut(n, g->dims[d], coord[d], &g->first[d], &g->len[d]);
        g->peer[2 * d] = coord[d] > 0 ? g->rank - below : MPI_PROC_NULL;
        g->peer[2 * d + 1] = coord[d] < g->dims[d] - 1 ? g->rank + below : MPI_PROC_NULL;
        g->stride[d] = (int)g->size;
        g->size *= (size_t)g->len[d] + 2;
        below *= g->dims[d];
    }
    make_face_types(g);
    return 1;
}

static void grid_free(grid_t *g)
{
    for (int d = 0; d < NDIM; d++)
        MPI_Type_free(&g->face[d]);
    MPI_Comm_free(&g->comm);
}

/* ---- halo exchange ---- */

/* Starts sending the own layers of `field` to the neighbours and receiving theirs into the ghosts. */
static void halo_begin(const grid_t *g, double *field, halo_t *h)
{
    for (int f = 0; f < NFACE; f++) {
        int d = f / 2, high = f % 2;
        size_t corner = point(g, 1, 1, 1), layer = (size_t)g->stride[d];
        double *own = field + corner + (high ? (g->len[d] - 1) * layer : 0);
        double *ghost = high ? own + layer : own - layer;

        /* The neighbour sends through its opposite face, f ^ 1, and tags the message with that. */
        MPI_Irecv(ghost, 1, g->face[d], g->peer[f], TAG_HALO + (f ^ 1), g->comm, &h->req[f]);
        MPI_Isend(own, 1, g->face[d], g->peer[f], TAG_HALO + f, g->comm, &h->req[NFACE + f]);
    }
}

static void halo_end(halo_t *h)
{
    MPI_Waitall(2 * NFACE, h->req, MPI_STATUSES_IGNORE);
}

/* ---- linear algebra on the own points ---- */

/* Runs the statement for each own point; `at` is its place in memory. */
#define FOR_OWN_POINTS(g, at, statement)                                                                     \
    for (int k_ = 1; k_ <= (g)->len[2]; k_++)                                                                \
        for (int j_ = 1; j_ <= (g)->len[1]; j_++)                                                            \
            for (size_t at = point(g, 1, j_, k_), end_ = at + (size_t)(g)->len[0]; at < end_; at++)          \
    statement

static double local_dot(const grid_t *g, const double *u, const double *v)
{
    double sum = 0;

    FOR_OWN_POINTS(g, at, sum += u[at] * v[at]);
    return sum;
}

static double dot(const grid_t *g, const double *u, const double *v)
{
    double local = local_dot(g, u, v), sum;

    MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, g->comm);
    return sum;
}

/* out = A in; the ghosts of `in` must be up to date. */
static void apply(const grid_t *g, const double *in, double *out)
{
    size_t dy = (size_t)g->stride[1], dz = (size_t)g->stride[2];

    FOR_OWN_POINTS(g, at,
                   out[at] = 6 * in[at] - in[at - 1] - in[at + 1] - in[at - dy] - in[at + dy] - in[at - dz] -
                             in[at + dz]);
}

/* ---- problem with a known answer ---- */

/* u at a point of the whole grid: smooth, but not an eigenvector of A, which would converge at once. */
static double known(const grid_t *g, int i, int j, int k)
{
    double h = 1.0 / (g->n + 1), x = (i + 1) * h, y = (j + 1) * h, z = (k + 1) * h;

    if (i < 0 || j < 0 || k < 0 || i >= g->n || j >= g->n || k >= g->n)
        return 0;
    return 32 * x * (1 - x) * y * (1 - y) * z * (1 - z) * (1 + sin(3 * x + 5 * y + 7 * z));
}

/* b = A u from the formula, without communication: a wrong halo exchange must not cancel out in the check. */
static double source(const grid_t *g, int i, int j, int k)
{
    return 6 * known(g, i, j, k) - known(g, i - 1, j, k) - known(g, i + 1, j, k) - known(g, i, j - 1, k) -
           known(g, i, j + 1, k) - known(g, i, j, k - 1) - known(g, i, j, k + 1);
}

static void fill(const grid_t *g, double *out, double (*f)(const grid_t *, int, int, int))
{
    for (int k = 0; k < g->len[2]; k++)
        for (int j = 0; j < g->len[1]; j++)
            for (int i = 0; i < g->len[0]; i++)
                out[point(g, i + 1, j + 1, k + 1)] = f(g, g->first[0] + i, g->first[1] + j, g->first[2] + k);
}

static double max_error(const grid_t *g, const double *x, double *scratch)
{
    double local = 0, max;

    fill(g, scratch, known);
    FOR_OWN_POINTS(g, at, local = fmax(local, fabs(x[at] - scratch[at])));
    MPI_Allreduce(&local, &max, 1, MPI_DOUBLE, MPI_MAX, g->comm);
    return max;
}

/* ---- the three phases ---- */

static double *field_new(const grid_t *g)
{
    double *f = calloc(g->size, sizeof(double));

    if (!f) {
        fprintf(stderr, "cg: no memory for %zu points\n", g->size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return f;
}

/* x starts at zero, so r = p = b. Leaves (b,b) and the first halo exchange of p pending. */
static void begin(solver_t *s)
{
    const grid_t *g = &s->grid;

    memset(s->x, 0, g->size * sizeof(double));
    memcpy(s->r, s->b, g->size * sizeof(double));
    memcpy(s->p, s->b, g->size * sizeof(double));
    s->iterations = 0;
    s->local_bb = local_dot(g, s->b, s->b);
    MPI_Iallreduce(&s->local_bb, &s->bb, 1, MPI_DOUBLE, MPI_SUM, g->comm, &s->norm_req);
    halo_begin(g, s->p, &s->halo);
}

/* Builds the problem, and begins to solve it. */
static int setup(solver_t *s, int n)
{
    grid_t *g = &s->grid;

    if (!grid_init(g, n))
        return 0;
    s->x = field_new(g);
    s->b = field_new(g);
    s->r = field_new(g);
    s->p = field_new(g);
    s->q = field_new(g);
    fill(g, s->b, source);
    begin(s);
    return 1;
}

/* One step. Returns true when the residual is small enough. */
static int iterate(solver_t *s)
{
    const grid_t *g = &s->grid;
    double alpha, old = s->rr;

    apply(g, s->p, s->q);
    alpha = s->rr / dot(g, s->p, s->q);
    FOR_OWN_POINTS(g, at, s->x[at] += alpha * s->p[at]);
    FOR_OWN_POINTS(g, at, s->r[at] -= alpha * s->q[at]);
    s->rr = dot(g, s->r, s->r);
    FOR_OWN_POINTS(g, at, s->p[at] = s->r[at] + s->rr / old * s->p[at]);
    s->iterations++;
    return sqrt(s->rr) <= TOLERANCE * sqrt(s->bb);
}

/* Returns true when converged. */
static int solve_once(solver_t *s, int max_iterations)
{
    MPI_Wait(&s->norm_req, MPI_STATUS_IGNORE);
    s->rr = s->bb;
    for (;;) {
        halo_end(&s->halo);
        if (iterate(s))
            return 1;
        if (s->iterations == max_iterations)
            return 0;
        halo_begin(&s->grid, s->p, &s->halo);
    }
}

/* Solves the same problem so many times, as a code does that goes on in time. Leaves the halo exchange of x
 * and the gather of the statistics pending. Returns true when converged. */
static int solve(solver_t *s, int max_iterations, int times, stats_t *mine, stats_t *all)
{
    const grid_t *g = &s->grid;
    double since = MPI_Wtime();
    int converged = solve_once(s, max_iterations);

    for (int i = 1; i < times; i++) {
        begin(s);
        converged = solve_once(s, max_iterations);
    }
    halo_begin(g, s->x, &s->halo);
    for (int f = 0; f < NFACE; f++)
        mine->faces += g->peer[f] != MPI_PROC_NULL;
    mine->seconds = MPI_Wtime() - since;
    MPI_Igather(mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, g->comm, &s->stats_req);
    return converged;
}

static void print_report(const solver_t *s, const stats_t *all, int converged, double residual, double error)
{
    const grid_t *g = &s->grid;
    double seconds = 0, faces = 0;

    for (int r = 0; r < g->nranks; r++) {
        seconds = fmax(seconds, all[r].seconds);
        faces += all[r].faces;
    }
    printf("cg: %d^3 points on %d x %d x %d ranks\n", g->n, g->dims[0], g->dims[1], g->dims[2]);
    printf("cg: %s after %d iterations, %.0f halo messages in each\n",
           converged ? "converged" : "stopped by -i", s->iterations, faces);
    printf("cg: relative residual %.3e, error against the known solution %.3e\n", residual, error);
    printf("cg: the slowest rank took %.9f s in solve\n", seconds);
}

/* Verifies the answer: b - A x is computed afresh, x is compared with u. Returns true when it is right. */
static int report(solver_t *s, const stats_t *all, int converged)
{
    grid_t *g = &s->grid;
    double norm_b = sqrt(s->bb), residual, error;
    int right;

    halo_end(&s->halo);
    apply(g, s->x, s->q);
    FOR_OWN_POINTS(g, at, s->q[at] = s->b[at] - s->q[at]);
    residual = sqrt(dot(g, s->q, s->q)) / norm_b;
    error = max_error(g, s->x, s->q);
    MPI_Wait(&s->stats_req, MPI_STATUS_IGNORE);

    /* CG tracks the residual by recurrence; it must agree with the true one, also when -i stopped it
     * early. */
    right = fabs(residual - sqrt(s->rr) / norm_b) <= TOLERANCE;
    if (converged)
        right = right && residual <= 2 * TOLERANCE && error <= MAX_ERROR;
    if (g->rank == 0) {
        print_report(s, all, converged, residual, error);
        printf("cg: %s\n", right ? "verified" : "WRONG");
    }
    return right;
}

static void solver_free(solver_t *s)
{
    free(s->x);
    free(s->b);
    free(s->r);
    free(s->p);
    free(s->q);
    grid_free(&s->grid);
}

/* Reads "-n N", "-i N" and "-t N"; returns false when anything else is there. */
static int parse(int argc, char **argv, int *n, int *max_iterations, int *times)
{
    for (int i = 1; i < argc; i += 2) {
        const char *word = argv[i];
        int *target = !strcmp(word, "-n")   ? n
                      : !strcmp(word, "-i") ? max_iterations
                      : !strcmp(word, "-t") ? times
                                            : NULL;
        char *end = NULL;
        long value = target && i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;

        if (value < 1 || value > 4096 || *end)
            return 0;
        *target = (int)value;
    }
    return 1;
}

int main(int argc, char **argv)
{
    solver_t solver = {0};
    stats_t mine = {0, 0}, *all;
    int n = 32, max_iterations = 1000, times = 1, rank, nranks, converged, right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (!parse(argc, argv, &n, &max_iterations, &times)) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: cg [-n points per side] [-i most iterations] [-t times that it is solved] "
                    "(all from 1 to 4096)\n");
        MPI_Finalize();
        return 2;
    }
    all = calloc((size_t)nranks, sizeof(*all));

    pf_phase("setup");
    if (!setup(&solver, n)) {
        if (rank == 0)
            fprintf(stderr, "cg: %d^3 points are too few for %d ranks\n", n, nranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    pf_phase("solve");
    converged = solve(&solver, max_iterations, times, &mine, all);
    pf_phase("report");
    right = report(&solver, all, converged);

    solver_free(&solver);
    free(all);
    MPI_Finalize();
    return right ? 0 : 1;
}
