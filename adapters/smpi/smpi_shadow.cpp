/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and requests of SMPI beyond its C interface. */
#include "adapters/smpi/smpi_shadow.h"
extern "C" {
#include "base/memory.h"
}

#include "lowlevel/simgrid/private.h"
#include "lowlevel/simgrid/room.h"

using pf_simgrid::activity, pf_simgrid::request;

/* SMPI counts its own ids from 0 and never reaches this. */
static const int first_hub_id = 1 << 28;

extern "C" void *pf_smpi_comm_new(void *group, int id, bool node_local)
{
    return pf_simgrid_new<simgrid::smpi::Comm>("communicator", static_cast<simgrid::smpi::Group *>(group),
                                               nullptr, node_local, first_hub_id + id);
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
