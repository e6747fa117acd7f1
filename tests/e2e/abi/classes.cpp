/* SPDX-License-Identifier: BSD-3-Clause */
/* The classes of MPI-2 where mpi.h still has them (Open MPI 4), else the functions: virtual functions,
 * objects that the library initialises, handles that its constructors have made. With one argument or two,
 * what is refused. */
#include <mpi.h>

#include <cstdio>
#include <vector>

#ifdef MPIPP_H
static void add(const void *in, void *inout, int count, const MPI::Datatype &)
{
    for (int i = 0; i < count; i++)
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
}

static bool good(int argc)
{
    const MPI::Intracomm &world = MPI::COMM_WORLD;
    int rank = world.Get_rank(), size = world.Get_size(), one = rank + 1, sum = 0;
    world.Allreduce(&one, &sum, 1, MPI::INT, MPI::SUM);
    MPI::Intracomm half = world.Split(rank % 2, rank);
    MPI::Datatype pair = MPI::DOUBLE.Create_contiguous(2);
    pair.Commit();
    std::vector<double> out(2, rank), in(2, -1);
    MPI::Status status;
    MPI::Request request = world.Irecv(in.data(), 1, pair, (rank + size - 1) % size, MPI::ANY_TAG);
    world.Send(out.data(), 1, pair, (rank + 1) % size, 5);
    request.Wait(status);
    bool right = sum == size * (size + 1) / 2 && half.Get_size() == (size + 1 - rank % 2) / 2 &&
                 in[1] == (rank + size - 1) % size && status.Get_tag() == 5 && status.Get_count(pair) == 1 &&
                 MPI_Comm(MPI::COMM_NULL) == MPI_COMM_NULL;
    if (argc > 2)
        half.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    if (argc > 1) {
        MPI::Op op;
        op.Init(add, true);
    }
    pair.Free();
    half.Free();
    return right;
}
#else
static bool good(int)
{
    int rank, size, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum == size * (size - 1) / 2;
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int mine = good(argc), all = 0, rank;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        std::printf("classes: %s\n", all ? "PASS" : "FAIL");
    MPI_Finalize();
    return !all;
}
