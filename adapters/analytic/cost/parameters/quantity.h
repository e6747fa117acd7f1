/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

/* Formats the message about a wrong input, which is valid until the next call. The previous message may be an
 * argument. */
__attribute__((format(printf, 1, 2))) const char *pf_problem_write(const char *format, ...);

/* Numbers with units: "2.5 us", "64 KiB", "11.1 GB/s", "0.92". */
enum pf_quantity { PF_QUANTITY_TIME, PF_QUANTITY_SIZE, PF_QUANTITY_RATE, PF_QUANTITY_FACTOR };

/*
 * Reads `text` in seconds, bytes, bytes per second, or as a plain number. A number without a unit is in these
 * units. Returns NULL on success; else a message of one line, valid until the next call. Negative and
 * infinite numbers and NaN are refused, and so are rates of 0 and sizes that are not whole; "unlimited" is a
 * size or a rate (INFINITY).
 */
const char *pf_quantity_read(const char *text, enum pf_quantity kind, double *value);

/* Writes a value so that pf_quantity_read() gives the same double back. */
void pf_quantity_write(double value, enum pf_quantity kind, char *text, size_t size);

/* Writes a value to be read by people: four digits, sizes in full. */
void pf_quantity_show(double value, enum pf_quantity kind, char *text, size_t size);
