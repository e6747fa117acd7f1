/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of our networks as the simulator of another process. Its events wait in this process's engine; the
 * client says before which place of its own they may run, and this side stops at the first one that the
 * client must hear of. A stream that has left, or a message that is lost, may let the client send at once:
 * such an upcall waits here, in the middle of its event, for what the client does.
 */
#include "lowlevel/network/external/external.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <uthash.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/pool.h"
#include "lowlevel/network/external/wire.h"
#include "lowlevel/network/network.h"
#include "lowlevel/network/packet/described.h"
#include "lowlevel/network/packet/report.h"
#include "lowlevel/platform/platform.h"

enum { MOST_NODES = 1 << 24 };

/* A message of the client's. */
struct job {
    struct pf_transfer transfer;
    uint64_t id;
    double ack_bytes;
    UT_hash_handle hh;
};

/* The way of the last message of a pair, which an acknowledgement takes back. */
struct way {
    uint64_t pair;
    void *route;
    UT_hash_handle hh;
};

static struct pf_wire wire;
static struct job *jobs;
static struct way *ways;
static struct pf_pool job_pool = PF_POOL(struct job);
static uint32_t nodes;
static bool has_reported; /* since the last ADVANCED */
static const struct job *injecting;
static struct pf_engine_place limit; /* this side's events run before it */
static bool is_finished;
static jmp_buf failure;

/* The conversation cannot go on; wire.error says why. */
static _Noreturn void give_up(void)
{
    longjmp(failure, 1);
}

static _Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int head = snprintf(wire.error, sizeof wire.error,
                        "message %llu of the client: ", (unsigned long long)wire.received);
    vsnprintf(wire.error + head, sizeof wire.error - (size_t)head, format, args);
    va_end(args);
    size_t length = strlen(wire.error);
    memcpy(pf_wire_put(&wire, PF_EXTERNAL_ERROR, 0, 0.0, length), wire.error, length);
    char kept[sizeof wire.error];
    memcpy(kept, wire.error, sizeof kept);
    pf_wire_flush(&wire); /* the client may be gone, which is not the reason */
    memcpy(wire.error, kept, sizeof kept);
    give_up();
}

static void say(void)
{
    if (!pf_wire_flush(&wire))
        give_up();
}

static void hear(struct pf_wire_message *m)
{
    if (pf_wire_get(&wire, m))
        return;
    char why[sizeof wire.error];
    snprintf(why, sizeof why, "%s", wire.error);
    refuse("%s", why);
}

static void expect(const struct pf_wire_message *m, size_t length)
{
    char why[sizeof wire.error];
    if (pf_wire_expect(&wire, m, length))
        return;
    snprintf(why, sizeof why, "%s", wire.error);
    refuse("%s", why);
}

/* ---- What happens. */
static void say_advanced(bool inside)
{
    struct pf_engine_place next = pf_engine_first_place();
    char *at = pf_wire_put(&wire, PF_EXTERNAL_ADVANCED, 0, pf_engine_state.date, PF_EXTERNAL_ADVANCED_BODY);
    pf_external_put_f64(&at, inside ? pf_engine_state.date : next.date);
    pf_external_put_u64(&at, next.turn);
    pf_external_put_u64(&at, pf_engine_next_turn());
    pf_external_put_u64(&at, inside);
    say();
    has_reported = false;
}

static void serve_until_advance(void);

static struct job *job_of(struct pf_transfer *t)
{
    return pf_container_of(t, struct job, transfer);
}

static void report(uint16_t type, const struct job *job, uint64_t turn)
{
    char *at = pf_wire_put(&wire, type, job->id, pf_engine_now(), PF_EXTERNAL_TURN_BODY);
    pf_external_put_u64(&at, turn);
    has_reported = true;
}

/* What the client posts when it hears of it comes before what this side posts from here on. */
static uint64_t reserve_turns(void)
{
    uint64_t turn = pf_engine_next_turn();
    pf_engine_set_next_turn(turn + PF_EXTERNAL_TURNS_AT_ONCE);
    return turn;
}

static void pause_step(void)
{
    double date = pf_engine_state.date;
    say_advanced(true);
    serve_until_advance();
    pf_engine_set_date(date);
}

static void end(struct job *job)
{
    HASH_DEL(jobs, job);
    pf_pool_put(&job_pool, job);
}

static void first_arrives(struct pf_transfer *t)
{
    report(PF_EXTERNAL_FIRST, job_of(t), reserve_turns());
}

static void has_left(struct pf_transfer *t)
{
    if (!t->streams || injecting == job_of(t))
        return; /* the client knows */
    report(PF_EXTERNAL_SENT, job_of(t), 0);
    pause_step();
}

