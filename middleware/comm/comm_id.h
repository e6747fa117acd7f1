/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Identifiers of communicators, by which the members' shadows find each other. They are few in Open MPI, so
 * those of freed communicators come back. */

struct pf_instance;

/* An identifier that no live communicator has, and no shadow that operations in progress keep. */
int pf_comm_id_take(void);

/* For the next that takes one. */
void pf_comm_id_give_back(int id);

/* A shadow of this identifier was freed in the instance. Returns whether it may still be there. Before the
 * identifier is free again. */
void pf_comm_id_freed(struct pf_instance *in, int id);
