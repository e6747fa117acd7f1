/* SPDX-License-Identifier: BSD-3-Clause */
/* Much of the default heap, of which little is used. PE 0 prints how much memory the process has, in kB. */
#include "check.h"

static long resident(void)
{
    long kilobytes = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmRSS: %ld", &kilobytes);
    if (file)
        fclose(file);
    return kilobytes;
}

int main(void)
{
    shmem_init();
    size_t length = (size_t)1100 << 20;
    int me = shmem_my_pe(), size = shmem_n_pes(), right = (me + 1) % size;
    char *large = shmem_malloc(length);
    CHECK(large && !shmem_malloc(length));
    for (int i = 0; i < 3; i++)
        shmem_putmem(large + (length - 1) / 2 * (size_t)i, &(char){(char)(me + i)}, 1, right);
    shmem_barrier_all();
    for (int i = 0; i < 3; i++)
        CHECK(large[(length - 1) / 2 * (size_t)i] == (char)((me + size - 1) % size + i));
    if (me == 0)
        printf("%ld\n", resident());
    fflush(stdout);
    shmem_free(large);
    shmem_finalize();
    return 0;
}
