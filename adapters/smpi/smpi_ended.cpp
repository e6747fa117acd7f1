/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps SimGrid's lists of communications short. */
#include "adapters/smpi/smpi_ended.h"

#include <cstddef>
#include <cstdint>
#include <list>

/* SimGrid's headers for these are not installed. The functions are exported symbols. */
namespace simgrid::kernel::activity
{
class ActivityImpl;
void intrusive_ptr_release(ActivityImpl *activity);
} // namespace simgrid::kernel::activity

namespace simgrid::kernel::actor
{
class ActorImpl
{
  public:
    static ActorImpl *self();
};
} // namespace simgrid::kernel::actor

namespace
{

using simgrid::kernel::activity::ActivityImpl;

/* The head of ActivityImpl. */
struct activity_view {
    void *vtable;
    int_fast32_t references;
    void *name[4]; /* std::string */
    void *actor;
    int state;
};

const int done_state = 3;

/* SimGrid's counted pointer. */
class reference
{
    ActivityImpl *activity_;

  public:
    explicit reference(ActivityImpl *activity) : activity_(activity)
    {
    }
    reference(const reference &) = delete;
    reference &operator=(const reference &) = delete;
    ~reference()
    {
        intrusive_ptr_release(activity_);
    }
    bool ended() const
    {
        return reinterpret_cast<const activity_view *>(activity_)->state == done_state;
    }
};

using communications = std::list<reference>;

/* ActorImpl up to the list. */
struct actor_view {
    void *properties;
    void *name[4];
    long pid, parent;
    bool restarts;
    int restart_count;
    void *host;
    bool daemon;
    unsigned stack_size;
    bool wants_to_die, to_be_freed;
    void *mailboxes[3];
    void *hooks[3][2];
    void *context;
    void *exception;
    bool suspended;
    void *waiting;
    void *list[3]; /* first, last, size */
};
static_assert(offsetof(actor_view, list) == 0xc0,
              "CommImpl::finish() of libsimgrid 3.32 finds the list here");

const size_t least = 64;

} // namespace

extern "C" void *pf_smpi_communications(void)
{
    void **list = reinterpret_cast<actor_view *>(simgrid::kernel::actor::ActorImpl::self())->list;
    return list[0] == list && list[1] == list && list[2] == nullptr ? list : nullptr;
}

extern "C" void pf_smpi_forget_ended(void *opaque, size_t *limit)
{
    auto *list = static_cast<communications *>(opaque);
    if (list == nullptr || list->size() < *limit)
        return;
    list->remove_if([](const reference &one) { return one.ended(); });
    *limit = 2 * list->size() + least;
}
