/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/object.h"

/* Info objects live in the middleware; a native shadow is made for native calls that take one. */
struct pf_info;

struct pf_info *pf_info_of(MPI_Info handle);
MPI_Info pf_info_copy(struct pf_rank *r, MPI_Info handle); /* MPI_INFO_NULL stays what it is */
/* Of a valid handle the keys of MPI and of Parfocal: others are no hints (MPI 3.1 section 6.4.4). */
MPI_Info pf_info_copy_known(struct pf_rank *r, MPI_Info handle);
/* The value of a key, NULL when it is not set. */
const char *pf_info_value(const struct pf_info *info, const char *key);
void pf_info_release(MPI_Info handle);
extern const struct pf_object_ops pf_info_ops;
