/* SPDX-License-Identifier: BSD-3-Clause */
/* A program and, with -DLIBRARY, a shared library that has a variable of its own. */
#ifdef LIBRARY
long of_library;

long *address(void)
{
    return &of_library;
}
#else
#include <shmem.h>

long *address(void);

int main(void)
{
    shmem_init();
    shmem_long_p(address(), 1, 0);
    shmem_finalize();
    return 0;
}
#endif
