/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_CALL_SITE_H
#define PF_MIDDLEWARE_CALL_SITE_H

#include <stddef.h>

/* Where in the application's source an address is: "file.c:12", or the address when it is not known. */
const char *pf_call_site(const void *address, char *buffer, size_t size);

#endif