static void last_arrives(struct pf_transfer *t)
{
    struct job *job = job_of(t);
    double acknowledged = job->ack_bytes > 0.0 ? pf_network_of(t)->acknowledge(t, job->ack_bytes) : -1.0;
    char *at = pf_wire_put(&wire, PF_EXTERNAL_LAST, job->id, pf_engine_now(), PF_EXTERNAL_LAST_BODY);
    pf_external_put_f64(&at, acknowledged);
    pf_external_put_u64(&at, reserve_turns());
    has_reported = true;
    end(job);
}

static void is_lost(struct pf_transfer *t)
{
    report(PF_EXTERNAL_LOST, job_of(t), 0);
    end(job_of(t));
    pause_step();
}

/* ---- What the client says. */
static bool is_length(double bytes)
{
    return bytes >= 0.0 && bytes <= 1e18;
}

static void keep_way(uint64_t pair, void *route)
{
    struct way *way;
    HASH_FIND(hh, ways, &pair, sizeof pair, way);
    if (!way) {
        way = pf_calloc(1, sizeof *way);
        way->pair = pair;
        HASH_ADD(hh, ways, pair, sizeof pair, way);
    }
    way->route = route;
}

static uint64_t pair_of(uint32_t src, uint32_t dst)
{
    return (uint64_t)src << 32 | dst;
}

static void check_nodes(uint32_t src, uint32_t dst)
{
    if (src >= nodes || dst >= nodes)
        refuse("from node %u to node %u, and there are %u", src, dst, nodes);
}

/* It is the present of both sides: nothing of this side may be left behind. */
static void check_date(const struct pf_wire_message *m)
{
    struct pf_engine_place next = pf_engine_first_place();
    if (!(m->date >= pf_engine_state.date && m->date <= next.date))
        refuse("a %s of %.17g s, and it is %.17g s and something is due at %.17g s", pf_wire_name(m->type),
               m->date, pf_engine_state.date, next.date);
}

static void inject(const struct pf_wire_message *m)
{
    const char *at = m->body;
    struct job *job;
    expect(m, PF_EXTERNAL_INJECT_BODY);
    check_date(m);
    HASH_FIND(hh, jobs, &m->id, sizeof m->id, job);
    if (job)
        refuse("INJECT of message 0x%llx, which is under way", (unsigned long long)m->id);
    uint32_t src = pf_external_get_u32(&at), dst = pf_external_get_u32(&at);
    double bytes = pf_external_get_f64(&at), ack_bytes = pf_external_get_f64(&at);
    uint64_t turn = pf_external_get_u64(&at);
    uint32_t from = pf_external_get_u32(&at), to = pf_external_get_u32(&at);
    uint32_t kinds = pf_external_get_u32(&at);
    check_nodes(src, dst);
    if (!is_length(bytes) || !is_length(ack_bytes))
        refuse("INJECT of %g bytes, with an acknowledgement of %g", bytes, ack_bytes);
    if ((kinds & 0xff) >= PF_VN_COUNT || kinds >> 16 > 1)
        refuse("INJECT into virtual network %u, with flags 0x%x", kinds & 0xff, kinds >> 16);
    job = pf_pool_get(&job_pool);
    *job = (struct job){.id = m->id, .ack_bytes = ack_bytes};
    job->transfer = (struct pf_transfer){.src = (int)src,
                                         .dst = (int)dst,
                                         .bytes = bytes,
                                         .streams = kinds >> 16,
                                         .vn = (uint8_t)(kinds & 0xff),
                                         .kind = (uint8_t)(kinds >> 8),
                                         .network = PF_NETWORK_DEFAULT,
                                         .src_process = (int)from,
                                         .dst_process = (int)to,
                                         .first = first_arrives,
                                         .sent = has_left,
                                         .last = last_arrives,
                                         .lost = is_lost};
    HASH_ADD(hh, jobs, id, sizeof job->id, job);
    pf_engine_set_date(m->date);
    uint64_t kept = pf_engine_next_turn();
    pf_engine_set_next_turn(turn);
    injecting = job;
    pf_network_inject(&job->transfer);
    injecting = NULL;
    pf_engine_set_next_turn(kept > turn + PF_EXTERNAL_TURNS_AT_ONCE ? kept
                                                                    : turn + PF_EXTERNAL_TURNS_AT_ONCE);
    keep_way(pair_of(src, dst), job->transfer.route);
}

static void cancel(const struct pf_wire_message *m)
{
    struct job *job;
    expect(m, 0);
    check_date(m);
    HASH_FIND(hh, jobs, &m->id, sizeof m->id, job);
    if (!job)
        return; /* its end has been reported */
    pf_engine_set_date(m->date);
    pf_network_of(&job->transfer)->cancel(&job->transfer);
    end(job);
}

