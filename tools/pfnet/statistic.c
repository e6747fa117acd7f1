/* SPDX-License-Identifier: BSD-3-Clause */
/* Batch means, Student's t, and quantiles from a histogram of logarithms. */
#include "tools/pfnet/statistic.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#define WIDTH 1.01

void statistic_start(struct statistic *s, int batches, double unit)
{
    memset(s, 0, sizeof *s);
    s->batches = batches;
    s->unit = unit;
}

void statistic_add(struct statistic *s, int batch, double value)
{
    int at = value > s->unit ? (int)(log(value / s->unit) / log(WIDTH)) : 0;
    s->sum[batch] += value;
    s->count[batch]++;
    s->bucket[at < STATISTIC_BUCKETS ? at : STATISTIC_BUCKETS - 1]++;
    s->most = fmax(s->most, value);
}

uint64_t statistic_count(const struct statistic *s)
{
    uint64_t count = 0;
    for (int i = 0; i < s->batches; i++)
        count += s->count[i];
    return count;
}

double statistic_mean_of(const double *values, int count, double confidence, double *half)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < count; i++)
        mean += values[i] / count;
    for (int i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    *half = NAN;
    if (count > 1)
        *half = gsl_cdf_tdist_Pinv((1 + confidence) / 2, count - 1) * sqrt(squares / (count - 1) / count);
    return count ? mean : NAN;
}

double statistic_mean(const struct statistic *s, double confidence, double *half)
{
    double means[STATISTIC_BATCHES] = {0}, sum = 0;
    uint64_t all = 0;
    int count = 0;
    for (int i = 0; i < s->batches; i++) {
        if (!s->count[i])
            continue;
        means[count++] = s->sum[i] / (double)s->count[i];
        sum += s->sum[i];
        all += s->count[i];
    }
    statistic_mean_of(means, count, confidence, half);
    return all ? sum / (double)all : NAN;
}

double statistic_quantile(const struct statistic *s, double part)
{
    double wanted = part * (double)statistic_count(s), seen = 0;
    for (int i = 0; i < STATISTIC_BUCKETS; i++) {
        seen += (double)s->bucket[i];
        if (seen > 0 && seen >= wanted)
            return fmin(s->most, s->unit * pow(WIDTH, i + 0.5));
    }
    return NAN;
}
