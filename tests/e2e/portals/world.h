/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TEST_PORTALS_WORLD_H
#define PF_TEST_PORTALS_WORLD_H

#include <portals4.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/self.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/portals/runtime.h"

/*
 * Runs Portals programs as SimGrid actors. SimGrid simulates once per process, so every world is a child
 * process; its checks end it with a message and a status that fails the test in the parent.
 */
struct world {
    int nodes;
    int ranks_per_node;
    double bandwidth;      /* B/s of each direction of a node's link; 0: 11.1 GB/s */
    double latency;        /* s of one link; 0: 500 ns, of which a way has two */
    const char *down_link; /* profile ("DATE STATE" lines) of the state of one more link on the ways to the
                              last node */
    const char *platform;  /* zones of another platform, whose hosts are node-0, node-1, ...; NULL: a star */
    const char *const *settings; /* "NAME=VALUE" for the environment, NULL-terminated, or NULL */
};

typedef void (*world_program)(int rank, int size, void *shared);

/* One page that parent and children share, for results. */
void *world_shared(void);

/* Runs the program; returns the exit status of the child (0: well). */
int world_run(const struct world *world, world_program program);
/* The same, and the child's stderr in `text`. */
int world_run_text(const struct world *world, world_program program, char *text, size_t size);

/* The bytes of a packet when the network under test is that of packets (PARFOCAL_NET_MODEL), else 0. */
double world_packet(void);

/* Inside a program: ends the child when the condition does not hold. */
#define CHECK(condition) world_check((condition), #condition, __FILE__, __LINE__)
void world_check(int holds, const char *what, const char *file, int line);

/* An interface with one event queue, ready to use. */
struct endpoint {
    ptl_handle_ni_t ni;
    ptl_handle_eq_t eq;
    ptl_handle_md_t md; /* all memory, events into eq */
    ptl_pt_index_t pt;
    ptl_uid_t uid;
};

void endpoint_open(struct endpoint *e, unsigned int ni_options, unsigned int pt_options, ptl_size_t events);
void endpoint_close(struct endpoint *e);

/* Appends an entry that matches `bits` from anybody. */
ptl_handle_me_t endpoint_append(struct endpoint *e, void *start, ptl_size_t length, unsigned int options,
                                ptl_match_bits_t bits, ptl_list_t list, void *user_ptr);

/* Waits for the next event, which must be of this type and successful. */
ptl_event_t endpoint_expect(struct endpoint *e, ptl_event_kind_t type);

/* All ranks meet; costs no simulated time beyond the waiting. */
void world_barrier(void);

/* The physical address of a rank (after the barrier that follows endpoint_open). */
ptl_process_t world_address(int rank);

#endif
