/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's end of the conversation: its begin, its end, and what is wrong in between. */
#include "lowlevel/network/external/peer.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/child.h"
#include "base/config.h"
#include "base/log.h"
#include "lowlevel/network/external/address.h"
#include "lowlevel/network/external/external.h"

enum { MOST_LAST_WORDS = 10000000 };

struct pf_external_peer pf_external_peer = {.wire = {.fd = -1}};

static struct {
    bool is_open, has_met, is_over;
    const char *address;
    pid_t child;
} state;

/* One that we have started must be gone when we are; it has had its time to end by itself. */
static void end_child(void)
{
    if (state.child > 0 && !pf_in_child()) {
        kill(state.child, SIGKILL);
        waitpid(state.child, NULL, 0);
    }
    state.child = 0;
}

static void leave(void)
{
    if (!state.is_open || pf_in_child())
        return;
    state.is_over = true;
    pf_wire_close(&pf_external_peer.wire);
    end_child();
}

void pf_external_blame(const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pf_die("network external: the simulator at '%s': its message %llu: %s", state.address,
           (unsigned long long)pf_external_peer.wire.received, text);
}

/* What comes from the wire is not always about a message that is there. */
static _Noreturn void lose_peer(void)
{
    pf_die("network external: the simulator at '%s': after its message %llu: %s", state.address,
           (unsigned long long)pf_external_peer.wire.received, pf_external_peer.wire.error);
}

void pf_external_say(void)
{
    if (pf_in_child())
        pf_die("network external: a process that a rank has forked cannot use the network of its parent");
    if (!pf_wire_flush(&pf_external_peer.wire))
        lose_peer();
}

void pf_external_hear(struct pf_wire_message *message)
{
    if (!pf_wire_get(&pf_external_peer.wire, message))
        lose_peer();
    if (message->type != PF_EXTERNAL_ERROR)
        return;
    char text[300];
    size_t length = 0;
    for (; length < message->length && length + 1 < sizeof text; length++)
        text[length] = message->body[length] >= ' ' ? message->body[length] : '?';
    text[length] = 0;
    pf_external_blame("it says: %s", text);
}

void pf_external_expect(const struct pf_wire_message *message, size_t length)
{
    if (!pf_wire_expect(&pf_external_peer.wire, message, length))
        pf_external_blame("%s", pf_external_peer.wire.error);
}

void pf_external_open(void)
{
    char error[300];
    static const char prefix[] = "external:";
    if (state.is_open)
        return;
    bool in_model = strncmp(pf_config.net_model, prefix, sizeof prefix - 1) == 0;
    state.address = in_model ? pf_config.net_model + sizeof prefix - 1 : pf_config.net_external;
    if (!*state.address)
        pf_die(
            "network external: %s is not set: it is the address of the simulator (docs/external-network.md)",
            pf_config_given("net_external"));
    int fd = pf_external_connect(state.address, &state.child, error, sizeof error);
    if (fd < 0)
        pf_die("%s: %s", pf_config_given(in_model ? "net_model" : "net_external"), error);
    state.is_open = true;
    pf_wire_open(&pf_external_peer.wire, fd, pf_config.net_external_timeout);
    pf_at_end(leave);
}

static void read_welcome(const struct pf_wire_message *m)
{
    struct pf_external_peer *p = &pf_external_peer;
    const char *at = m->body;
    if (m->type != PF_EXTERNAL_WELCOME)
        pf_external_blame("a %s, type %u, where WELCOME should be", pf_wire_name(m->type), m->type);
    if (m->length < PF_EXTERNAL_WELCOME_BODY)
        pf_external_blame("a WELCOME of %zu bytes, at least %d are needed", m->length,
                          PF_EXTERNAL_WELCOME_BODY);
    uint32_t version = pf_external_get_u32(&at);
    p->flags = pf_external_get_u32(&at);
    p->lookahead = pf_external_get_f64(&at);
    p->at_once = pf_external_get_f64(&at);
    p->loopback_at_once = pf_external_get_f64(&at);
    p->credits = pf_external_get_u32(&at);
    uint32_t text = pf_external_get_u32(&at);
    if (version != PF_EXTERNAL_VERSION)
        pf_external_blame("it wants version %u of the protocol, and this side speaks %d", version,
                          PF_EXTERNAL_VERSION);
    if (p->flags & ~(uint32_t)(PF_EXTERNAL_LOOPBACK | PF_EXTERNAL_ACKS))
        pf_external_blame("WELCOME has flags 0x%x, of which some are unknown", p->flags);
    if (!(p->lookahead >= 0.0 && p->lookahead <= 1.0))
        pf_external_blame("WELCOME has a lookahead of %g s, which must be 0 to 1", p->lookahead);
    if (isnan(p->at_once) || isnan(p->loopback_at_once))
        pf_external_blame("WELCOME has a length that is no number");
    if (text != m->length - PF_EXTERNAL_WELCOME_BODY)
        pf_external_blame("WELCOME has %zu bytes of text and says %u", m->length - PF_EXTERNAL_WELCOME_BODY,
                          text);
}

void pf_external_meet(void)
{
    struct pf_wire_message message;
    if (state.has_met)
        return;
    pf_external_open();
    state.has_met = true;
    pf_external_put_hello(&pf_external_peer.wire);
    pf_external_say();
    pf_external_hear(&message);
    read_welcome(&message);
}

static bool wait_for_child(void)
{
    const struct timespec step = {.tv_nsec = 1000000};
    int status;
    long steps = (long)(pf_config.net_external_timeout * 1e3) + 1;
    for (long i = 0; i < steps; i++) {
        if (waitpid(state.child, &status, WNOHANG) != 0) {
            state.child = 0;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return true;
            pf_warn("network external: the simulator has ended with %s %d",
                    WIFEXITED(status) ? "status" : "signal",
                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
            return false;
        }
        nanosleep(&step, NULL);
    }
    pf_warn("network external: the simulator does not end");
    return false;
}

bool pf_external_finish(void)
{
    struct pf_wire *wire = &pf_external_peer.wire;
    struct pf_wire_message message;
    bool good = true;
    if (!state.is_open || state.is_over || pf_in_child())
        return true;
    state.is_over = true;
    if (state.has_met) {
        /* The peer reports what is still under way until it closes; these reports are dropped. */
        pf_wire_put(wire, PF_EXTERNAL_FINISH, 0, 0.0, 0);
        bool speaks = pf_wire_flush(wire);
        for (long i = 0; speaks && i < MOST_LAST_WORDS; i++)
            speaks = pf_wire_get(wire, &message);
    }
    pf_wire_close(wire);
    if (state.child > 0)
        good = wait_for_child();
    end_child();
    return good;
}
