/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM from C++: static data of classes and templates are symmetric, too; names before 1.2, functions
 * selected by type, and complex numbers. With an argument, a mistake. */
extern "C" {
#include <shmem.h>
}

#include <complex>
#include <cstdio>
#include <vector>

template <typename T> struct Box {
    static T value;
};
template <typename T> T Box<T>::value{};

static std::complex<double> number[2], sum[2], work[2];
static long sync_array[SHMEM_REDUCE_SYNC_SIZE], counter;

int main(int argc, char **)
{
    start_pes(0);
    int me = _my_pe(), size = _num_pes(), right = (me + 1) % size, left = (me + size - 1) % size;
    std::vector<double> out(10, me + 0.25);
    double *in = static_cast<double *>(shmalloc(10 * sizeof(double)));
    shmem_double_put(in, out.data(), 10, right);
    shmem_int_p(&Box<int>::value, me, right);
    shmem_barrier_all();
    bool good = in[9] == left + 0.25 && Box<int>::value == left && shmem_int_g(&Box<int>::value, right) == me;
    shfree(in);
    shmem_p(SHMEM_CTX_DEFAULT, &counter, 5L, argc > 1 ? 99 : right);
    shmem_wait_until(&counter, SHMEM_CMP_EQ, 5L);
    shmem_barrier_all();
    shmem_atomic_add(&counter, 2, right);
    shmem_barrier_all();
    number[1] = {1, double(me)};
    shmem_complexd_sum_to_all(sum, number, 2, 0, 0, size, work, sync_array);
    good = good && shmem_g(&counter, right) == 7 &&
           sum[1] == std::complex<double>(size, size * (size - 1) / 2.0);
    shmem_barrier_all();
    if (!good)
        std::printf("PE %d: wrong\n", me);
    else if (me == 0)
        std::printf("PASS\n");
    shmem_finalize();
    return !good;
}
