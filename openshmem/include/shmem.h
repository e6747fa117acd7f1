/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenSHMEM 1.4 on the simulated machine. Built with pfoshcc or pfoshcxx, started with pfrun -np N.
 *
 * Source of all meanings: the OpenSHMEM specification 1.4. All counts are elements, all strides elements,
 * memory belongs to the caller; errors end the run with one line. The functions that exist once per type are
 * in shmem_proto.h, which is generated.
 */
#ifndef PARFOCAL_SHMEM_H
#define PARFOCAL_SHMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define PF_SHMEM_COMPLEX __complex__
#define PF_SHMEM_INLINE  inline __attribute__((always_inline)) /* so that diagnoses name the caller's line */
extern "C" {
#else
#define PF_SHMEM_COMPLEX _Complex
#endif

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 4
#define OSHMEM_SPEC_VERSION 10400 /* as other implementations say it: major * 10000 + minor * 100 */
#define SHMEM_MAX_NAME_LEN  64
#define SHMEM_VENDOR_STRING "Parfocal"

/* A context of communication; the default one is always there. */
typedef struct pf_shmem_context *shmem_ctx_t;
#define SHMEM_CTX_DEFAULT    ((shmem_ctx_t)0)
#define SHMEM_CTX_SERIALIZED 1L
#define SHMEM_CTX_PRIVATE    2L
#define SHMEM_CTX_NOSTORE    4L

enum { SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_LE, SHMEM_CMP_LT, SHMEM_CMP_GE };
#define SHMEM_CMP_EQ SHMEM_CMP_EQ /* macros, too, for #ifdef */
#define SHMEM_CMP_NE SHMEM_CMP_NE
#define SHMEM_CMP_GT SHMEM_CMP_GT
#define SHMEM_CMP_LE SHMEM_CMP_LE
#define SHMEM_CMP_LT SHMEM_CMP_LT
#define SHMEM_CMP_GE SHMEM_CMP_GE

enum { SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE };
#define SHMEM_THREAD_SINGLE     SHMEM_THREAD_SINGLE
#define SHMEM_THREAD_FUNNELED   SHMEM_THREAD_FUNNELED
#define SHMEM_THREAD_SERIALIZED SHMEM_THREAD_SERIALIZED
#define SHMEM_THREAD_MULTIPLE   SHMEM_THREAD_MULTIPLE

/* Elements of pSync: one per round of a collective, and of pWrk, which nothing is written to. */
#define SHMEM_SYNC_VALUE              0L
#define SHMEM_SYNC_SIZE               64
#define SHMEM_BARRIER_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE         SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE        SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE      SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE     SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1

/* The names before OpenSHMEM 1.2. */
#define _SHMEM_MAJOR_VERSION           SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION           SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN            SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING           SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ                  SHMEM_CMP_EQ
#define _SHMEM_CMP_NE                  SHMEM_CMP_NE
#define _SHMEM_CMP_GT                  SHMEM_CMP_GT
#define _SHMEM_CMP_LE                  SHMEM_CMP_LE
#define _SHMEM_CMP_LT                  SHMEM_CMP_LT
#define _SHMEM_CMP_GE                  SHMEM_CMP_GE
#define _SHMEM_SYNC_VALUE              SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE       SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE         SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE       SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE        SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_ALLTOALL_SYNC_SIZE      SHMEM_ALLTOALL_SYNC_SIZE
#define _SHMEM_ALLTOALLS_SYNC_SIZE     SHMEM_ALLTOALLS_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* Starts the calling PE; all PEs call it. No simulated time passes but that in which it waits for the last of
 * them. */
void shmem_init(void);
/* The same; the level that is given is SHMEM_THREAD_FUNNELED at most. Returns 0. */
int shmem_init_thread(int requested, int *provided);
/* The level that shmem_init_thread has given, SHMEM_THREAD_FUNNELED behind shmem_init. */
void shmem_query_thread(int *provided);
/* The end; all PEs call it. Contains a barrier over all PEs. */
void shmem_finalize(void);
/* Ends the job with this status. */
void shmem_global_exit(int status) __attribute__((noreturn));
void shmem_info_get_version(int *major, int *minor);
void shmem_info_get_name(char *name); /* SHMEM_MAX_NAME_LEN bytes at least */

/* The same under their profiling names. Those of all other functions are in shmem_proto.h. */
void pshmem_init(void);
int pshmem_init_thread(int requested, int *provided);
void pshmem_query_thread(int *provided);
void pshmem_finalize(void);
void pshmem_global_exit(int status) __attribute__((noreturn));
void pshmem_info_get_version(int *major, int *minor);
void pshmem_info_get_name(char *name);

/* The names before OpenSHMEM 1.2. */
void start_pes(int npes);
int _my_pe(void);
int _num_pes(void);
void *shmalloc(size_t size);
void shfree(void *ptr);
void *shrealloc(void *ptr, size_t size);
void *shmemalign(size_t alignment, size_t size);

/* What the selections by type lead to for a type that has no such function. */
void pf_shmem_no_such_type(void);
#define PF_SHMEM_FIRST(a, ...)     (a)
#define PF_SHMEM_SECOND(a, b, ...) (b)

#include <shmem_proto.h>

#ifdef __cplusplus
}

/* The sums and products of complex numbers, for those of C++. Some programs include this header in an extern
 * "C" of their own. */
extern "C++" {
#include <complex>

#define PF_SHMEM_REDUCE_COMPLEX(name, type)                                                                  \
    PF_SHMEM_INLINE void name(std::complex<type> *dest, const std::complex<type> *source, int nreduce,       \
                              int PE_start, int logPE_stride, int PE_size, std::complex<type> *pWrk,         \
                              long *pSync)                                                                   \
    {                                                                                                        \
        name(reinterpret_cast<type PF_SHMEM_COMPLEX *>(dest),                                                \
             reinterpret_cast<const type PF_SHMEM_COMPLEX *>(source), nreduce, PE_start, logPE_stride,       \
             PE_size, reinterpret_cast<type PF_SHMEM_COMPLEX *>(pWrk), pSync);                               \
    }
PF_SHMEM_REDUCE_COMPLEX(shmem_complexf_sum_to_all, float)
PF_SHMEM_REDUCE_COMPLEX(shmem_complexd_sum_to_all, double)
PF_SHMEM_REDUCE_COMPLEX(shmem_complexf_prod_to_all, float)
PF_SHMEM_REDUCE_COMPLEX(shmem_complexd_prod_to_all, double)
#undef PF_SHMEM_REDUCE_COMPLEX
}
#endif

#endif
