/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of links and virtual channels: nothing is lost or counted twice, and its figures are those of
 * queues whose lengths are known. */
#include "traffic.h"

#include <stdio.h>
#include <string.h>

#include "lowlevel/network/packet/link_names.h"
#include "lowlevel/network/packet/statistics.h"

struct row {
    double begin, end, rate, utilisation, packets, bytes, stall, mean, p99, most;
    char link[40], channel[20];
};

struct table {
    char *text;
    size_t size;
    FILE *file;
    struct row *rows;
    int count;
};

static void watch(struct world *w, struct table *t, double interval)
{
    memset(t, 0, sizeof *t);
    t->file = open_memstream(&t->text, &t->size);
    const struct pf_packet_statistics_settings settings = {.out = t->file, .interval = interval};
    pf_packet_statistics_start(w->sim, &settings);
}

static void read_table(struct world *w, struct table *t)
{
    pf_packet_statistics_end(w->sim, pf_packet_sim_now(w->sim));
    fclose(t->file);
    for (char *line = strchr(t->text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        t->rows = realloc(t->rows, (size_t)(t->count + 1) * sizeof *t->rows);
        struct row *r = &t->rows[t->count++];
        assert_int_equal(sscanf(line, "%lf,%lf,%39[^,],%19[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &r->begin,
                                &r->end, r->link, r->channel, &r->rate, &r->utilisation, &r->packets,
                                &r->bytes, &r->stall, &r->mean, &r->p99, &r->most),
                         12);
        assert_true(r->utilisation > -1e-6 && r->utilisation < 1 + 1e-6);
        assert_true(r->stall >= 0 && r->stall <= (r->end - r->begin) * (1 + 1e-9));
        assert_true(r->mean <= r->most && r->p99 <= r->most);
    }
}

static void forget(struct table *t)
{
    free(t->rows);
    free(t->text);
}

/* Bytes of all links (or of their channels) whose name begins with `from`, and end with `to`. */
static double bytes_of(const struct table *t, char from, char to, bool channels)
{
    double sum = 0;
    for (int i = 0; i < t->count; i++)
        if (t->rows[i].link[0] == from && strchr(t->rows[i].link, '-')[1] == to &&
            (strcmp(t->rows[i].channel, "all") != 0) == channels)
            sum += t->rows[i].bytes;
    return sum;
}

static const struct row *row_of(const struct table *t, const char *link, const char *channel)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->rows[i].link, link) == 0 && strcmp(t->rows[i].channel, channel) == 0)
            return &t->rows[i];
    fail_msg("no row of %s, channel %s", link, channel);
    return NULL;
}

static void run(struct world *w, struct table *t, double interval)
{
    world_init(w);
    w->settings.packet_bytes = 4;
    w->settings.channels = 2;
    w->pattern = traffic_others;
    w->bytes = 11;
    w->gap = 20;
    w->end = 500;
    world_fabric(w, "torus:4x3,2");
    world_sim(w, "ugal");
    watch(w, t, interval);
    traffic_run(w);
    read_table(w, t);
}

static void test_conservation(void **state)
{
    struct world w, again;
    struct table whole, parts;
    (void)state;
    run(&w, &whole, 0);
    double sent = (double)pf_packet_sim_counts(w.sim).arrived / 3 * w.bytes; /* in three packets each */
    assert_true(sent > 1000);
    for (int channels = 0; channels < 2; channels++) {
        assert_close(bytes_of(&whole, 'n', 'r', channels), sent);
        assert_close(bytes_of(&whole, 'r', 'n', channels), sent);
        assert_true(bytes_of(&whole, 'r', 'r', channels) > sent);
    }
    run(&again, &parts, 37);
    assert_true(parts.count > 5 * whole.count);
    assert_close(bytes_of(&parts, 'r', 'r', true), bytes_of(&whole, 'r', 'r', true));
    for (int i = 0; i < whole.count; i++) {
        const struct row *r = &whole.rows[i];
        double busy = 0, stall = 0, integral = 0, most = 0, packets = 0;
        for (int k = 0; k < parts.count; k++) {
            const struct row *p = &parts.rows[k];
            if (strcmp(r->link, p->link) != 0 || strcmp(r->channel, p->channel) != 0)
                continue;
            busy += p->utilisation * (p->end - p->begin);
            stall += p->stall;
            integral += p->mean * (p->end - p->begin);
            packets += p->packets;
            most = fmax(most, p->most);
        }
        double time = r->end - r->begin;
        assert_true(fabs(busy - r->utilisation * time) < 1e-5 * time);
        assert_true(fabs(integral - r->mean * time) < 1e-4 * time);
        assert_true(fabs(stall - r->stall) < 1e-6 * time);
        assert_true(packets == r->packets && most == r->most);
    }
    world_close(&w);
    world_close(&again);
    forget(&whole);
    forget(&parts);
}

