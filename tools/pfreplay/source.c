/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a trace: finds its format, and the memory that its messages come from. */
#include "tools/pfreplay/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

static const struct replay_source_ops *const formats[] = {
#ifdef PF_HAVE_OTF2
    &replay_otf2,
#endif
    &replay_goal, &replay_dumpi, &replay_paraver, &replay_ti};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

/* Addresses for messages of any length that an MPI call can have, over the pages of one small file: what a
 * message carries does not matter, so all of them, of all ranks, may lie in the same place. */
#define PIECE  ((size_t)32 << 20)
#define PIECES 512

static char *map_memory(void)
{
    int fd = memfd_create("parfocal-replay", MFD_CLOEXEC);
    char *base = mmap(NULL, PIECE * PIECES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fd < 0 || base == MAP_FAILED || ftruncate(fd, PIECE) != 0)
        pf_die("-replay: cannot map memory for messages: %s", strerror(errno));
    for (size_t i = 0; i < PIECES; i++)
        if (mmap(base + i * PIECE, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
            MAP_FAILED)
            pf_die("-replay: cannot map memory for messages: %s", strerror(errno));
    close(fd);
    return base;
}

static void read_head(const char *path, char *head, size_t size)
{
    struct stat info;
    FILE *file = fopen(path, "re");
    if (!file)
        pf_die("-replay: cannot read '%s': %s", path, strerror(errno));
    if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode))
        pf_die("-replay: '%s' is a directory; name the file in it that lists the others", path);
    size_t length = fread(head, 1, size - 1, file);
    head[length] = 0;
    fclose(file);
    if (length == 0)
        pf_die("-replay: '%s' is empty", path);
}

struct replay_source *replay_source_open(const char *path, struct an_program *program)
{
    char head[4096];
    struct replay_source *source = pf_calloc(1, sizeof *source);
    read_head(path, head, sizeof head);
    for (size_t i = 0; i < FORMAT_COUNT && !source->ops; i++)
        if (formats[i]->knows(path, head))
            source->ops = formats[i];
    if (!source->ops)
        pf_die("-replay: '%s' is in no format that is known here (docs/replay.md)", path);
    source->scale = 1;
    source->computes = true;
    source->program = program;
    source->ops->open(source, path);
    source->done = pf_calloc((size_t)source->ranks, sizeof *source->done);
    source->room = PIECE * PIECES;
    source->memory[0] = map_memory();
    source->memory[1] = map_memory();
    return source;
}
