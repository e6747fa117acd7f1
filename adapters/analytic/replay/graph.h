/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A schedule (GOAL): the operations of a rank with what each of them requires. A rank has several processors
 * and NICs, by number; each processor does one thing after the other, at the same time as the others.
 */
enum an_graph_kind {
    AN_GRAPH_SEND,
    AN_GRAPH_RECEIVE,
    AN_GRAPH_CALC
}; /* what begins first at one date comes first */

/* An edge leads to an operation that requires this one: that it has ended or, with this bit, begun. */
#define AN_GRAPH_BEGUN 0x80000000u

struct an_graph_op {
    uint64_t size;     /* bytes; of a calculation, ns */
    int32_t peer, tag; /* or the middleware's wildcards (adapters/envelope.h) */
    uint32_t unmet;    /* what it requires and does not hold yet */
    uint32_t edges;    /* its first edge; they end where those of the next operation begin */
    uint8_t kind, cpu, nic;
    bool begun, finished; /* filled in by the replay */
};

struct an_graph {
    struct an_graph_op *ops; /* and one behind them, for the end of the edges */
    uint32_t *edges;
    uint32_t count;
};

/* The parameters of LogGOPSim, in ns and bytes. */
struct an_loggops {
    double latency, overhead, gap, byte_gap, byte_overhead; /* L, o, g, G, O */
    double eager;                                           /* S */
};

struct an_program;

/* Plays the graphs of a program whose price list is there, from the current date on, in the calling actor;
 * returns at the end of the last rank. With `loggops` of the program by LogGOPSim's rules, which know no
 * platform; else model analytic prices messages, and a node has one NIC. Ends the process with one line where
 * operations cannot begin. */
void an_graph_play(struct an_program *program);
