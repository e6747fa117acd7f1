/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of pfnet: one table for numbers, and words. */
#include "tools/pfnet/options.h"

#include <argp.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/platform/builtin.h"

/* Without a platform: links of 100 Gb/s and some 20 m, a router of 100 ns. */
#define PLAIN_RATE    12.5e9
#define PLAIN_LATENCY 1e-7

enum {
    TOPOLOGY = 256,
    PLATFORM,
    ROUTING,
    PATTERN,
    LOAD,
    SATURATION,
    OUTPUT,
    PICTURE,
    ARBITRATION,
    ARRIVALS,
    INTERMEDIATE,
    QUEUES,
    STAGES,
    CHANNEL_CHOICE,
    NEW_PACKETS,
    SEES,
    DECIDES,
    OLD_LINK_LATENCY,
    OLD_HEAD_LATENCY,
    LAST_LINK,
    NUMBERS
};

/* Numbers, with the range that is possible. */
static const struct number {
    const char *name, *argument, *help;
    size_t offset;
    double least, most;
    int group;
} numbers[] = {
#define N(member) offsetof(struct options, member)
    {"rate", "B/s", "Rate of a link in each direction (12.5G)", N(rate), 1, 1e15, 3},
    {"node-rate", "B/s", "Rate of the links of nodes (as --rate)", N(node_rate), 1, 1e15, 3},
    {"global-rate", "B/s", "Rate of the links between groups (as --rate)", N(global_rate), 1, 1e15, 3},
    {"link-latency", "S", "Latency of a link (100n)", N(link_latency), 0, 1e6, 3},
    {"node-latency", "S", "Latency of the links of nodes (as --link-latency)", N(node_latency), 0, 1e6, 3},
    {"global-latency", "S", "Latency of the links between groups (as --link-latency)", N(global_latency), 0,
     1e6, 3},
    {"router-latency", "S", "From the arrival of a head at a router until it may cross it (100n)",
     N(router_latency), 0, 1e6, 3},
    {"credit-delay", "S", "What credits need besides the link's latency (0)", N(settings.credit_delay), 0,
     1e6, 3},
    {"speedup", "X", "So many times faster than links is the crossbar (1)", N(settings.crossbar_speedup), 1,
     1000, 3},
    {"packet", "BYTES", "Payload of a packet (2048)", N(packet_bytes), 1, 65000, 3},
    {"flit", "BYTES",
     "Packets go as wormholes of such flits; with --channel-choice turn. 0: virtual cut-through (0)",
     N(flit_bytes), 0, 65000, 3},
    {"header", "BYTES", "More on the wire for each packet (0)", N(header_bytes), 0, 60000, 3},
    {"buffer", "BYTES",
     "Buffer of each virtual channel at an input; 0: the link's round trip and two packets (0)",
     N(channel_buffer), 0, 1e12, 3},
    {"channels", "N", "Virtual channels in each class of the routing (1)", N(channels), 1, 64, 3},
    {"rounds", "N",
     "Rounds of a crossbar's allocation in each cycle (a flit, a slot of --arrivals bernoulli, or a packet); "
     "0: until nothing more fits, at any date (0)",
     N(rounds), 0, 100, 3},
    {"threshold", "BYTES", "ugal, par: minimal as long as queue x hops is not more than so much longer (0)",
     N(routing_settings.ugal_threshold), -1e15, 1e15, 2},
    {"bias", "X", "ugal, par: factor of the cost of other ways (1)", N(routing_settings.ugal_bias), 0, 1e9,
     2},
    {"ratio", "X", "ugal, par: other ways count as X times as long, whatever their hops; 0: hops count (0)",
     N(routing_settings.ugal_ratio), 0, 1e9, 2},
    {"candidates", "N", "ugal, par: other ways that are compared (1)", N(candidates), 1, 200, 2},
    {"seed", "N", "Of everything that is random (1)", N(seed_number), 0, 9e15, 4},
    {"warm-up", "N", "Packet times before the measurement; 0: 1000 or five batches (0)", N(warm_up), 0, 1e9,
     4},
    {"batch", "N", "Packet times of a batch; 0: 200 or 2000 packets (0)", N(batch), 0, 1e9, 4},
    {"batches", "N", "Batches that are measured (20)", N(batches), 2, 1000, 4},
    {"confidence", "PART", "Of the intervals (0.95)", N(confidence), 0.5, 0.9999, 4},
    {"source-limit", "N", "Packets that a node may have under way before it refuses more (500)",
     N(source_limit), 1, 1e6, 4},
    {"precision", "X", "Of the load that --saturation finds (0.005)", N(precision), 1e-4, 0.5, 4},
#undef N
};

