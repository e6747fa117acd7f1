/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts and links of routes as SVG. */
#include "lowlevel/network/packet/routes_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/memory.h"

#define COLUMN  26.0 /* of hosts */
#define ROW     30.0
#define ZONE    22.0 /* between zones */
#define LAYER   64.0 /* of links */
#define APART   64.0
#define MARGIN  40.0
#define COLUMNS 64
enum { MANY = -1, MOST_JOINTS = 100000, MOST_LINES = 3500 };

struct host {
    int node, zone;
    char *name;
    double x, y, top; /* top: of its column */
    bool met;
};

struct link {
    int layer; /* from hosts; 0: not met */
    int owner; /* the only host that begins or ends at it, plus 1; MANY */
    int below; /* what it is joined to that stands lower */
    double x, y;
    struct pf_picture_load load;
};

/* What follows each other on a route: two links, or a host (a < 0) and a link. */
struct joint {
    int64_t key;
    int a, b;
    UT_hash_handle hh;
};

static struct {
    struct host *hosts; /* by node */
    int host_count, link_count, joint_count, layers;
    struct link *links; /* by number */
    struct joint *joints;
    int *first; /* host of each zone */
    double width, full;
    bool few; /* hosts, which are drawn then */
    FILE *out;
} all;

static struct host *host_of(int node)
{
    PF_ARRAY_REACH(all.hosts, all.host_count, node);
    struct host *host = &all.hosts[node];
    if (!host->met)
        *host = (struct host){.node = node,
                              .zone = pf_platform_zone(node),
                              .name = pf_strdup(sg_host_get_name(pf_platform_host(node))),
                              .met = true};
    return host;
}

static struct link *link_of(int number)
{
    PF_ARRAY_REACH(all.links, all.link_count, number);
    return &all.links[number];
}

static void join(int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    int64_t key = (int64_t)low << 32 | (uint32_t)high;
    struct joint *joint;
    HASH_FIND(hh, all.joints, &key, sizeof key, joint);
    if (joint || low == high || all.joint_count == MOST_JOINTS)
        return;
    joint = pf_calloc(1, sizeof *joint);
    *joint = (struct joint){.key = key, .a = low, .b = high};
    HASH_ADD(hh, all.joints, key, sizeof joint->key, joint);
    all.joint_count++;
}

void pf_routes_note(int from, int to, const struct pf_platform_route *route)
{
    host_of(from);
    host_of(to);
    for (int i = 0; i < route->count; i++) {
        int behind = route->count - 1 - i, depth = (i < behind ? i : behind) + 1;
        int near = i <= behind ? from : to;
        struct link *link = link_of(route->links[i]);
        if (depth > link->layer)
            link->layer = depth;
        link->owner = link->owner == 0 || link->owner == near + 1 ? near + 1 : MANY;
        if (i == behind)
            link->owner = MANY;
        if (i > 0)
            join(route->links[i - 1], route->links[i]);
    }
    if (route->count > 0) {
        join(-1 - from, route->links[0]);
        join(-1 - to, route->links[route->count - 1]);
    }
}

/* ---- where they stand ---- */

static int by_zone(const void *a, const void *b)
{
    const struct host *x = *(struct host *const *)a, *y = *(struct host *const *)b;
    int of_x = all.first[x->zone], of_y = all.first[y->zone];
    return of_x != of_y ? (of_x > of_y) - (of_x < of_y) : (x->node > y->node) - (x->node < y->node);
}

/* The hosts that are met, by zone. */
static struct host **sort_hosts(int *count)
{
    struct host **sorted = pf_calloc((size_t)all.host_count + 1, sizeof(struct host *));
    int zones = 0;
    *count = 0;
    for (int i = 0; i < all.host_count; i++)
        if (all.hosts[i].met) {
            sorted[(*count)++] = &all.hosts[i];
            zones = all.hosts[i].zone >= zones ? all.hosts[i].zone + 1 : zones;
        }
    all.first = pf_calloc((size_t)zones + 1, sizeof *all.first);
    for (int i = *count - 1; i >= 0; i--)
        all.first[sorted[i]->zone] = sorted[i]->node;
    qsort(sorted, (size_t)*count, sizeof *sorted, by_zone);
    return sorted;
}

/* In columns, each zone in some of its own; hosts that are not drawn stand at one place. */
static void lay_hosts(struct host **hosts, int count, double top)
{
    int high = (count + COLUMNS - 1) / COLUMNS, row = 0;
    double x = MARGIN;
    for (int i = 0; i < count; i++) {
        bool other = i > 0 && hosts[i]->zone != hosts[i - 1]->zone;
        if (other || (row == high && all.few)) {
            x += COLUMN + (other ? ZONE : 0);
            row = 0;
        }
        hosts[i]->x = x;
        hosts[i]->top = top;
        hosts[i]->y = top + (all.few ? ROW * row++ : 0);
    }
    all.width = x + MARGIN;
}

