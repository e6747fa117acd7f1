/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and requests of SMPI beyond its C interface. */
#include "adapters/smpi/smpi_shadow.h"

#include <list>
#include <unordered_map>
#include <vector>

#include <simgrid/actor.h>
#include <simgrid/s4u/Mailbox.hpp>
#include <smpi/smpi.h>

extern "C" {
#include "base/memory.h"
}

#include "lowlevel/simgrid/private.h"
#include "lowlevel/simgrid/room.h"

using pf_simgrid::activity, pf_simgrid::request;

/* SMPI counts its own ids from 0 and never reaches this. */
static const int first_own_id = 1 << 28;

extern "C" void *pf_smpi_comm_new(void *group, int id, bool node_local)
{
    return pf_simgrid_new<simgrid::smpi::Comm>("communicator", static_cast<simgrid::smpi::Group *>(group),
                                               nullptr, node_local, first_own_id + id);
}

namespace
{

bool done(const request *one)
{
    if (one == nullptr)
        return true;
    for (const request *part : one->parts)
        if (!done(part))
            return false;
    return one->action == nullptr || one->action->state > activity::running;
}

} // namespace

namespace
{

/* A barrier that not all members of its communicator have called. */
struct entrances {
    std::vector<bool> called;
    int count = 0;
};
std::unordered_map<int, std::list<entrances>> entered; /* by the communicator's id; the oldest is the first */

/* The next barrier of rank `rank` counts one call more. Is that the last one of `size`? */
bool enter(const simgrid::smpi::Comm *comm, int rank, int size)
{
    const auto me = static_cast<size_t>(rank);
    auto all = entered.try_emplace(comm->id()).first;
    auto next = all->second.begin();
    while (next != all->second.end() && next->called[me])
        ++next;
    if (next == all->second.end()) {
        next = all->second.emplace(next);
        next->called.resize(static_cast<size_t>(size));
    }
    next->called[me] = true;
    if (++next->count < size)
        return false;
    all->second.erase(next);
    if (all->second.empty())
        entered.erase(all);
    return true;
}

} // namespace

extern "C" int pf_smpi_ibarrier(void *handle, void **request_)
{
    const int tag = -5557; /* none of SMPI's own, and no MPI_ANY_TAG takes it */
    auto *comm = static_cast<MPI_Comm>(handle);
    auto **made = reinterpret_cast<MPI_Request *>(request_);
    int rank = 0, size = 0, code = PMPI_Ibarrier(comm, made);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (code != MPI_SUCCESS || size == 1)
        return code;
    auto &parts = reinterpret_cast<request *>(*made)->parts;
    auto add = [&parts](MPI_Request part) { parts.push_back(reinterpret_cast<request *>(part)); };
    if (!enter(comm, rank, size)) {
        add(simgrid::smpi::Request::irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag, comm));
        return code;
    }
    for (int i = 0; i < size; i++)
        if (i != rank)
            add(simgrid::smpi::Request::isend(nullptr, 0, MPI_BYTE, i, tag, comm));
    return code;
}

extern "C" void *pf_smpi_request_part(const void *handle, size_t i)
{
    const auto *one = static_cast<const request *>(handle);
    return one != nullptr && i < one->parts.size() ? one->parts[i] : nullptr;
}

extern "C" bool pf_smpi_request_done(const void *handle)
{
    return done(static_cast<const request *>(handle));
}

extern "C" bool pf_smpi_request_received_less(const void *handle, pf_smpi_received *out)
{
    const auto *one = static_cast<const request *>(handle);
    if (!(one->flags & pf_simgrid::request_receive) || one->real_size >= one->size ||
        one->buffer == nullptr ||
        (one->flags & (pf_simgrid::request_accumulate | pf_simgrid::request_without_data)))
        return false;
    *out = {one->datatype, static_cast<const char *>(one->buffer), static_cast<char *>(one->old_buffer),
            one->real_size};
    return true;
}

extern "C" bool pf_smpi_request_truncated(const void *handle)
{
    return static_cast<const request *>(handle)->truncated;
}

extern "C" void pf_smpi_request_truncate(void *handle)
{
    static_cast<request *>(handle)->truncated = true;
}

extern "C" bool pf_smpi_self_is_idle(void *handle, int me, int tag)
{
    auto *comm = static_cast<simgrid::smpi::Comm *>(handle);
    if (tag == MPI_ANY_TAG) /* of whatever peer: then the message goes the long way */
        return simgrid::s4u::Mailbox::by_name("SMPI-" + std::to_string(sg_actor_self_get_pid()))->empty();
    return !simgrid::smpi::pf_simgrid_sent_messages || !simgrid::smpi::pf_simgrid_received_messages ||
           simgrid::smpi::pf_simgrid_sent_messages(comm, me, me, tag) ==
               simgrid::smpi::pf_simgrid_received_messages(comm, me, me, tag);
}

extern "C" long pf_smpi_request_sends_to(const void *handle)
{
    const auto *one = static_cast<const request *>(handle);
    return one->flags & pf_simgrid::request_receive ? -1 : one->destination;
}

extern "C" bool pf_smpi_request_to_null(const void *handle)
{
    const auto *one = static_cast<const request *>(handle);
    return one->source == MPI_PROC_NULL || one->destination == MPI_PROC_NULL;
}

extern "C" bool pf_smpi_request_waits(const void *handle)
{
    const auto *one = static_cast<const request *>(handle);
    return one != nullptr && !one->detached && !done(one);
}

extern "C" bool pf_smpi_request_matched(const void *handle)
{
    const auto *one = static_cast<const request *>(handle);
    return one != nullptr && one->action != nullptr && one->action->state > activity::waiting &&
           one->action->state <= activity::running;
}

extern "C" void pf_smpi_request_cancelled(void *handle)
{
    auto *one = static_cast<request *>(handle);
    if (one == nullptr || one->action == nullptr || one->action->state != activity::cancelled)
        return;
    one->action->state = activity::done;
    if (one->flags & pf_simgrid::request_persistent) {
        one->flags = (one->flags & ~pf_simgrid::request_persistent) | pf_simgrid::request_not_persistent;
        one->references--;
    }
}

extern "C" void pf_smpi_request_free_parts(void *handle)
{
    auto *one = static_cast<request *>(handle);
    if (one->buffer == nullptr)
        one->buffer = pf_malloc(1);
}
