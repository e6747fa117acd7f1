/* SPDX-License-Identifier: BSD-3-Clause */
/* The profiling names, pshmem_..., which shmem.h declares with the others. */
#include <shmem.h>