#define NUMBER_COUNT ((int)(sizeof numbers / sizeof numbers[0]))

static const struct argp_option words[] = {
    {0, 'h', 0, OPTION_HIDDEN, 0, 0},                              /* argp's own short one is -? */
    {"cable-latency", OLD_LINK_LATENCY, "S", OPTION_HIDDEN, 0, 0}, /* docs/changes.md */
    {"head-latency", OLD_HEAD_LATENCY, "S", OPTION_HIDDEN, 0, 0},
    {"topology", TOPOLOGY, "SPEC", 0, "What the network is (below)", 1},
    {"platform", PLATFORM, "NAME:N", 0,
     "A built-in platform (pfinfo --platform) with its figures, for --topology", 1},
    {"routing", ROUTING, "NAME", 0, "minimal, minimal-adaptive, valiant, ugal or par (minimal)", 2},
    {"intermediate", INTERMEDIATE, "node|group", 0,
     "What valiant, ugal and par go over: a node, or a group or common ancestor (node)", 2},
    {"arbitration", ARBITRATION, "NAME", 0, "Of a crossbar: round-robin or age (round-robin)", 3},
    {"channel-choice", CHANNEL_CHOICE, "room|turn", 0,
     "A packet takes the channel with most room; or, with --rounds, the next one in turn before it asks for "
     "the crossbar (room)",
     3},
    {"new-packets", NEW_PACKETS, "first|any", 0,
     "Channels of a node's link for them: those of the routing's first class, or of any (first)", 3},
    {"last-link", LAST_LINK, "class|any", 0,
     "With --channel-choice turn, channels of the link to a node: those of the packet's class, or of any "
     "(class)",
     3},
    {"decides", DECIDES, "router|node", 0,
     "ugal, par: the source chooses in its router, or when the packet leaves its node (router)", 3},
    {"sees", SEES, "all|credits", 0,
     "Adaptive routing: bytes that wait for an output and those without credits yet; or the latter alone "
     "(all)",
     2},
    {"stages", STAGES, "R,C,T,W", 0,
     "In place of --router-latency: cycles of a link for a packet's routing (0: it is known before), its "
     "channel, "
     "its turn at the crossbar, in which a queue works at one packet only, and the way through it",
     3},
    {"queues", QUEUES, "input|output", 0,
     "Queues of an input: one for each channel, or one for each output (input)", 3},
    {"pattern", PATTERN, "NAME", 0, "Destinations of each node (below; uniform)", 4},
    {"arrivals", ARRIVALS, "poisson|bernoulli[:BYTES]", 0,
     "When: Poisson, or one trial in each slot of so many bytes, or a packet (poisson)", 4},
    {"load", LOAD, "LIST", 0,
     "Offered loads, parts of a node's rate: A,B,... or FROM:TO:STEP (from 0.05 until it is saturated)", 4},
    {"saturation", SATURATION, 0, 0, "Search the largest load that the network takes", 4},
    {"output", OUTPUT, "FILE", 0, "File for the points (standard output)", 5},
    {"picture", PICTURE, "FILE", 0, "Draw the points of --output, as .svg, .png or .pdf", 5},
};

#define WORD_COUNT ((int)(sizeof words / sizeof words[0]))

/* A number with a decimal or binary prefix. */
static bool read_quantity(const char *text, char **end, double *value)
{
    static const struct {
        const char *name;
        double factor;
    } prefixes[] = {{"Ki", 1024}, {"Mi", 1048576}, {"Gi", 1073741824}, {"p", 1e-12}, {"n", 1e-9}, {"u", 1e-6},
                    {"m", 1e-3},  {"k", 1e3},      {"M", 1e6},         {"G", 1e9},   {"T", 1e12}};
    *value = strtod(text, end);
    if (*end == text || !isfinite(*value))
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i].name);
        if (strncmp(*end, prefixes[i].name, length) == 0) {
            *value *= prefixes[i].factor;
            *end += length;
            break;
        }
    }
    return true;
}

static const struct number *number_named(const char *name)
{
    for (int i = 0; i < NUMBER_COUNT; i++)
        if (strcmp(numbers[i].name, name) == 0)
            return &numbers[i];
    return NULL;
}

