/* SPDX-License-Identifier: BSD-3-Clause */
/* SMPI's macros for cheap simulation of long computations and large memory, which work in every model; mpi.h
 * includes this, as SMPI's does. What they mean: SimGrid's manual, "Simulating MPI Applications". The
 * functions behind them are SimGrid's own, under names that an application can link. */
#ifndef PARFOCAL_SMPI_MACROS_H
#define PARFOCAL_SMPI_MACROS_H

/* C90 and C++98 complain about variadic macros. */
#pragma GCC system_header

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A computation of so many simulated seconds or flops of the rank's host, without execution. The second of
 * each pair counts only while computations are simulated (--cfg=smpi/simulate-computation). */
void pf_smpi_execute(double duration);
void pf_smpi_execute_benched(double duration);
void pf_smpi_execute_flops(double flops);
void pf_smpi_execute_flops_benched(double flops);

/* Behind the loops below. */
int pf_smpi_sample_cond(int global, const char *file, const char *tag, int iters, double threshold,
                        int iter_count);
void pf_smpi_sample_iter(int global, const char *file, const char *tag);
int pf_smpi_sample_exit(int global, const char *file, const char *tag, int iter_count);

/* Memory that all ranks share, by the place of the call; and calls whose result all ranks share, by an input
 * string. */
void *pf_smpi_shared_malloc(size_t size, const char *file, int line);
void *pf_smpi_shared_malloc_partial(size_t size, const size_t *shared_block_offsets, int nb_shared_blocks);
void pf_smpi_shared_free(void *data);
int pf_smpi_shared_known_call(const char *func, const char *input);
void *pf_smpi_shared_get_call(const char *func, const char *input);
void *pf_smpi_shared_set_call(const char *func, const char *input, void *data);

#ifdef __cplusplus
}
#endif

/* Programs call some of them by these names. */
#define smpi_execute               pf_smpi_execute
#define smpi_execute_benched       pf_smpi_execute_benched
#define smpi_execute_flops         pf_smpi_execute_flops
#define smpi_execute_flops_benched pf_smpi_execute_flops_benched
#define smpi_sample_cond           pf_smpi_sample_cond
#define smpi_sample_exit           pf_smpi_sample_exit
#define smpi_sample_iter           pf_smpi_sample_iter
#define smpi_shared_free           pf_smpi_shared_free
#define smpi_shared_get_call       pf_smpi_shared_get_call
#define smpi_shared_known_call     pf_smpi_shared_known_call
#define smpi_shared_malloc         pf_smpi_shared_malloc
#define smpi_shared_malloc_partial pf_smpi_shared_malloc_partial
#define smpi_shared_set_call       pf_smpi_shared_set_call

#define PF_SAMPLE_JOIN2(a, b)      a##b
#define PF_SAMPLE_JOIN(a, b)       PF_SAMPLE_JOIN2(a, b)
#define PF_SAMPLE_COUNT            PF_SAMPLE_JOIN(pf_sample_count_, __LINE__)
#define PF_SAMPLE_NAME             PF_SAMPLE_JOIN(pf_sample_name_, __LINE__)

/* The loop runs some of its iterations, and all of them cost the mean: it counts them first, without its
 * body. */
#define PF_SAMPLE_LOOP(begin, condition, step, global, iters, threshold, tag)                                \
    int PF_SAMPLE_COUNT = 0;                                                                                 \
    char PF_SAMPLE_NAME[128];                                                                                \
    snprintf(PF_SAMPLE_NAME, sizeof PF_SAMPLE_NAME, "%s:%d", tag, __LINE__);                                 \
    for (begin; condition; step)                                                                             \
        PF_SAMPLE_COUNT++;                                                                                   \
    for (begin;                                                                                              \
         (condition) ? smpi_sample_cond(global, __FILE__, PF_SAMPLE_NAME, iters, threshold, PF_SAMPLE_COUNT) \
                     : smpi_sample_exit(global, __FILE__, PF_SAMPLE_NAME, PF_SAMPLE_COUNT);                  \
         smpi_sample_iter(global, __FILE__, PF_SAMPLE_NAME), (step))

#define SMPI_SAMPLE_LOCAL(begin, condition, step, iters, threshold)                                          \
    PF_SAMPLE_LOOP(begin, condition, step, 0, iters, threshold, "")
#define SMPI_SAMPLE_LOCAL_TAG(begin, condition, step, iters, threshold, tag)                                 \
    PF_SAMPLE_LOOP(begin, condition, step, 0, iters, threshold, tag)
#define SMPI_SAMPLE_GLOBAL(begin, condition, step, iters, threshold)                                         \
    PF_SAMPLE_LOOP(begin, condition, step, 1, iters, threshold, "")
#define SMPI_SAMPLE_GLOBAL_TAG(begin, condition, step, iters, threshold, tag)                                \
    PF_SAMPLE_LOOP(begin, condition, step, 1, iters, threshold, tag)

/* In place of a block that takes so long: the block is not executed. */
#define SMPI_SAMPLE_DELAY(duration) for (smpi_execute(duration); 0;)
#define SMPI_SAMPLE_FLOPS(flops)    for (smpi_execute_flops(flops); 0;)

#define SMPI_SHARED_MALLOC(size)    smpi_shared_malloc((size), __FILE__, __LINE__)
#define SMPI_PARTIAL_SHARED_MALLOC(size, offsets, blocks)                                                    \
    smpi_shared_malloc_partial((size), (offsets), (blocks))
#define SMPI_SHARED_FREE(data) smpi_shared_free(data)
#define SMPI_SHARED_CALL(func, input, ...)                                                                   \
    (smpi_shared_known_call(#func, (input)) ? smpi_shared_get_call(#func, (input))                           \
                                            : smpi_shared_set_call(#func, (input), (func)(__VA_ARGS__)))

#endif
