/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of links and virtual channels. A record per link and one per channel of it; sums of time are kept
 * up when something changes, and at the end of an interval. */
#include "lowlevel/network/packet/statistics.h"

#include "base/memory.h"
#include "lowlevel/network/packet/link_names.h"
#include "lowlevel/network/packet/state.h"

/* Lengths of a queue, in packets of full size: 0, 1 to 8, then four steps to each power of two. */
enum { LINEAR = 8, STEPS = 4, LENGTHS = 40 };

struct record {
    uint64_t packets;
    double bytes, busy, stall;
    int64_t level, most; /* bytes in the buffer behind the link */
    double since;        /* the level has been so */
    double integral;
    double time[LENGTHS]; /* s with such a length */
};

struct pf_packet_statistics {
    struct pf_packet_statistics_settings settings;
    double begin, next;     /* of the interval, and of the next one */
    bool is_idle;           /* nothing has happened in this interval */
    int64_t queued;         /* bytes, in all buffers */
    struct record *records; /* [port * (channels + 1)] the link, then its channels */
    int *last_channel;      /* per port: by which the last packet went */
};

static struct record *record_of(const struct pf_packet_sim *sim, int32_t output, int channel)
{
    return &sim->statistics->records[(int64_t)output * (sim->channels + 1) + channel + 1];
}

static double unit_of(const struct pf_packet_sim *sim)
{
    return sim->settings.packet_bytes + sim->settings.header_bytes;
}

static int length_of(const struct pf_packet_sim *sim, int64_t level)
{
    double packets = ceil((double)level / unit_of(sim));
    int length = packets <= LINEAR ? (int)packets : LINEAR + (int)ceil(STEPS * log2(packets / LINEAR));
    return length < LENGTHS ? length : LENGTHS - 1;
}

static double longest(const struct pf_packet_sim *sim, int length)
{
    return unit_of(sim) * (length <= LINEAR ? length : LINEAR * exp2((double)(length - LINEAR) / STEPS));
}

static void keep_up(const struct pf_packet_sim *sim, struct record *r, double date)
{
    double time = date - fmax(r->since, sim->statistics->begin);
    if (time <= 0.0)
        return;
    r->since = date;
    r->integral += time * (double)r->level;
    r->time[length_of(sim, r->level)] += time;
    if (r->level > r->most)
        r->most = r->level;
}

/* Bytes that are not exceeded in 99 % of the time, rounded up to a length. */
static double ninety_nine(const struct pf_packet_sim *sim, const struct record *r, double time)
{
    double sum = 0.0;
    int length = 0;
    for (; length < LENGTHS - 1; length++) {
        sum += r->time[length];
        if (sum >= 0.99 * time)
            break;
    }
    return fmin(longest(sim, length), (double)r->most);
}

static void write_channel(const struct pf_packet_sim *sim, int channel, char *text, size_t size)
{
    int each = sim->settings.channels, classes = sim->classes;
    if (channel < 0)
        snprintf(text, size, "all");
    else
        snprintf(text, size, "%d.%d.%d", channel / (each * classes), channel / each % classes,
                 channel % each);
}

static void write_row(const struct pf_packet_sim *sim, int32_t output, int channel, double end)
{
    const struct pf_packet_statistics *s = sim->statistics;
    const struct record *r = record_of(sim, output, channel);
    char link[200], which[40];
    double time = end - s->begin;
    if (r->packets == 0 && r->busy == 0.0 && r->most == 0)
        return;
    if (s->settings.name)
        s->settings.name(s->settings.of, output, link, sizeof link);
    else
        pf_packet_link_name(sim->fabric, output, link, sizeof link);
    write_channel(sim, channel, which, sizeof which);
    fprintf(s->settings.out, "%.12g,%.12g,%s,%s,%.6g,%.6f,%llu,%.12g,%.9g,%.6g,%.6g,%lld\n", s->begin, end,
            link, which, 1.0 / sim->outputs[output].byte_time, r->busy / time, (unsigned long long)r->packets,
            r->bytes, r->stall, r->integral / time, ninety_nine(sim, r, time), (long long)r->most);
}

