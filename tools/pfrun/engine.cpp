/* SPDX-License-Identifier: BSD-3-Clause */
/* SimGrid's engine for the launcher: start, signals, deadlock. */
#include "tools/pfrun/engine.h"

#include <string>

#include <simgrid/Exception.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <smpi/smpi.h>
#include <xbt/config.hpp>

#include "lowlevel/simgrid/last_words.h"
#include "lowlevel/simgrid/private.h"

static void (*at_deadlock)();

extern "C" void engine_watch(void (*configured)(void), void (*begin)(void), void (*advance)(void),
                             void (*deadlock)(void))
{
    simgrid::s4u::Host::on_creation_cb([configured, first = true](const simgrid::s4u::Host &) mutable {
        if (first)
            configured();
        first = false;
    });
    simgrid::s4u::Actor::on_creation_cb([begin](const simgrid::s4u::Actor &) { begin(); });
    simgrid::s4u::Engine::on_time_advance_cb([advance](double) { advance(); });
    simgrid::s4u::Engine::on_deadlock_cb(deadlock);
    at_deadlock = deadlock;
}

extern "C" int engine_run(const char *executable, int argc, char **argv, const char **error)
{
    static std::string text;
    pf_simgrid_keep_last_words();
    try {
        return smpi_main(executable, argc, argv);
    } catch (const simgrid::xbt::UnimplementedError &) {
        /* Before it reports a deadlock, SimGrid 4.1 lists what all actors do, and has no text for some. */
        at_deadlock();
        return -1;
    } catch (const std::exception &caught) {
        text = caught.what();
        text = text.substr(0, text.find('\n')); /* an unknown setting is followed by the list of all */
        *error = text.c_str();
        return -1;
    }
}

extern "C" const char *engine_actor_name(void)
{
    if (!simgrid::s4u::Engine::is_initialized() || simgrid::s4u::Actor::is_maestro())
        return nullptr;
    return simgrid::s4u::Actor::self()->get_cname();
}

extern "C" double engine_clock(void)
{
    return simgrid::s4u::Engine::is_initialized() ? simgrid::s4u::Engine::get_clock() : 0;
}

extern "C" bool engine_lacks_speed(void)
{
    return simgrid::config::is_default("smpi/host-speed");
}

extern "C" bool engine_computes_plainly(void (*changed)(void))
{
    simgrid::s4u::Host::on_speed_change_cb([changed](const simgrid::s4u::Host &) { changed(); });
    pf_simgrid_on_turn<simgrid::s4u::Host>([changed](const simgrid::s4u::Host &) { changed(); });
    return simgrid::config::is_default("cpu/optim") && simgrid::config::is_default("cpu/model");
}

extern "C" bool engine_takes(const char *key, const char *value)
{
    try {
        simgrid::config::set_as_string(key, value);
        return true;
    } catch (const std::exception &) {
        return false;
    }
}
