/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * getopt() of each rank, on the rank's own optind, optarg, opterr and optopt: as the C library's, with
 * options behind other arguments, abbreviated long ones, and optind = 1 or 0 for a second reading. The C
 * library itself cannot serve: where it is in an argument stands in variables of its own.
 */
#include "middleware/process/libc.h"

#include <stdio.h>
#include <string.h>

#include <simgrid/actor.h>

#include "middleware/process/libc_process.h"

/* One call. */
struct reading {
    struct pf_process *p;
    int argc;
    char **argv;
    const char *letters;
    const struct option *longs;
    int *index;
    bool only;   /* long options may begin with one dash */
    bool speaks; /* reports errors */
    enum { PERMUTE, IN_ORDER, STOP } order;
};

static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

static void turn(char **list, int from, int to)
{
    for (to--; from < to; from++, to--) {
        char *one = list[from];
        list[from] = list[to];
        list[to] = one;
    }
}

/* The options that have been read since come before the other arguments that were passed over. */
static void move_others(struct reading *r)
{
    struct pf_process *p = r->p;
    if (p->first_other == p->last_other || p->last_other == p->optind)
        return;
    turn(r->argv, p->first_other, p->last_other);
    turn(r->argv, p->last_other, p->optind);
    turn(r->argv, p->first_other, p->optind);
    p->first_other += p->optind - p->last_other;
    p->last_other = p->optind;
}

static void list_long(const struct reading *r, const char *prefix, const char *name, FILE *err)
{
    fputs("; possibilities:", err);
    for (int i = 0; r->longs[i].name; i++)
        if (strncmp(r->longs[i].name, name, strcspn(name, "=")) == 0)
            fprintf(err, " '%s%s'", prefix, r->longs[i].name);
}

static int complain(const struct reading *r, int result, const char *format, const char *prefix,
                    const char *what)
{
    if (!r->speaks)
        return result;
    FILE *err = pf_process_stream(2);
    flockfile(err);
    fprintf(err, "%s: ", r->argv[0]);
    fprintf(err, format, prefix, what);
    if (strstr(format, "ambiguous"))
        list_long(r, prefix, what, err);
    putc('\n', err);
    funlockfile(err);
    return result;
}

/* The long option of this name, or the only one that begins so (those of one meaning count as one); -1: none,
 * -2: several. */
static int find_long(const struct reading *r, const char *name, size_t length)
{
    int found = -1;
    for (int i = 0; r->longs[i].name; i++) {
        const struct option *one = &r->longs[i];
        if (strncmp(one->name, name, length) != 0)
            continue;
        if (strlen(one->name) == length)
            return i;
        const struct option *other = found >= 0 ? &r->longs[found] : NULL;
        if (!other)
            found = found == -1 ? i : found;
        else if (r->only || other->has_arg != one->has_arg || other->flag != one->flag ||
                 other->val != one->val)
            found = -2;
    }
    return found;
}

/* -1: it is none, and may be letters. */
static int read_long(struct reading *r, const char *prefix)
{
    struct pf_process *p = r->p;
    const char *name = p->next_option;
    size_t length = strcspn(name, "=");
    int found = find_long(r, name, length);
    int missing = r->letters[0] == ':' ? ':' : '?';
    if (found == -1 && r->only && r->argv[p->optind][1] != '-' && strchr(r->letters, *name))
        return -1;
    p->next_option = NULL;
    p->optind++;
    if (found < 0) {
        p->optopt = 0;
        return complain(r, '?', found == -2 ? "option '%s%s' is ambiguous" : "unrecognized option '%s%s'",
                        prefix, name);
    }
    const struct option *one = &r->longs[found];
    if (name[length] == '=' && !one->has_arg) {
        p->optopt = one->val;
        return complain(r, '?', "option '%s%s' doesn't allow an argument", prefix, one->name);
    }
    if (name[length] == '=')
        p->optarg = (char *)name + length + 1;
    else if (one->has_arg == required_argument && p->optind < r->argc)
        p->optarg = r->argv[p->optind++];
    else if (one->has_arg == required_argument) {
        p->optopt = one->val;
        return complain(r, missing, "option '%s%s' requires an argument", prefix, one->name);
    }
    if (r->index)
        *r->index = found;
    if (one->flag)
        *one->flag = one->val;
    return one->flag ? 0 : one->val;
}

