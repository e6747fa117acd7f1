/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of SMPI from one-way times. */
#include "tools/pfinfo/smpi_settings.h"

#include <math.h>
#include <stdbool.h>

/* SMPI sends so many bytes with each message. */
#define ENVELOPE 16

/*
 * What a message takes besides its route is spent in the NIC and on PCIe, where the next one can follow at
 * once. SMPI can only let it delay a rank, or multiply the latency, which makes it longer over more hops.
 * So part is latency and part is not. The more of it is latency, the nearer are streams, fans and linear
 * collectives of messages; a rest remains, because senders of the finer model wait for acknowledgements, and
 * SMPI's do not. How much can be latency is bounded by what ping-pongs over one hop and many may be wrong.
 */
#define EAGER_LATENCY                                                                                        \
    0.7 /* part at most, of messages whose sender does not wait; the rest holds up both ends */
#define LARGE_LATENCY 0.55 /* part at most, of other messages; the rest holds up the links */
#define DISTANCE      0.15 /* relative error of a single message to the nearest and the farthest rank, at most */
#define LARGE_STEP    1.08 /* between two sizes with factors of their own */
#define NO_THRESHOLD  (1L << 30)

void curve_add(struct curve *curve, long bytes, double seconds)
{
    if (curve->count < CURVE_POINTS) {
        curve->bytes[curve->count] = bytes;
        curve->seconds[curve->count++] = seconds;
    }
}

void curve_sort(struct curve *curve)
{
    int n = 0;
    for (int i = 1; i < curve->count; i++) {
        long bytes = curve->bytes[i];
        double seconds = curve->seconds[i];
        int k = i;
        for (; k > 0 && curve->bytes[k - 1] > bytes; k--) {
            curve->bytes[k] = curve->bytes[k - 1];
            curve->seconds[k] = curve->seconds[k - 1];
        }
        curve->bytes[k] = bytes;
        curve->seconds[k] = seconds;
    }
    for (int i = 0; i < curve->count; i++) {
        if (n && curve->bytes[n - 1] == curve->bytes[i])
            continue;
        curve->bytes[n] = curve->bytes[i];
        curve->seconds[n++] = curve->seconds[i];
    }
    curve->count = n;
}

/* also drops what is there twice */
static double curve_at(const struct curve *curve, double bytes)
{
    int i = 1;
    while (i < curve->count - 1 && (double)curve->bytes[i] < bytes)
        i++;
    double low = (double)curve->bytes[i - 1], high = (double)curve->bytes[i];
    return curve->seconds[i - 1] + (curve->seconds[i] - curve->seconds[i - 1]) * (bytes - low) / (high - low);
}

/* Bytes a second that the longest messages come to. */
static double rate_of(const struct smpi_base *base)
{
    const struct curve *curve = &base->near;
    double longest = (double)curve->bytes[curve->count - 1];
    return longest / 2 / (curve_at(curve, longest) - curve_at(curve, longest / 2));
}

/* What a message takes besides its route. */
static double fixed_at(const struct smpi_base *base, double bytes)
{
    double rest = curve_at(&base->near, bytes) - base->latency - (bytes + ENVELOPE) / rate_of(base);
    return rest > 0 ? rest : 0;
}

static bool is_eager(const struct smpi_base *base, long bytes)
{
    return base->threshold < 0 || bytes <= base->threshold;
}

/*
 * The part of fixed_at() that is latency: so much that neither the nearest nor the farthest rank is off by
 * more than DISTANCE when route_factor() shares the error between them.
 */
static double latency_part(const struct smpi_base *base, double bytes)
{
    double most = is_eager(base, lround(bytes)) ? EAGER_LATENCY : LARGE_LATENCY;
    double near = curve_at(&base->near, bytes), farther = base->far_latency - base->latency;
    double fixed = fixed_at(base, bytes);
    double bound = DISTANCE * ((2 * near + farther) * base->latency + near * farther);
    return bound < most * fixed * farther ? bound / (fixed * farther) : most;
}

/* What the latency of a route is multiplied with. */
static double route_factor(const struct smpi_base *base, double bytes)
{
    double near = curve_at(&base->near, bytes), far = near + base->far_latency - base->latency;
    double extra = latency_part(base, bytes) * fixed_at(base, bytes);
    return 1 + extra * (1 / near + 1 / far) / (base->latency / near + base->far_latency / far);
}

