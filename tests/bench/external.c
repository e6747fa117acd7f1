/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages per second through a network in another process, and round trips: external [--quick] PFNETD.
 *   window    16 messages enter at one date, from each node of a ring to the next one; when all are there,
 * the next 16 queue     the same, but all from one node to one other, so that each arrives at a date of its
 * own pingpong  one message, and its answer
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/network/external/address.h"
#include "lowlevel/network/external/wire.h"

enum { NODES = 16, WINDOW = 16, BYTES = 72, ACK = 32, TURNS = 1 << 16 };

static struct pf_wire wire;
static double date;
static uint64_t turn, id, questions;

static double wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void hear(struct pf_wire_message *m)
{
    if (!pf_wire_get(&wire, m))
        pf_die("%s", wire.error);
    if (m->type == PF_EXTERNAL_ERROR)
        pf_die("%.*s", (int)m->length, m->body);
}

static void hello(void)
{
    char names[NODES][16];
    size_t length = 0;
    struct pf_wire_message m;
    for (int i = 0; i < NODES; i++)
        length += (size_t)snprintf(names[i], sizeof names[i], "node-%d", 1000 + i) + 1;
    char *at = pf_wire_put(&wire, PF_EXTERNAL_HELLO, 0, 0.0, PF_EXTERNAL_HELLO_BODY + NODES + length);
    memcpy(at, PF_EXTERNAL_MAGIC, sizeof PF_EXTERNAL_MAGIC);
    at += sizeof PF_EXTERNAL_MAGIC;
    const uint32_t numbers[] = {PF_EXTERNAL_VERSION, PF_EXTERNAL_VERSION, NODES, (uint32_t)length, 0, 0};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        pf_external_put_u32(&at, numbers[i]);
    memset(at, 1, NODES);
    at += NODES;
    for (int i = 0; i < NODES; i++)
        at = stpcpy(at, names[i]) + 1;
    if (!pf_wire_flush(&wire))
        pf_die("%s", wire.error);
    hear(&m);
}

static void inject(int from, int to)
{
    char *at = pf_wire_put(&wire, PF_EXTERNAL_INJECT, id++, date, PF_EXTERNAL_INJECT_BODY);
    memset(at, 0, PF_EXTERNAL_INJECT_BODY);
    pf_external_put_u32(&at, (uint32_t)from);
    pf_external_put_u32(&at, (uint32_t)to);
    pf_external_put_f64(&at, BYTES);
    pf_external_put_f64(&at, ACK);
    pf_external_put_u64(&at, turn);
    turn += TURNS;
}

/* One question; how many messages have ended. */
static int advance(void)
{
    struct pf_wire_message m;
    int ended = 0;
    char *at = pf_wire_put(&wire, PF_EXTERNAL_ADVANCE, 0, date, PF_EXTERNAL_ADVANCE_BODY);
    pf_external_put_f64(&at, 1e300);
    pf_external_put_u64(&at, 0);
    pf_external_put_u64(&at, turn);
    if (!pf_wire_flush(&wire))
        pf_die("%s", wire.error);
    for (hear(&m); m.type != PF_EXTERNAL_ADVANCED; hear(&m))
        ended += m.type == PF_EXTERNAL_LAST;
    const char *body = m.body + 2 * sizeof(uint64_t);
    date = m.date;
    turn = pf_external_get_u64(&body);
    questions++;
    return ended;
}

static void report(const char *what, long messages, double begin, const char *unit, long per_unit)
{
    double seconds = wall() - begin;
    printf("%-9s %9.0f %s/s, %.2f questions for each message\n", what,
           (double)messages / (double)per_unit / seconds, unit, (double)questions / (double)messages);
    questions = 0;
}

static void windows(const char *what, long messages, bool in_ring)
{
    double begin = wall();
    for (long sent = 0; sent < messages; sent += WINDOW) {
        for (int i = 0; i < WINDOW; i++)
            inject(in_ring ? i : 0, in_ring ? (i + 1) % NODES : 1);
        for (int ended = 0; ended < WINDOW;)
            ended += advance();
    }
    report(what, messages, begin, "messages", 1);
}

static void pingpong(long trips)
{
    double begin = wall();
    for (long i = 0; i < 2 * trips; i++) {
        inject(i & 1, !(i & 1));
        while (advance() == 0)
            ;
    }
    report("pingpong", 2 * trips, begin, "round trips", 2);
}

int main(int argc, char **argv)
{
    char error[300];
    pid_t child;
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (argc != 2 + quick)
        pf_die("usage: external [--quick] PFNETD");
    long messages = quick ? 1600 : 800000;
    static const char *const networks[] = {"packet", "flow"};
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        char *address =
            pf_asprintf("exec:%s --network %s --platform star:%d", argv[1 + quick], networks[i], NODES);
        int fd = pf_external_connect(address, &child, error, sizeof error);
        if (fd < 0)
            pf_die("%s", error);
        free(address);
        pf_wire_open(&wire, fd, 60.0);
        date = 0.0;
        turn = id = 0;
        hello();
        printf("%s\n", networks[i]);
        windows("window", messages, true);
        windows("queue", messages / 4, false);
        pingpong(messages / 16);
        pf_wire_put(&wire, PF_EXTERNAL_FINISH, 0, 0.0, 0);
        pf_wire_flush(&wire);
        int status;
        waitpid(child, &status, 0);
        pf_wire_close(&wire);
        if (status != 0)
            pf_die("pfnetd has ended with status %d", status);
    }
    return 0;
}
