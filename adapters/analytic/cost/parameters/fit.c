/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits protocols, segments and overheads of the analytic model to measured durations. */
#include "adapters/analytic/cost/parameters/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const transport_names[] = {"memory", "near", "far"};

/* The protocol that the points of a transport show; durations in seconds. */
struct findings {
    double copy_latency; /* of a late receive */
    double copy;         /* s/B out of the library's buffers */
    double control;      /* of a request, an answer, an acknowledgement */
    bool eager_meets;
    const char *protocol, *eager_done, *rendezvous_done;
};

void pf_fit_init(struct pf_fit *fit)
{
    memset(fit, 0, sizeof *fit);
    for (int i = 0; i < PF_FIT_TRANSPORTS; i++)
        fit->transports[i].threshold = -1;
}

static struct pf_fit_point *point_of(struct pf_fit_transport *transport, long bytes)
{
    for (int i = 0; i < transport->count; i++)
        if (transport->points[i].bytes == bytes)
            return &transport->points[i];
    if (transport->count == PF_FIT_SIZES ||
        (transport->count && transport->points[transport->count - 1].bytes > bytes))
        return NULL;
    transport->points[transport->count] = (struct pf_fit_point){bytes, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    return &transport->points[transport->count++];
}

static bool take_point(struct pf_fit_transport *transport, const char *what, long bytes, double seconds)
{
    static const char *const names[] = {"oneway", "sendcall", "safe", "late", "stream", "exchange", "apart"};
    const int n = sizeof names / sizeof names[0];
    int i = 0;
    while (i < n && strcmp(what, names[i]) != 0)
        i++;
    struct pf_fit_point *point = i < n ? point_of(transport, bytes) : NULL;
    if (!point)
        return false;
    double *fields[] = {&point->one_way, &point->call,     &point->safe, &point->late,
                        &point->stream,  &point->exchange, &point->apart};
    *fields[i] = seconds > 0 ? seconds : 0;
    return true;
}

bool pf_fit_line(struct pf_fit *fit, const char *line)
{
    char what[20], name[20];
    long bytes;
    double seconds;
    if (sscanf(line, "%19s %19s %ld %lf", what, name, &bytes, &seconds) != 4 || !isfinite(seconds))
        return false;
    if (strcmp(what, "call") == 0) {
        fit->call = seconds > 0 ? seconds : 0;
        return true;
    }
    if (strcmp(what, "copy") == 0) {
        fit->own = bytes > 0 && seconds > 0 ? seconds / (double)bytes : 0;
        return true;
    }
    if (strcmp(what, "post") == 0 || strcmp(what, "share") == 0) {
        *(*what == 'p' ? &fit->post : &fit->share) = seconds > 0 ? seconds : 0;
        return true;
    }
    for (int i = 0; i < PF_FIT_TRANSPORTS; i++) {
        struct pf_fit_transport *transport = &fit->transports[i];
        if (strcmp(name, transport_names[i]) != 0)
            continue;
        if (strcmp(what, "peer") == 0)
            transport->peer = (int)bytes;
        else if (strcmp(what, "threshold") == 0)
            transport->threshold = bytes;
        else
            return take_point(transport, what, bytes, seconds);
        return true;
    }
    return false;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    if (!count)
        return 0;
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static bool is_eager(const struct pf_fit_transport *transport, const struct pf_fit_point *point)
{
    return transport->threshold < 0 || point->bytes <= transport->threshold;
}

/* The median of late - one_way over the messages that wait for their receive, or over the others. */
static double late_excess(const struct pf_fit_transport *transport, bool eager)
{
    double values[PF_FIT_SIZES];
    int count = 0;
    for (int i = 0; i < transport->count; i++)
        if (is_eager(transport, &transport->points[i]) == eager)
            values[count++] = transport->points[i].late - transport->points[i].one_way;
    return median(values, count);
}

static bool late_like_one_way(const struct pf_fit_transport *transport)
{
    int same = 0, count = 0;
    for (int i = 0; i < transport->count; i++) {
        const struct pf_fit_point *point = &transport->points[i];
        if (!is_eager(transport, point))
            continue;
        count++;
        same += fabs(point->late - point->one_way) < 0.03 * point->one_way;
    }
    return 2 * same > count;
}

/* A late receive of an eager message is a latency and a copy: the line through its first and last size. */
static void find_receive(const struct pf_fit_transport *transport, struct findings *found)
{
    const struct pf_fit_point *last = &transport->points[0];
    found->eager_meets = late_like_one_way(transport);
    if (found->eager_meets)
        return;
    for (int i = 0; i < transport->count; i++)
        if (is_eager(transport, &transport->points[i]))
            last = &transport->points[i];
    found->copy_latency = transport->points[0].late;
    if (last->bytes > 0 && last->late > found->copy_latency * 1.01)
        found->copy = (last->late - found->copy_latency) / (double)last->bytes;
}

/* Compares a late receive of a large message with one in time: that shows the protocol and the time of a
 * control message. */
static void find_protocol(const struct pf_fit_transport *transport, struct findings *found)
{
    double excess = late_excess(transport, false), large = transport->points[transport->count - 1].one_way;
    found->control = transport->points[0].one_way - transport->points[0].call;
    found->protocol = NULL;
    if (is_eager(transport, &transport->points[transport->count - 1]))
        return;
    bool none = fabs(excess) < 0.1 * transport->points[0].one_way || fabs(excess) < 1e-6 * large;
    found->protocol = none ? "meet" : excess < 0 ? "rendezvous" : "get";
    if (!none)
        found->control = fmax(0, fabs(excess) - (excess > 0 ? found->copy_latency : 0));
}

/* Which rule for the end of a send is nearest to the measured ones. */
static const char *find_done(const struct pf_fit_transport *transport, bool eager,
                             const struct findings *found)
{
    static const char *const words[] = {"copied", "sent", "arrived", "acknowledged"};
    double error[4] = {0};
    int best = 0;
    for (int i = 0; i < transport->count; i++) {
        const struct pf_fit_point *p = &transport->points[i];
        if (is_eager(transport, p) != eager)
            continue;
        double guesses[] = {p->call, p->call + p->stream, p->one_way, p->one_way + found->control};
        for (int k = 0; k < 4; k++)
            error[k] += fabs(guesses[k] - p->safe) / (p->one_way + p->safe);
    }
    for (int k = 1; k < 4; k++)
        if (error[k] < error[best])
            best = k;
    return words[best];
}

/* Seven digits: the file stays readable, and its error is far below that of the model. A time has the unit in
 * which it will be written, so that these digits suffice there as well. */
static void put(struct pf_parameters *p, const char *transport, const char *key, long bytes, double value)
{
    static const struct {
        double scale;
        const char *name;
    } units[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}};
    char entry[160], size[40] = "";
    int i = 0;
    bool time = !strstr(key, "factor") && !strstr(key, "bandwidth") && !strstr(key, "max");
    while (time && i < 3 && value < units[i].scale)
        i++;
    if (value < 1e-14) /* rounding of differences of dates */
        value = 0;
    if (bytes)
        snprintf(size, sizeof size, "[%ld]", bytes);
    snprintf(entry, sizeof entry, "%s%s%s = %.7g%s", transport, key, size, value / units[i].scale,
             time ? units[i].name : "");
    pf_parameters_read_text(p, entry, "fit");
}

static void put_word(struct pf_parameters *p, const char *key, const char *word)
{
    char entry[160];
    if (!word)
        return;
    snprintf(entry, sizeof entry, "%s = %s", key, word);
    pf_parameters_read_text(p, entry, "fit");
}

/* How many times the path's latency a message of a point has, from two distances. */
static double latency_factor(const struct pf_fit_transport *near, const struct pf_fit_transport *far, int i)
{
    if (i >= far->count || far->path <= near->path)
        return 0;
    double factor = (far->points[i].one_way - near->points[i].one_way) / (far->path - near->path);
    /* Not more than the message has at all. */
    return fmax(0, near->path > 0 ? fmin(factor, near->points[i].one_way / near->path) : factor);
}

/* `far` may be empty. Times that would fall with the size are lifted to the largest before. */
static void put_transport(struct pf_parameters *p, const char *prefix,
                          const struct pf_fit_transport *transport, const struct pf_fit_transport *far,
                          const struct findings *found)
{
    bool alone = isnan(transport->points[0].call); /* nothing but one-way times is known */
    double highest = 0, busiest = 0, call = alone ? 0 : transport->points[0].call;
    double factor = latency_factor(transport, far, 0);
    for (int i = 0; i < transport->count; i++) {
        const struct pf_fit_point *point = &transport->points[i];
        double more = latency_factor(transport, far, i), time = point->one_way - call;
        if (found->protocol && strcmp(found->protocol, "rendezvous") == 0 && !is_eager(transport, point))
            time -= 2 * found->control;
        highest = fmax(highest, time - more * transport->path);
        busiest = fmax(busiest, point->stream);
        put(p, prefix, "time", point->bytes, highest);
        if (!alone)
            put(p, prefix, "nic_time", point->bytes, busiest);
        if (far->count)
            put(p, prefix, "latency_factor", point->bytes, more);
    }
    if (!alone)
        put(p, prefix, "control_latency", 0, fmax(0, found->control - factor * transport->path));
}

/* A point at a size that was not measured, on the line through two that were. */
static struct pf_fit_point on_line(const struct pf_fit_point *a, const struct pf_fit_point *b, long bytes)
{
    double share = (double)(bytes - a->bytes) / (double)(b->bytes - a->bytes);
    struct pf_fit_point point = *a;
    point.bytes = bytes;
    point.one_way += share * (b->one_way - a->one_way);
    point.late += share * (b->late - a->late);
    point.stream += share * (b->stream - a->stream);
    point.call += share * (b->call - a->call);
    point.exchange += share * (b->exchange - a->exchange);
    return point;
}

/*
 * Times jump at the threshold. So that no straight line leads across, both sides go on to it: two more
 * points, at the threshold and one byte above, unless they are there already.
 */
static struct pf_fit_transport split_at(const struct pf_fit_transport *transport, long threshold)
{
    struct pf_fit_transport result = *transport;
    const struct pf_fit_point *p = transport->points;
    int i = 0; /* the first point above */
    while (i < transport->count && p[i].bytes <= threshold)
        i++;
    if (threshold < 0 || i < 2 || i + 1 >= transport->count || transport->count + 2 > PF_FIT_SIZES)
        return result;
    result.count = i;
    if (p[i - 1].bytes < threshold)
        result.points[result.count++] = on_line(&p[i - 2], &p[i - 1], threshold);
    if (p[i].bytes > threshold + 1)
        result.points[result.count++] = on_line(&p[i], &p[i + 1], threshold + 1);
    memcpy(result.points + result.count, p + i, (size_t)(transport->count - i) * sizeof *p);
    result.count += transport->count - i;
    return result;
}

/* A ping-pong and nothing else has been measured. */
static bool is_ping_pong(const struct pf_fit *fit)
{
    bool any = false;
    for (int i = 0; i < PF_FIT_FAR; i++)
        for (int k = 0; k < fit->transports[i].count; k++) {
            const struct pf_fit_point *p = &fit->transports[i].points[k];
            any = true;
            if (!isnan(p->call) || !isnan(p->safe) || !isnan(p->late) || !isnan(p->stream))
                return false;
        }
    return any;
}

/* Exchanges have been measured as well. */
static bool is_machine(const struct pf_fit *fit)
{
    for (int i = 0; i < PF_FIT_FAR; i++)
        for (int k = 0; k < fit->transports[i].count; k++)
            if (!isnan(fit->transports[i].points[k].exchange))
                return true;
    return false;
}

static const char *check(const struct pf_fit *fit)
{
    static char problem[160];
    bool any = false, one_way_suffices = is_ping_pong(fit), machine = is_machine(fit);
    for (int i = 0; i < PF_FIT_TRANSPORTS; i++) {
        const struct pf_fit_transport *transport = &fit->transports[i];
        for (int k = 0; k < transport->count; k++) {
            const struct pf_fit_point *p = &transport->points[k];
            bool all = !isnan(p->one_way) && p->one_way > 0;
            if (i != PF_FIT_FAR && !one_way_suffices)
                all = all && !isnan(p->call) && !isnan(p->safe) && !isnan(p->late) &&
                      !isnan(machine ? p->exchange : p->stream);
            if (all)
                continue;
            snprintf(problem, sizeof problem, "measurements of %ld B, %s, are missing", p->bytes,
                     transport_names[i]);
            return problem;
        }
        any = any || transport->count;
    }
    return any ? NULL : "there are no measurements";
}

/* Nothing is known about the protocol: every message leaves at once. */
static void make_from_ping_pong(const struct pf_fit *fit, struct pf_parameters *p)
{
    static const struct pf_fit_transport none;
    static const struct findings nothing;
    put_word(p, "model", "loggp");
    if (fit->transports[PF_FIT_NEAR].count)
        put_transport(p, "", &fit->transports[PF_FIT_NEAR], &fit->transports[PF_FIT_FAR], &nothing);
    if (fit->transports[PF_FIT_MEMORY].count)
        put_transport(p, "memory.", &fit->transports[PF_FIT_MEMORY], &none, &nothing);
}

/* The work of the receiver's processor for an eager message: the time of an exchange without the own send. */
static double receive_work(const struct pf_fit_point *point, double call)
{
    return fmin(fmax(0, point->exchange - call - point->call), point->one_way - call);
}

/* The same for a larger one: the time of a receive that is posted long after the message was sent, at most
 * `most`. */
static double fetching_work(const struct pf_fit_point *point, double most)
{
    return fmax(0, fmin(point->late, most));
}

/* The nearest values that never fall: where measured ones do, their mean (pool adjacent violators). */
static void let_rise(double *values, int count)
{
    int length[PF_FIT_SIZES], blocks = 0;
    double mean[PF_FIT_SIZES];
    for (int i = 0; i < count; i++) {
        mean[blocks] = values[i];
        length[blocks++] = 1;
        for (; blocks > 1 && mean[blocks - 2] > mean[blocks - 1]; blocks--) {
            int both = length[blocks - 2] + length[blocks - 1];
            mean[blocks - 2] =
                (mean[blocks - 2] * length[blocks - 2] + mean[blocks - 1] * length[blocks - 1]) / both;
            length[blocks - 2] = both;
        }
    }
    for (int block = 0, i = 0; block < blocks; block++)
        for (int k = 0; k < length[block]; k++)
            values[i++] = mean[block];
}

/*
 * A transport on which processors do the work. An eager message leaves first: the sender pays its call, the
 * receiver what an exchange takes longer than that, and between both lies the rest of a one-way time. A
 * larger message is fetched by its receiver when both sides have called; what an exchange takes longer than a
 * one-way time keeps the memory busy.
 */
static void put_worked_transport(struct pf_parameters *p, const char *prefix,
                                 const struct pf_fit_transport *measured, double call)
{
    struct pf_fit_transport transport = split_at(measured, measured->threshold);
    double times[PF_FIT_SIZES] = {0}, busy[PF_FIT_SIZES] = {0};
    int last_eager = 0;
    for (int i = 0; i < transport.count; i++) {
        const struct pf_fit_point *point = &transport.points[i];
        bool eager = is_eager(&transport, point);
        double sends = fmax(0, point->call - call), all = point->one_way - call - (eager ? 0 : sends);
        if (!eager)
            let_rise(times, last_eager + 1); /* not across the change of protocol */
        double work = eager ? receive_work(point, call) : fetching_work(point, all - times[last_eager]);
        times[i] = fmax(0, all - work);
        last_eager = eager ? i : last_eager;
        busy[i] = eager ? 0 : fmax(0, point->exchange - call - point->one_way);
        put(p, prefix, "overhead_send", point->bytes, sends);
        put(p, prefix, "overhead_receive", point->bytes, work);
    }
    let_rise(times, transport.count);
    let_rise(busy, transport.count);
    for (int i = 0; i < transport.count; i++) {
        put(p, prefix, "time", transport.points[i].bytes, times[i]);
        put(p, prefix, "nic_time", transport.points[i].bytes, busy[i]);
    }
}

/* How much longer than `overhead_receive` a receive takes that is posted after its eager message has arrived.
 */
static double late_longer(const struct pf_fit_transport *transport, double call)
{
    double values[PF_FIT_SIZES];
    int count = 0;
    for (int i = 0; i < transport->count; i++)
        if (is_eager(transport, &transport->points[i]))
            values[count++] = transport->points[i].late - receive_work(&transport->points[i], call);
    return fmax(0, median(values, count));
}

/* Half of the additional seconds per byte of both sides for data with gaps. */
static double pack_byte_time(const struct pf_fit_transport *transport)
{
    double values[PF_FIT_SIZES];
    int count = 0;
    for (int i = 0; i < transport->count; i++) {
        const struct pf_fit_point *p = &transport->points[i];
        if (p->bytes >= 512 && !isnan(p->apart))
            values[count++] = (p->apart - p->one_way) / 2 / (double)p->bytes;
    }
    return fmax(0, median(values, count));
}

static void make_from_machine(const struct pf_fit *fit, struct pf_parameters *p)
{
    static const char *const prefixes[] = {"memory.", ""};
    put_word(p, "model", "loggps");
    put_word(p, "leave", "first");
    put_word(p, "protocol", "meet");
    put_word(p, "rendezvous_done", "received");
    put(p, "", "call", 0, fit->call);
    if (fit->own > 0)
        put(p, "", "own_bandwidth", 0, 1 / fit->own);
    for (int i = 0; i < PF_FIT_FAR; i++) {
        const struct pf_fit_transport *transport = &fit->transports[i];
        if (!transport->count)
            continue;
        put_worked_transport(p, prefixes[i], transport, fit->call);
        if (i == PF_FIT_MEMORY && fit->transports[PF_FIT_NEAR].count)
            continue; /* one protocol for both: that of the network */
        put(p, "", "copy_latency", 0, late_longer(transport, fit->call));
        double pack = pack_byte_time(transport);
        if (pack > 0)
            put(p, "", "pack_bandwidth", 0, 1 / pack);
        if (transport->threshold >= 0)
            put(p, "", "eager_max", 0, (double)transport->threshold);
        else
            put_word(p, "eager_max", "unlimited");
    }
}

const char *pf_fit_make(const struct pf_fit *fit, struct pf_parameters *p)
{
    static const struct pf_fit_transport none;
    const struct pf_fit_transport *memory = &fit->transports[PF_FIT_MEMORY],
                                  *near = &fit->transports[PF_FIT_NEAR];
    const struct pf_fit_transport *transports[] = {near, memory};
    const char *wrong = check(fit);
    if (wrong)
        return wrong;
    memset(p, 0, sizeof *p);
    if (is_machine(fit)) {
        make_from_machine(fit, p);
        return NULL;
    }
    if (is_ping_pong(fit)) {
        make_from_ping_pong(fit, p);
        return NULL;
    }
    put_word(p, "model", "loggps");
    put_word(p, "contention", "nic");
    if (fit->share > 0)
        put_word(p, "together", fit->share > 0.75 ? "share" : "turns");
    for (int i = 0; i < 2; i++) {
        struct findings found = {0};
        if (!transports[i]->count)
            continue;
        find_receive(transports[i], &found);
        find_protocol(transports[i], &found);
        found.eager_done = find_done(transports[i], true, &found);
        found.rendezvous_done = find_done(transports[i], false, &found);
        bool memory_transport = transports[i] == memory;
        struct pf_fit_transport split = split_at(transports[i], transports[i]->threshold);
        struct pf_fit_transport far =
            split_at(memory_transport ? &none : &fit->transports[PF_FIT_FAR], transports[i]->threshold);
        put_transport(p, memory_transport ? "memory." : "", &split, &far, &found);
        put(p, memory_transport ? "memory." : "", "overhead_send", 0,
            fmax(0, transports[i]->points[0].call - fit->call));
        if (memory_transport && near->count)
            continue; /* one protocol for both: that of the network */
        put(p, "", "call", 0, fit->call);
        put(p, "", "post", 0, fmax(0, fit->post - fit->call));
        put(p, "", "copy_latency", 0, found.copy_latency);
        if (found.copy > 0)
            put(p, "", "copy_bandwidth", 0, 1 / found.copy);
        if (transports[i]->threshold >= 0)
            put(p, "", "eager_max", 0, (double)transports[i]->threshold);
        else
            put_word(p, "eager_max", "unlimited");
        put_word(p, "eager", found.eager_meets ? "meet" : "push");
        put_word(p, "protocol", found.protocol);
        put_word(p, "eager_done", found.eager_meets ? NULL : found.eager_done);
        put_word(p, "rendezvous_done", found.protocol ? found.rendezvous_done : NULL);
    }
    return NULL;
}