/* The sizes at which something changes: those that were measured, and steps between large ones. A range
 * begins behind its first size and ends with the next one's. */
static int ranges_of(const struct smpi_base *base, long *from, int most)
{
    const struct curve *curve = &base->near;
    int n = 0;
    for (int i = 0; i + 1 < curve->count && n < most; i++) {
        double next = (double)curve->bytes[i];
        do {
            from[n++] = lround(next);
            next = is_eager(base, curve->bytes[i] + 1) ? INFINITY : fmax(next + 1, next * LARGE_STEP);
        } while (lround(fmin(next, 1e15)) < curve->bytes[i + 1] && n < most);
    }
    return n;
}

enum { MOST_RANGES = 4000 };

/* Factors of ranges of payload and envelope together. */
static void write_factors(const struct smpi_base *base, const long *from, int n, bool latency, FILE *out)
{
    double rate = rate_of(base), last = -1;
    for (int i = 0; i < n; i++) {
        long to = i + 1 < n ? from[i + 1] : base->near.bytes[base->near.count - 1];
        double bytes = (double)(from[i] + to) / 2, fixed = fixed_at(base, bytes), wire = bytes + ENVELOPE;
        double held = (1 - latency_part(base, bytes)) * fixed;
        double factor = latency                       ? route_factor(base, bytes)
                        : is_eager(base, from[i] + 1) ? rate / base->bandwidth
                                                      : wire / base->bandwidth / (wire / rate + held);
        if (last > 0 && fabs(factor / last - 1) < 1e-4)
            continue;
        fprintf(out, "%s%ld:%.6g", i ? ";" : "", i ? from[i] + ENVELOPE : 0, factor);
        last = factor;
    }
}

/* What holds up the sender, and as long the receiver, of an eager message. */
static double held_at(const struct smpi_base *base, double bytes)
{
    return (1 - latency_part(base, bytes)) * fixed_at(base, bytes) / 2;
}

/* Straight lines. */
static void write_held(const struct smpi_base *base, const long *from, int n, FILE *out)
{
    int i = 0;
    for (; i < n && is_eager(base, from[i] + 1); i++) {
        long to = i + 1 < n ? from[i + 1] : base->near.bytes[base->near.count - 1];
        double low = held_at(base, (double)from[i]), high = held_at(base, (double)to);
        double slope = (high - low) / (double)(to - from[i]);
        if (to == from[i] + 1) /* a jump: the size behind it is the only one */
            slope = 0, low = high;
        fprintf(out, "%s%ld:%.6g:%.6g", i ? ";" : "", from[i], low - slope * (double)from[i], slope);
    }
    if (i < n)
        fprintf(out, "%s%ld:0:0", i ? ";" : "", i ? from[i] : 0);
}

void smpi_settings_write(const struct smpi_base *base, FILE *out)
{
    static long from[MOST_RANGES];
    int n = ranges_of(base, from, MOST_RANGES);
    long eager = base->threshold < 0 ? NO_THRESHOLD : base->threshold + 1;
    fputs("smpi/lat-factor = ", out);
    write_factors(base, from, n, true, out);
    fputs("  # the part for which no rank waits, shared by the hops\nsmpi/bw-factor = ", out);
    write_factors(base, from, n, false, out);
    fputs("  # rate of long messages; and what holds up the links\nsmpi/os = ", out);
    write_held(base, from, n, out);
    fputs("  # sender of a short message, blocking\nsmpi/ois = ", out);
    write_held(base, from, n, out);
    fputs("  # the same, nonblocking\nsmpi/or = ", out);
    write_held(base, from, n, out);
    fputs("  # receiver of a short message\n", out);
    /* As in stock SMPI, which otherwise keeps short and long messages apart until they are received. */
    fputs("smpi/async-small-thresh = 0  # messages travel when they are received\n", out);
    fprintf(out, "smpi/send-is-detached-thresh = %ld  # senders of shorter ones do not wait\n", eager);
    fprintf(out, "smpi/test = %.6g  # one that finds nothing\n", base->test);
    fprintf(out, "smpi/iprobe = %.6g  # the same\n", base->probe);
    fputs("smpi/grow-injected-times = no  # nor does the next one take longer\n"
          "smpi/coll-selector = ompi  # Open MPI's rules, as SMPI has them\n",
          out);
}
