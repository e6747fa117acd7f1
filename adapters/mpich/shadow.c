/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators and windows made without communication. MPICH's own functions do all that is needed in each
 * rank alone but for what members answer each other, and most of that is which context ids each has free.
 * While a shadow is made, the rank's mask of free ids has the middleware's one alone, and messages say what
 * the middleware knows. MPICH takes ids from the first word of the mask that has any: shadows have the upper
 * half.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/mpich/abi.h"
#include "adapters/mpich/mpich.h"
#include "base/memory.h"
#include "loader/copy.h"
#include "lowlevel/ucx/runtime.h"

/* A bit for each id; members send each other their masks with a word more. A context begins with the id. */
enum { IDS = 2048, BITS = 32, WORDS = IDS / BITS, FIRST = IDS - PF_MPICH_SHADOWS, CONTEXT_SHIFT = 4 };

/* Where the mask is, from the exported variable below. */
static ptrdiff_t mask_place;
static const char anchor[] = "MPI_UNWEIGHTED";

static uint32_t *mask_of(const struct pf_mpich_rank *rank)
{
    return (uint32_t *)(void *)((char *)pf_copy_symbol(rank->library, anchor) + mask_place);
}

struct address {
    size_t value;
};

static bool is_anchor(char *name, size_t address, size_t size, const void *arg)
{
    if (address == 0 || strcmp(name, anchor) != 0)
        return false;
    ((struct address *)(uintptr_t)arg)->value = address;
    return true;
}

/* The variables of the library in this rank. */
static bool find_variables(const struct pf_mpich_rank *rank, const struct pf_elf *elf, const uint32_t **begin,
                           const uint32_t **end)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)elf->bytes;
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(const void *)(elf->bytes + header->e_phoff);
    struct address address = {0};
    const char *at = pf_copy_symbol(rank->library, anchor);
    if (!at || !pf_elf_symbols(elf, is_anchor, &address))
        return false;
    for (int i = 0; i < header->e_phnum; i++, segment++)
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_W) {
            const char *from = at - address.value + ((segment->p_vaddr + 7) & ~(size_t)7);
            *begin = (const uint32_t *)(const void *)from;
            *end = *begin + segment->p_memsz / sizeof(uint32_t) - 2;
            return true;
        }
    return false;
}

/* All ids but the first few are free at first. */
static bool looks_like_mask(const uint32_t *at)
{
    for (int i = 1; i < WORDS; i++)
        if (at[i] != UINT32_MAX)
            return false;
    return at[0] != 0 && !(at[0] & 1) && at[0] & 1u << (BITS - 1);
}

/* Makes a communicator and frees it; what there is at a place meanwhile. */
static uint32_t try_communicator(const struct pf_mpich_rank *rank, const uint32_t *at)
{
    int comm, (*dup)(int, int *), (*release)(int *);
    *(void **)&dup = rank->natives[PF_FN_Comm_dup];
    *(void **)&release = rank->natives[PF_FN_Comm_free];
    if (dup(MPI_COMM_SELF, &comm) != MPI_SUCCESS)
        return 0;
    uint32_t found = at ? *(const volatile uint32_t *)at : 0;
    release(&comm);
    return found;
}

/* A communicator takes the highest id of the first word. */
static bool is_mask(const struct pf_mpich_rank *rank, const uint32_t *at)
{
    uint32_t before = at[0];
    return try_communicator(rank, at) == (before & UINT32_MAX >> 1) &&
           *(const volatile uint32_t *)at == before;
}

bool pf_mpich_shadow_prepare(const struct pf_mpich_rank *rank, const struct pf_elf *elf, char *why, size_t n)
{
    const uint32_t *at, *end;
    try_communicator(rank, NULL); /* the first one fills the mask */
    if (mask_place != 0)
        return true;
    if (find_variables(rank, elf, &at, &end))
        for (; at + WORDS <= end; at++)
            if (looks_like_mask(at) && is_mask(rank, at)) {
                mask_place = (const char *)at - (const char *)pf_copy_symbol(rank->library, anchor);
                return true;
            }
    snprintf(why, n, "%s keeps the ids of its communicators in an unknown way", elf->path);
    return false;
}

/* What a rank that makes a shadow receives, in turn: of an intercommunicator, how many the others are and
 * which; what ids others have free, whole or in parts; the context of the other side. */
