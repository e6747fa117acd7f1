/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths that SimGrid's communications carry from the ranks that begin them to those that wait for them.
 */
#include "adapters/smpi/smpi_chain.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <vector>

#include <dlfcn.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <xbt/config.hpp>

extern "C" {
#include "base/log.h"
}
#include "lowlevel/engine/chain.h"
#include "lowlevel/simgrid/private.h"

namespace
{

/* A communication, from its first side's call on. Its memory is used again for another one. */
struct way {
    pf_chain *path = nullptr;
    sg_host_t from = nullptr, to = nullptr; /* hosts of its sides, once they are there */
    double began = 0;
    size_t bytes = 0;
    bool rendezvous = false;
    pf_self_t *taker = nullptr; /* that receives from any source */
    pf_chain_date sent = {0, 0};
    bool over = false;
};

std::unordered_map<const void *, way> ways; /* looked up only */
std::unordered_map<const pf_self_t *, const pf_simgrid::request *>
    starting;                                   /* the request that a rank starts; likewise */
std::vector<std::pair<double, double>> factors; /* of latency, by the longest size of the one before */
pf_self_t *caller;
bool sends;

void *(*stock_begin[2])(void *result, pf_simgrid::simcall_observer *call); /* a receive, a send */
void *(*stock_start)(void *communication);

pf_self_t *self_of(const pf_simgrid::actor *actor)
{
    auto found = sg_actor_by_pid(actor->pid);
    return found != nullptr ? static_cast<pf_self_t *>(sg_actor_get_data(found)) : nullptr;
}

template <bool is_send> void *begin(void *result, pf_simgrid::simcall_observer *call)
{
    caller = self_of(call->issuer);
    sends = is_send;
    stock_begin[is_send](result, call);
    caller = nullptr;
    return result;
}

/* The side that comes later begins it. */
void *start(void *communication)
{
    if (caller != nullptr) {
        way &one = ways[communication];
        if (one.over || (sends ? one.from : one.to) != nullptr) { /* that of an earlier one */
            pf_chain_drop(&one.path);
            one = way();
        }
        (sends ? one.from : one.to) = caller->host;
        one.began = simgrid_get_clock();
        pf_chain *mine = pf_chain_copy_of(caller, one.began);
        if (sends) {
            one.bytes = starting[caller]->size;
            one.rendezvous = !starting[caller]->detached;
            one.sent = pf_chain_date_of(mine);
        } else if (starting[caller]->source == MPI_ANY_SOURCE) {
            one.taker = caller;
        }
        if (one.taker != nullptr && one.from != nullptr)
            pf_chain_took(one.taker, one.sent);
        if (one.path != nullptr) {
            pf_chain_join(mine, one.path);
            pf_chain_drop(&one.path);
        }
        one.path = mine;
    }
    return stock_start(communication);
}

/* SIZE:FACTOR;..., as SimGrid reads it. */
void read_factors()
{
    bool smpi = simgrid::config::get_value<std::string>("network/model") == "SMPI";
    std::stringstream text(
        simgrid::config::get_value<std::string>(smpi ? "smpi/lat-factor" : "network/latency-factor"));
    for (std::string item; std::getline(text, item, ';');)
        if (item.find(':') != std::string::npos)
            factors.emplace_back(atof(item.c_str()), atof(item.c_str() + item.find(':') + 1));
    std::sort(factors.begin(), factors.end());
}

/* Of the empty network for so many bytes. */
double latency_of(const way &one)
{
    double factor = 1;
    for (auto const &range : factors)
        if (static_cast<double>(one.bytes) > range.first)
            factor = range.second;
    return factor * sg_host_get_route_latency(one.from, one.to);
}

void ended(const void *communication)
{
    auto found = ways.find(communication);
    if (found == ways.end() || found->second.over)
        return;
    way &one = found->second;
    double now = simgrid_get_clock();
    pf_chain_message message = {};
    message.link = PF_CHAIN_SLOWEST;
    message.routes = PF_CHAIN_OF_SMPI;
    message.protocol = one.rendezvous ? PF_CHAIN_RENDEZVOUS : PF_CHAIN_EAGER;
    message.size = pf_chain_size(static_cast<double>(one.bytes));
    pf_chain_carry(one.path, &message);
    if (one.from != nullptr && one.to != nullptr && one.from != one.to)
        pf_chain_extend(one.path, std::min(now, one.began + latency_of(one)), PF_CHAIN_LATENCY);
    pf_chain_extend(one.path, now, PF_CHAIN_TRANSFER);
    one.over = true;
}

} // namespace

void pf_smpi_chain_install(void (*replace)(const char *name, void *ours, void **stock))
{
    static bool done;
    if (done)
        return;
    done = true;
    if (!dlsym(RTLD_DEFAULT, PF_SIMGRID_COMM_SEND) || !dlsym(RTLD_DEFAULT, PF_SIMGRID_COMM_RECEIVE) ||
        !dlsym(RTLD_DEFAULT, PF_SIMGRID_COMM_START) || !&pf_simgrid_comm_ends) {
        pf_warn("critical path: this SimGrid does not show its communications; in model smpi a wait for one "
                "counts as software");
        return;
    }
    replace(PF_SIMGRID_COMM_SEND, reinterpret_cast<void *>(begin<true>),
            reinterpret_cast<void **>(&stock_begin[true]));
    replace(PF_SIMGRID_COMM_RECEIVE, reinterpret_cast<void *>(begin<false>),
            reinterpret_cast<void **>(&stock_begin[false]));
    replace(PF_SIMGRID_COMM_START, reinterpret_cast<void *>(start), reinterpret_cast<void **>(&stock_start));
    read_factors();
    pf_simgrid_comm_ends.connect([](simgrid::kernel::activity::CommImpl const &one) { ended(&one); });
}

void pf_smpi_chain_starts(const pf_self_t *self, const void *request)
{
    starting[self] = static_cast<const pf_simgrid::request *>(request);
}

void pf_smpi_chain_finished(pf_self_t *self, const void *request)
{
    const auto *one = static_cast<const pf_simgrid::request *>(request);
    auto found = one != nullptr && one->action != nullptr ? ways.find(one->action) : ways.end();
    if (found != ways.end() && found->second.over)
        pf_chain_meet(self, found->second.path, simgrid_get_clock());
}
