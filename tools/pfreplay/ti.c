/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Actions as text: SMPI's time-independent format, and ours, which is a superset of it. A line is
 * `RANK ACTION [ARGUMENT...]`. A trace is one file with the lines of all ranks, in any order, or a list of
 * files, one for each rank, or of one file for all.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/setting_file.h"
#include "tools/pfreplay/source.h"
#include "tools/pfreplay/text.h"

#define BUFFER        16384
#define LEAST_OF_RANK 4 /* bytes of a line, such as "0 x" */

/* Lines of one rank that follow each other in a file. */
struct extent {
    off_t from, to;
    long line; /* of the first one */
};

/* What a rank still has to read. */
struct stream {
    const char *file;
    struct extent *extents;
    size_t extent_count, extent; /* the one that is being read */
    off_t at;                    /* in it */
    long line;                   /* that was given last */
    char *buffer;
    size_t used, next, room;
};

struct state {
    struct stream *streams;
    const char *name; /* of a trace that was rewritten; NULL: the files' own */
};

static bool is_action(const char *line)
{
    char *end;
    if (!isdigit((unsigned char)*line))
        return false;
    strtol(line, &end, 10);
    return (*end == ' ' || *end == '\t') && isalpha((unsigned char)end[strspn(end, " \t")]);
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* The first line that says something. */
static const char *first_line(const char *head)
{
    while (*head) {
        head = skip_blanks(head);
        if (*head != '#' && *head != '\n' && *head != '\r')
            return head;
        head += strcspn(head, "\n");
        head += *head == '\n';
    }
    return head;
}

/* Anything that is text may be a list of files: the last format that is asked. */
static bool knows(const char *path, const char *head)
{
    for (const char *c = head; *c; c++)
        if (!isprint((unsigned char)*c) && !isspace((unsigned char)*c) && !(*c & 0x80))
            return false;
    return true;
}

static struct stream *stream_of(struct replay_source *source, int rank)
{
    struct state *state = source->state;
    if (rank >= source->ranks) {
        state->streams =
            pf_array_extend(state->streams, (size_t)source->ranks, (size_t)rank + 1, sizeof *state->streams);
        source->ranks = rank + 1;
    }
    return &state->streams[rank];
}

static void add_line(struct stream *stream, off_t from, off_t to, long line)
{
    struct extent *last = stream->extent_count ? &stream->extents[stream->extent_count - 1] : NULL;
    if (last && last->to == from) {
        last->to = to;
        return;
    }
    stream->extents = pf_array_double(stream->extents, stream->extent_count, sizeof *stream->extents);
    stream->extents[stream->extent_count++] = (struct extent){.from = from, .to = to, .line = line};
}

/* `# parfocal-replay 1 ranks N`, which our own recordings begin with. */
static void read_title(struct replay_source *source, const char *path, const char *line)
{
    int version, ranks;
    if (strncmp(line, "# parfocal-replay ", 18) != 0)
        return;
    if (sscanf(line, "# parfocal-replay %d ranks %d", &version, &ranks) != 2 || ranks < 1 || ranks > 10000000)
        pf_die("%s: line 1: this is no title of a recording: '%.60s'", path, line);
    if (version != 1)
        pf_die("%s: line 1: version %d of the format; this Parfocal reads version 1", path, version);
    source->complete = true;
    stream_of(source, ranks - 1);
}

/* One file with the lines of all ranks: finds the lines of each. */
static void index_file(struct replay_source *source, const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    off_t at = 0;
    long line = 0;
    ssize_t length;
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0)
        pf_die("-replay: cannot read '%s': %s", path, strerror(errno));
    long most = (long)(info.st_size / LEAST_OF_RANK) + 1;
    while ((length = getline(&text, &room, file)) > 0) {
        const char *word = skip_blanks(text);
        if (++line == 1)
            read_title(source, path, text);
        if (isdigit((unsigned char)*word)) {
            long rank = strtol(word, NULL, 10);
            if (rank < 0 || rank >= (source->complete ? source->ranks : 10000000))
                pf_die("%s: line %ld: there is no rank %ld", path, line, rank);
            if (rank >= most)
                pf_die("%s: line %ld: rank %ld, and the file has no room for a line of each rank before it",
                       path, line, rank);
            struct stream *stream = stream_of(source, (int)rank);
            stream->file = path;
            add_line(stream, at, at + length, line);
        } else if (*word && !strchr("#\r\n", *word)) {
            pf_die("%s: line %ld: a line begins with the number of a rank, not with '%.20s'", path, line,
                   word);
        }
        at += length;
    }
    free(text);
    fclose(file);
}

char *replay_ti_name(const char *list, const char *name)
{
    struct stat info;
    const char *slash = strrchr(list, '/');
    if (*name != '/' && stat(name, &info) != 0 && slash)
        return pf_asprintf("%.*s/%s", (int)(slash - list), list, name);
    return pf_strdup(name);
}

/* A file of one rank needs no index. */
static void add_file(struct replay_source *source, char *name, const char *list, long line)
{
    char title[80] = "";
    struct stat info;
    FILE *file = fopen(name, "re");
    struct stream *stream = stream_of(source, source->ranks);
    if (!file || fstat(fileno(file), &info) != 0)
        pf_die("%s: line %ld: cannot read '%s': %s", list, line, name, strerror(errno));
    if (!S_ISREG(info.st_mode))
        pf_die("%s: line %ld: '%s' is no file", list, line, name);
    if (fgets(title, sizeof title, file) && strncmp(title, "# parfocal-replay ", 18) == 0)
        source->complete = true;
    fclose(file);
    stream->file = name;
    add_line(stream, 0, info.st_size, 1);
}

