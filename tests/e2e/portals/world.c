/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/engine.h>

static sg_bar_t barrier;
static int unfinished;

struct start {
    pf_self_t self;
    world_program program;
};

void world_check(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: rank %d at %.9f s: not true: %s\n", file, line, pf_self() ? pf_self()->rank : -1,
            simgrid_get_clock(), what);
    fflush(NULL);
    _exit(3);
}

void *world_shared(void)
{
    static void *page;
    if (!page)
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page;
}

static const char profile_name[] = "pf-test-profile";

static void write_profile(const struct world *world, const char *directory)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, profile_name);
    FILE *out = fopen(path, "w");
    fputs(world->down_link, out);
    fclose(out);
}

/* A star of full-duplex links: every route is the source's and the destination's, as on the peer's platform
 * "quito". */
static void write_star(FILE *out, const struct world *world)
{
    double bandwidth = world->bandwidth > 0 ? world->bandwidth : 11.1e9;
    double latency = world->latency > 0 ? world->latency : 500e-9;
    const char *last = world->down_link ? "<link_ctn id=\"fault\"/>" : "";
    fprintf(out, "<zone id=\"world\" routing=\"Full\">\n");
    for (int node = 0; node < world->nodes; node++)
        fprintf(out, "<host id=\"node-%d\" speed=\"1Gf\"/>\n", node);
    for (int node = 0; node < world->nodes; node++)
        fprintf(out,
                "<link id=\"link-%d\" bandwidth=\"%.17gBps\" latency=\"%.17gs\" "
                "sharing_policy=\"SPLITDUPLEX\"/>\n",
                node, bandwidth, latency);
    if (world->down_link)
        fprintf(out, "<link id=\"fault\" bandwidth=\"100GBps\" latency=\"0s\" state_file=\"%s\"/>\n",
                profile_name);
    for (int src = 0; src < world->nodes; src++)
        for (int dst = 0; dst < world->nodes; dst++)
            if (src != dst)
                fprintf(out,
                        "<route src=\"node-%d\" dst=\"node-%d\" symmetrical=\"NO\"><link_ctn id=\"link-%d\" "
                        "direction=\"UP\"/>"
                        "%s<link_ctn id=\"link-%d\" direction=\"DOWN\"/></route>\n",
                        src, dst, src, dst == world->nodes - 1 ? last : "", dst);
    fprintf(out, "</zone>\n");
}

static void write_platform(FILE *out, const struct world *world)
{
    fprintf(out, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                 "<platform version=\"4.1\">\n");
    if (world->platform)
        fprintf(out, "%s", world->platform);
    else
        write_star(out, world);
    fprintf(out, "</platform>\n");
    fclose(out);
}

static void rank_main(int argc, char *argv[])
{
    (void)argc, (void)argv;
    struct start *start = sg_actor_self_get_data();
    start->program(start->self.rank, start->self.size, world_shared());
    unfinished--;
}

static void load_platform(const struct world *world)
{
    char directory[] = "/tmp/pf-test-XXXXXX", path[128], command[128];
    if (!mkdtemp(directory))
        abort();
    snprintf(path, sizeof path, "%s/platform.xml", directory);
    write_platform(fopen(path, "w"), world);
    if (world->down_link)
        write_profile(world, directory);
    char *argv[] = {"test",
                    "--log=root.thresh:error",
                    "--cfg=contexts/factory:raw",
                    "--cfg=network/model:CM02",
                    "--cfg=network/crosstraffic:0",
                    "--cfg=maxmin/precision:1e-9",
                    "--cfg=path:/tmp",
                    NULL};
    snprintf(command, sizeof command, "--cfg=path:%s", directory);
    int argc = sizeof argv / sizeof argv[0] - 1;
    argv[argc - 1] = command;
    simgrid_init(&argc, argv);
    simgrid_load_platform(path);
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", directory, profile_name);
    unlink(path);
    rmdir(directory);
}

