/* SPDX-License-Identifier: BSD-3-Clause */
/* SimGrid's C interface does not say what is wrong with a platform. */
#include "lowlevel/platform/load.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include "lowlevel/platform/scan.h"
#include "lowlevel/simgrid/private.h"

extern "C" {
#include "base/log.h"
}

namespace
{

using simgrid::s4u::Engine, simgrid::s4u::Host, simgrid::s4u::Link;

struct {
    const char *file;
    void (*ready)();
} stand_in;

const char *reading;

class Fault : public std::exception
{
    std::string text_;

  public:
    Fault(const std::string &what, const char *name, double value, const char *must)
    {
        char number[40];
        std::snprintf(number, sizeof number, "%g", value);
        text_ = what + " of " + name + " is " + number + ", and must be " + must;
    }
    const char *what() const noexcept override
    {
        return text_.c_str();
    }
};

bool is_positive(double value)
{
    return std::isfinite(value) && value > 0;
}

void check_host(const Host *host)
{
    const std::string name = "host " + host->get_name();
    if (!is_positive(host->get_speed())) /* in another state it may be off */
        throw Fault("the speed", name.c_str(), host->get_speed(), "a number above 0");
    if (host->get_core_count() < 1)
        throw Fault("the number of cores", name.c_str(), host->get_core_count(), "1 at least");
}

/* The bandwidth of a wireless link is that of each of its rates. */
void check_link(const Link &link)
{
    const std::string name = "link " + link.get_name();
    bool wireless = link.get_sharing_policy() == Link::SharingPolicy::WIFI;
    if (!wireless && !is_positive(link.get_bandwidth()))
        throw Fault("the bandwidth", name.c_str(), link.get_bandwidth(), "a number above 0");
    if (!(link.get_latency() >= 0 && std::isfinite(link.get_latency())))
        throw Fault("the latency", name.c_str(), link.get_latency(), "a number from 0");
}

/* Profiles and programs change a link during the run; 0 is one that carries nothing for a while. */
void bandwidth_changed(const Link &link)
{
    if (!(link.get_bandwidth() >= 0 && std::isfinite(link.get_bandwidth())))
        pf_die("%s", Fault("the bandwidth", ("link " + link.get_name()).c_str(), link.get_bandwidth(),
                           "a number from 0")
                         .what());
}

/* SimGrid ends what runs there, and others would wait for it until nothing can go on. */
void host_turns(const Host &host)
{
    if (!host.is_on() && host.get_actor_count() > 0)
        pf_die(
            "host %s is switched off at %.9g s (a state profile, or the program), with what runs there: no "
            "model simulates ranks that fail",
            host.get_cname(), Engine::get_clock());
}

void check_values(const Engine &engine, const char *file)
{
    auto hosts = engine.get_all_hosts();
    if (hosts.empty())
        throw std::invalid_argument("it has no host");
    for (const auto *host : hosts)
        check_host(host);
    for (const auto *link : engine.get_all_links())
        check_link(*link);
}

/* SimGrid would only say that it cannot. */
std::string check_library(const char *file)
{
    char *path = realpath(file, nullptr);
    if (!path)
        throw std::invalid_argument(std::strerror(errno));
    std::string real = path;
    std::free(path);
    void *library = dlopen(real.c_str(), RTLD_LAZY);
    if (!library)
        throw std::invalid_argument(dlerror());
    if (!dlsym(library, "load_platform"))
        throw std::invalid_argument("it has no function load_platform(const simgrid::s4u::Engine &) that is "
                                    "extern \"C\"");
    return real;
}

/* A platform in C++ need not seal its zones; SimGrid does it when the run begins. */
void read_library(const Engine &engine, const char *file)
{
    engine.load_platform(check_library(file));
    if (!engine.get_netzone_root())
        throw std::invalid_argument("its load_platform() makes no zone");
    engine.seal_platform();
}

} // namespace

/* Whether the name is that of a platform in C++: a shared library, whose code runs in this process. */
static bool is_library(const char *name)
{
    size_t length = std::strlen(name);
    return length >= 3 && std::strcmp(name + length - 3, ".so") == 0;
}

const char *pf_platform_reading(void)
{
    return reading;
}

bool pf_platform_load(const char *file, char *error, size_t error_size)
{
    const Engine &engine = *Engine::get_instance();
    if (!is_library(file) && !pf_platform_scan(file, error, error_size))
        return false;
    reading = file;
    try {
        if (is_library(file))
            read_library(engine, file);
        else
            engine.load_platform(file);
        check_values(engine, file);
    } catch (const std::exception &caught) {
        const bool memory = dynamic_cast<const std::bad_alloc *>(&caught) != nullptr;
        std::string text = memory ? "there is not enough memory for it" : caught.what();
        std::snprintf(error, error_size, "the platform '%s': %s", file,
                      text.substr(0, text.find('\n')).c_str());
        return false;
    }
    reading = nullptr;
    Link::on_bandwidth_change_cb(bandwidth_changed);
    pf_simgrid_on_turn<Host>(host_turns);
    return true;
}

void pf_platform_stand_in(const char *name, const char *file, void (*ready)(void))
{
    Dl_info own;
    stand_in = {file, ready};
    char *path = dladdr(reinterpret_cast<void *>(&pf_platform_stand_in), &own)
                     ? realpath(own.dli_fname, nullptr)
                     : nullptr;
    if (!path || symlink(path, name) != 0)
        pf_die("cannot make '%s': %s", name, std::strerror(errno));
    std::free(path);
}

/* SimGrid looks for this name in a platform in C++. */
extern "C" __attribute__((visibility("default"))) void load_platform(const Engine &)
{
    char error[1000];
    if (!pf_platform_load(stand_in.file, error, sizeof error))
        pf_die("%s", error);
    stand_in.ready();
}