static int32_t to_first(struct world *w, int32_t source)
{
    (void)w;
    return source > 0 ? 0 : -1;
}

/* Two nodes send to a third without end: its link is always busy, theirs half of the time, and the buffers
 * behind theirs are full. */
static void test_saturated(void **state)
{
    struct world w;
    struct table t;
    (void)state;
    world_init(&w);
    w.settings.packet_bytes = 10;
    w.settings.channel_buffer = 40;
    w.pattern = to_first;
    w.bytes = 10;
    w.end = 10000;
    world_fabric(&w, "star:3");
    world_sim(&w, "minimal");
    watch(&w, &t, 0);
    pf_packet_sim_advance(w.sim, 0);
    traffic_run(&w);
    read_table(&w, &t);
    const struct row *in = row_of(&t, "r0-n0", "all"), *out = row_of(&t, "n1-r0", "0.0.0");
    assert_between(0.99, in->utilisation, 1.0);
    assert_true(in->most == 0 && in->stall < 20);
    assert_between(0.49, out->utilisation, 0.51);
    assert_between(0.48 * out->end, out->stall, 0.52 * out->end); /* it waits for credits in the other half */
    assert_between(30, out->mean, 40);
    assert_true(out->p99 == 40 && out->most == 40);
    world_close(&w);
    forget(&t);
}

/* Long after the last row, and in intervals that are shorter than a packet. */
static void test_gaps(void **state)
{
    struct world w;
    struct table t;
    (void)state;
    world_init(&w);
    world_fabric(&w, "star:2");
    world_sim(&w, "minimal");
    watch(&w, &t, 0.25);
    world_send_one(&w, 0, 1, 1);
    pf_packet_sim_advance(w.sim, 1e9);
    world_send_one(&w, 0, 1, 1);
    read_table(&w, &t);
    double busy = 0;
    for (int i = 0; i < t.count; i++)
        if (strcmp(t.rows[i].link, "n0-r0") == 0 && strcmp(t.rows[i].channel, "all") == 0)
            busy += t.rows[i].utilisation * (t.rows[i].end - t.rows[i].begin);
    assert_true(fabs(busy - 2) < 1e-5);
    assert_true(t.count < 100);
    world_close(&w);
    forget(&t);
}

static void test_names(void **state)
{
    static const char *const fabrics[] = {"star:3", "torus:2x3,2", "fattree:2;4,4;1,2;1,2",
                                          "dragonfly:2,4,2,3"};
    static const char *const no_names[] = {"",      "r0",     "r0-",    "r0-r0",  "n0-n1",
                                           "x0-r1", "n0-r0x", "n9-r99", "r0-n0.", "n0-r0.1"};
    (void)state;
    for (size_t i = 0; i < sizeof fabrics / sizeof fabrics[0]; i++) {
        struct world w;
        char name[PF_LINK_NAME];
        world_init(&w);
        world_fabric(&w, fabrics[i]);
        for (int32_t port = 0; port < w.fabric->first_port[w.fabric->routers + w.fabric->nodes]; port++) {
            if (w.fabric->ports[port].peer < 0)
                continue;
            pf_packet_link_name(w.fabric, port, name, sizeof name);
            assert_int_equal(pf_packet_link_find(w.fabric, name), port);
        }
        for (size_t k = 0; k < sizeof no_names / sizeof no_names[0]; k++)
            assert_int_equal(pf_packet_link_find(w.fabric, no_names[k]), -1);
        pf_fabric_free(w.fabric);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conservation), cmocka_unit_test(test_saturated),
                                       cmocka_unit_test(test_gaps), cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