static void read_number(struct options *o, const struct number *number, const char *text)
{
    char *end;
    double value;
    if (!read_quantity(text, &end, &value) || *end || !(value >= number->least && value <= number->most))
        pf_die("--%s: '%.60s' is no number from %.12g to %.12g (prefixes such as n, u, k, Ki, M, G are "
               "possible)",
               number->name, text, number->least, number->most);
    *(double *)((char *)o + number->offset) = value;
}

static void add_load(struct options *o, double load, const char *text)
{
    if (!(load > 0 && load <= 1))
        pf_die("--load: '%.60s': a load is a part of a node's rate, above 0 and at most 1", text);
    if (o->load_count == 10000)
        pf_die("--load: '%.60s' are more than 10000 loads", text);
    o->loads = pf_reallocarray(o->loads, (size_t)o->load_count + 1, sizeof *o->loads);
    o->loads[o->load_count++] = load;
}

static void read_loads(struct options *o, const char *text)
{
    double value[3];
    char *end;
    int count = 0;
    const char *at = text;
    o->load_count = 0;
    while (count < 3 && read_quantity(at, &end, &value[count])) {
        count++;
        if (*end != ':')
            break;
        at = end + 1;
    }
    if (count == 3 && !*end) {
        if (!(value[2] >= 1e-4))
            pf_die("--load: '%.60s': the step must be at least 0.0001", text);
        for (int i = 0; value[0] + i * value[2] <= value[1] * (1 + 1e-9); i++)
            add_load(o, fmin(value[0] + i * value[2], value[1]), text);
    } else {
        for (at = text;; at = end + 1) {
            if (!read_quantity(at, &end, &value[0]) || (*end && *end != ','))
                pf_die("--load: '%.60s' is neither A,B,... nor FROM:TO:STEP", text);
            add_load(o, value[0], text);
            if (!*end)
                break;
        }
    }
    if (!o->load_count)
        pf_die("--load: '%.60s' is no load", text);
}

static bool choose(const char *option, const char *text, const char *no, const char *yes)
{
    if (strcmp(text, no) != 0 && strcmp(text, yes) != 0)
        pf_die("--%s: '%.60s' is neither %s nor %s", option, text, no, yes);
    return strcmp(text, yes) == 0;
}

static void read_arrivals(struct options *o, const char *text)
{
    char *end;
    o->slot_bytes = 0;
    if (strcmp(text, "poisson") == 0)
        return;
    if (strncmp(text, "bernoulli", 9) != 0 || (text[9] && text[9] != ':'))
        pf_die("--arrivals: '%.60s' is neither poisson nor bernoulli nor bernoulli:BYTES", text);
    o->slot_bytes = -1;
    if (text[9] && (!read_quantity(text + 10, &end, &o->slot_bytes) || *end || !(o->slot_bytes >= 1)))
        pf_die("--arrivals: '%.60s': a slot has at least one byte", text);
}

static void read_stages(struct options *o, const char *text)
{
    int *stages = o->settings.stages, end = 0;
    sscanf(text, "%5d,%5d,%5d,%5d%n", &stages[0], &stages[1], &stages[2], &stages[3], &end);
    if (end == 0 || text[end] || stages[0] < 0 || stages[1] < 1 || stages[2] < 1 || stages[3] < 1)
        pf_die("--stages: '%.60s' are not four numbers of cycles, of which the first one alone may be 0",
               text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case TOPOLOGY:
        o->topology = arg;
        return 0;
    case PLATFORM:
        o->platform = arg;
        return 0;
    case ROUTING:
        o->routing = arg;
        return 0;
    case PATTERN:
        o->pattern = arg;
        return 0;
    case LOAD:
        read_loads(o, arg);
        return 0;
    case SATURATION:
        o->saturation = true;
        return 0;
    case OUTPUT:
        o->output = arg;
        return 0;
    case PICTURE:
        o->picture = arg;
        return 0;
    case ARBITRATION:
        o->settings.arbitration =
            choose("arbitration", arg, "round-robin", "age") ? PF_PACKET_AGE : PF_PACKET_ROUND_ROBIN;
        return 0;
    case QUEUES:
        o->settings.output_queues = choose("queues", arg, "input", "output");
        return 0;
    case STAGES:
        read_stages(o, arg);
        return 0;
    case CHANNEL_CHOICE:
        o->settings.channel_turns = choose("channel-choice", arg, "room", "turn");
        return 0;
    case NEW_PACKETS:
        o->settings.new_in_any = choose("new-packets", arg, "first", "any");
        return 0;
    case SEES:
        o->settings.sees_credits_only = choose("sees", arg, "all", "credits");
        return 0;
    case DECIDES:
        o->settings.looks_ahead = choose("decides", arg, "router", "node");
        return 0;
    case INTERMEDIATE:
        o->routing_settings.intermediate_is_group = choose("intermediate", arg, "node", "group");
        return 0;
    case ARRIVALS:
        read_arrivals(o, arg);
        return 0;
    case LAST_LINK:
        o->settings.ends_in_any = choose("last-link", arg, "class", "any");
        return 0;
    case OLD_HEAD_LATENCY:
        pf_die("--head-latency has become --stages, cycles of each stage of a router");
    case OLD_LINK_LATENCY:
        pf_warn("--cable-latency is --link-latency now; the old name goes with the next version");
        read_number(o, number_named("link-latency"), arg);
        return 0;
    case ARGP_KEY_ARG:
        pf_die("'%.60s' is no option; --help lists all", arg);
    default:
        if (key < NUMBERS || key >= NUMBERS + NUMBER_COUNT)
            return ARGP_ERR_UNKNOWN;
        read_number(o, &numbers[key - NUMBERS], arg);
        return 0;
    }
}