static void child_main(const struct world *world, world_program program)
{
    for (const char *const *setting = world->settings; setting && *setting; setting++)
        putenv((char *)*setting);
    load_platform(world);
    int per_node = world->ranks_per_node ? world->ranks_per_node : 1;
    int size = world->nodes * per_node;
    barrier = sg_barrier_init((unsigned int)size);
    struct start *starts = calloc((size_t)size, sizeof *starts);
    for (int rank = 0; rank < size; rank++) {
        char name[32];
        snprintf(name, sizeof name, "node-%d", rank / per_node);
        starts[rank].self = (pf_self_t){.rank = rank, .size = size, .host = sg_host_by_name(name)};
        starts[rank].program = program;
        snprintf(name, sizeof name, "rank-%d", rank);
        sg_actor_t actor = sg_actor_init(name, starts[rank].self.host);
        sg_actor_set_data(actor, &starts[rank]);
        sg_actor_start_(actor, rank_main, 0, NULL);
    }
    unfinished = size;
    simgrid_run();
    fflush(NULL);
    _exit(unfinished ? 4 : 0); /* SimGrid only prints that ranks were left over */
}

double world_packet(void)
{
    const char *network = getenv("PARFOCAL_NET_MODEL");
    return network && strcmp(network, "packet") == 0 ? 2048.0 : 0.0;
}

int world_run_text(const struct world *world, world_program program, char *text, size_t size)
{
    int ends[2];
    world_shared();
    fflush(NULL);
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        if (text)
            dup2(ends[1], 2);
        child_main(world, program);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (text && used + 1 < size && (got = read(ends[0], text + used, size - used - 1)) > 0)
        used += (size_t)got;
    if (text)
        text[used] = '\0';
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int world_run(const struct world *world, world_program program)
{
    return world_run_text(world, program, NULL, 0);
}

void world_barrier(void)
{
    sg_barrier_wait(barrier);
}

ptl_process_t world_address(int rank)
{
    ptl_process_t id;
    CHECK(pf_portals_physical_id(rank, &id.phys.nid, &id.phys.pid));
    return id;
}

void endpoint_open(struct endpoint *e, unsigned int ni_options, unsigned int pt_options, ptl_size_t events)
{
    CHECK(PtlInit() == PTL_OK);
    pf_portals_free_mode(pf_self(), true);
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, ni_options, PTL_PID_ANY, NULL, NULL, &e->ni) == PTL_OK);
    CHECK(PtlGetUid(e->ni, &e->uid) == PTL_OK);
    CHECK(PtlEQAlloc(e->ni, events, &e->eq) == PTL_OK);
    CHECK(PtlPTAlloc(e->ni, pt_options, e->eq, PTL_PT_ANY, &e->pt) == PTL_OK);
    ptl_md_t md = {.start = NULL, .length = PTL_SIZE_MAX, .eq_handle = e->eq, .ct_handle = PTL_CT_NONE};
    CHECK(PtlMDBind(e->ni, &md, &e->md) == PTL_OK);
    pf_portals_free_mode(pf_self(), false);
    world_barrier();
}

void endpoint_close(struct endpoint *e)
{
    world_barrier();
    CHECK(PtlNIFini(e->ni) == PTL_OK);
    PtlFini();
}

ptl_handle_me_t endpoint_append(struct endpoint *e, void *start, ptl_size_t length, unsigned int options,
                                ptl_match_bits_t bits, ptl_list_t list, void *user_ptr)
{
    ptl_me_t me = {.start = start,
                   .length = length,
                   .ct_handle = PTL_CT_NONE,
                   .uid = PTL_UID_ANY,
                   .options = options,
                   .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                   .match_bits = bits};
    ptl_handle_me_t handle;
    CHECK(PtlMEAppend(e->ni, e->pt, &me, list, user_ptr, &handle) == PTL_OK);
    return handle;
}

ptl_event_t endpoint_expect(struct endpoint *e, ptl_event_kind_t type)
{
    ptl_event_t event;
    CHECK(PtlEQWait(e->eq, &event) == PTL_OK);
    if (event.type != type || event.ni_fail_type != PTL_NI_OK)
        fprintf(stderr, "event %d (failure %d) instead of %d\n", event.type, event.ni_fail_type, type);
    CHECK(event.type == type);
    CHECK(event.ni_fail_type == PTL_NI_OK);
    return event;
}
