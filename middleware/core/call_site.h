/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

/* Where in the application's source an address is: "file.c:12", or the address when it is not known. */
const char *pf_call_site(const void *address, char *buffer, size_t size);