static void route(const struct pf_wire_message *m)
{
    const char *at = m->body;
    struct pf_route_info info;
    expect(m, PF_EXTERNAL_ROUTE_BODY);
    uint32_t src = pf_external_get_u32(&at), dst = pf_external_get_u32(&at);
    check_nodes(src, dst);
    pf_network()->route_info((int)src, (int)dst, &info);
    char *put = pf_wire_put(&wire, PF_EXTERNAL_ROUTE_INFO, 0, m->date, PF_EXTERNAL_ROUTE_INFO_BODY);
    pf_external_put_f64(&put, info.latency);
    pf_external_put_f64(&put, info.bandwidth);
    pf_external_put_u32(&put, (uint32_t)info.hops);
    pf_external_put_u32(&put, 0);
    say();
}

static void acknowledge(const struct pf_wire_message *m)
{
    const char *at = m->body;
    struct way *way;
    expect(m, PF_EXTERNAL_ACKNOWLEDGE_BODY);
    check_date(m);
    uint32_t src = pf_external_get_u32(&at), dst = pf_external_get_u32(&at);
    double bytes = pf_external_get_f64(&at);
    uint64_t pair = pair_of(src, dst);
    check_nodes(src, dst);
    HASH_FIND(hh, ways, &pair, sizeof pair, way);
    if (!way || !is_length(bytes))
        refuse("ACKNOWLEDGE of %g bytes for node %u, which has sent nothing to node %u, or no such length",
               bytes, src, dst);
    const struct pf_transfer t = {
        .src = (int)src, .dst = (int)dst, .route = way->route, .network = PF_NETWORK_DEFAULT};
    pf_engine_set_date(m->date);
    pf_wire_put(&wire, PF_EXTERNAL_ACKNOWLEDGED, 0, pf_network()->acknowledge(&t, bytes), 0);
    say();
}

static void read_limit(const struct pf_wire_message *m)
{
    const char *at = m->body;
    expect(m, PF_EXTERNAL_ADVANCE_BODY);
    check_date(m);
    limit.date = pf_external_get_f64(&at);
    limit.turn = pf_external_get_u64(&at);
    uint64_t turn = pf_external_get_u64(&at);
    if (!(limit.date >= m->date))
        refuse("ADVANCE at %.17g s to %.17g s", m->date, limit.date);
    if (turn < pf_engine_next_turn())
        refuse("ADVANCE with turn %llu, and %llu is the next one", (unsigned long long)turn,
               (unsigned long long)pf_engine_next_turn());
    pf_engine_set_next_turn(turn);
    pf_engine_set_date(m->date);
}

/* All that comes before this side may go on, or before the end. */
static void serve_until_advance(void)
{
    struct pf_wire_message m;
    for (;;) {
        hear(&m);
        switch (m.type) {
        case PF_EXTERNAL_INJECT:
            inject(&m);
            break;
        case PF_EXTERNAL_CANCEL:
            cancel(&m);
            break;
        case PF_EXTERNAL_ROUTE:
            route(&m);
            break;
        case PF_EXTERNAL_ACKNOWLEDGE:
            acknowledge(&m);
            break;
        case PF_EXTERNAL_ADVANCE:
            read_limit(&m);
            return;
        case PF_EXTERNAL_FINISH:
            expect(&m, 0);
            is_finished = true;
            give_up();
        default:
            refuse("a %s, type %u, which a client does not send", pf_wire_name(m.type), m.type);
        }
    }
}

/* ---- Begin and end. */
static double read_figure(const char *key, const char *value, double most)
{
    char *end;
    double figure = strtod(value, &end);
    if (end == value || *end || !(figure >= 0.0 && figure <= most))
        refuse("HELLO has %s=%.40s, which must be from 0 to %g", key, value, most);
    return figure;
}

static void read_fabric(const char *key, const char *value, char *text, size_t size,
                        struct pf_fabric_speeds *links)
{
    int link = 0;
    if (strcmp(key, "fabric") == 0)
        snprintf(text, size, "%s", value);
    else if (strcmp(key, "fabric_router_latency") == 0)
        links->router_latency = read_figure(key, value, 1e6);
    else if (sscanf(key, "fabric_rate_%d", &link) == 1 && link >= 0 && link < PF_LINK_KINDS)
        links->rate[link] = read_figure(key, value, INFINITY);
    else if (sscanf(key, "fabric_latency_%d", &link) == 1 && link >= 0 && link < PF_LINK_KINDS)
        links->latency[link] = read_figure(key, value, 1e6);
}

/* What would make this process write files, or be a client itself, is its own user's to say. */
static bool is_own(const char *key)
{
    return strcmp(key, "net_model") == 0 || strncmp(key, "net_external", 12) == 0 ||
           strncmp(key, "net_statistics", 14) == 0;
}

