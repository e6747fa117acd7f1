/* SPDX-License-Identifier: BSD-3-Clause */
/* Hostfiles, read and written for SMPI. */
#include "tools/pfrun/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/setting_file.h"

#define MAX_ENTRIES 10000000

void hosts_add(struct hosts *hosts, const char *name, int line)
{
    hosts->names = pf_array_double(hosts->names, (size_t)hosts->count, sizeof *hosts->names);
    hosts->lines = pf_array_double(hosts->lines, (size_t)hosts->count, sizeof *hosts->lines);
    hosts->names[hosts->count] = pf_strdup(name);
    hosts->lines[hosts->count++] = line;
}

/* The number of ranks in `:N`, `slots=N` or a plain `N` after the name; 1 without any, -1 when it is none of
 * these. */
static long parse_slots(const char *text)
{
    text += strspn(text, " \t:");
    if (strncmp(text, "slots", 5) == 0)
        text += 5 + strspn(text + 5, " \t=");
    else if (!*text)
        return 1;
    char *end;
    errno = 0;
    long slots = strtol(text, &end, 10);
    if (end == text || *end || errno || slots < 0 || slots > MAX_ENTRIES)
        return -1;
    return slots;
}

static void read_line(struct hosts *hosts, const char *file, int number, char *line)
{
    line[strcspn(line, "#\n")] = 0;
    char *name = pf_trimmed(line);
    if (!*name)
        return;
    size_t length = strcspn(name, " \t:");
    long slots = length ? parse_slots(name + length) : -1;
    if (slots < 0)
        pf_die("%s: line %d: '%s' is not 'host', 'host:N' or 'host slots=N'", file, number, name);
    name[length] = 0;
    if (hosts->count + slots > MAX_ENTRIES)
        pf_die("%s: line %d: too many ranks", file, number);
    for (long i = 0; i < slots; i++)
        hosts_add(hosts, name, number);
}

void hosts_read(struct hosts *hosts, const char *file)
{
    FILE *in = fopen(file, "r");
    if (!in)
        pf_die("cannot read the hostfile '%s': %s", file, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    for (int number = 1; getline(&line, &room, in) >= 0; number++)
        read_line(hosts, file, number, line);
    if (ferror(in))
        pf_die("cannot read the hostfile '%s': %s", file, strerror(errno));
    free(line);
    fclose(in);
    if (hosts->count == 0)
        pf_die("the hostfile '%s' names no host", file);
}

void hosts_write(const struct hosts *hosts, const char *file)
{
    FILE *out = fopen(file, "w");
    for (int i = 0; out && i < hosts->count; i++)
        fprintf(out, "%s\n", hosts->names[i]);
    if (!out || fclose(out) != 0)
        pf_die("cannot write '%s': %s", file, strerror(errno));
}
