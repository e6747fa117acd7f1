/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* clang-format off */
/*
 * What SimGrid and SMPI export, or have in memory, and install no header for: all that Parfocal knows of it.
 * layouts.h has the layouts and the names. What differs between versions from 3.32 on is looked up by probe.cpp when
 * Parfocal is configured, and stands in found.h. check.h proves all of it at start-up.
 *
 * found.h defines:
 *   PF_SIMGRID_MAJOR, PF_SIMGRID_MINOR   the version
 *   PF_SIMGRID_PACKAGE                   the package of Debian that has it
 *   PF_SIMGRID_ACTIVITY_HEAD             words of an activity before its reference count
 *   PF_SIMGRID_ACTOR_WAITING             words of an actor between its being suspended and its communications
 *   PF_SIMGRID_COMMUNICATIONS            the container of an actor's communications
 *   PF_SIMGRID_REQUEST_MESSAGE           the type in which a request counts messages
 *
 * For all versions, in C and C++:
 *   PF_SIMGRID_FINISH_WAIT               the name of Request::finish_wait(Request **, MPI_Status *)
 *   PF_SIMGRID_FINISH_NBC                the name of Request::finish_nbc_requests(Request **, int test)
 *   PF_SIMGRID_START                     the name of Request::start()
 *   PF_SIMGRID_COPY                      the name of Datatype::copy(), as declared below
 *   PF_SIMGRID_FIND                      the name of MailboxImpl::find_matching_comm(), declared in smpi_receive.c
 *   pf_simgrid_set_mailbox               CommImpl::set_mailbox(MailboxImpl *)
 *   PF_SIMGRID_COMM_SEND, _COMM_RECEIVE  the names of CommImpl::isend() and irecv()
 *   PF_SIMGRID_COMM_START                the name of CommImpl::start(), which both of them call
 *   PF_SIMGRID_READS_CLOCK               the function of the C library by which SMPI measures computation
 *   pf_simgrid_clock                     the simulated date; like all functions of the engine weak, so that
 *                                        its address is NULL where SimGrid does not export it
 *
 * In C++ only, for the engine:
 *   pf_simgrid_yield                     the calling actor stops, and the next one of the list runs, or the kernel
 *   pf_simgrid_run_next                  adds an actor to that list
 *   pf_simgrid_context                   what runs, an actor or the kernel
 *   pf_simgrid_set_context               ... for whatever asks
 *   pf_simgrid_swap                      saves the stack of one, and goes on in that of another
 *   pf_simgrid_stop                      ends the calling actor, which is to die
 *   pf_simgrid_clean_up                  of a dead actor
 *   pf_simgrid_run_all_actors            of a round of the main loop: actors run up to their next simcalls
 *   pf_simgrid_handle_simcall            ... which are carried out one by one
 *   pf_simgrid_time_advances             SimGrid's signal that the clock has moved
 *   pf_simgrid_comm_ends                 SimGrid's signal that a communication is over
 *   pf_simgrid_on_turn<Host or Link>(f)  calls f whenever one goes off or on
 * in simgrid::: the classes whose members and functions are used, as the library names them;
 * in pf_simgrid::: objects that are looked at only, and their values:
 *   activity, its states and their names; actor, with the list of its communications; request and its flags.
 */
/* clang-format on */
#include "lowlevel/simgrid/found.h"

/* The tests of check.h have headers with faults. */
#ifndef PF_SIMGRID_LAYOUTS
#define PF_SIMGRID_LAYOUTS "lowlevel/simgrid/layouts.h"
#endif
#include PF_SIMGRID_LAYOUTS
