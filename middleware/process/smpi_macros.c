/* SPDX-License-Identifier: BSD-3-Clause */
/* SMPI's macros: applications cannot link SimGrid itself, whose MPI names they must not meet. */
#include "middleware/include/smpi_macros.h"

#include "base/export.h"
#include "middleware/account/compute.h"

#undef smpi_execute
#undef smpi_execute_benched
#undef smpi_execute_flops
#undef smpi_execute_flops_benched
#undef smpi_sample_cond
#undef smpi_sample_exit
#undef smpi_sample_iter
#undef smpi_shared_free
#undef smpi_shared_get_call
#undef smpi_shared_known_call
#undef smpi_shared_malloc
#undef smpi_shared_malloc_partial
#undef smpi_shared_set_call

/* What takes or measures time stands between pf_compute_call() and pf_compute_return(): SMPI reads the rank's
 * clock there. Memory takes none. */

/* SimGrid's, whose header would bring another mpi.h. */
void smpi_execute(double duration);
void smpi_execute_benched(double duration);
void smpi_execute_flops(double flops);
void smpi_execute_flops_benched(double flops);
int smpi_sample_cond(int global, const char *file, const char *tag, int iters, double threshold,
                     int iter_count);
void smpi_sample_iter(int global, const char *file, const char *tag);
int smpi_sample_exit(int global, const char *file, const char *tag, int iter_count);
void *smpi_shared_malloc(size_t size, const char *file, int line);
void *smpi_shared_malloc_partial(size_t size, const size_t *shared_block_offsets, int nb_shared_blocks);
void smpi_shared_free(void *data);
int smpi_shared_known_call(const char *func, const char *input);
void *smpi_shared_get_call(const char *func, const char *input);
void *smpi_shared_set_call(const char *func, const char *input, void *data);

PF_EXPORT void pf_smpi_execute(double duration)
{
    struct pf_rank *r = pf_compute_call();
    smpi_execute(duration);
    pf_compute_return(r);
}

PF_EXPORT void pf_smpi_execute_benched(double duration)
{
    struct pf_rank *r = pf_compute_call();
    smpi_execute_benched(duration);
    pf_compute_return(r);
}

PF_EXPORT void pf_smpi_execute_flops(double flops)
{
    struct pf_rank *r = pf_compute_call();
    smpi_execute_flops(flops);
    pf_compute_return(r);
}

PF_EXPORT void pf_smpi_execute_flops_benched(double flops)
{
    struct pf_rank *r = pf_compute_call();
    smpi_execute_flops_benched(flops);
    pf_compute_return(r);
}

PF_EXPORT int pf_smpi_sample_cond(int global, const char *file, const char *tag, int iters, double threshold,
                                  int iter_count)
{
    struct pf_rank *r = pf_compute_call();
    int more = smpi_sample_cond(global, file, tag, iters, threshold, iter_count);
    pf_compute_return(r);
    return more;
}

PF_EXPORT void pf_smpi_sample_iter(int global, const char *file, const char *tag)
{
    struct pf_rank *r = pf_compute_call();
    smpi_sample_iter(global, file, tag);
    pf_compute_return(r);
}

PF_EXPORT int pf_smpi_sample_exit(int global, const char *file, const char *tag, int iter_count)
{
    struct pf_rank *r = pf_compute_call();
    int result = smpi_sample_exit(global, file, tag, iter_count);
    pf_compute_return(r);
    return result;
}

PF_EXPORT void *pf_smpi_shared_malloc(size_t size, const char *file, int line)
{
    return smpi_shared_malloc(size, file, line);
}

PF_EXPORT void *pf_smpi_shared_malloc_partial(size_t size, const size_t *shared_block_offsets,
                                              int nb_shared_blocks)
{
    return smpi_shared_malloc_partial(size, shared_block_offsets, nb_shared_blocks);
}

PF_EXPORT void pf_smpi_shared_free(void *data)
{
    smpi_shared_free(data);
}

PF_EXPORT int pf_smpi_shared_known_call(const char *func, const char *input)
{
    return smpi_shared_known_call(func, input);
}

PF_EXPORT void *pf_smpi_shared_get_call(const char *func, const char *input)
{
    return smpi_shared_get_call(func, input);
}

PF_EXPORT void *pf_smpi_shared_set_call(const char *func, const char *input, void *data)
{
    return smpi_shared_set_call(func, input, data);
}
