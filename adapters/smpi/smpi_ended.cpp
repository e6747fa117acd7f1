/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps SimGrid's lists of communications short. */
#include "adapters/smpi/smpi_ended.h"

#include <list>

#include "lowlevel/simgrid/private.h"

static const size_t least = 64;

/* As they were taken from the kernel's list, one set for each date. */
struct detached {
    std::list<pf_simgrid::communications> taken;
    size_t count = 0, limit = least;

    void take(pf_simgrid::communications &from)
    {
        count += from.size();
        taken.emplace_back();
        taken.back().swap(from);
        if (count < limit)
            return;
        count = 0;
        for (auto one = taken.begin(); one != taken.end();) {
            one->remove_ended();
            count += one->size();
            one = one->empty() ? taken.erase(one) : std::next(one);
        }
        limit = 2 * count + least;
    }
};

extern "C" void pf_smpi_forget_detached(void)
{
    static auto &all = *new detached; /* SimGrid may be gone before it */
    if (!&pf_simgrid_time_advances)
        return;
    pf_simgrid_time_advances.connect([](double) {
        auto *kernel = reinterpret_cast<pf_simgrid::actor *>(simgrid::kernel::actor::ActorImpl::self());
        if (kernel != nullptr && kernel->pid == 0 && !kernel->communications.empty())
            all.take(kernel->communications);
    });
}

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