static void append(char **all, char *more)
{
    char *longer = pf_asprintf("%s%s", *all, more);
    free(*all);
    free(more);
    *all = longer;
}

static char *forms(int key, const char *text, void *input)
{
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    char *all = pf_strdup("Topologies (KIND:NUMBERS or KIND:HOSTS):\n");
    const char *name, *form, *line;
    for (int i = 0; pf_fabric_help(i, &name, &form, &line); i++)
        append(&all, pf_asprintf("  %s:%s  %s\n", name, form, line));
    append(&all, pf_strdup("\nPatterns:\n"));
    for (int i = 0; (line = pf_pattern_help(i)); i++)
        append(&all, pf_asprintf("  %s\n", line));
    append(&all, pf_strdup("\nRoutings:\n"));
    for (int i = 0; (line = pf_routing_name(i)); i++)
        append(&all, pf_asprintf("  %s  %s\n", line, pf_routing_help(i)));
    return all;
}

static void set_defaults(struct options *o)
{
    memset(o, 0, sizeof *o);
    o->routing = "minimal";
    o->pattern = "uniform";
    o->rate = o->node_rate = o->global_rate = -1;
    o->link_latency = o->router_latency = o->node_latency = o->global_latency = -1;
    o->packet_bytes = 2048;
    o->channels = o->candidates = o->seed_number = 1;
    o->settings = pf_packet_settings_plain;
    o->settings.virtual_networks = 1;
    o->settings.crossbar_speedup = 1;
    o->routing_settings.ugal_bias = 1;
    o->precision = 0.005;
    o->batches = 20;
    o->confidence = 0.95;
    o->source_limit = 500;
}

static void finish(struct options *o)
{
    o->seed = (uint64_t)o->seed_number;
    o->settings.packet_bytes = (uint32_t)o->packet_bytes;
    o->settings.header_bytes = (uint32_t)o->header_bytes;
    o->settings.flit_bytes = (uint32_t)o->flit_bytes;
    o->settings.channel_buffer = (int64_t)o->channel_buffer;
    o->settings.channels = (int)o->channels;
    o->settings.rounds = (int)o->rounds;
    o->routing_settings.seed = o->seed;
    o->routing_settings.ugal_candidates = (int)o->candidates;
    if (!o->topology && !o->platform)
        pf_die("which network? --topology SPEC or --platform NAME:N, such as --topology torus:8x8 (--help "
               "has all)");
    if (o->topology && o->platform)
        pf_die("either --topology or --platform");
    if (o->picture && !o->output)
        pf_die("--picture draws the points in a file: add --output FILE");
    if ((o->settings.channel_turns || o->settings.stages[1] > 0) && !o->settings.rounds)
        pf_die("--channel-choice turn and --stages need --rounds");
    if (o->flit_bytes > 0 && (!o->settings.channel_turns || o->settings.output_queues || o->header_bytes > 0))
        pf_die("--flit needs --channel-choice turn, and neither --queues output nor --header");
    if (o->slot_bytes < 0)
        o->slot_bytes = o->packet_bytes + o->header_bytes;
    if (o->slot_bytes > o->packet_bytes + o->header_bytes)
        pf_die("--arrivals: a slot of %g bytes is longer than a packet", o->slot_bytes);
}