/* Links of one host stand at it, side by side. */
static void lay_own_links(void)
{
    int *so_far = pf_calloc((size_t)all.host_count + 1, sizeof *so_far);
    for (int l = 0; l < all.link_count; l++) {
        struct link *link = &all.links[l];
        if (!link->layer || link->owner == MANY)
            continue;
        const struct host *host = &all.hosts[link->owner - 1];
        link->x = host->x - 9 + 6 * (so_far[link->owner - 1]++ % 4);
        link->y = host->y - 11;
    }
    free(so_far);
}

static bool is_shared(const struct link *link)
{
    return link->layer && link->owner == MANY;
}

/* Above the middle of what they are joined to. */
static void centre(int layer)
{
    for (const struct joint *j = all.joints; j; j = j->hh.next) {
        bool of_host = j->a < 0;
        struct link *high = &all.links[j->b], *low = of_host ? high : &all.links[j->a];
        if (low->layer > high->layer) {
            low = high;
            high = &all.links[j->a];
        }
        if (!is_shared(high) || high->layer != layer || (!of_host && is_shared(low) && low->layer == layer))
            continue;
        high->x += of_host ? all.hosts[-1 - j->a].x : low->x;
        high->below++;
    }
    for (int l = 0; l < all.link_count; l++)
        if (is_shared(&all.links[l]) && all.links[l].layer == layer)
            all.links[l].x /= all.links[l].below ? all.links[l].below : 1;
}

static int by_place(const void *a, const void *b)
{
    const struct link *x = *(struct link *const *)a, *y = *(struct link *const *)b;
    return x->x != y->x ? (x->x > y->x) - (x->x < y->x) : (x > y) - (x < y);
}

/* A layer, from left to right; none stands on another one. */
static void lay_layer(int layer, double y)
{
    struct link **links = pf_calloc((size_t)all.link_count + 1, sizeof(struct link *));
    int count = 0;
    centre(layer);
    for (int l = 0; l < all.link_count; l++)
        if (is_shared(&all.links[l]) && all.links[l].layer == layer)
            links[count++] = &all.links[l];
    qsort(links, (size_t)count, sizeof *links, by_place);
    double moved = 0;
    for (int i = 0; i < count; i++) {
        double wanted = links[i]->x;
        links[i]->y = y;
        if (i > 0 && links[i]->x < links[i - 1]->x + APART)
            links[i]->x = links[i - 1]->x + APART;
        moved += (links[i]->x - wanted) / count;
    }
    double left = count ? links[0]->x - moved : 0, back = left < MARGIN ? moved + left - MARGIN : moved;
    for (int i = 0; i < count; i++)
        links[i]->x -= back;
    if (count)
        all.width = fmax(all.width, links[count - 1]->x + MARGIN);
    free(links);
}

/* ---- drawing ---- */

static void draw_link(int number, double x1, double y1, double x2, double y2)
{
    const struct link *link = &all.links[number];
    const struct pf_platform_link *state = pf_platform_link_state(number);
    double load = all.full > 0 ? link->load.utilisation / all.full : 0;
    fprintf(all.out, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' stroke-width='%.1f'><title>",
            x1, y1, x2, y2, pf_picture_colour(load), is_shared(link) ? 2 + 6 * load : 1.2 + 3.6 * load);
    pf_picture_write(pf_platform_link_name(number), all.out);
    fprintf(all.out, ": %.4g GB/s, %.4g ns; busy %.1f %%, %.0f messages, %.0f B%s</title></line>\n",
            state->bandwidth / 1e9, state->latency * 1e9, 100 * link->load.utilisation, link->load.packets,
            link->load.bytes, state->shared ? "" : "; a FATPIPE takes any number of messages");
}

static void draw_zones(struct host **hosts, int count)
{
    for (int first = 0, end; first < count; first = end) {
        double low = 0;
        for (end = first; end < count && hosts[end]->zone == hosts[first]->zone; end++)
            low = fmax(low, hosts[end]->y);
        double left = hosts[first]->x - 14, width = hosts[end - 1]->x + 14 - left,
               top = hosts[first]->top - 24;
        fprintf(all.out, "<path d='M%.1f %.1fh%.1fv%.1fh-%.1fz' fill='none' stroke='#8a94a0'><title>zone ",
                left, top, width, low + 14 - top, width);
        pf_picture_write(pf_platform_zone_name(hosts[first]->zone), all.out);
        fprintf(all.out, ": %d hosts</title></path>\n<text x='%.1f' y='%.1f' font-size='9'>", end - first,
                left, low + 26);
        pf_picture_write(pf_platform_zone_name(hosts[first]->zone), all.out);
        fputs("</text>\n", all.out);
    }
}

static void draw_hosts(struct host **hosts, int count)
{
    for (int i = 0; i < count && all.few; i++) {
        fprintf(all.out,
                "<circle cx='%.1f' cy='%.1f' r='4' fill='#ffffff' stroke='#22313f'><title>node n%d, host ",
                hosts[i]->x, hosts[i]->y, hosts[i]->node);
        pf_picture_write(hosts[i]->name, all.out);
        fputs("</title></circle>\n", all.out);
    }
}

