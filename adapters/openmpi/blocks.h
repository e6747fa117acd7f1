/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

/*
 * malloc() and free() for mtl/portals4. Each rank has 32 buffers of 2 MiB for unexpected messages, and few
 * of them are ever used. The C library would write its note of the size in front of each: a page, and
 * another one for the table that leads to it, 256 KiB for each rank. Here nothing is written before a message
 * comes.
 */
void *pf_blocks_malloc(size_t size);
void pf_blocks_free(void *block);
