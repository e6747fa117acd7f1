/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a program in one image. */
#include "middleware/process/private_image.h"

#include <errno.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "loader/copy.h"
#include "loader/image.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/locals.h"

struct pf_image *pf_private_image_make(const struct pf_elf *program, int ranks)
{
    char why[300];
    if (strcmp(pf_config.program_loading, "image") != 0)
        return NULL;
    const struct pf_image_plan plan = {.files = &program,
                                       .count = 1,
                                       .copies = ranks,
                                       .flags = pf_copy_flags(),
                                       .program = true,
                                       .lead = pf_process_import};
    return pf_image_make(&plan, why, sizeof why);
}

struct pf_image *pf_private_image_make_kind(const struct pf_private_kind *kind,
                                            const struct pf_elf *const *files, int count, int ranks,
                                            const char **missing, char *why, size_t n)
{
    const struct pf_image_plan plan = {.files = files,
                                       .count = count,
                                       .copies = ranks,
                                       .flags = pf_copy_flags(),
                                       .program = true,
                                       .find = kind->find,
                                       .lead = kind->lead,
                                       .missing = missing,
                                       .locals_room = PF_LOCALS_ROOM,
                                       .locals_alignment = PF_LOCALS_ALIGNMENT,
                                       .ready = kind->ready};
    kind->prepare();
    return pf_image_make(&plan, why, n);
}

void *pf_private_image_load(struct pf_image *image, const struct pf_elf *file, int rank)
{
    void *loaded = pf_image_open(image, rank, file);
    if (!loaded)
        pf_die("cannot load '%s' for rank %d: %s", file->path, rank, strerror(errno));
    return loaded;
}