static void read_settings(char *settings)
{
    char text[160] = "", *save;
    struct pf_fabric_speeds links = {.router_latency = 0.0};
    for (char *line = strtok_r(settings, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *value = strchr(line, '=');
        if (!value)
            refuse("HELLO has the setting '%.60s' without a value", line);
        *value++ = 0;
        bool is_known =
            strncmp(line, "net_", 4) == 0 || strncmp(line, "nic_", 4) == 0 || strcmp(line, "background") == 0;
        if (is_known && !is_own(line))
            pf_config_suggest("HELLO of the client", line, value);
        read_fabric(line, value, text, sizeof text, &links);
    }
    if (*text)
        pf_network_describe(text, &links);
}

static void check_names(const char *names, size_t length)
{
    if (pf_platform_node_count() != (int)nodes)
        refuse("HELLO has %u nodes, and the platform has %d", nodes, pf_platform_node_count());
    const char *at = names, *behind = names + length;
    for (uint32_t i = 0; i < nodes; i++) {
        const char *own = sg_host_get_name(pf_platform_host((int)i));
        size_t left = (size_t)(behind - at), size = strnlen(at, left) + 1;
        if (size > left || strcmp(at, own) != 0)
            refuse("HELLO calls node %u '%.*s', and the platform '%s'", i, (int)(left < 60 ? left : 60), at,
                   own);
        at += size;
    }
}

static void meet(pf_external_load *load)
{
    struct pf_wire_message m;
    char error[300];
    bool is_there = pf_wire_get(&wire, &m);
    if (!is_there && wire.is_closed) {
        is_finished = true; /* a client that has sent no message */
        give_up();
    }
    if (!is_there) {
        snprintf(error, sizeof error, "%s", wire.error);
        refuse("%s", error);
    }
    if (m.type != PF_EXTERNAL_HELLO || m.length < PF_EXTERNAL_HELLO_BODY ||
        memcmp(m.body, PF_EXTERNAL_MAGIC, sizeof PF_EXTERNAL_MAGIC) != 0)
        refuse("this is not HELLO of Parfocal");
    const char *at = m.body + sizeof PF_EXTERNAL_MAGIC;
    uint32_t least = pf_external_get_u32(&at), most = pf_external_get_u32(&at);
    nodes = pf_external_get_u32(&at);
    uint64_t names = pf_external_get_u32(&at), settings = pf_external_get_u32(&at),
             platform = pf_external_get_u32(&at);
    if (least > PF_EXTERNAL_VERSION || most < PF_EXTERNAL_VERSION)
        refuse("it speaks versions %u to %u of the protocol, and this side %d", least, most,
               PF_EXTERNAL_VERSION);
    if (nodes < 1 || nodes > MOST_NODES ||
        nodes + names + settings + platform != m.length - PF_EXTERNAL_HELLO_BODY)
        refuse("the lengths in HELLO are not its length");
    const char *ranks = at;
    at += nodes;
    char *settings_copy = pf_strndup(at + names, settings);
    read_settings(settings_copy);
    free(settings_copy);
    if (!load(at + names + settings, platform, (int)nodes, error, sizeof error))
        refuse("%s", error);
    pf_platform_set_ranks(ranks, (int)nodes);
    check_names(at, names);
}

static void welcome(const char *name)
{
    double small = (double)pf_config.net_small_max;
    double at_once = strcmp(name, "ideal") == 0 ? INFINITY : small;
    char text[100];
    int length = snprintf(text, sizeof text, "Parfocal %s, network %s", PF_VERSION, name);
    char *at = pf_wire_put(&wire, PF_EXTERNAL_WELCOME, 0, 0.0, PF_EXTERNAL_WELCOME_BODY + (size_t)length);
    pf_external_put_u32(&at, PF_EXTERNAL_VERSION);
    pf_external_put_u32(&at, (strcmp(name, "packet") ? PF_EXTERNAL_LOOPBACK : 0) | PF_EXTERNAL_ACKS);
    pf_external_put_f64(&at, 0.0);
    pf_external_put_f64(&at, at_once);
    pf_external_put_f64(&at, strcmp(name, "ideal") == 0 ? INFINITY : small);
    pf_external_put_u32(&at, 0);
    pf_external_put_u32(&at, (uint32_t)length);
    memcpy(at, text, (size_t)length);
    say();
}

static void converse(const char *name, pf_external_load *load)
{
    meet(load);
    pf_engine_set_date(0.0);
    welcome(name);
    for (;;) {
        serve_until_advance();
        while (!has_reported && pf_engine_is_before(pf_engine_first_place(), limit))
            pf_engine_run_first();
        say_advanced(false);
    }
}

bool pf_external_serve(int fd, const char *name, pf_external_load *load, char *error, size_t error_size)
{
    pf_wire_open(&wire, fd, pf_config.net_external_timeout);
    if (setjmp(failure) == 0)
        converse(name, load);
    snprintf(error, error_size, "%s", wire.error);
    bool good = is_finished && pf_network_finish();
    pf_wire_close(&wire);
    return good;
}