struct answers {
    int remote_size; /* 0: there are no others */
    const uint64_t *remote_ranks;
    uint16_t context;
    int count;
    const uint32_t *free_id; /* of a window: zero as soon as its communicator has it; or NULL */
    struct key *keys;        /* of a window: MPICH's table, NULL before it is known */
};

/* What MPICH knows of a member's memory. */
struct key {
    void *key;
    uint64_t base;
    uint32_t disp_unit;
};

/* Of a window, members tell each other how long their keys are, their keys, which consist of that number, and
 * where their memory is, which is put right behind MPICH's back. */
static void answer_key(void *bytes, size_t length)
{
    const uint64_t key = PF_UCX_KEY;
    for (size_t i = 0; i < length; i += sizeof key)
        memcpy((char *)bytes + i, &key, length - i < sizeof key ? length - i : sizeof key);
}

static void note_key(void *arg, void *place)
{
    struct answers *answers = arg;
    if (!answers->keys)
        answers->keys = place;
}

/* What MPICH has on the stack between its caller and us is its own mask already, which is the outcome; what
 * it combines with that it puts elsewhere. */
static void answer(void *arg, void *bytes, size_t length)
{
    struct answers *answers = arg;
    int turn = answers->remote_size > 0 ? answers->count++ : -1;
    bool is_outcome = (char *)bytes > (char *)__builtin_frame_address(0) && (char *)bytes < (char *)answers;
    if (answers->free_id && *answers->free_id == 0)
        answer_key(bytes, is_outcome ? 0 : length);
    else if (turn == 0 && length == sizeof answers->remote_size)
        memcpy(bytes, &answers->remote_size, length);
    else if (turn == 1 && length == (size_t)answers->remote_size * sizeof(uint64_t))
        memcpy(bytes, answers->remote_ranks, length);
    else if (turn > 1 && length == sizeof answers->context)
        memcpy(bytes, &answers->context, length);
    else if (!is_outcome)
        memset(bytes, 0xff, length);
}

/* Between these two MPICH has no id but this one. */
static void shadow_begin(struct pf_mpich_rank *rank, int id, const struct pf_ucx_pretence *pretence,
                         uint32_t *kept)
{
    uint32_t *mask = mask_of(rank), bit = 1u << (FIRST + id) % BITS;
    memcpy(kept, mask, WORDS * sizeof *mask);
    memset(mask, 0, WORDS * sizeof *mask);
    mask[(FIRST + id) / BITS] = kept[(FIRST + id) / BITS] & bit;
    pf_ucx_pretend(rank->self, PF_UCX_MPICH, pretence);
}

static void shadow_end(struct pf_mpich_rank *rank, int id, uint32_t *kept)
{
    uint32_t *mask = mask_of(rank), bit = 1u << (FIRST + id) % BITS;
    pf_ucx_pretend(rank->self, PF_UCX_MPICH, NULL);
    if (!(mask[(FIRST + id) / BITS] & bit))
        kept[(FIRST + id) / BITS] &= ~bit;
    memcpy(mask, kept, WORDS * sizeof *mask);
}

static int make(const struct pf_mpich_rank *rank, const int *world_ranks, int n, int *comm)
{
    int world, wanted, (*group_of)(int, int *), (*incl)(int, int, const int *, int *);
    int (*create)(int, int, int, int *), (*release)(int *);
    *(void **)&group_of = rank->natives[PF_FN_Comm_group];
    *(void **)&incl = rank->natives[PF_FN_Group_incl];
    *(void **)&create = rank->natives[PF_FN_Comm_create_group];
    *(void **)&release = rank->natives[PF_FN_Group_free];
    int code = group_of(MPI_COMM_WORLD, &world);
    if (code == MPI_SUCCESS)
        code = incl(world, n, world_ranks, &wanted);
    if (code != MPI_SUCCESS)
        return code;
    code = create(MPI_COMM_WORLD, wanted, 0, comm);
    release(&wanted);
    release(&world);
    return code;
}

int pf_mpich_comm_shadow(struct pf_mpich_rank *rank, const int *world_ranks, int n, int id, int *comm)
{
    struct answers answers = {0};
    const struct pf_ucx_pretence pretence = {.fill = answer, .arg = &answers};
    uint32_t kept[WORDS];
    shadow_begin(rank, id, &pretence, kept);
    int code = make(rank, world_ranks, n, comm);
    shadow_end(rank, id, kept);
    return code;
}

