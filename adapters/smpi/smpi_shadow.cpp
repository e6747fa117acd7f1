/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and requests of SMPI beyond its C interface. */
#include "adapters/smpi/smpi_shadow.h"
extern "C" {
#include "base/memory.h"
}

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

/*
 * SMPI's headers for its objects are not installed. The constructor of a communicator is an exported symbol;
 * declared here under its own name, it gets memory that is large enough for the object of version 3.32 (at
 * most half of it is used), which SMPI's own `delete` frees.
 */
namespace simgrid::smpi
{
class Group;
class Topo;
class Comm
{
    alignas(16) char room_[1024];

  public:
    Comm(Group *group, std::shared_ptr<Topo> topology, bool smp, int id);
};
} // namespace simgrid::smpi

/* SMPI counts its own ids from 0 and never reaches this. */
static const int first_hub_id = 1 << 28;

extern "C" void *pf_smpi_comm_new(void *group, int id, bool node_local)
{
    return new simgrid::smpi::Comm(static_cast<simgrid::smpi::Group *>(group), nullptr, node_local,
                                   first_hub_id + id);
}

namespace
{

/* The head of SimGrid's ActivityImpl. */
struct activity_view {
    void *vtable;
    int_fast32_t references;
    std::string name;
    void *actor;
    int state;
};

/* ActivityImpl's State: 0 waiting, 1 ready, 2 running; everything above is an end, good or bad. */
const int last_unfinished_state = 2;
const int done_state = 3, cancelled_state = 4;

/* Of a request. */
const unsigned flag_persistent = 1, flag_not_persistent = 2, flag_receive = 8, flag_accumulate = 0x400;
/* It is over, or there is nothing to unpack. */
const unsigned flags_without_data = 0x80 | 0x100 | 0x800 | 0x8000;

/* SMPI's Request with its base class F2C, up to the members that tell its state. */
struct request_view {
    void *vtable;
    int fortran_handle;
    bool deleted;
    std::string call_location;
    void *buffer;
    void *old_buffer;
    void *datatype;
    size_t size;
    long source, destination;
    int tag;
    long real_source;
    int real_tag;
    bool truncated, unmatched_types;
    size_t real_size;
    void *comm;
    activity_view *action;
    unsigned flags;
    bool detached;
    void *detached_sender;
    int references;
    unsigned message;
    void *op;
    void *generalized;
    std::vector<request_view *> parts; /* of a nonblocking collective */
};

bool done(const request_view *request)
{
    if (request == nullptr)
        return true;
    for (const request_view *part : request->parts)
        if (!done(part))
            return false;
    return request->action == nullptr || request->action->state > last_unfinished_state;
}

} // namespace

extern "C" void *pf_smpi_request_part(const void *handle, size_t i)
{
    const auto *request = static_cast<const request_view *>(handle);
    return request != nullptr && i < request->parts.size() ? request->parts[i] : nullptr;
}

extern "C" bool pf_smpi_request_done(const void *request)
{
    return done(static_cast<const request_view *>(request));
}

extern "C" bool pf_smpi_request_received_less(const void *handle, pf_smpi_received *out)
{
    const auto *request = static_cast<const request_view *>(handle);
    if (!(request->flags & flag_receive) || request->real_size >= request->size ||
        request->buffer == nullptr || (request->flags & (flag_accumulate | flags_without_data)))
        return false;
    *out = {request->datatype, static_cast<const char *>(request->buffer),
            static_cast<char *>(request->old_buffer), request->real_size};
    return true;
}

extern "C" bool pf_smpi_request_waits(const void *handle)
{
    const auto *request = static_cast<const request_view *>(handle);
    return request != nullptr && !request->detached && !done(request);
}

extern "C" bool pf_smpi_request_matched(const void *handle)
{
    const auto *request = static_cast<const request_view *>(handle);
    return request != nullptr && request->action != nullptr && request->action->state > 0 &&
           request->action->state <= last_unfinished_state;
}

extern "C" void pf_smpi_request_cancelled(void *handle)
{
    auto *request = static_cast<request_view *>(handle);
    if (request == nullptr || request->action == nullptr || request->action->state != cancelled_state)
        return;
    request->action->state = done_state;
    if (request->flags & flag_persistent) {
        request->flags = (request->flags & ~flag_persistent) | flag_not_persistent;
        request->references--;
    }
}

extern "C" void pf_smpi_request_free_parts(void *handle)
{
    auto *request = static_cast<request_view *>(handle);
    if (request->buffer == nullptr)
        request->buffer = pf_malloc(1);
}
