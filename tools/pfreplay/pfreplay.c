/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that pfrun -replay runs: an MPI program that makes the calls of a trace. It is compiled with
 * pfcc as any application, and so works in every model and under every schedule.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parfocal.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/process/handed.h"
#include "tools/pfreplay/play.h"

struct play play;

void play_die(const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pf_handed_refuse();
    pf_die("%s: line %ld: rank %d: %s", play.from->ops->file(play.from, play.rank),
           play.from->ops->line(play.from, play.rank), play.rank, text);
}

void play_check(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (__builtin_expect(code == MPI_SUCCESS, 1))
        return;
    MPI_Error_string(code, text, &length);
    play_die("%s: %s", play.action, text);
}

bool play_more(void)
{
    play.at += strspn(play.at, " \t\r");
    if (!*play.at)
        return false;
    for (const char *c = play.at; *c && *c != ' ' && *c != '\t'; c++)
        if (*c == '=')
            return false;
    return true;
}

char *play_word(const char *what)
{
    char *word = play.at;
    while (*word == ' ' || *word == '\t')
        word++;
    char *end = word;
    while (*end && *end != ' ' && *end != '\t' && *end != '\r')
        end++;
    if (end == word)
        play_die("%s: %s is missing", play.action, what);
    play.at = *end ? end + 1 : end;
    *end = 0;
    return word;
}

static bool whole_number(const char *word, long *value)
{
    const char *c = word + (*word == '-');
    long number = 0;
    int digits = 0;
    for (; *c >= '0' && *c <= '9' && digits < 18; c++, digits++)
        number = 10 * number + (*c - '0');
    *value = *word == '-' ? -number : number;
    return digits > 0 && !*c;
}

double play_double(const char *what)
{
    const char *word = play_word(what);
    char *end;
    long number;
    if (whole_number(word, &number))
        return (double)number;
    double value = strtod(word, &end);
    if (end == word || *end || !(value > -1e300 && value < 1e300))
        play_die("%s: %s is '%.40s' and must be a number", play.action, what, word);
    return value;
}

/* SMPI's own traces have counts with a point. */
long play_long(const char *what)
{
    double value = play_double(what);
    if (value < -9e15 || value > 9e15)
        play_die("%s: %s is %g, which is out of range", play.action, what, value);
    return (long)value;
}

int play_int(const char *what)
{
    long value = play_long(what);
    if (value < INT32_MIN || value > INT32_MAX)
        play_die("%s: %s is %ld, which is out of range", play.action, what, value);
    return (int)value;
}

int play_count(const char *what)
{
    int value = play_int(what);
    if (value < 0)
        play_die("%s: %s is %d and must not be negative", play.action, what, value);
    return value;
}

const char *play_key(const char *key)
{
    size_t length = strlen(key);
    for (const char *c = play.at; (c = strstr(c, key)); c += length)
        if (c[length] == '=' && (c == play.at || c[-1] == ' ' || c[-1] == '\t' || c[-1] == 0))
            return c + length + 1;
    return NULL;
}

int play_key_int(const char *key, int otherwise)
{
    const char *text = play_key(key);
    char *end;
    if (!text)
        return otherwise;
    long value = strtol(text, &end, 10);
    if (end == text || (*end && !strchr(" \t\r", *end)) || value < INT32_MIN || value > INT32_MAX)
        play_die("%s: %s=%.20s must be a number", play.action, key, text);
    return (int)value;
}

static bool same(const char *word, const char *name)
{
    return strcmp(word, name) == 0;
}

/* Actions by a hash of their names: there is one look-up for each line of a trace. */
#define HASH_SIZE 1024
static const struct play_action *hashed[HASH_SIZE];

static unsigned int hash(const char *word)
{
    unsigned int h = 0;
    for (; *word; word++)
        h = h * 31 + (unsigned char)*word;
    return h;
}

static void hash_actions(const struct play_action *action)
{
    for (; action->name; action++) {
        unsigned int h = hash(action->name) % HASH_SIZE;
        while (hashed[h])
            h = (h + 1) % HASH_SIZE;
        hashed[h] = action;
    }
}

static const struct play_action *find_action(const char *word)
{
    unsigned int h = hash(word) % HASH_SIZE;
    while (hashed[h] && !same(hashed[h]->name, word))
        h = (h + 1) % HASH_SIZE;
    return hashed[h];
}

static void play_lines(void)
{
    while ((play.at = play.from->ops->next(play.from, play.rank))) {
        play.action = "the action";
        play.action = play_word("its name");
        const struct play_action *action = find_action(play.action);
        if (!action)
            play_die("there is no action '%.40s' (docs/replay.md lists them)", play.action);
        if (play.ended)
            play_die("%s after finalize", play.action);
        play.number_count = 0;
        action->play();
    }
}

/* A reduction's result does not matter, nor does the time that it would take here. */
static void reduce_nothing(void *in, void *inout, int *count, MPI_Datatype *type)
{
}

static void begin(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &play.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &play.size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Op_create(reduce_nothing, 1, &play.op);
    MPI_Op_create(reduce_nothing, 0, &play.ordered);
    play.plain = MPI_BYTE;
    *play_comm_slot(0) = MPI_COMM_WORLD;
    *play_comm_slot(1) = MPI_COMM_SELF;
    hash_actions(play_actions);
    hash_actions(play_calls);
    if (play.size != play.from->ranks)
        pf_die("-replay: the trace has %d ranks, not %d", play.from->ranks, play.size);
}

int main(int argc, char **argv)
{
    struct replay_source **all = pf_handed();
    if (!all) {
        fprintf(stderr, "pfreplay is started by pfrun -replay only\n");
        return 1;
    }
    play.from = all[argc > 1 ? atoi(argv[1]) : 0];
    if (play.from->play_alone) {
        play.from->play_alone();
        return 0;
    }
    MPI_Init(&argc, &argv);
    pf_handed_plays();
    begin();
    play_lines();
    if (play.begun && !play.ended)
        play_die("the trace ends before this rank's finalize");
    play_wait_pending();
    play.from->done[play.rank] = true;
    for (int i = 0; i < play.type_count; i++)
        MPI_Type_free(&play.types[i].type);
    MPI_Op_free(&play.op);
    MPI_Op_free(&play.ordered);
    MPI_Finalize();
    return 0;
}
