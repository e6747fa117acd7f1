/* SPDX-License-Identifier: BSD-3-Clause */
/* SMPI's macros: applications cannot link SimGrid itself, whose MPI names they must not meet. */
#include "middleware/include/smpi_macros.h"

#include "base/export.h"
#include "middleware/compute/compute.h"

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

#define PAID(name, parameters, ...)                                                                          \
    PF_EXPORT void pf_##name parameters                                                                      \
    {                                                                                                        \
        struct pf_rank *r = pf_compute_call();                                                               \
        double before = pf_compute_date();                                                                   \
        name(__VA_ARGS__);                                                                                   \
        pf_compute_executed(r, before);                                                                      \
        pf_compute_return(r);                                                                                \
    }
#define PAID_ANSWER(name, parameters, ...)                                                                   \
    PF_EXPORT int pf_##name parameters                                                                       \
    {                                                                                                        \
        struct pf_rank *r = pf_compute_call();                                                               \
        double before = pf_compute_date();                                                                   \
        int answer = name(__VA_ARGS__);                                                                      \
        pf_compute_executed(r, before);                                                                      \
        pf_compute_return(r);                                                                                \
        return answer;                                                                                       \
    }
#define FREE(type, name, parameters, ...)                                                                    \
    PF_EXPORT type pf_##name parameters                                                                      \
    {                                                                                                        \
        return name(__VA_ARGS__);                                                                            \
    }

PAID(smpi_execute, (double duration), duration)
PAID(smpi_execute_benched, (double duration), duration)
PAID(smpi_execute_flops, (double flops), flops)
PAID(smpi_execute_flops_benched, (double flops), flops)
PAID_ANSWER(smpi_sample_cond,
            (int global, const char *file, const char *tag, int iters, double threshold, int iter_count),
            global, file, tag, iters, threshold, iter_count)
PAID(smpi_sample_iter, (int global, const char *file, const char *tag), global, file, tag)
PAID_ANSWER(smpi_sample_exit, (int global, const char *file, const char *tag, int iter_count), global, file,
            tag, iter_count)
FREE(void *, smpi_shared_malloc, (size_t size, const char *file, int line), size, file, line)
FREE(void *, smpi_shared_malloc_partial,
     (size_t size, const size_t *shared_block_offsets, int nb_shared_blocks), size, shared_block_offsets,
     nb_shared_blocks)
FREE(int, smpi_shared_known_call, (const char *func, const char *input), func, input)
FREE(void *, smpi_shared_get_call, (const char *func, const char *input), func, input)
FREE(void *, smpi_shared_set_call, (const char *func, const char *input, void *data), func, input, data)

PF_EXPORT void pf_smpi_shared_free(void *data)
{
    smpi_shared_free(data);
}
