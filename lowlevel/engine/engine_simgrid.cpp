/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the engine that SimGrid's C interface does not offer: a kernel model without resources. */
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/simix.hpp>

#include "base/config.h"
extern "C" {
#include "base/log.h"
}
#include "lowlevel/engine/heap.h"
#include "lowlevel/simgrid/private.h"

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
 * SimGrid gives a model that is not idempotent a limit, but forgets availability and bandwidth
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
        double clock = simgrid::s4u::Engine::get_clock();
        return pf_engine_next_date(clock) < 0.0 && std::isinf(pf_engine_until_alarm(clock)) ? -1.0 : FAR_AWAY;
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
        double delay = pf_engine_next_date(clock), alarm = pf_engine_until_alarm(clock);
        return std::isinf(alarm) || (delay >= 0.0 && delay < alarm) ? delay : alarm;
    }
    void update_actions_state(double now, double) override
    {
        pf_engine_run_until(now);
    }
};

/* How long until events wake an actor, or until SimGrid has to see something else; -1: never. `alone`:
 * SimGrid itself has nothing to do before the bound. */
double run_ahead(double clock, double bound, bool alone)
{
    double alarm = pf_engine_until_alarm(clock);
    if (alone && std::isinf(alarm))
        return pf_engine_run_ahead(clock, alarm);
    bound = std::min(bound, alarm);
    double delay = pf_engine_run_ahead(clock, clock + bound);
    return delay < 0.0 || delay > bound ? bound : delay;
}

/*
 * While SimGrid itself has nothing to do at any date to come, all that a round of its main loop does beyond
 * running the actors that we wake is to find that out again. Then the round is cut short: the clock moves,
 * actors run, and what they do in the kernel is done, in the order and at the dates of a whole round. As soon
 * as one of them does anything but park again, SimGrid goes on from there. When all have parked, the last of
 * them begins the next round by itself, and the first actor of that follows it without a way through the
 * kernel.
 */
class ShortRounds
{
  public:
    /* Whether SimGrid has the functions. Without them, a semaphore of SimGrid wakes the actors. */
    static bool possible()
    {
        return pf_config.engine_short_rounds && !pf_waiter_needs_semaphore() && pf_simgrid_run_all_actors &&
               pf_simgrid_handle_simcall && pf_simgrid_clean_up && pf_simgrid_swap && pf_simgrid_stop &&
               pf_simgrid_set_context && &pf_simgrid_clock && &pf_simgrid_time_advances;
    }
    /* Actors that we wake run after `delay`, and those of the next rounds. False: SimGrid has to see what
     * they have done. */
    bool run(double delay, double limit)
    {
        size_t actors = engine->get_actor_count();
        double begin = pf_simgrid_clock;
        bound = limit;
        kernel = pf_simgrid_context();
        active = true;
        left = MOST_IN_A_ROW;
        begin_round(delay);
        while (turn < woken.size()) {
            pf_simgrid_run_next(engine->get_impl(), actor_of(woken[turn++]));
            pf_simgrid_run_all_actors(engine->get_impl());
        }
        active = false;
        pf_simgrid_time_advances(pf_simgrid_clock - begin);
        handle_returned();
        if (engine->get_actor_count() < actors)
            end_daemons();
        return parked == woken.size();
    }
    void wake(pf_waiter *waiter)
    {
        if (active)
            woken.push_back(waiter);
        else
            pf_simgrid_run_next(engine->get_impl(), actor_of(waiter));
    }
    /* The calling actor stops until it is woken. */
    void park(pf_waiter *waiter)
    {
        waiter->actor = simgrid::kernel::actor::ActorImpl::self();
        waiter->context = pf_simgrid_context();
        if (!active || !has_next(actor_of(waiter))) {
            pf_simgrid_yield(actor_of(waiter));
            return;
        }
        pf_waiter *next = woken[turn++];
        if (next != waiter)
            swap(waiter, next);
    }
    /* The actor is back from its park, though perhaps only to die: its next simcall is due. */
    void come_back(const pf_waiter *waiter)
    {
        if (active)
            returned.push_back(actor_of(waiter));
    }

  private:
    using Actor = simgrid::kernel::actor::ActorImpl *;
    using Context = simgrid::kernel::context::Context *;

    enum { MOST_IN_A_ROW = 1000 }; /* rounds without the kernel, whose users want to see the clock move */

    bool active = false;
    unsigned left = 0; /* of MOST_IN_A_ROW */
    double bound = 0;
    size_t parked = 0, turn = 0; /* of those woken, how many have parked again, and have run */
    Context kernel = nullptr;
    std::vector<pf_waiter *> woken;
    std::vector<Actor> returned; /* and have not parked again */

