/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ns-3 as the network of pfrun: hosts around one switch, point-to-point links with the rate and the delay of
 * the platform's, messages in packets. It is started by pfrun, with a socket as its standard input:
 *     PARFOCAL_NET_EXTERNAL='exec:./ns3net' pfrun -np 16 -platform star:16 -model external ./app
 * It knows platforms of one <cluster> without a topology (pfinfo --platform star:N). docs/external-network.md
 * has the protocol; it is spoken here without checks beyond lengths.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <ns3/core-module.h>
#include <ns3/map-scheduler.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

namespace
{

enum : uint16_t { HELLO = 1, INJECT, CANCEL, ADVANCE, ROUTE, ACKNOWLEDGE, FINISH };
enum : uint16_t { WELCOME = 65, FIRST, SENT, LAST, ADVANCED = 71, ROUTE_INFO };
constexpr size_t HEAD = 24, PAYLOAD = 256,
                 PPP = 2; // bytes: of a head, in a packet, and that ns-3 adds to each

/* ---- Messages of the protocol; this machine is little-endian, as they are. */
struct Message {
    uint16_t type;
    uint64_t id;
    double date;
    std::string body;
    template <class T> T at(size_t offset) const
    {
        T value;
        if (offset + sizeof value > body.size())
            throw std::runtime_error("a message is too short");
        std::memcpy(&value, body.data() + offset, sizeof value);
        return value;
    }
};

std::string said;

template <class T> void append(std::string &to, T value)
{
    to.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void say(uint16_t type, uint64_t id, double date, const std::string &body)
{
    append<uint32_t>(said, HEAD + body.size());
    append(said, type);
    append<uint16_t>(said, 1);
    append(said, id);
    append(said, date);
    said += body;
}

void flush()
{
    for (size_t done = 0; done < said.size();) {
        ssize_t count = write(0, said.data() + done, said.size() - done);
        if (count <= 0)
            throw std::runtime_error("the client has gone");
        done += count;
    }
    said.clear();
}

std::string read_bytes(size_t length)
{
    static char buffer[65536];
    static size_t begin, end;
    std::string bytes;
    while (bytes.size() < length) {
        if (begin == end) {
            ssize_t count = read(0, buffer, sizeof buffer);
            if (count <= 0)
                throw std::runtime_error("the client has gone");
            begin = 0;
            end = count;
        }
        size_t piece = std::min(length - bytes.size(), end - begin);
        bytes.append(buffer + begin, piece);
        begin += piece;
    }
    return bytes;
}

Message hear()
{
    Message head{0, 0, 0, read_bytes(HEAD)};
    uint32_t length = head.at<uint32_t>(0);
    if (length < HEAD || length > 1u << 30 || head.at<uint16_t>(6) != 1)
        throw std::runtime_error("this is not the protocol, version 1");
    return {head.at<uint16_t>(4), head.at<uint64_t>(8), head.at<double>(16), read_bytes(length - HEAD)};
}

/* ---- ns-3 counts in femtoseconds, and says when its next event is. */
int64_t ticks(double date)
{
    return std::llround(date * 1e15);
}

double seconds(int64_t date)
{
    return static_cast<double>(date) * 1e-15;
}

class Events : public ns3::MapScheduler
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId id = ns3::TypeId("Events").SetParent<ns3::MapScheduler>().AddConstructor<Events>();
        return id;
    }
    Events()
    {
        self = this;
    }
    static double next()
    {
        return self->IsEmpty() ? INFINITY : seconds(static_cast<int64_t>(self->PeekNext().key.m_ts));
    }

  private:
    static Events *self;
};
Events *Events::self;

/* ---- Hosts and the switch. */
struct Job { // a message under way
    uint32_t source, destination;
    int64_t bytes, left, arrived; // of `bytes` still to be sent, and at the destination
    bool streams;
};
std::map<uint64_t, Job> jobs;

struct Host {
    ns3::Ptr<ns3::PointToPointNetDevice> device, port; // its own, and that of the switch towards it
    std::deque<uint64_t> waiting;                      // messages take turns, a packet each
    bool busy = false;
};
std::vector<Host> hosts;
double present; // of the client's last ADVANCE
bool reported;

