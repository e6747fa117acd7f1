/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the engine that SimGrid's C interface does not offer: a kernel model without resources. */
#include <limits>
#include <memory>

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/simix.hpp>

#include "base/config.h"
#include "lowlevel/engine/heap.h"

/* ActorImpl::simcall_answer: ends a blocking simcall. SimGrid exports it and installs no header for it. */
extern "C" void answer_simcall(simgrid::kernel::actor::ActorImpl *actor) __asm__(
    "_ZN7simgrid6kernel5actor9ActorImpl14simcall_answerEv") __attribute__((weak));

namespace
{

simgrid::s4u::Engine *engine;

/* See pf_engine_set_step_hook. */
void (*step_hook)();

void run_step_hook()
{
    if (step_hook)
        step_hook();
}

constexpr double FAR_AWAY = 1e30; /* seconds; later than anything that is simulated */

/*
 * SimGrid tells a model that is not idempotent how far it may go, but forgets availability and bandwidth
 * profiles when no other model has an event. This model always has one, far away, while events of ours are
 * pending.
 */
class HorizonModel : public simgrid::kernel::resource::Model
{
  public:
    HorizonModel() : Model("Parfocal_horizon")
    {
    }
    double next_occurring_event(double) override
    {
        run_step_hook(); /* SimGrid asks idempotent models once per step, before the others */
        return pf_engine_next_date(simgrid::s4u::Engine::get_clock()) < 0.0 ? -1.0 : FAR_AWAY;
    }
    void update_actions_state(double, double) override
    {
    }
};

/* Stops SimGrid at the date of each event. */
class EventModel : public simgrid::kernel::resource::Model
{
  public:
    EventModel() : Model("Parfocal_events")
    {
    }
    double next_occurring_event(double clock) override
    {
        run_step_hook();
        return pf_engine_next_date(clock);
    }
    void update_actions_state(double now, double) override
    {
        pf_engine_run_until(now);
    }
};

/* Not idempotent: SimGrid asks it last and says how far it may go, so that events which nobody can see do not
 * stop SimGrid. */
class RunAheadModel : public EventModel
{
  public:
    bool next_occurring_event_is_idempotent() override
    {
        return false;
    }
    double next_occurring_event(double bound) override
    {
        if (bound < 0.0)
            return -1.0; /* nothing is pending anywhere */
        double clock = simgrid::s4u::Engine::get_clock();
        bool alone = bound >= FAR_AWAY / 2;
        double limit = alone ? std::numeric_limits<double>::infinity() : clock + bound;
        double delay = pf_engine_run_ahead(clock, limit);
        if (delay < 0.0)
            return alone ? 0.0 : bound; /* all done, nobody woken: SimGrid has to see that nothing is left */
        return delay < bound ? delay : bound;
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
    engine = simgrid::s4u::Engine::get_instance();
    if (pf_config.engine_run_ahead) {
        engine->add_model(std::make_shared<HorizonModel>());
        engine->add_model(std::make_shared<RunAheadModel>());
    } else {
        engine->add_model(std::make_shared<EventModel>());
    }
}

size_t pf_engine_live_actors(void)
{
    return engine->get_actor_count();
}

void pf_waiter_block(struct pf_waiter *waiter)
{
    static const std::function<void()> nothing = [] {};
    ParkGuard guard{waiter};
    if (waiter->semaphore) {
        sg_sem_acquire(waiter->semaphore);
        return;
    }
    waiter->actor = simgrid::s4u::Actor::self()->get_impl();
    simcall_run_blocking(nothing, nullptr);
}

void pf_waiter_release(struct pf_waiter *waiter)
{
    if (waiter->semaphore)
        sg_sem_release(waiter->semaphore);
    else
        answer_simcall(static_cast<simgrid::kernel::actor::ActorImpl *>(waiter->actor));
}

bool pf_waiter_needs_semaphore(void)
{
    return !pf_config.engine_answers || !answer_simcall;
}

void pf_engine_set_step_hook(void (*hook)(void))
{
    step_hook = hook;
}