/* The next interval begins with what is queued, and with the rest of a packet that is on its link. */
static void begin_again(struct record *r, double rest)
{
    *r = (struct record){.level = r->level, .since = r->since, .busy = rest};
}

static void close_interval(struct pf_packet_sim *sim, double end)
{
    struct pf_packet_statistics *s = sim->statistics;
    int32_t ports = sim->fabric->first_port[sim->vertices];
    s->is_idle = s->queued == 0;
    for (int32_t port = 0; port < ports; port++) {
        double rest = fmax(0.0, sim->outputs[port].link_free - end);
        s->is_idle &= rest == 0.0;
        for (int channel = -1; channel < sim->channels; channel++) {
            bool is_last = channel < 0 || channel == s->last_channel[port];
            struct record *r = record_of(sim, port, channel);
            keep_up(sim, r, end);
            if (is_last)
                r->busy -= rest;
            write_row(sim, port, channel, end);
            begin_again(r, is_last ? rest : 0.0);
        }
    }
    s->begin = end;
}

/* Ends all intervals that are over. Those in which nothing happens have no rows. */
static void catch_up(struct pf_packet_sim *sim, double date)
{
    struct pf_packet_statistics *s = sim->statistics;
    double interval = s->settings.interval;
    while (date >= s->next) {
        if (!s->is_idle)
            close_interval(sim, s->next);
        s->next = s->begin + interval;
        if (s->is_idle) {
            s->begin = floor(date / interval) * interval;
            s->next = s->begin + interval;
        }
        if (s->next <= s->begin || (s->is_idle && s->next <= date))
            s->next = nextafter(date, INFINITY); /* shorter than the clock's resolution */
    }
    s->is_idle = false;
}

void pf_packet_statistics_leaves(struct pf_packet_sim *sim, int32_t output, int channel, uint32_t bytes,
                                 double ready, double date)
{
    double time = bytes * sim->outputs[output].byte_time;
    double idle = fmax(0.0, date - fmax(ready, sim->outputs[output].link_free));
    catch_up(sim, date);
    sim->statistics->last_channel[output] = channel;
    for (int i = -1; i <= channel; i += channel + 1) {
        struct record *r = record_of(sim, output, i);
        r->packets++;
        r->bytes += bytes;
        r->busy += time;
        r->stall += idle;
    }
}

void pf_packet_statistics_queue(struct pf_packet_sim *sim, int32_t input, int channel, int64_t bytes,
                                double date)
{
    catch_up(sim, date);
    sim->statistics->queued += bytes;
    for (int i = -1; i <= channel; i += channel + 1) {
        struct record *r = record_of(sim, sim->inputs[input].output, i);
        keep_up(sim, r, date);
        r->level += bytes;
    }
}

void pf_packet_statistics_start(struct pf_packet_sim *sim,
                                const struct pf_packet_statistics_settings *settings)
{
    size_t ports = (size_t)sim->fabric->first_port[sim->vertices];
    struct pf_packet_statistics *s = pf_calloc(1, sizeof *s);
    s->settings = *settings;
    s->is_idle = true;
    s->begin = sim->now;
    s->next = settings->interval > 0.0 ? s->begin + settings->interval : INFINITY;
    s->records = pf_calloc(ports * ((size_t)sim->channels + 1), sizeof *s->records);
    s->last_channel = pf_calloc(ports, sizeof *s->last_channel);
    for (size_t i = 0; i < ports * ((size_t)sim->channels + 1); i++)
        s->records[i].since = s->begin;
    sim->statistics = s;
    fputs("begin_s,end_s,link,channel,rate_Bps,utilisation,packets,bytes,stall_s,queue_mean_B,queue_p99_B,"
          "queue_max_B\n",
          settings->out);
}

void pf_packet_statistics_end(struct pf_packet_sim *sim, double date)
{
    struct pf_packet_statistics *s = sim->statistics;
    if (!s)
        return;
    catch_up(sim, date);
    if (date > s->begin)
        close_interval(sim, date);
    free(s->records);
    free(s->last_channel);
    free(s);
    sim->statistics = NULL;
}