double now()
{
    return std::max(present, seconds(ns3::Simulator::Now().GetFemtoSeconds()));
}

void report(uint16_t type, uint64_t id)
{
    std::string body;
    if (type == LAST)
        append(body, -1.0);
    append<uint64_t>(body, 0);
    say(type, id, now(), body);
    reported = true;
    ns3::Simulator::Stop();
}

void send_next(uint32_t number)
{
    Host &host = hosts[number];
    host.busy = !host.waiting.empty();
    if (!host.busy)
        return;
    uint64_t id = host.waiting.front();
    host.waiting.pop_front();
    Job &job = jobs.at(id);
    uint64_t label[2] = {id, 0};
    int64_t bytes = std::min<int64_t>(job.left, PAYLOAD);
    job.left -= bytes;
    label[1] = bytes;
    /* On the wire it is as long as what it stands for. */
    auto packet = ns3::Create<ns3::Packet>(reinterpret_cast<uint8_t *>(label), sizeof label);
    packet->AddPaddingAtEnd(std::max<int64_t>(bytes - sizeof label - PPP, 0));
    if (job.left > 0)
        host.waiting.push_back(id);
    host.device->Send(packet, host.device->GetBroadcast(), 0x0800);
}

/* ns-3 is not done with the old packet when it says so. */
void packet_has_left(uint32_t number, ns3::Ptr<const ns3::Packet> packet)
{
    auto copy = packet->Copy();
    ns3::PppHeader header;
    copy->RemoveHeader(header);
    uint64_t label[2];
    copy->CopyData(reinterpret_cast<uint8_t *>(label), sizeof label);
    auto found = jobs.find(label[0]);
    bool waits = std::find(hosts[number].waiting.begin(), hosts[number].waiting.end(), label[0]) !=
                 hosts[number].waiting.end();
    if (found != jobs.end() && found->second.streams && found->second.left == 0 && !waits)
        report(SENT, label[0]);
    ns3::Simulator::ScheduleNow(&send_next, number);
}

bool at_switch(ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet> packet, uint16_t protocol,
               const ns3::Address &)
{
    uint64_t label[2];
    packet->CopyData(reinterpret_cast<uint8_t *>(label), sizeof label);
    auto &port = hosts[jobs.at(label[0]).destination].port;
    return port->Send(packet->Copy(), port->GetBroadcast(), protocol);
}

bool at_host(ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet> packet, uint16_t, const ns3::Address &)
{
    uint64_t label[2];
    packet->CopyData(reinterpret_cast<uint8_t *>(label), sizeof label);
    Job &job = jobs.at(label[0]);
    if (job.arrived == 0 && job.streams)
        report(FIRST, label[0]);
    job.arrived += static_cast<int64_t>(label[1]);
    if (job.arrived < job.bytes)
        return true;
    report(LAST, label[0]);
    jobs.erase(label[0]);
    return true;
}

void enter(uint64_t id)
{
    uint32_t source = jobs.at(id).source;
    hosts[source].waiting.push_back(id);
    if (!hosts[source].busy)
        send_next(source);
}

/* The number behind NAME=" in the platform. */
double attribute(const std::string &text, const std::string &name)
{
    size_t at = text.find(" " + name + "=\"");
    if (at == std::string::npos)
        throw std::runtime_error("the platform has no " + name);
    return std::strtod(text.c_str() + at + name.size() + 3, nullptr);
}

double rate, latency;

void build(uint32_t count, const std::string &platform)
{
    if (platform.find("<cluster ") == std::string::npos || platform.find("topology=") != std::string::npos)
        throw std::runtime_error("it needs a platform of one <cluster> without a topology, such as star:16");
    rate = attribute(platform, "bw");
    latency = attribute(platform, "lat");
    ns3::NodeContainer nodes, middle;
    nodes.Create(count);
    middle.Create(1);
    ns3::PointToPointHelper pair_of_nodes;
    pair_of_nodes.SetDeviceAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(std::llround(8 * rate))));
    pair_of_nodes.SetChannelAttribute("Delay", ns3::TimeValue(ns3::FemtoSeconds(ticks(latency))));
    pair_of_nodes.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                           ns3::StringValue("1000000000p")); // nothing is lost
    hosts.resize(count);
    for (uint32_t i = 0; i < count; i++) {
        auto pair = pair_of_nodes.Install(nodes.Get(i), middle.Get(0));
        hosts[i].device = ns3::DynamicCast<ns3::PointToPointNetDevice>(pair.Get(0));
        hosts[i].port = ns3::DynamicCast<ns3::PointToPointNetDevice>(pair.Get(1));
        hosts[i].device->SetReceiveCallback(ns3::MakeCallback(&at_host));
        hosts[i].port->SetReceiveCallback(ns3::MakeCallback(&at_switch));
        hosts[i].device->TraceConnectWithoutContext("PhyTxEnd", ns3::MakeBoundCallback(&packet_has_left, i));
    }
}