static void read_list(struct replay_source *source, const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL, *only = NULL;
    size_t room = 0, names = 0;
    for (long line = 1; file && getline(&text, &room, file) > 0; line++) {
        const char *word = pf_trimmed(text);
        if (!*word || *word == '#')
            continue;
        char *name = replay_ti_name(path, word);
        add_file(source, name, path, line);
        only = name;
        names++;
    }
    free(text);
    if (file)
        fclose(file);
    if (names != 1)
        return;
    free(((struct state *)source->state)->streams[0].extents);
    memset(((struct state *)source->state)->streams, 0, sizeof(struct stream));
    index_file(source, only);
}

/* Each rank must have lines. */
static void check_ranks(const struct replay_source *source, const char *path)
{
    const struct state *state = source->state;
    if (source->ranks == 0)
        pf_die("%s: there is no action in it", path);
    for (int rank = 0; rank < source->ranks; rank++)
        if (!state->streams[rank].file)
            pf_die("%s: rank %d of %d is missing", path, rank, source->ranks);
}

void replay_ti_open_file(struct replay_source *source, const char *path, const char *name)
{
    struct state *state = pf_calloc(1, sizeof *state);
    state->name = name;
    source->state = state;
    index_file(source, path);
    check_ranks(source, name ? name : path);
}

static void ti_open(struct replay_source *source, const char *path)
{
    char head[4096] = "";
    FILE *file = fopen(path, "re");
    if (file) {
        head[fread(head, 1, sizeof head - 1, file)] = 0;
        fclose(file);
    }
    if (is_action(first_line(head)) || strncmp(head, "# parfocal-replay ", 18) == 0) {
        replay_ti_open_file(source, path, NULL);
        return;
    }
    source->state = pf_calloc(1, sizeof(struct state));
    read_list(source, path);
    check_ranks(source, path);
}

/* More of the rank's lines behind those that are there. A file is open only while it is read: there may be
 * more ranks than a process has files. */
static bool fill(struct stream *stream)
{
    while (stream->extent < stream->extent_count) {
        struct extent *extent = &stream->extents[stream->extent];
        if (stream->at < extent->from)
            stream->at = extent->from;
        if (stream->at < extent->to)
            break;
        stream->extent++;
        stream->at = 0;
        return stream->extent < stream->extent_count && fill(stream);
    }
    if (stream->extent == stream->extent_count)
        return false;
    if (stream->next > 0) {
        memmove(stream->buffer, stream->buffer + stream->next, stream->used - stream->next);
        stream->used -= stream->next;
        stream->next = 0;
    }
    if (stream->room < stream->used + BUFFER + 1) {
        stream->room = stream->room ? 2 * stream->room : 2 * BUFFER;
        stream->buffer = pf_realloc(stream->buffer, stream->room);
    }
    size_t most = stream->room - stream->used - 1;
    off_t left = stream->extents[stream->extent].to - stream->at;
    int fd = open(stream->file, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1
                         : pread(fd, stream->buffer + stream->used, (off_t)most < left ? most : (size_t)left,
                                 stream->at);
    if (got <= 0)
        pf_die("cannot read '%s': %s", stream->file, got < 0 ? strerror(errno) : "it has become shorter");
    close(fd);
    stream->at += got;
    stream->used += (size_t)got;
    return true;
}

/* The next line, without its end; NULL at the end of the stream. */
static char *next_line(struct stream *stream)
{
    size_t looked = stream->next;
    for (;;) {
        char *begin = stream->buffer + stream->next, *end = NULL;
        if (stream->used > looked)
            end = memchr(stream->buffer + looked, '\n', stream->used - looked);
        if (!end) {
            looked = stream->used - stream->next;
            if (fill(stream))
                continue;
            if (stream->used == stream->next)
                return NULL;
            begin = stream->buffer + stream->next;
            end = stream->buffer + stream->used; /* the file does not end with a newline */
            stream->used++;
        }
        *end = 0;
        stream->next = (size_t)(end - stream->buffer) + 1;
        return begin;
    }
}

char *replay_ti_next(struct replay_source *source, int rank)
{
    struct state *state = source->state;
    struct stream *stream = &state->streams[rank];
    char *line, *end;
    for (;;) {
        size_t extent = stream->extent;
        line = next_line(stream);
        if (!line)
            return NULL;
        stream->line = stream->line == 0 || stream->extent != extent ? stream->extents[stream->extent].line
                                                                     : stream->line + 1;
        line = (char *)skip_blanks(line);
        if (*line && *line != '#' && *line != '\r')
            break;
    }
    long number = 0;
    for (end = line; *end >= '0' && *end <= '9' && end < line + 10; end++)
        number = 10 * number + (*end - '0');
    if (end == line || number != rank)
        pf_die("%s: line %ld: rank %d: a line for this rank begins with its number, not with '%.20s'",
               stream->file, stream->line, rank, line);
    return (char *)skip_blanks(end);
}

void replay_ti_rewind(struct replay_source *source)
{
    const struct state *state = source->state;
    for (int rank = 0; rank < source->ranks; rank++) {
        struct stream *stream = &state->streams[rank];
        stream->extent = stream->used = stream->next = 0;
        stream->at = 0;
        stream->line = 0;
    }
}

const char *replay_ti_file(const struct replay_source *source, int rank)
{
    const struct state *state = source->state;
    return state->name ? state->name : state->streams[rank].file;
}

long replay_ti_line(const struct replay_source *source, int rank)
{
    return ((const struct state *)source->state)->streams[rank].line;
}

const struct replay_source_ops replay_ti = {.size = sizeof replay_ti,
                                            .name = "ti",
                                            .knows = knows,
                                            .open = ti_open,
                                            .next = replay_ti_next,
                                            .file = replay_ti_file,
                                            .line = replay_ti_line};
