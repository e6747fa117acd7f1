/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_COST_QUANTITY_H
#define PF_ADAPTERS_ANALYTIC_COST_QUANTITY_H

#include <stddef.h>

/* Returns the line that says what is wrong with an input, which lives until the next one. It may hold the one
 * before. */
__attribute__((format(printf, 1, 2))) const char *pf_problem_write(const char *format, ...);

/* Numbers with units, as people write them: "2.5 us", "64 KiB", "11.1 GB/s", "0.92". */
enum pf_quantity { PF_QUANTITY_TIME, PF_QUANTITY_SIZE, PF_QUANTITY_RATE, PF_QUANTITY_FACTOR };

/*
 * Reads `text` in seconds, bytes, bytes per second, or as a plain number. A number without a unit is in these
 * units. Returns NULL on success; else one line that says what is wrong, which lives until the next call.
 * Nothing negative, infinite or no number is accepted, a rate not zero, a size only whole; "unlimited" is a
 * size or a rate (INFINITY).
 */
const char *pf_quantity_read(const char *text, enum pf_quantity kind, double *value);

/* Writes a value so that pf_quantity_read() gives the same double back. */
void pf_quantity_write(double value, enum pf_quantity kind, char *text, size_t size);

/* Writes a value for people: four digits, sizes in full. */
void pf_quantity_show(double value, enum pf_quantity kind, char *text, size_t size);

#endif
