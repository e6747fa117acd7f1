/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps SimGrid's lists of communications short. */
#include "adapters/smpi/smpi_ended.h"

#include "lowlevel/simgrid/private.h"

static const size_t least = 64;

extern "C" void *pf_smpi_communications(void)
{
    auto *self = reinterpret_cast<pf_simgrid::actor *>(simgrid::kernel::actor::ActorImpl::self());
    return self->communications.is_untouched() ? &self->communications : nullptr;
}

extern "C" void pf_smpi_forget_ended(void *opaque, size_t *limit)
{
    auto *list = static_cast<pf_simgrid::communications *>(opaque);
    if (list == nullptr || list->size() < *limit)
        return;
    list->remove_ended();
    *limit = 2 * list->size() + least;
}
