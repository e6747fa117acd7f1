/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks' copies of MPICH ask a launcher for while they start: their number, and each other's
 * addresses. */
#include "adapters/mpich/pmi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/log.h"
#include "base/memory.h"

/* Longest lines and names that MPICH may use. */
enum { MOST_KEY = 64, MOST_VALUE = 1024 };

struct entry {
    char key[MOST_KEY];
    char *value;
    UT_hash_handle hh;
};
static struct entry *entries; /* of all ranks: MPICH's keys tell them apart */

/* The value of a word "name=value" of the line. */
static bool word(const char *line, const char *name, char *value, size_t n)
{
    size_t length = strlen(name);
    for (const char *at = line; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, length) != 0 || at[length] != '=')
            continue;
        at += length + 1;
        snprintf(value, n, "%.*s", (int)strcspn(at, " \n"), at);
        return true;
    }
    return false;
}

static struct entry *find(const char *key)
{
    struct entry *entry;
    HASH_FIND_STR(entries, key, entry);
    return entry;
}

static void put(const char *line)
{
    char key[MOST_KEY] = "", value[MOST_VALUE] = "";
    word(line, "key", key, sizeof key);
    word(line, "value", value, sizeof value);
    struct entry *entry = find(key);
    if (!entry) {
        entry = pf_calloc(1, sizeof *entry);
        memcpy(entry->key, key, sizeof key);
        HASH_ADD_STR(entries, key, entry);
    }
    free(entry->value);
    entry->value = pf_strdup(value);
}

static void answer(struct pf_mpich_rank *rank, const char *format, const char *text, int number)
{
    rank->reply_read = 0;
    rank->reply_length = (size_t)snprintf(rank->reply, sizeof rank->reply, format, text, number);
}

static void get(struct pf_mpich_rank *rank, const char *line)
{
    char key[MOST_KEY] = "";
    word(line, "key", key, sizeof key);
    const struct entry *entry = find(key);
    if (entry)
        answer(rank, "cmd=get_result rc=0 msg=success value=%s\n", entry->value, 0);
    else
        answer(rank, "cmd=get_result rc=-1 msg=no_such_key value=unknown\n", "", 0);
}

static void end_job(const struct pf_mpich_rank *rank, const char *line)
{
    char code[16] = "1";
    word(line, "exitcode", code, sizeof code);
    if (!rank->ready)
        pf_die("MPICH could not be initialised for rank %d; its own message is above", rank->self->rank);
    pf_mpich_job()->on_abort(rank->self->rank, atoi(code));
}

static void serve(struct pf_mpich_rank *rank, const char *line)
{
    static const struct {
        const char *command, *format;
    } constant[] = {
        {"init", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0%s\n"},
        {"get_maxes", "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=1024%s\n"},
        {"get_appnum", "cmd=appnum appnum=0%s\n"},
        {"get_my_kvsname", "cmd=my_kvsname kvsname=parfocal%s\n"},
        {"get_universe_size", "cmd=universe_size size=%s%d\n"},
        {"put", "cmd=put_result rc=0 msg=success%s\n"},
        {"barrier_in", "cmd=barrier_out%s\n"},
        {"finalize", "cmd=finalize_ack%s\n"},
    };
    char command[32] = "";
    word(line, "cmd", command, sizeof command);
    if (strcmp(command, "abort") == 0)
        end_job(rank, line);
    if (strcmp(command, "put") == 0)
        put(line);
    if (strcmp(command, "barrier_in") == 0)
        pf_mpich_fence();
    if (strcmp(command, "get") == 0) {
        get(rank, line);
        return;
    }
    for (size_t i = 0; i < sizeof constant / sizeof constant[0]; i++)
        if (strcmp(command, constant[i].command) == 0) {
            answer(rank, constant[i].format, "", pf_mpich_job()->size);
            return;
        }
    pf_die("rank %d: MPICH asks its launcher for \"%s\", which is not simulated", rank->self->rank, command);
}

ssize_t pf_mpich_pmi_write(struct pf_mpich_rank *rank, const char *line, size_t n)
{
    char *text = pf_malloc(n + 1);
    memcpy(text, line, n);
    text[n] = 0;
    serve(rank, text);
    free(text);
    return (ssize_t)n;
}

ssize_t pf_mpich_pmi_read(struct pf_mpich_rank *rank, char *buffer, size_t n)
{
    size_t left = rank->reply_length - rank->reply_read;
    if (n > left)
        n = left;
    memcpy(buffer, rank->reply + rank->reply_read, n);
    rank->reply_read += n;
    return (ssize_t)n;
}
