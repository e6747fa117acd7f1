/* SPDX-License-Identifier: BSD-3-Clause */
/* The header's place before OpenSHMEM 1.1. */
#include <shmemx.h>
