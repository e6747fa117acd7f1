/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/*
 * snprintf() and vsnprintf() with the same result, but faster for what traces consist of: %s, %c, %d, %lu and
 * %.Nf. A message has some ten numbers, and in a process into which a library has brought formats of its own
 * (libquadmath does) the C library's functions take several times as long.
 */
int pf_trace_format(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int pf_trace_vformat(char *text, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
