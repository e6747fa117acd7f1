/* SPDX-License-Identifier: BSD-3-Clause */
/* The file systems of the machine. A read or write first takes the latency, and then its share of the
 * bandwidth, as a flow over resources of which there are some for each host and one for all (sharing.h). */
#include "lowlevel/storage/storage.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/disk.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/self.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/network/sharing.h"
#include "lowlevel/platform/platform.h"

enum { READS, WRITES, NOWHERE = PF_STORAGE_COUNT };

/* Of a host; NULL: that way is not limited. */
struct node {
    struct pf_path *ways[PF_STORAGE_COUNT][2]; /* to a file system, for reads and for writes */
};

static struct {
    struct node *nodes; /* by number of the platform */
    struct pf_resource *shared;
    struct pf_lines memory;
    struct pf_storage_counters counters[PF_STORAGE_COUNT];
} all;

bool pf_storage_on(void)
{
    return pf_config.file_bw > 0 || pf_config.file_latency > 0 || pf_config.file_disks ||
           pf_config.shared_file_bw > 0 || pf_config.shared_file_latency > 0 ||
           pf_config.shared_file_host_bw > 0;
}

/* NULL: there is no limit. */
static struct pf_resource *resource(double bandwidth)
{
    if (bandwidth <= 0)
        return NULL;
    struct pf_resource *made = pf_lines_get(&all.memory, sizeof *made);
    *made = (struct pf_resource){.capacity = bandwidth, .shared = true, .on = true, .link = -1};
    return made;
}

static struct pf_path *way(struct pf_resource *first, struct pf_resource *second)
{
    if (!first && !second)
        return NULL;
    struct pf_path *path =
        pf_lines_get(&all.memory, offsetof(struct pf_path, resources) + 2 * sizeof path->resources[0]);
    *path = (struct pf_path){.count = 0};
    if (first)
        path->resources[path->count++] = first;
    if (second)
        path->resources[path->count++] = second;
    return path;
}

/* As SimGrid's disks: each direction has a bandwidth, and both together the larger one. */
static void use_disk(struct node *node, sg_host_t host)
{
    unsigned int count = 0;
    sg_disk_t *disks = NULL;
    sg_host_get_disks(host, &count, &disks);
    if (pf_config.file_bw > 0)
        pf_die("PARFOCAL_FILE_BW and PARFOCAL_FILE_DISKS exclude each other");
    if (count == 0)
        pf_die("PARFOCAL_FILE_DISKS: host '%s' has no disk in the platform file", sg_host_get_name(host));
    double read = sg_disk_read_bandwidth(disks[0]), write = sg_disk_write_bandwidth(disks[0]);
    struct pf_resource *both = resource(read > write ? read : write);
    node->ways[PF_STORAGE_OWN][READS] = way(resource(read), both);
    node->ways[PF_STORAGE_OWN][WRITES] = way(resource(write), both);
}

static struct node *node_of(sg_host_t host)
{
    int number = pf_platform_node(host);
    if (!all.nodes) {
        all.nodes = pf_calloc((size_t)pf_platform_node_count(), sizeof *all.nodes);
        all.shared = resource(pf_config.shared_file_bw);
    }
    struct node *node = &all.nodes[number];
    struct pf_path **own = node->ways[PF_STORAGE_OWN], **shared = node->ways[PF_STORAGE_SHARED];
    if (!own[READS] && pf_config.file_disks)
        use_disk(node, host);
    else if (!own[READS])
        own[READS] = own[WRITES] = way(resource(pf_config.file_bw), NULL);
    if (!shared[READS])
        shared[READS] = shared[WRITES] = way(resource(pf_config.shared_file_host_bw), all.shared);
    return node;
}

/* Whether the file lies in a folder of a list with colons. */
static bool is_in(const char *name, const char *folders)
{
    while (*folders) {
        size_t length = strcspn(folders, ":"), end = length;
        while (end > 1 && folders[end - 1] == '/')
            end--;
        if (end > 0 && strncmp(name, folders, end) == 0 && (name[end] == '/' || end == 1))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static int where_is(int descriptor)
{
    char link[40], name[PATH_MAX];
    struct stat info;
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return NOWHERE;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0)
        return NOWHERE;
    name[length] = 0;
    if (is_in(name, "/dev:/proc:/sys"))
        return NOWHERE;
    return is_in(name, pf_config.file_local) ? PF_STORAGE_OWN : PF_STORAGE_SHARED;
}

static void arrived(void *waiter)
{
    pf_waiter_wake(waiter);
}

/* What the rank has done since was that. */
static void spent(pf_self_t *self)
{
    if (pf_chain_on)
        pf_chain_spend(self, pf_engine_now(), PF_CHAIN_FILES);
}

static void wait_for(pf_self_t *self, enum pf_storage which, size_t bytes, bool writes)
{
    double latency = which == PF_STORAGE_OWN ? pf_config.file_latency : pf_config.shared_file_latency;
    struct pf_path *path = node_of(self->host)->ways[which][writes];
    if (latency > 0)
        sg_actor_sleep_for(latency);
    spent(self);
    if (!path || bytes == 0)
        return;
    struct pf_waiter done;
    pf_waiter_init(&done);
    done.knows_why = true;
    pf_sharing_start(path, (double)bytes, arrived, &done);
    pf_waiter_park(&done);
    pf_waiter_destroy(&done);
    spent(self);
}

void pf_storage_access(int descriptor, size_t bytes, bool writes)
{
    pf_self_t *self = pf_self();
    int error = errno, which = self && pf_storage_on() ? where_is(descriptor) : NOWHERE;
    if (which != NOWHERE) {
        struct pf_storage_counters *counters = &all.counters[which];
        pf_engine_start();
        double begin = pf_engine_now();
        wait_for(self, which, bytes, writes);
        counters->accesses[writes]++;
        counters->bytes[writes] += (double)bytes;
        counters->seconds += pf_engine_now() - begin;
    }
    errno = error;
}

const struct pf_storage_counters *pf_storage_counters(enum pf_storage which)
{
    return &all.counters[which];
}
