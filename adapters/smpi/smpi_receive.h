/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

struct pf_instance;

/*
 * Every receive of SMPI ends in Request::finish_wait, whatever call completes it: a wait, a test, a
 * collective, MPI_Sendrecv. From here on libsimgrid's own calls of it come by here, in no simulated time,
 * and two faults are repaired there.
 *
 * A message may end inside an item of the receiver's derived datatype (MPI 3.1 section 3.2.2). SMPI unpacks
 * whole items only and drops the rest: it is unpacked.
 *
 * A message that is longer than its buffer is an error, which SMPI notes in the status, if there is one, and
 * returns from few calls. It becomes the `unreported` error of the rank's instance (adapter.h). For the
 * receives of a nonblocking collective it is noted in the collective's request, whose status then has it.
 * `of_rank` says which instance that is.
 */
void pf_smpi_receive_install(struct pf_instance *(*of_rank)(int rank));

/* The same for what a member of a collective sends itself, which Datatype::copy moves. Its caller has given
 * more than it wanted to be moved: that is no error. */
void pf_smpi_receive_forget(void);

/* The rank with this actor has called MPI_Finalize. SMPI ends the process with a backtrace when it gets a
 * message after its actor has ended: from now on that is an error of one line. */
void pf_smpi_receive_end(int rank, long actor);
