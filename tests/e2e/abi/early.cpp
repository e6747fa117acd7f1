/* SPDX-License-Identifier: BSD-3-Clause */
/* A class whose tables both the program and a library have: the library's object, made before main(), finds
 * the program's. */
#include <cstdio>
#include <mpi.h>

struct base {
    int seen = 0;
    virtual int value()
    {
        return 1;
    }
    virtual ~base() = default;
};

struct shape : virtual base {
    __attribute__((noinline)) shape()
    {
        seen = 2;
    }
    int value() override
    {
        return seen + 1;
    }
};

struct deep : shape {
    deep() : shape()
    {
    }
};

int made_value();

#ifdef LIBRARY
static deep made;
int made_value()
{
    int flag;
    base *one = &made;
    MPI_Initialized(&flag);
    return one->value() + flag;
}
#else
int main(int argc, char **argv)
{
    deep mine;
    base *one = &mine;
    MPI_Init(&argc, &argv);
    if (made_value() + one->value() == 7)
        puts("early: PASS");
    return MPI_Finalize();
}
#endif
