/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <pthread.h>
#include <stddef.h>

/*
 * Thread-specific data of libraries that believe to have a process of their own. All ranks share one thread,
 * and the process has 1,024 keys. A key is a number here, under which each owner, which is a number too, has
 * a value. Destructors would run when the thread ends, which is the end of the process.
 */

/* A new key, above all that the C library gives. 0 or ENOMEM. */
int pf_keys_create(pthread_key_t *key);

/* The owner's value, NULL if none was set. */
void *pf_keys_get(pthread_key_t key, size_t owner);

/* 0, or ENOMEM. */
int pf_keys_set(pthread_key_t key, size_t owner, const void *value);
