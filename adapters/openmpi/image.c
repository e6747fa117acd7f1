/* SPDX-License-Identifier: BSD-3-Clause */
/* Which libraries go into the image of an instance, and in which order. */
#include "adapters/openmpi/image.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "adapters/openmpi/hooks.h"
#include "adapters/openmpi/parts.h"
#include "adapters/openmpi/private/private.h"
#include "base/config.h"
#include "loader/copy.h"
#include "loader/image.h"

enum { MAX_MEMBERS = 64 };

struct members {
    const struct pf_elf *files[MAX_MEMBERS];
    int count;
    char *why;
    size_t n;
};

bool pf_ompi_image_wanted(void)
{
    /* A debugger knows libraries from the dynamic linker alone, and so does the address sanitizer, which
     * watches them in a build of ours, where it refuses clones with names of their own too. */
#ifdef __SANITIZE_ADDRESS__
    return false;
#endif
    return strcmp(pf_config.openmpi_loading, "image") == 0 && !pf_config.openmpi_keep_clones;
}

static int add(struct members *members, const struct pf_family *member)
{
    for (int i = 0; member && i < members->count; i++)
        if (members->files[i] == &member->elf)
            return 0;
    if (!member || members->count == MAX_MEMBERS)
        return 1;
    members->files[members->count++] = &member->elf;
    return 0;
}

/* What the plugins share comes before them. */
static int add_plugin(const char *path, void *arg)
{
    struct members *members = arg;
    const struct pf_family *plugin = pf_parts_plugin(path, members->why, members->n);
    for (int i = 0; plugin && i < plugin->needed_count; i++)
        if (strncmp(plugin->needed[i], "libmca_common_", 14) == 0 &&
            add(members, pf_parts_common(plugin->needed[i], members->why, members->n)) != 0)
            return 1;
    return add(members, plugin);
}

/* The lines of the caches, each once, that the names stand for. */
static void add_line(struct pf_ompi_stack *stack, uint32_t place)
{
    enum { LINE = 64 };
    place -= place % LINE;
    for (int i = 0; i < stack->line_count; i++)
        if (stack->lines[i] == place)
            return;
    if (stack->line_count < PF_OMPI_LINES)
        stack->lines[stack->line_count++] = place;
}

static const struct pf_elf *find_file(const struct members *members, const char *name)
{
    for (int i = 0; i < members->count; i++) {
        const char *slash = strrchr(members->files[i]->path, '/');
        if (strncmp(slash ? slash + 1 : members->files[i]->path, name, strlen(name)) == 0)
            return members->files[i];
    }
    return NULL;
}

static void find_lines(struct pf_ompi_stack *stack, const struct members *members)
{
    static const char *const variables[] = {PF_OMPI_READ_VARIABLES};
    static const struct {
        const char *file, *name;
    } imports[] = {PF_OMPI_READ_IMPORTS};
    uint32_t place;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (pf_image_variable(stack->image, variables[i], &place))
            add_line(stack, place);
    for (size_t i = 0; i < sizeof imports / sizeof *imports; i++) {
        const struct pf_elf *file = find_file(members, imports[i].file);
        if (file && pf_image_import(stack->image, file, imports[i].name, &place))
            add_line(stack, place);
    }
}

bool pf_ompi_image_make(struct pf_ompi_stack *stack, int ranks, char *why, size_t n)
{
    static const char *const answered[] = {"libucp.so.0", "libucs.so.0", "libucm.so.0", NULL};
    static const char *const inner[] = {PF_OMPI_NBC_START,
                                        PF_OMPI_NBC_PROGRESS,
                                        PF_OMPI_OSC_RECEIVE,
                                        PF_OMPI_OSC_SEND,
                                        PF_OMPI_OSC_COMM,
                                        PF_OMPI_OSC_UCX_ACCUMULATE,
                                        PF_OMPI_OSC_UCX_GET_ACCUMULATE,
#define X(name) name,
                                        PF_OMPI_RETAIN(X)
#undef X
                                            NULL};
    struct members members = {.why = why, .n = n};
    if (stack->image)
        return true;
    snprintf(why, n, "more than %d libraries", MAX_MEMBERS);
    for (int i = 0; i < PF_CORE_COUNT; i++)
        add(&members, pf_parts_core((enum pf_core)i));
    if (pf_parts_each_plugin(stack, add_plugin, &members) != 0)
        return false;
    const struct pf_image_plan plan = {
        .files = members.files,
        .count = members.count,
        .copies = ranks,
        .flags = pf_copy_flags(),
        .find = pf_hooks_find,
        .arg = stack,
        .answered = answered,
        .inner = inner,
    };
    stack->image = pf_image_make(&plan, why, n);
    if (stack->image)
        find_lines(stack, &members);
    return stack->image != NULL;
}

void pf_ompi_image_fetch(const struct pf_ompi_stack *stack, pf_self_t *self)
{
    if (stack->image)
        stack->ops->reads_when_woken(self, pf_image_copy(stack->image, self->rank), stack->lines,
                                     stack->line_count);
}

void *pf_ompi_image_load(const struct pf_ompi_stack *stack, const struct pf_family *member, int rank,
                         char *why, size_t n)
{
    void *loaded = pf_image_open(stack->image, rank, &member->elf);
    if (!loaded)
        snprintf(why, n, "%s for rank %d: %s", member->elf.path, rank, strerror(errno));
    return loaded;
}
