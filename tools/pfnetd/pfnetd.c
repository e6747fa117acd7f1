/* SPDX-License-Identifier: BSD-3-Clause */
/* pfnetd: one of Parfocal's networks as a process of its own, for pfrun in another one. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <simgrid/engine.h>

#include "base/config.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/memory.h"
#include "lowlevel/network/external/address.h"
#include "lowlevel/network/external/external.h"
#include "lowlevel/network/packet/described.h"
#include "lowlevel/platform/builtin.h"
#include "lowlevel/platform/load.h"
#include "lowlevel/simgrid/last_words.h"

enum { NETWORK = 256, PLATFORM, SOCKET, TCP };

static const struct argp_option words[] = {
    {"network", NETWORK, "NAME", 0, "packet, flow or ideal (packet)", 0},
    {"platform", PLATFORM, "NAME|FILE", 0, "The platform; the client's, where none is given", 0},
    {"socket", SOCKET, "PATH", 0, "Waits for one client at this path", 0},
    {"tcp", TCP, "[HOST:]PORT", 0,
     "Waits for one client at this port of this machine, or of all its HOST's addresses", 0},
    {0},
};

static struct {
    const char *network, *platform, *socket, *tcp;
} options = {.network = "packet"};

static const char *socket_path; /* to be removed */

static error_t read_option(int key, char *argument, struct argp_state *state)
{
    switch (key) {
    case NETWORK:
        options.network = argument;
        break;
    case PLATFORM:
        options.platform = argument;
        break;
    case SOCKET:
        options.socket = argument;
        break;
    case TCP:
        options.tcp = argument;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is no option", argument);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void remove_socket(void)
{
    if (socket_path)
        unlink(socket_path);
    socket_path = NULL;
}

static void stop(int number)
{
    remove_socket();
    signal(number, SIG_DFL);
    raise(number);
}

/* A client that only tests the address leaves at once. */
static bool says_something(int client)
{
    struct pollfd wanted = {.fd = client, .events = POLLIN};
    char byte;
    return poll(&wanted, 1, (int)fmin(pf_config.net_external_timeout * 1000, INT_MAX)) == 1 &&
           recv(client, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

/* SimGrid ends so when a platform contradicts itself. */
static void give_up(int number)
{
    const char *words = pf_simgrid_last_words();
    signal(number, SIG_DFL);
    pf_die("the platform: SimGrid cannot read it: %s", *words ? words : strsignal(number));
}

static int wait_for_client(void)
{
    char error[300];
    int at = options.socket ? pf_external_listen_unix(options.socket, error, sizeof error)
                            : pf_external_listen_tcp(options.tcp, error, sizeof error);
    if (at < 0)
        pf_die("%s: %s", options.socket ? "--socket" : "--tcp", error);
    socket_path = options.socket;
    pf_at_end(remove_socket);
    for (;;) {
        int client = accept4(at, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0 && errno == EINTR)
            continue;
        if (client < 0)
            pf_die("no client has connected: %s", strerror(errno));
        if (says_something(client)) {
            remove_socket();
            close(at);
            return client;
        }
        close(client);
    }
}

/* SimGrid reads files; this one has no name that could be left behind. */
static FILE *open_memory(char *name, size_t size)
{
    int fd = memfd_create("platform.xml", MFD_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        pf_die("no memory for the platform: %s", strerror(errno));
    snprintf(name, size, "/proc/self/fd/%d", fd);
    return file;
}

static bool write_builtin(const char *name, int nodes, FILE *file, char *error, size_t error_size)
{
    char text[160];
    struct pf_fabric_speeds links;
    if (!pf_platform_builtin_write(name, nodes, file, error, error_size) ||
        !pf_platform_builtin_fabric(name, nodes, text, sizeof text, &links, error, error_size))
        return false;
    pf_network_describe(text, &links);
    return true;
}

/* The platform that was given wins over the client's. */
static bool load(const char *text, size_t length, int nodes, char *error, size_t error_size)
{
    char name[64];
    FILE *memory = NULL;
    const char *file = options.platform;
    if (file && access(file, R_OK) == 0) {
        pf_network_describe("", &(struct pf_fabric_speeds){.router_latency = 0.0});
    } else if (file || length > 0) {
        memory = open_memory(name, sizeof name);
        bool good = file ? write_builtin(file, nodes, memory, error, error_size)
                         : fwrite(text, 1, length, memory) == length;
        if (good && fflush(memory) == 0)
            file = name;
        else if (good)
            snprintf(error, error_size, "cannot keep the platform: %s", strerror(errno));
        if (!good)
            return false;
    } else {
        snprintf(error, error_size, "the client has sent no platform: give it as --platform");
        return false;
    }
    bool good = pf_platform_load(file, error, error_size);
    if (memory)
        fclose(memory);
    return good;
}

static int connection(void)
{
    int type;
    socklen_t size = sizeof type;
    if (options.socket && options.tcp)
        pf_die("--socket and --tcp: only one of them");
    if (options.socket || options.tcp)
        return wait_for_client();
    if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
        pf_die("give the client's address as --socket or --tcp (a child of the client has it as its standard "
               "input)");
    return STDIN_FILENO;
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        words,
        read_option,
        NULL,
        "Simulates a network for pfrun in another process (model external). Without --socket and --tcp its "
        "standard input is the socket, as under PARFOCAL_NET_EXTERNAL='exec:pfnetd --network packet'.",
        NULL,
        NULL,
        NULL};
    char error[300], version[64];
    snprintf(version, sizeof version, "pfnetd (Parfocal) %s", PF_VERSION);
    argp_program_version = version;
    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    if (strcmp(options.network, "packet") != 0 && strcmp(options.network, "flow") != 0 &&
        strcmp(options.network, "ideal") != 0)
        pf_die("--network: '%s' is none of packet, flow and ideal", options.network);
    pf_config_load();
    pf_machine_apply();
    pf_config_give("--network", "net_model", options.network);
    signal(SIGABRT, give_up);
    signal(SIGFPE, give_up);
    signal(SIGTERM, stop);
    signal(SIGHUP, stop);
    if (signal(SIGINT, SIG_IGN) != SIG_IGN) /* pfrun's child leaves ^C to pfrun */
        signal(SIGINT, stop);
    int simgrid_argc = 3;
    char *simgrid_argv[] = {argv[0], "--cfg=network/model:SMPI", "--log=xbt_cfg.thres:warning", NULL};
    pf_simgrid_keep_last_words();
    simgrid_init(&simgrid_argc, simgrid_argv);
    int fd = connection();
    if (!pf_external_serve(fd, options.network, load, error, sizeof error))
        pf_die("%s", *error ? error : "the client has gone");
    fflush(NULL);
    _exit(0); /* SimGrid has nothing to end: it has run nothing */
}
