/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between versions of SimGrid, looked up in the objects of the installed one when Parfocal is
 * configured: prints the macros of found.h (private.h), or what it did not find. */
#include <cstdio>

#include <simgrid/s4u/Io.hpp>

#include "lowlevel/simgrid/one_rank.h"

/* What is looked for. Members before it have the same places whatever stands here. */
#define PF_SIMGRID_ACTIVITY_HEAD   1
#define PF_SIMGRID_ACTOR_WAITING   1
#define PF_SIMGRID_REQUEST_MESSAGE unsigned
#define PF_SIMGRID_COMMUNICATIONS  std::list
#include "lowlevel/simgrid/layouts.h"

namespace
{
enum { FAR = 16 }; /* words in which it must be */

bool found = true;

void print(const char *what, int words)
{
    if (words < 0)
        printf("/* not found: %s */\n", what);
    else
        printf("#define PF_SIMGRID_%s %d\n", what, words);
    found = found && words >= 0;
}

void probe_actor()
{
    using namespace pf_simgrid;
    void *const *words = reinterpret_cast<actor *>(simgrid::kernel::actor::ActorImpl::self())->waiting;
    int place = 0;
    while (place < FAR && !is_empty_list(words + place) && !is_empty_set(words + place))
        place++;
    print("ACTOR_WAITING", place < FAR ? place : -1);
    printf("#define PF_SIMGRID_COMMUNICATIONS std::%s\n", is_empty_list(words + place) ? "list" : "set");
}

void probe_activity()
{
    auto io = simgrid::s4u::Io::init();
    auto *activity = io->get_impl();
    auto *words = reinterpret_cast<volatile long *>(activity);
    long before[FAR];
    std::copy(words, words + FAR, before);
    intrusive_ptr_add_ref(activity);
    int place = 0;
    while (place < FAR && words[place] != before[place] + 1)
        place++;
    intrusive_ptr_release(activity);
    print("ACTIVITY_HEAD", place < FAR ? place : -1);
}

/* A receive has MPI_REPLACE behind what it counts messages in: a number, which shares a word with the count
 * of references, or a vector. */
void probe_request()
{
    char buffer[8];
    auto *request = simgrid::smpi::Request::recv_init(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD);
    auto *words = reinterpret_cast<MPI_Op *>(&reinterpret_cast<pf_simgrid::request *>(request)->references);
    bool vector = words[4] == MPI_REPLACE;
    if (!vector && words[1] != MPI_REPLACE)
        print("REQUEST_MESSAGE", -1);
    printf("#define PF_SIMGRID_REQUEST_MESSAGE %s\n", vector ? "std::vector<unsigned>" : "unsigned");
    simgrid::smpi::Request::unref(&request);
}

void probe()
{
    probe_actor();
    probe_activity();
    probe_request();
}
} // namespace

int main(int, char **argv)
{
    pf_simgrid_one_rank(argv, PROBE_PLATFORM, probe);
    return found ? 0 : 1;
}
