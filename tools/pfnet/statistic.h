/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * Means with confidence intervals by batch means: observations of one interval of time make one batch, and
 * the means of long batches are nearly independent (Law, "Simulation modeling and analysis", section on
 * steady-state output).
 */
enum { STATISTIC_BATCHES = 1000, STATISTIC_BUCKETS = 4096 };

struct statistic {
    int batches;
    double sum[STATISTIC_BATCHES];
    uint64_t count[STATISTIC_BATCHES];
    double most;
    uint64_t bucket[STATISTIC_BUCKETS]; /* of logarithms: 1 % wide, from `unit` on */
    double unit;
};

/* `unit`: the resolution of quantiles. */
void statistic_start(struct statistic *s, int batches, double unit);
void statistic_add(struct statistic *s, int batch, double value);
uint64_t statistic_count(const struct statistic *s);
/* Mean over all batches; *half is half the width of its confidence interval, NAN with fewer than two batches.
 */
double statistic_mean(const struct statistic *s, double confidence, double *half);
double statistic_quantile(const struct statistic *s, double part);

/* The same for values of which each batch has one. */
double statistic_mean_of(const double *values, int count, double confidence, double *half);
