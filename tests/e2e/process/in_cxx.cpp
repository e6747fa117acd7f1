/* SPDX-License-Identifier: BSD-3-Clause */
/* The same of the C++ library. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank;
static const char *which;

static void turn()
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static std::string log_name()
{
    return "log." + std::to_string(rank);
}

/* Kept before main begins, as loggers do. */
static std::ostream &kept = std::cout;
static std::ostream *const pointer = &std::cerr;

static void fail()
{
    if (rank)
        std::cout.setstate(std::ios_base::failbit);
    turn();
    std::cout << rank << ": cout" << std::endl;
    kept << rank << ": kept" << std::endl;
    printf("%d: printf\n", rank);
}

static void no_buffer()
{
    if (rank)
        std::cout.rdbuf(nullptr);
    turn();
    std::cout << rank << ": cout " << std::cout.good() << std::endl;
    printf("%d: printf\n", rank);
}

static void file_buffer()
{
    std::ofstream file(log_name());
    std::streambuf *before = std::cout.rdbuf(file.rdbuf());
    turn();
    std::cout << rank << ": in the file" << std::endl;
    turn();
    if (rank != 1)
        std::cout.rdbuf(before);
    turn();
    kept << rank << ": behind" << std::endl;
    std::cout.rdbuf(before);
}

static void text_buffer()
{
    std::ostringstream text;
    std::streambuf *before = std::cout.rdbuf(text.rdbuf());
    std::cout << "text " << rank;
    turn();
    std::cout << " more";
    std::cout.rdbuf(before);
    turn();
    std::cout << rank << ": " << text.str() << "\n";
}

static void formats()
{
    if (rank == 1)
        std::cout << std::hex << std::setfill('*');
    else
        std::cout << std::setprecision(3) << std::fixed << std::boolalpha;
    turn();
    std::cout << rank << ": " << std::setw(6) << 255 << " " << 3.14159265 << " " << true << "\n";
}

static void input()
{
    std::string word;
    int number = -1;
    std::cin >> number >> word;
    turn();
    std::cout << rank << ": " << number << " '" << word << "' " << std::cin.fail() << "\n";
    if (!rank && std::getline(std::cin, word) && std::getline(std::cin, word))
        std::cout << "line " << word << "\n";
}

static void errors()
{
    std::ofstream file(log_name());
    std::streambuf *before = std::cerr.rdbuf(file.rdbuf());
    turn();
    std::cerr << rank << ": cerr" << std::endl;
    *pointer << rank << ": pointer" << std::endl;
    turn();
    std::cerr.rdbuf(before);
    if (freopen((log_name() + ".2").c_str(), "w", stderr))
        std::clog << rank << ": clog" << std::endl;
    turn();
    std::cout << rank << ": " << (std::cerr.flags() & std::ios_base::unitbuf ? 1 : 0) << " "
              << (std::cerr.tie() == &std::cout) << (std::cin.tie() == &std::cout) << "\n";
}

static void wide()
{
    if (rank == 1)
        std::wcout.setstate(std::ios_base::badbit);
    turn();
    std::wcout << rank << L": wide" << std::endl;
}

static void unsynchronised()
{
    std::ios_base::sync_with_stdio(false);
    std::cout << rank << ": first ";
    turn();
    std::cout << "second\n";
    turn();
    std::cout << rank << ": " << std::ios_base::sync_with_stdio(false) << "\n";
}

static void stdio_below()
{
    if (rank && !freopen(log_name().c_str(), "w", stdout))
        return;
    turn();
    std::cout << rank << ": cout" << std::endl;
    printf("%d: printf\n", rank);
}

static void exceptions()
{
    if (rank == 1)
        std::cout.exceptions(std::ios_base::badbit);
    turn();
    try {
        std::cout.setstate(std::ios_base::badbit);
        printf("%d: nothing was thrown\n", rank);
    } catch (const std::ios_base::failure &) {
        printf("%d: thrown\n", rank);
    }
}

/* Ranks leave their handlers in another order than they have entered them. */
static void handlers()
{
    struct Value {
        int value;
        ~Value()
        {
            value = -1;
        }
    };
    try {
        throw Value{rank};
    } catch (const Value &caught) {
        turn();
        std::cout << rank << ": caught " << caught.value << "\n";
        std::exception_ptr kept = std::current_exception();
        turn();
        try {
            throw;
        } catch (const Value &again) {
            std::cout << rank << ": rethrown " << again.value << "\n";
        }
        turn();
        try {
            std::rethrow_exception(kept);
        } catch (const Value &again) {
            std::cout << rank << ": kept " << again.value << " " << std::uncaught_exceptions() << "\n";
        }
    }
}

/* Each rank is inside handlers while others throw and leave theirs. */
static void nested()
{
    for (int round = 0; round < 3; round++) {
        try {
            throw std::runtime_error("outer " + std::to_string(rank) + " " + std::to_string(round));
        } catch (const std::exception &outer) {
            if (rank != 1)
                turn();
            try {
                try {
                    throw std::logic_error("inner " + std::to_string(rank));
                } catch (...) {
                    if (rank == 1)
                        turn();
                    turn();
                    throw;
                }
            } catch (const std::exception &inner) {
                std::cout << rank << ": " << inner.what() << ", " << outer.what() << "\n";
                if (rank == 2)
                    turn();
            }
            if (rank != 2)
                turn();
        }
        turn();
    }
}

static void folders()
{
    std::string name = "sub." + std::to_string(rank);
    mkdir(name.c_str(), 0755);
    if (chdir(name.c_str()) != 0)
        return;
    turn();
    std::ofstream("file") << "rank " << rank << "\n";
    turn();
    std::string line;
    std::ifstream file("file");
    std::getline(file, line);
    std::cout << rank << ": " << line << "\n";
}

struct Loud {
    const char *name;
    ~Loud()
    {
        if (std::strcmp(which, "destructors") == 0)
            std::cout << rank << ": " << name << " ends" << std::endl;
    }
};
static Loud global{"global"};
static thread_local Loud local{"thread-local"};

static void destructors()
{
    static Loud inner{"inner"};
    static struct Finalizer {
        ~Finalizer()
        {
            int sum = rank;
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            std::cout << rank << ": sum " << sum << std::endl;
            MPI_Finalize();
        }
    } finalizer;
    (void)local.name[0];
    turn();
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {{"fail", fail},
             {"no_buffer", no_buffer},
             {"file_buffer", file_buffer},
             {"text_buffer", text_buffer},
             {"formats", formats},
             {"cin", input},
             {"cerr", errors},
             {"wcout", wide},
             {"unsynchronised", unsynchronised},
             {"stdio_below", stdio_below},
             {"exceptions", exceptions},
             {"nested", nested},
             {"handlers", handlers},
             {"fstream", folders},
             {"destructors", destructors}};

int main(int argc, char **argv)
{
    bool found = false;
    which = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const auto &one : cases)
        if (std::strcmp(which, one.name) == 0)
            one.run(), found = true;
    if (!found)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (std::strcmp(which, "destructors") != 0)
        MPI_Finalize();
    return 0;
}