    static Actor actor_of(const pf_waiter *waiter)
    {
        return static_cast<Actor>(waiter->actor);
    }
    void begin_round(double delay)
    {
        parked = turn = 0;
        woken.clear();
        returned.clear();
        pf_simgrid_clock += delay;
        pf_engine_run_until(pf_simgrid_clock);
    }
    /* The calling actor parks. Is there one that runs now? */
    bool has_next(Actor self)
    {
        if (!returned.empty() && returned.back() == self)
            returned.pop_back();
        parked++;
        return turn < woken.size() || (parked == woken.size() && next_round());
    }
    /* In the stack of an actor, but as the kernel for whatever asks. */
    bool next_round()
    {
        if (left-- == 0)
            return false;
        Context caller = pf_simgrid_context();
        pf_simgrid_set_context(kernel);
        run_step_hook();
        double delay = run_ahead(pf_simgrid_clock, bound, true);
        if (delay >= 0.0)
            begin_round(delay);
        pf_simgrid_set_context(caller);
        return turn < woken.size();
    }
    /* As SimGrid's kernel does it. An actor that is killed while it is parked comes back through a list of
     * SimGrid. */
    static void swap(const pf_waiter *from, const pf_waiter *to)
    {
        auto *context = static_cast<Context>(from->context), *next = static_cast<Context>(to->context);
        pf_simgrid_set_context(next);
        pf_simgrid_swap(context, next);
        if (pf_simgrid::view(actor_of(from))->wants_to_die)
            pf_simgrid_stop(context);
    }
    /* What SimGrid does for those that were on its list. */
    void handle_returned()
    {
        for (auto *actor : returned)
            if (pf_simgrid::view(actor)->to_be_freed)
                pf_simgrid_clean_up(actor);
        for (auto *actor : returned)
            pf_simgrid_handle_simcall(actor, 0); /* nothing if it has died */
    }
    /* When only daemons are left, SimGrid kills them at the end of a round. As long as one other actor that
     * is remembered lives, they are not looked through: each rank's end would cost as much as there are
     * ranks. */
    void end_daemons()
    {
        auto known = simgrid::s4u::Actor::by_pid(alive);
        if (known && !known->is_daemon() && !pf_simgrid::view(known->get_impl())->wants_to_die &&
            !pf_simgrid::view(known->get_impl())->to_be_freed)
            return;
        /* Any order in which actors end must not be the one in which they are remembered: a mixed number. */
        auto mixed = [](aid_t pid) { return static_cast<uint32_t>(pid) * 2654435769u; };
        auto actors = engine->get_all_actors();
        alive = -1;
        for (const auto &actor : actors)
            if (!actor->is_daemon() && (alive == -1 || mixed(actor->get_pid()) > mixed(alive)))
                alive = actor->get_pid();
        if (alive == -1)
            for (const auto &actor : actors)
                actor->kill();
    }
    aid_t alive = -1; /* an actor that is no daemon */
};

ShortRounds rounds;

/* Not idempotent: SimGrid asks it last, with a limit, so that events which no actor can see do not stop
 * SimGrid. */
class RunAheadModel : public EventModel
{
    bool short_rounds = ShortRounds::possible();
    bool is_updated = false; /* by a short round: what comes now, comes after the actors have run */

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
        double delay = run_ahead(clock, bound, alone);
        while (alone && short_rounds && delay >= 0.0) {
            if (!rounds.run(delay, bound)) {
                is_updated = true;
                return 0.0;
            }
            run_step_hook();
            delay = run_ahead(pf_simgrid_clock, bound, alone);
        }
        if (delay < 0.0)
            return alone ? 0.0
                         : bound; /* all done, no actor woken: SimGrid has to see that nothing is left */
        return delay < bound ? delay : bound;
    }
    void update_actions_state(double now, double delta) override
    {
        if (!is_updated)
            EventModel::update_actions_state(now, delta);
        is_updated = false;
    }
};

/* When an actor is killed while parked, its stack unwinds through here: it must not be woken afterwards. */
struct ParkGuard {
    struct pf_waiter *waiter;
    ~ParkGuard()
    {
        waiter->parked = false;
        pf_engine_cancel(&waiter->timer);
        if (!waiter->semaphore)
            rounds.come_back(waiter);
    }
};

} // namespace

void pf_engine_bind(void)
{
    engine = simgrid::s4u::Engine::get_instance();
    if (&pf_simgrid_clock && pf_simgrid_clock != simgrid::s4u::Engine::get_clock())
        pf_die("this SimGrid is not the %d.%d that Parfocal was built for: its clock is at another date, %g, "
               "than it says, %g; install the package " PF_SIMGRID_PACKAGE
               " of the distribution, or build Parfocal again",
               PF_SIMGRID_MAJOR, PF_SIMGRID_MINOR, pf_simgrid_clock, simgrid::s4u::Engine::get_clock());
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

/* Inlined into C, which knows no exceptions, it would lose what the guard does when its actor is killed. */
__attribute__((noinline)) void pf_waiter_block(struct pf_waiter *waiter)
{
    ParkGuard guard{waiter};
    if (waiter->semaphore) {
        sg_sem_acquire(waiter->semaphore);
        return;
    }
    rounds.park(waiter);
}

void pf_waiter_release(struct pf_waiter *waiter)
{
    if (waiter->semaphore)
        sg_sem_release(waiter->semaphore);
    else
        rounds.wake(waiter);
}

bool pf_waiter_needs_semaphore(void)
{
    return !pf_config.engine_answers || !pf_simgrid_yield || !pf_simgrid_run_next;
}

void pf_engine_set_step_hook(void (*hook)(void))
{
    step_hook = hook;
}