/* Each member takes itself for the leader of its side, which gets all from the other leader. */
int pf_mpich_intercomm_shadow(struct pf_mpich_rank *rank, const struct pf_intercomm_recipe *recipe, int *comm)
{
    const int *others = recipe->ranks[!recipe->side];
    int local, (*create)(int, int, int, int, int, int *), (*release)(int *), n = recipe->size[!recipe->side];
    *(void **)&create = rank->natives[PF_FN_Intercomm_create];
    *(void **)&release = rank->natives[PF_FN_Comm_free];
    int code = pf_mpich_comm_shadow(rank, recipe->ranks[recipe->side], recipe->size[recipe->side],
                                    recipe->local_id, &local);
    if (code != MPI_SUCCESS)
        return code;
    uint64_t *ranks = pf_malloc((size_t)n * sizeof *ranks);
    for (int i = 0; i < n; i++)
        ranks[i] = (uint64_t)others[i];
    struct answers answers = {.remote_size = n,
                              .remote_ranks = ranks,
                              .context = (uint16_t)((FIRST + recipe->id) << CONTEXT_SHIFT)};
    const struct pf_ucx_pretence pretence = {.fill = answer, .arg = &answers};
    uint32_t kept[WORDS];
    shadow_begin(rank, recipe->id, &pretence, kept);
    code = create(local, recipe->me, MPI_COMM_WORLD, others[0], 0, comm);
    shadow_end(rank, recipe->id, kept);
    release(&local);
    free(ranks);
    return code;
}

static int make_window(const struct pf_mpich_rank *rank, const struct pf_win_recipe *recipe, int *win)
{
    int (*create)(void *, intptr_t, int, int, int, int *), (*create_dynamic)(int, int, int *);
    int info = (int)(uintptr_t)recipe->info, comm = (int)(uintptr_t)recipe->comm;
    *(void **)&create = rank->natives[PF_FN_Win_create];
    *(void **)&create_dynamic = rank->natives[PF_FN_Win_create_dynamic];
    return recipe->dynamic ? create_dynamic(info, comm, win)
                           : create(recipe->base, (intptr_t)recipe->size, recipe->disp_unit, info, comm, win);
}

int pf_mpich_win_shadow(struct pf_mpich_rank *rank, const struct pf_win_recipe *recipe, int *win)
{
    struct answers answers = {.free_id = mask_of(rank) + (FIRST + recipe->id) / BITS};
    const struct pf_ucx_pretence pretence = {.fill = answer, .arg = &answers, .key = note_key};
    uint32_t kept[WORDS];
    shadow_begin(rank, recipe->id, &pretence, kept);
    int code = make_window(rank, recipe, win);
    shadow_end(rank, recipe->id, kept);
    struct key *keys = answers.keys;
    if (code != MPI_SUCCESS || !keys)
        return code;
    /* An answer may be longer than what a member would have sent, and cover the rank's own part. */
    uint64_t known = keys[recipe->me].base;
    if (known != (uintptr_t)recipe->base && known != PF_UCX_KEY)
        return MPI_ERR_INTERN;
    for (int i = 0; i < recipe->members; i++) {
        keys[i].base = (uintptr_t)recipe->bases[i];
        keys[i].disp_unit = (uint32_t)recipe->disp_units[i];
    }
    return MPI_SUCCESS;
}

static void ignore(void *arg, void *bytes, size_t length)
{
}

static const struct pf_ucx_pretence alone = {.fill = ignore};

/* The first fence of an epoch, without its barrier. */
int pf_mpich_win_open(struct pf_mpich_rank *rank, int win)
{
    int (*fence)(int, int);
    *(void **)&fence = rank->natives[PF_FN_Win_fence];
    pf_ucx_pretend(rank->self, PF_UCX_MPICH, &alone);
    int code = fence(MPI_MODE_NOPRECEDE, win);
    pf_ucx_pretend(rank->self, PF_UCX_MPICH, NULL);
    return code;
}

int pf_mpich_win_free(struct pf_mpich_rank *rank, int win)
{
    int (*release)(int *);
    *(void **)&release = rank->natives[PF_FN_Win_free];
    pf_ucx_pretend(rank->self, PF_UCX_MPICH, &alone);
    int code = release(&win);
    pf_ucx_pretend(rank->self, PF_UCX_MPICH, NULL);
    return code;
}

bool pf_mpich_comm_kept(const struct pf_mpich_rank *rank, int id)
{
    return !(mask_of(rank)[(FIRST + id) / BITS] & 1u << (FIRST + id) % BITS);
}
