/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * The parameters of the analytic model as they were written: `key = value` or `key[SIZE] = value`, which
 * holds from messages of SIZE bytes on. keys.def describes the keys, docs/analytic.md the grammar.
 */
#define PF_PARAMETER_SIZES 64 /* different SIZEs of one key */

enum pf_parameter {
#define PF_PARAMETER(id, name, kind, by_size, words, help) PF_##id,
#include "adapters/analytic/cost/parameters/keys.def"
#undef PF_PARAMETER
    PF_PARAMETER_COUNT
};

struct pf_parameter_value {
    int count;                         /* entries, by increasing size; 0: not given */
    size_t from[PF_PARAMETER_SIZES];   /* 0 for one without SIZE */
    double number[PF_PARAMETER_SIZES]; /* in s, B, B/s or 1; of a word: its index among the key's words */
    char text[200];                    /* of a topology */
    char where[200];                   /* "file: line 3" of the last entry, for messages */
    const char *rows;                  /* of a derived one: the rows that it is derived from; else NULL */
};

struct pf_parameters {
    struct pf_parameter_value value[PF_PARAMETER_COUNT];
};

/*
 * Reads a file. Returns NULL on success; else one line with file, line and reason that lives until the next
 * call. A key or a size that the file gives twice is refused.
 */
const char *pf_parameters_read_file(struct pf_parameters *parameters, const char *file);

/* The same of entries between semicolons, named `source` in messages. They replace earlier entries: a key
 * without SIZE replaces all sizes of it. */
const char *pf_parameters_read_text(struct pf_parameters *parameters, const char *text, const char *source);

bool pf_parameters_has(const struct pf_parameters *parameters, enum pf_parameter key);

/* The number of a key for messages of `bytes`, or `otherwise` when none is given from there on. */
double pf_parameters_at(const struct pf_parameters *parameters, enum pf_parameter key, size_t bytes,
                        double otherwise);

/* Gives a number, or a word, that is derived from `rows`, a string constant. */
void pf_parameters_give(struct pf_parameters *parameters, enum pf_parameter key, size_t from, double number,
                        const char *rows);
void pf_parameters_give_word(struct pf_parameters *parameters, enum pf_parameter key, const char *word,
                             const char *rows);

/* Writes all entries that are given, in the grammar in which they are read; comments name the rows of those
 * that were derived. */
void pf_parameters_write(const struct pf_parameters *parameters, FILE *out);

const char *pf_parameter_name(enum pf_parameter key);
