/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions by the names that they had before OpenSHMEM 1.2. */
#include "openshmem/internal.h"

PF_EXPORT int _my_pe(void)
{
    return shmem_my_pe();
}

PF_EXPORT int _num_pes(void)
{
    return shmem_n_pes();
}

PF_EXPORT void *shmalloc(size_t size)
{
    struct pf_shmem *me = PF_SHMEM_ENTER("shmalloc", COMMUNICATES);
    void *result = pf_shmem_malloc(me, sizeof(max_align_t), size);
    pf_shmem_leave(me);
    return result;
}

PF_EXPORT void shfree(void *ptr)
{
    struct pf_shmem *me = PF_SHMEM_ENTER("shfree", COMMUNICATES);
    pf_shmem_free(me, ptr);
    pf_shmem_leave(me);
}

PF_EXPORT void *shrealloc(void *ptr, size_t size)
{
    struct pf_shmem *me = PF_SHMEM_ENTER("shrealloc", COMMUNICATES);
    void *result = pf_shmem_realloc(me, ptr, size);
    pf_shmem_leave(me);
    return result;
}

PF_EXPORT void *shmemalign(size_t alignment, size_t size)
{
    struct pf_shmem *me = PF_SHMEM_ENTER("shmemalign", COMMUNICATES);
    void *result = pf_shmem_malloc(me, alignment, size);
    pf_shmem_leave(me);
    return result;
}