void meet()
{
    Message hello = hear();
    if (hello.type != HELLO || hello.body.compare(0, 8, "PARFOCAL") != 0)
        throw std::runtime_error("this is no HELLO");
    uint32_t nodes = hello.at<uint32_t>(16), names = hello.at<uint32_t>(20),
             settings = hello.at<uint32_t>(24);
    build(nodes, hello.body.substr(std::min<size_t>(32 + nodes + names + settings, hello.body.size())));
    std::string body, name = "ns-3";
    append<uint32_t>(body, 1);
    append<uint32_t>(body, 0); // no flags
    append(body, 0.0);         // no lookahead
    append(body, -1.0);        // streams report when they have left
    append(body, -1.0);
    append<uint32_t>(body, 0); // no limit
    append<uint32_t>(body, name.size());
    say(WELCOME, 0, 0.0, body + name);
    flush();
}

void at_limit()
{
    ns3::Simulator::Stop();
}

void advance(const Message &m)
{
    double limit = m.at<double>(0);
    present = m.date;
    reported = false;
    ns3::EventId wall;
    int64_t here = ns3::Simulator::Now().GetFemtoSeconds();
    if (std::isfinite(limit)) { // nothing of that date, but all of the present one
        int64_t end = std::max({ticks(m.date), ticks(limit) - 1, here});
        wall = ns3::Simulator::Schedule(ns3::FemtoSeconds(end - here), &at_limit);
    }
    ns3::Simulator::Run();
    ns3::Simulator::Remove(wall);
    std::string body;
    double date = std::min(now(), std::max(limit, m.date));
    append(body, std::max(date, Events::next()));
    append<uint64_t>(body, 0);
    append<uint64_t>(body, 0);
    append<uint64_t>(body, 0);
    say(ADVANCED, 0, date, body);
    flush();
}

void inject(const Message &m)
{
    int64_t bytes = std::max<int64_t>(std::llround(m.at<double>(8)), 1);
    Job job{m.at<uint32_t>(0), m.at<uint32_t>(4), bytes, bytes, 0, m.at<uint8_t>(42) != 0};
    if (job.source >= hosts.size() || job.destination >= hosts.size())
        throw std::runtime_error("there is no such node");
    jobs[m.id] = job;
    int64_t wait = std::max<int64_t>(ticks(m.date) - ns3::Simulator::Now().GetFemtoSeconds(), 0);
    ns3::Simulator::Schedule(ns3::FemtoSeconds(wait), &enter, m.id);
}

void serve()
{
    for (;;) {
        Message m = hear();
        std::string body;
        switch (m.type) {
        case INJECT:
            inject(m);
            break;
        case ADVANCE:
            advance(m);
            break;
        case ROUTE:
            append(body, 2 * latency);
            append(body, rate);
            append<uint64_t>(body, 2);
            say(ROUTE_INFO, 0, m.date, body);
            flush();
            break;
        case FINISH:
            return;
        default:
            throw std::runtime_error("a message of another type");
        }
    }
}

} // namespace

int main()
{
    ns3::Time::SetResolution(ns3::Time::FS);
    ns3::ObjectFactory scheduler;
    scheduler.SetTypeId(Events::GetTypeId());
    ns3::Simulator::SetScheduler(scheduler);
    try {
        meet();
        serve();
    } catch (const std::exception &wrong) {
        std::fprintf(stderr, "ns3net: %s\n", wrong.what());
        return 1;
    }
    ns3::Simulator::Destroy();
    return 0;
}
