/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the engine that SimGrid's C interface does not offer: a kernel model without resources. */
#include <dlfcn.h>
#include <limits>
#include <memory>

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Engine.hpp>

#include "base/config.h"
#include "lowlevel/engine/heap.h"

namespace {

/* See pf_engine_set_step_hook. */
void (*step_hook)();

/* SimGrid forgets our bound when a bandwidth or availability profile is the only other thing pending; this asks its queue of
 * profile events, which is exported but not in a header. Without the symbols we never run ahead. */
class ProfileQueue {
    using next_date_t = double (*)(const void *);
    void *queue_ = dlsym(RTLD_DEFAULT, "future_evt_set");
    next_date_t next_date_ = reinterpret_cast<next_date_t>(
        dlsym(RTLD_DEFAULT, "_ZNK7simgrid6kernel7profile12FutureEvtSet9next_dateEv"));

public:
    bool known() const
    {
        return queue_ && next_date_;
    }
    bool empty() const
    {
        return next_date_(queue_) < 0.0;
    }
};

class EventModel : public simgrid::kernel::resource::Model {
    ProfileQueue profiles_;
    bool run_ahead_;

public:
    EventModel() : Model("Parfocal_events"), run_ahead_(pf_config.engine_run_ahead && profiles_.known())
    {
    }

    /* Not idempotent: SimGrid then asks us last and says how far we may go without it. */
    bool next_occurring_event_is_idempotent() override
    {
        return not run_ahead_;
    }

    double next_occurring_event(double argument) override
    {
        double clock = simgrid::s4u::Engine::get_clock();
        if (step_hook)
            step_hook();
        if (not run_ahead_ || not profiles_.empty())
            return earliest(clock, run_ahead_ ? argument : -1.0);
        double limit = argument < 0.0 ? std::numeric_limits<double>::infinity() : clock + argument;
        return earlier(pf_engine_run_ahead(clock, limit), argument);
    }

    void update_actions_state(double now, double) override
    {
        pf_engine_run_until(now);
    }

private:
    static double earlier(double delay, double bound)
    {
        return bound >= 0.0 && (delay < 0.0 || delay > bound) ? bound : delay;
    }
    static double earliest(double clock, double bound)
    {
        return earlier(pf_engine_next_date(clock), bound);
    }
};

/* When an actor is killed while parked, its stack unwinds through here: nobody must wake it afterwards. */
struct ParkGuard {
    struct pf_waiter *waiter;
    ~ParkGuard()
    {
        waiter->parked = false;
        pf_engine_cancel(&waiter->timer);
    }
};

} // namespace

void pf_engine_bind(void)
{
    simgrid::s4u::Engine::get_instance()->add_model(std::make_shared<EventModel>());
}

size_t pf_engine_live_actors(void)
{
    return simgrid::s4u::Engine::get_instance()->get_actor_count();
}

void pf_waiter_block(struct pf_waiter *waiter)
{
    ParkGuard guard{waiter};
    sg_sem_acquire(waiter->semaphore);
}

void pf_engine_set_step_hook(void (*hook)(void))
{
    step_hook = hook;
}
