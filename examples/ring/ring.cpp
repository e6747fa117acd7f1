// SPDX-License-Identifier: BSD-3-Clause
//
// A token travels round the ring of ranks in C++; every rank adds its own number. Usage: ring [rounds]
#include <mpi.h>

#include <cstdlib>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace
{

// MPI_Init and MPI_Finalize, tied to a scope.
class Session
{
  public:
    Session(int &argc, char **&argv)
    {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    ~Session()
    {
        MPI_Finalize();
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    int rank = 0;
    int size = 0;
};

// The token is the list of ranks that it has visited.
using Token = std::vector<int>;

void send(const Token &token, int to)
{
    MPI_Send(token.data(), static_cast<int>(token.size()), MPI_INT, to, 1, MPI_COMM_WORLD);
}

Token receive(int from)
{
    MPI_Status status;
    int count = 0;
    MPI_Probe(from, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    Token token(static_cast<std::size_t>(count));
    MPI_Recv(token.data(), count, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return token;
}

void check(const Token &token, int rounds, const Session &mpi)
{
    const long expected = static_cast<long>(rounds) * mpi.size * (mpi.size - 1) / 2;
    if (std::accumulate(token.begin(), token.end(), 0L) != expected)
        throw std::runtime_error("the token lost a rank");
}

} // namespace

int main(int argc, char **argv)
{
    Session mpi(argc, argv);
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
    const int left = (mpi.rank + mpi.size - 1) % mpi.size;
    const int right = (mpi.rank + 1) % mpi.size;

    try {
        Token token;
        for (int round = 0; round < rounds && mpi.size > 1; ++round) {
            if (mpi.rank > 0)
                token = receive(left);
            token.push_back(mpi.rank);
            send(token, right);
            if (mpi.rank == 0)
                token = receive(left);
        }
        if (mpi.rank == 0) {
            check(token, mpi.size > 1 ? rounds : 0, mpi);
            std::cout << "ring: " << token.size() << " stations in " << rounds << " rounds, verified"
                      << std::endl;
        }
    } catch (const std::exception &e) {
        std::cerr << "ring: " << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return 0;
}