static int read_letter(struct reading *r)
{
    struct pf_process *p = r->p;
    char letter[2] = {*p->next_option++, 0};
    const char *known = strchr(r->letters, letter[0]);
    if (!*p->next_option)
        p->optind++;
    if (!known || *letter == ':' || *letter == ';') {
        p->optopt = (unsigned char)*letter;
        return complain(r, '?', "invalid option -- '%s%s'", "", letter);
    }
    if (known[0] == 'W' && known[1] == ';' && r->longs) {
        if (!*p->next_option && p->optind == r->argc) {
            p->optopt = (unsigned char)*letter;
            return complain(r, r->letters[0] == ':' ? ':' : '?', "option requires an argument -- '%s%s'", "",
                            letter);
        }
        p->next_option = *p->next_option ? p->next_option : r->argv[p->optind];
        return read_long(r, "-W ");
    }
    if (known[1] != ':')
        return *letter;
    char *rest = *p->next_option ? p->next_option : NULL;
    p->next_option = NULL;
    if (rest)
        p->optarg = rest, p->optind++;
    else if (known[2] != ':' && p->optind < r->argc)
        p->optarg = r->argv[p->optind++];
    else if (known[2] != ':') {
        p->optopt = (unsigned char)*letter;
        return complain(r, r->letters[0] == ':' ? ':' : '?', "option requires an argument -- '%s%s'", "",
                        letter);
    }
    return *letter;
}

/* Goes to the next argument that is an option. Returns -1 at the end, 1 for another argument that is wanted
 * in its order, 0 for an option. */
static int find_next(struct reading *r)
{
    struct pf_process *p = r->p;
    p->last_other = p->last_other > p->optind ? p->optind : p->last_other;
    p->first_other = p->first_other > p->optind ? p->optind : p->first_other;
    if (r->order == PERMUTE) {
        move_others(r);
        if (p->last_other != p->optind || p->first_other == p->last_other)
            p->first_other = p->optind;
        while (p->optind < r->argc && !is_option(r->argv[p->optind]))
            p->optind++;
        p->last_other = p->optind;
    }
    if (p->optind < r->argc && strcmp(r->argv[p->optind], "--") == 0) {
        p->optind++;
        if (p->first_other == p->last_other)
            p->first_other = p->optind;
        else
            move_others(r);
        p->last_other = p->optind = r->argc;
    }
    if (p->optind >= r->argc) {
        if (p->first_other != p->last_other)
            p->optind = p->first_other;
        return -1;
    }
    if (is_option(r->argv[p->optind]))
        return 0;
    if (r->order == STOP)
        return -1;
    p->optarg = r->argv[p->optind++];
    return 1;
}

static int read_next(struct reading *r)
{
    struct pf_process *p = r->p;
    p->optarg = NULL;
    if (r->argc < 1)
        return -1;
    if (p->optind == 0) {
        p->optind = p->first_other = p->last_other = 1;
        p->next_option = NULL;
    }
    r->order = *r->letters == '-'                                        ? IN_ORDER
               : *r->letters == '+' || pf_libc_getenv("POSIXLY_CORRECT") ? STOP
                                                                         : PERMUTE;
    r->letters += *r->letters == '-' || *r->letters == '+';
    r->speaks = p->opterr && *r->letters != ':';
    if (p->next_option && *p->next_option)
        return read_letter(r);
    int found = find_next(r);
    if (found)
        return found;
    const char *argument = r->argv[p->optind];
    if (r->longs && argument[1] == '-') {
        p->next_option = (char *)argument + 2;
        return read_long(r, "--");
    }
    p->next_option = (char *)argument + 1;
    if (r->longs && r->only && (argument[2] || !strchr(r->letters, argument[1]))) {
        int option = read_long(r, "-");
        if (option != -1)
            return option;
    }
    return read_letter(r);
}

static int read_option(int argc, char *const *argv, const char *letters, const struct option *longs,
                       int *index, bool only)
{
    struct pf_process *p = pf_process();
    if (!p && longs)
        return (only ? getopt_long_only : getopt_long)(argc, argv, letters, longs, index);
    if (!p)
        return getopt(argc, argv, letters);
    struct reading r = {p, argc, (char **)argv, letters, longs, index, only, false, PERMUTE};
    return read_next(&r);
}

int pf_libc_getopt(int argc, char *const *argv, const char *options)
{
    return read_option(argc, argv, options, NULL, NULL, false);
}

int pf_libc_getopt_long(int argc, char *const *argv, const char *options, const struct option *longs,
                        int *index)
{
    return read_option(argc, argv, options, longs, index, false);
}

int pf_libc_getopt_long_only(int argc, char *const *argv, const char *options, const struct option *longs,
                             int *index)
{
    return read_option(argc, argv, options, longs, index, true);
}