void options_read(struct options *o, int argc, char **argv)
{
    static struct argp_option all[WORD_COUNT + NUMBER_COUNT + 1];
    memcpy(all, words, sizeof words);
    for (int i = 0; i < NUMBER_COUNT; i++)
        all[WORD_COUNT + i] = (struct argp_option){numbers[i].name, NUMBERS + i,     numbers[i].argument, 0,
                                                   numbers[i].help, numbers[i].group};
    const struct argp argp = {
        all,  parse, NULL, "Latency against offered load of a packet network, without a program.\v ",
        NULL, forms, NULL};
    set_defaults(o);
    argp_program_version = "pfnet (Parfocal) " PF_VERSION;
    if (argp_parse(&argp, argc, argv, ARGP_LONG_ONLY, NULL, o) != 0)
        exit(1);
    finish(o);
}

/* The figures that the command line gives, over those of the platform or plain ones. */
static void set_links(const struct options *o, struct pf_fabric_speeds *links)
{
    for (int i = 0; i < PF_LINK_KINDS; i++) {
        if (o->rate > 0)
            links->rate[i] = o->rate;
        if (o->link_latency >= 0)
            links->latency[i] = o->link_latency;
    }
    if (o->node_rate > 0)
        links->rate[PF_LINK_NODE] = o->node_rate;
    if (o->global_rate > 0)
        links->rate[PF_LINK_GLOBAL] = o->global_rate;
    if (o->node_latency >= 0)
        links->latency[PF_LINK_NODE] = o->node_latency;
    if (o->global_latency >= 0)
        links->latency[PF_LINK_GLOBAL] = o->global_latency;
    if (o->router_latency >= 0)
        links->router_latency = o->router_latency;
}

struct pf_fabric *options_fabric(const struct options *o)
{
    struct pf_fabric_speeds links;
    char error[300], text[160];
    const char *topology = o->topology;
    pf_fabric_equal_links(&links, PLAIN_RATE, PLAIN_LATENCY, PLAIN_LATENCY);
    if (o->platform) {
        if (!pf_platform_builtin_fabric(o->platform, 0, text, sizeof text, &links, error, sizeof error))
            pf_die("--platform: %s", error);
        topology = text;
    }
    set_links(o, &links);
    struct pf_fabric *f = pf_fabric_make(topology, &links, error, sizeof error);
    if (!f)
        pf_die("--%s: %s", o->topology ? "topology" : "platform", error);
    return f;
}

void options_request(const struct options *o, const struct pf_fabric *fabric, struct run_request *request)
{
    request->rate = fabric->ports[fabric->first_port[fabric->routers]].rate;
    for (int32_t port = 0; isinf(request->rate) && port < fabric->first_port[fabric->routers]; port++)
        if (fabric->ports[port].peer >= 0)
            request->rate = fabric->ports[port].rate; /* a node's link takes no time: that of any other */
    if (isinf(request->rate))
        request->rate = PLAIN_RATE;
    request->slot_bytes = o->slot_bytes;
    request->batches = (int)o->batches;
    request->source_limit = (int)o->source_limit;
    request->confidence = o->confidence;
    request->seed = o->seed;
}

void options_times(const struct options *o, struct run_request *request)
{
    double packet = (o->packet_bytes + o->header_bytes) / request->rate;
    double nodes = request->routing->fabric->nodes;
    request->batch = packet * (o->batch > 0 ? o->batch : fmax(200, 2000 / (nodes * request->load)));
    request->warm_up = o->warm_up > 0 ? packet * o->warm_up : fmax(1000 * packet, 5 * request->batch);
}

/* The script is in the folder of the program in the build, and in share/ in an installation. */
static void find_script(char *path, size_t size)
{
    static const char *const places[] = {"draw.py", "../share/parfocal/pfnet/draw.py"};
    char own[2000];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    char *slash = strrchr(own, '/');
    for (int i = 0; slash && i < 2; i++) {
        snprintf(path, size, "%.*s/%s", (int)(slash - own), own, places[i]);
        if (access(path, R_OK) == 0)
            return;
    }
    pf_die("--picture: the script draw.py is neither next to pfnet nor in the installation");
}

void options_draw(const struct options *o)
{
    char script[2100];
    find_script(script, sizeof script);
    /* Debian's interpreter first, because matplotlib belongs to it. */
    execl("/usr/bin/python3", "python3", script, o->output, o->picture, (char *)NULL);
    execlp("python3", "python3", script, o->output, o->picture, (char *)NULL);
    pf_die("--picture: there is no python3");
}
