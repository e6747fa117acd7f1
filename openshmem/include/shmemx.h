/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of OpenSHMEM: there are none. */
#include <shmem.h>