/* A link of several hosts, and what is below it: another one, a host, or a host's own link. False: neither is
 * such a link. */
static bool ends_of(const struct joint *j, const struct link **high, const struct link **low,
                    const struct host **host)
{
    bool of_host = j->a < 0;
    const struct link *b = &all.links[j->b], *a = of_host ? b : &all.links[j->a];
    *high = is_shared(a) ? a : b;
    *low = *high == a ? b : a;
    *host = of_host ? &all.hosts[-1 - j->a] : is_shared(*low) ? NULL : &all.hosts[(*low)->owner - 1];
    return is_shared(*high);
}

/* One line is enough from each column of hosts, or from each zone where hosts are not drawn. */
static void draw_joints(struct host **hosts, int count)
{
    int zones = 0;
    for (int i = 0; i < count; i++)
        zones = hosts[i]->zone >= zones ? hosts[i]->zone + 1 : zones;
    char *seen = pf_calloc((size_t)zones * (size_t)all.link_count + 1, 1);
    int lines = 0;
    for (const struct joint *j = all.joints; j && lines < MOST_LINES; j = j->hh.next) {
        const struct link *high, *low;
        const struct host *host;
        if (!ends_of(j, &high, &low, &host))
            continue;
        if (host &&
            (all.few ? host->y > host->top : seen[host->zone * all.link_count + (high - all.links)]++))
            continue;
        fprintf(all.out, "<path d='M%.1f %.1fL%.1f %.1f' stroke='#8a94a0' stroke-width='.5'/>\n",
                host ? host->x : low->x, host ? host->top - 17 : low->y, high->x, high->y);
        lines++;
    }
    free(seen);
}

/* As much of it as there is room for. */
static void draw_name(const char *name, double x, double y)
{
    enum { ROOM = 13 };
    char text[ROOM + 1];
    size_t length = strlen(name), kept = length > ROOM ? ROOM - 2 : length;
    while (kept < length && kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80)
        kept--; /* not within a letter */
    snprintf(text, sizeof text, "%.*s", (int)kept, name);
    fprintf(all.out, "<text x='%.1f' y='%.1f' font-size='9' text-anchor='middle'>", x, y);
    pf_picture_write(text, all.out);
    fputs(kept < length ? "...</text>\n" : "</text>\n", all.out);
}

static void draw_links(void)
{
    enum { MOST_NAMES = 40 }; /* in a layer */
    int *names = pf_calloc((size_t)all.layers + 1, sizeof *names);
    for (int l = 0; l < all.link_count; l++)
        if (is_shared(&all.links[l]))
            names[all.links[l].layer]++;
    for (int l = 0; l < all.link_count; l++) {
        const struct link *link = &all.links[l];
        if (is_shared(link)) {
            draw_link(l, link->x - 13, link->y, link->x + 13, link->y);
            if (names[link->layer] > MOST_NAMES)
                continue;
            draw_name(pf_platform_link_name(l), link->x, link->y - 7);
        } else if (link->layer && all.few) {
            draw_link(l, link->x, link->y - 5, link->x, link->y + 5);
        }
    }
    free(names);
}

static int take_loads(void (*load)(int link, struct pf_picture_load *load))
{
    int lines = 0;
    for (int l = 0; l < all.link_count; l++) {
        struct link *link = &all.links[l];
        if (!link->layer)
            continue;
        load(l, &link->load);
        all.full = fmax(all.full, link->load.utilisation);
        all.layers = is_shared(link) && link->layer > all.layers ? link->layer : all.layers;
        lines += is_shared(link);
    }
    return lines;
}

bool pf_routes_draw(void (*load)(int link, struct pf_picture_load *load), FILE *out)
{
    int count, lines = take_loads(load);
    if (!all.host_count || lines > MOST_LINES)
        return false;
    struct host **hosts = sort_hosts(&count);
    all.out = out;
    all.few = lines + 2 * count <= MOST_LINES;
    double top = MARGIN + LAYER * all.layers;
    lay_hosts(hosts, count, top);
    lay_own_links();
    for (int layer = 1; layer <= all.layers; layer++)
        lay_layer(layer, top - LAYER * layer);
    double high = hosts[count - 1]->y;
    for (int i = 0; i < count; i++)
        high = fmax(high, hosts[i]->y);
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' class='routes' viewBox='0 0 %.0f %.0f' "
            "font-family='sans-serif' font-size='12' fill='currentColor'>\n<title>hosts and links of the "
            "platform</title>\n",
            fmax(all.width, 720), high + MARGIN);
    draw_joints(hosts, count);
    draw_zones(hosts, count);
    draw_links();
    draw_hosts(hosts, count);
    fputs("</svg>\n", out);
    pf_picture_draw_scale(&(struct pf_picture){.full = all.full, .out = out});
    free(all.first);
    free(hosts);
    return true;
}
