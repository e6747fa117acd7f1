/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of list operations on the matching engine and on an array that is searched from the front, which
 * is what the specification says; both must give the same element each time. Written for libFuzzer:
 * README.md.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lowlevel/portals/match.h"

enum { MOST = 1200, WORDS = 4 };

struct element {
    struct ptl_match_node node;
    uint8_t room; /* for the further condition */
};

/* The oracle: elements by age. */
struct model {
    struct ptl_match_list list;
    struct element *elements[MOST];
    int count;
};

struct input {
    const uint8_t *at, *end;
};

static unsigned int take(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "not as the specification says: %s\n", what);
    abort();
}

/* Few different words, so that much matches, in the upper and in the lower half. */
static uint64_t word(unsigned int code)
{
    static const uint64_t words[WORDS] = {0, 1, 0x100000000U, 0xffffffffffffffffU};
    return words[code % WORDS];
}

static uint64_t mask(unsigned int code)
{
    static const uint64_t masks[] = {0, 0,      0, 0xffffffffU, 0xffffffff00000000U, 0xffffffffffffffffU,
                                     1, 0x10000};
    return code < 128 ? masks[code % 8] : 1ULL << (code % 64); /* more masks than the index has groups */
}

static struct ptl_match_key take_key(struct input *in)
{
    unsigned int code = take(in);
    return (struct ptl_match_key){word(code) + (code >= 128 ? code / 16 % 8 * 0x10000 : 0), word(code / 4)};
}

static struct ptl_match_key take_mask(struct input *in)
{
    unsigned int code = take(in);
    if (code < 96)
        return (struct ptl_match_key){0, 0};
    return (struct ptl_match_key){mask(code), mask(code / 8)};
}

static bool has_room(const struct ptl_match_node *node, const void *arg)
{
    const struct element *element =
        (const struct element *)((const char *)node - offsetof(struct element, node));
    return element->room >= *(const uint8_t *)arg;
}

static void append(struct model *model, struct ptl_match_key key, struct ptl_match_key ignore, uint8_t room)
{
    if (model->count == MOST)
        return;
    struct element *element = malloc(sizeof *element);
    memset(element, 0xa5, sizeof *element); /* the engine must set what it reads */
    element->node.key = key;
    element->node.ignore = ignore;
    element->room = room;
    ptl_match_append(&model->list, &element->node);
    model->elements[model->count++] = element;
}

static void remove_at(struct model *model, int index)
{
    struct element *element = model->elements[index];
    ptl_match_remove(&model->list, &element->node);
    free(element);
    model->count--;
    memmove(&model->elements[index], &model->elements[index + 1],
            (size_t)(model->count - index) * sizeof model->elements[0]);
}

/* The oracle's answer, from element `from` on. */
static int first_match(const struct model *model, int from, struct ptl_match_key key,
                       struct ptl_match_key ignore, uint8_t needed)
{
    for (int i = from; i < model->count; i++) {
        const struct ptl_match_node *node = &model->elements[i]->node;
        uint64_t bits = (node->key.bits ^ key.bits) & ~node->ignore.bits & ~ignore.bits;
        uint64_t sender = (node->key.sender ^ key.sender) & ~node->ignore.sender & ~ignore.sender;
        if (bits == 0 && sender == 0 && model->elements[i]->room >= needed)
            return i;
    }
    return model->count;
}

static const struct ptl_match_node *node_at(const struct model *model, int index)
{
    return index < model->count ? &model->elements[index]->node : NULL;
}

/* A message looks for its entry, and may use it up. */
static void message(struct model *entries, struct input *in)
{
    struct ptl_match_key header = take_key(in);
    uint8_t needed = (uint8_t)take(in);
    bool uses_up = needed & 1;
    int expected = first_match(entries, 0, header, (struct ptl_match_key){0, 0}, needed);
    check(ptl_match_find(&entries->list, header, has_room, &needed) == node_at(entries, expected),
          "the entry of a message");
    if (uses_up && expected < entries->count)
        remove_at(entries, expected);
}

/* An entry looks for all headers that came before it, and may take them. */
static void claim(struct model *headers, struct input *in)
{
    struct element pattern = {.room = 0};
    pattern.node.key = take_key(in);
    pattern.node.ignore = take_mask(in);
    uint8_t needed = (uint8_t)take(in);
    bool takes = needed & 1, all = needed & 2;
    int at = 0;
    const struct ptl_match_node *found =
        ptl_match_next(&headers->list, &pattern.node, NULL, has_room, &needed);
    for (;;) {
        at = first_match(headers, at, pattern.node.key, pattern.node.ignore, needed);
        check(found == node_at(headers, at), "a header for an entry");
        if (!found)
            return;
        const struct ptl_match_node *next =
            all ? ptl_match_next(&headers->list, &pattern.node, found, has_room, &needed) : NULL;
        if (takes)
            remove_at(headers, at);
        else
            at++;
        if (!all)
            return;
        found = next;
    }
}

/* Many at a time, to pass the lengths at which the index comes, grows and goes. Few or many keys and masks.
 */
static void append_many(struct model *model, struct input *in, bool masks)
{
    struct ptl_match_key key = take_key(in), ignore = {0, 0};
    unsigned int count = take(in), step = take(in), more_masks = 1;
    if (masks) {
        ignore = take_mask(in);
        more_masks = 1 + take(in) % 16;
    }
    for (unsigned int i = 0; i < count; i++) {
        struct ptl_match_key wider = {ignore.bits | (1ULL << i % more_masks) >> 1, ignore.sender};
        append(model, key, masks ? wider : ignore, (uint8_t)(i * 37));
        key.bits += step % 3;
        if (step % 5 == 0)
            key.bits &= 3;
        key.sender += step % 7 == 2 ? 0x100000000U : 0;
    }
}

static void remove_many(struct model *model, struct input *in)
{
    unsigned int count = take(in), where = take(in);
    for (unsigned int i = 0; i < count && model->count > 0; i++)
        remove_at(model, (int)(where * i) % model->count);
}

static void check_form(const struct model *model)
{
    const struct ptl_match_node *node = model->list.first;
    check(model->list.length == model->count, "the length");
    for (int i = 0; i < model->count; i++, node = node->next)
        check(node == &model->elements[i]->node, "the order by age");
    check(node == NULL, "the end of the list");
}

static void step(struct model *entries, struct model *headers, struct input *in)
{
    struct ptl_match_key key, ignore;
    switch (take(in) % 10) {
    case 0:
    case 1:
        key = take_key(in);
        ignore = take_mask(in);
        append(entries, key, ignore, (uint8_t)take(in));
        break;
    case 2:
        key = take_key(in);
        append(headers, key, (struct ptl_match_key){0, 0}, (uint8_t)take(in));
        break;
    case 3:
    case 4:
        message(entries, in);
        break;
    case 5:
        claim(headers, in);
        break;
    case 6:
        append_many(entries, in, true);
        break;
    case 7:
        append_many(headers, in, false);
        break;
    case 8:
        remove_many(entries, in);
        break;
    case 9:
        remove_many(headers, in);
        break;
    }
}

static void clear(struct model *model)
{
    while (model->count > 0)
        remove_at(model, model->count - 1);
    ptl_match_release(&model->list);
    check(!model->list.first && !model->list.table, "an empty list");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model entries, headers;
    struct input in = {data, data + size};
    while (in.at < in.end)
        step(&entries, &headers, &in);
    check_form(&entries);
    check_form(&headers);
    clear(&entries);
    clear(&headers);
    return 0;
}
