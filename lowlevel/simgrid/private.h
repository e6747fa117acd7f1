/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_LOWLEVEL_SIMGRID_PRIVATE_H
#define PF_LOWLEVEL_SIMGRID_PRIVATE_H

/*
 * What SimGrid and SMPI export, or have in memory, and install no header for: all that Parfocal knows of it.
 * One header for each version, simgrid-<version>.h, has the layouts and the names; meson.build takes that of
 * the version that is installed, and refuses where there is none. Every such header defines the following,
 * under the same names, so that nothing outside of it depends on the version. check.h proves it at start-up.
 *
 * In C and C++:
 *   PF_SIMGRID_MAJOR, PF_SIMGRID_MINOR   the version
 *   PF_SIMGRID_PACKAGE                   the package of Debian that has it
 *   PF_SIMGRID_FINISH_WAIT               the name of Request::finish_wait(Request **, MPI_Status *)
 *   PF_SIMGRID_READS_CLOCK               the function of the C library by which SMPI measures computation
 *   PF_SIMGRID_LINK_TURNS                s4u::Link's function that takes whom to tell when a link goes off or
 * on pf_simgrid_clock                     the simulated date; like all functions of the engine weak, so that
 *                                        its address is NULL where SimGrid does not export it
 *
 * In C++ only, for the engine:
 *   pf_simgrid_answer_simcall            ends the blocking simcall of an actor
 *   pf_simgrid_run_all_actors            of a round of the main loop: actors run up to their next simcalls
 *   pf_simgrid_handle_simcall            ... which are carried out one by one
 *   pf_simgrid_time_advances             whom SimGrid tells that the clock has moved
 * in simgrid::: the classes whose members and functions are used, as the library names them;
 * in pf_simgrid::: objects that are looked at only, and their values:
 *   activity, its states and their names; actor, with the list of its communications; request and its flags.
 */
#include PF_SIMGRID_PRIVATE

#endif
