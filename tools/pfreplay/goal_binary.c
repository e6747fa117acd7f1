/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The binary form of GOAL, which LogGOPSim's txt2bin writes; little-endian, without padding. Behind a magic
 * number of 8 bytes: the number of ranks (4), the highest cpu and nic (1 each), for each rank where its data
 * begin and end (8 each, behind the magic number). Data of a rank: the numbers of operations and of those
 * that require nothing (4 each), a list of the latter (4 each), the operations (39 each), and the numbers of
 * operations that require others (4 each).
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/log.h"
#include "tools/pfreplay/goal.h"

enum { MAGIC = 4223, MAGIC_BYTES = 8, HEAD = 4 + 1 + 1, OPERATION = 39 };

/* Of a rank. */
struct part {
    const unsigned char *at;
    uint64_t size;
    uint32_t count;
    const unsigned char *operations, *list;
    uint64_t listed;
};

bool goal_is_binary(const char *head)
{
    static const char magic[MAGIC_BYTES] = {MAGIC & 0xff, MAGIC >> 8};
    return memcmp(head, magic, MAGIC_BYTES) == 0;
}

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

static struct part part_at(const struct goal *goal, const unsigned char *at, uint64_t size)
{
    struct part part = {.at = at, .size = size};
    if (size < 8)
        goal_wrong(goal, "the file is cut off");
    uint64_t count = number(at, 4), first = number(at + 4, 4), fixed = 8 + 4 * first + OPERATION * count;
    if (count > INT32_MAX / 2 || fixed > size)
        goal_wrong(goal, "the file is cut off");
    part.count = (uint32_t)count;
    part.operations = at + 8 + 4 * first;
    part.list = at + fixed;
    part.listed = (size - fixed) / 4;
    return part;
}

static long or_any(uint64_t value)
{
    return value == UINT32_MAX ? -1 : (long)value;
}

static void read_operation(struct goal *goal, const unsigned char *at)
{
    static const unsigned char kinds[] = {[GOAL_SEND] = 1, [GOAL_RECV] = 2, [GOAL_CALC] = 3};
    for (enum goal_kind kind = GOAL_SEND; kind <= GOAL_CALC; kind++)
        if (at[4] == kinds[kind]) {
            uint64_t size = number(at + 9, 8);
            if (size > INT64_MAX)
                goal_wrong(goal, "a size is out of range");
            struct goal_operation *operation = goal_add(goal, kind, (long)size, at[21], at[22]);
            if (kind != GOAL_CALC)
                goal_set_peer(goal, operation, or_any(number(at + 5, 4)), or_any(number(at + 17, 4)));
            return;
        }
    goal_wrong(goal, "there are send, recv and calc");
}

/* `count` numbers from number `first` of the list on: they require operation `on`. */
static void read_edges(struct goal *goal, const struct part *part, uint32_t on, const unsigned char *at,
                       bool finished)
{
    uint64_t count = number(at, 4), first = number(at + 4, 4);
    if (count && first + count > part->listed)
        goal_wrong(goal, "the file is cut off");
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t of = number(part->list + 4 * i, 4);
        if (of >= part->count)
            goal_wrong(goal, "an operation is required that is not there");
        goal_require(goal, (int)of, (int)on, finished);
    }
}

static void read_rank(struct goal *goal, const unsigned char *begin, uint64_t size)
{
    struct part part = part_at(goal, begin, size);
    for (uint32_t i = 0; i < part.count; i++)
        read_operation(goal, part.operations + OPERATION * (uint64_t)i);
    for (uint32_t i = 0; i < part.count; i++) {
        const unsigned char *at = part.operations + OPERATION * (uint64_t)i;
        read_edges(goal, &part, i, at + 23, true);
        read_edges(goal, &part, i, at + 31, false);
    }
}

void goal_read_binary(struct goal *goal)
{
    struct stat info;
    goal->rank = -1;
    if (fstat(fileno(goal->file), &info) != 0 || info.st_size < MAGIC_BYTES + HEAD)
        pf_die("%s: the file is cut off", goal->path);
    size_t size = (size_t)info.st_size;
    unsigned char *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fileno(goal->file), 0);
    if (file == MAP_FAILED)
        pf_die("-replay: cannot read '%s': %s", goal->path, strerror(errno));
    const unsigned char *at = file + MAGIC_BYTES;
    uint64_t left = size - MAGIC_BYTES, ranks = number(at, 4);
    if (HEAD + 16 * ranks > left)
        pf_die("%s: the file is cut off", goal->path);
    goal_begin(goal, (long)ranks);
    for (uint64_t rank = 0; rank < ranks; rank++) {
        uint64_t begin = number(at + HEAD + 16 * rank, 8), end = number(at + HEAD + 16 * rank + 8, 8);
        goal_begin_rank(goal, (long)rank);
        if (begin > end || end > left)
            goal_wrong(goal, "the file is cut off");
        read_rank(goal, at + begin, end - begin);
        goal_end_rank(goal);
    }
    munmap(file, size);
}
