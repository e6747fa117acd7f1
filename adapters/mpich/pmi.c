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
    char *answer; /* to each that asks for it */
    size_t length;
    UT_hash_handle hh;
};
static struct entry *entries; /* of all ranks: MPICH's keys tell them apart */

/* The value of a word "name=value" of the line, which ends at a space or with the line; NULL: there is none.
 */
static const char *word_at(const char *line, const char *name, size_t *length)
{
    size_t n = strlen(name);
    for (const char *at = line; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, n) != 0 || at[n] != '=')
            continue;
        *length = strcspn(at + n + 1, " \n");
        return at + n + 1;
    }
    return NULL;
}

static void word(const char *line, const char *name, char *value, size_t n)
{
    size_t length;
    const char *at = word_at(line, name, &length);
    if (at)
        snprintf(value, n, "%.*s", (int)length, at);
}

static void put(struct pf_mpich_rank *rank, const char *line)
{
    rank->publishes = false;
    char key[MOST_KEY] = "", value[MOST_VALUE] = "";
    struct entry *entry;
    word(line, "key", key, sizeof key);
    word(line, "value", value, sizeof value);
    HASH_FIND_STR(entries, key, entry);
    if (!entry) {
        entry = pf_calloc(1, sizeof *entry);
        memcpy(entry->key, key, sizeof key);
        HASH_ADD_STR(entries, key, entry);
    }
    free(entry->answer);
    entry->answer = pf_asprintf("cmd=get_result rc=0 msg=success value=%s\n", value);
    entry->length = strlen(entry->answer);
}

static void answer(struct pf_mpich_rank *rank, const char *format, const char *text, int number)
{
    rank->reply_read = 0;
    rank->reply_length = (size_t)snprintf(rank->reply, sizeof rank->reply, format, text, number);
}

/* Each rank asks for the address of each other one. */
static void get(struct pf_mpich_rank *rank, const char *line)
{
    size_t length = 0;
    const char *key = word_at(line, "key", &length);
    const struct entry *entry = NULL;
    if (key)
        HASH_FIND(hh, entries, key, length, entry);
    if (!entry) {
        answer(rank, "cmd=get_result rc=-1 msg=no_such_key value=unknown\n", "", 0);
        return;
    }
    rank->reply_read = 0;
    rank->reply_length = entry->length;
    memcpy(rank->reply, entry->answer, entry->length);
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
        put(rank, line);
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
