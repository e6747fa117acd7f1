/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM from C++: static data of classes and templates are symmetric, too; names before 1.2, and complex
 * numbers. */
#include <shmem.h>

#include <complex>
#include <cstdio>
#include <vector>

template <typename T> struct Box {
    static T value;
};
template <typename T> T Box<T>::value{};

int main()
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
    shmem_barrier_all();
    if (!good)
        std::printf("PE %d: wrong\n", me);
    else if (me == 0)
        std::printf("PASS\n");
    shmem_finalize();
    return !good;
}
