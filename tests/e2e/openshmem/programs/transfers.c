/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets of all forms, on static data and on the heap, of lengths on both sides of what goes with a
 * command. */
#include "check.h"

enum { MOST = 20000 };

static unsigned char box[MOST];
static long double wide;
static short words[64];
static double numbers[64];

/* What PE `pe` holds at place i. */
static unsigned char mark(int pe, size_t i)
{
    return (unsigned char)(31 * pe + 7 * (int)i + 1);
}

static void blocks(unsigned char *symmetric)
{
    static const size_t lengths[] = {1, 8, 16, 17, 64, 65, 416, 417, 4096, MOST};
    int me = shmem_my_pe(), size = shmem_n_pes();
    int right = (me + 1) % size, left = (me + size - 1) % size;
    unsigned char *mine = malloc(MOST), *theirs = malloc(MOST);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        size_t length = lengths[k];
        for (size_t i = 0; i < length; i++)
            mine[i] = mark(me, i + k);
        shmem_putmem(symmetric, mine, length, right);
        memset(mine, 0, length); /* the source is the program's again */
        shmem_barrier_all();
        for (size_t i = 0; i < length; i++)
            CHECK(symmetric[i] == mark(left, i + k));
        memset(theirs, 0, length);
        shmem_getmem(theirs, symmetric, length, right);
        for (size_t i = 0; i < length; i++)
            CHECK(theirs[i] == mark(me, i + k));
        shmem_barrier_all();
        for (size_t i = 0; i < length; i++)
            mine[i] = mark(me, i + k + 9);
        shmem_putmem_nbi(symmetric, mine, length, right);
        shmem_quiet();
        memset(theirs, 0, length);
        shmem_getmem_nbi(theirs, symmetric, length, right);
        shmem_quiet();
        for (size_t i = 0; i < length; i++)
            CHECK(theirs[i] == mark(me, i + k + 9));
        shmem_barrier_all();
    }
    free(mine);
    free(theirs);
}

static void strides(void)
{
    int me = shmem_my_pe(), size = shmem_n_pes(), right = (me + 1) % size, left = (me + size - 1) % size;
    short from[64];
    double into[64] = {0};
    for (int i = 0; i < 64; i++) {
        from[i] = (short)(100 * me + i);
        numbers[i] = 1000.0 * me + i;
        words[i] = -1;
    }
    shmem_barrier_all();
    shmem_short_iput(words, from, 3, 2, 10, right);
    shmem_double_iget(into, numbers, 2, 5, 8, right);
    shmem_barrier_all();
    for (int i = 0; i < 64; i++)
        CHECK(words[i] == (i % 3 == 0 && i < 30 ? 100 * left + i / 3 * 2 : -1));
    for (int i = 0; i < 64; i++)
        CHECK(into[i] == (i % 2 == 0 && i < 16 ? 1000.0 * right + i / 2 * 5 : 0.0));
    shmem_iput64(numbers, into, 1, 2, 8, right);
    shmem_barrier_all();
    CHECK(numbers[7] == 1000.0 * me + 35);
}

static void contexts(long *symmetric)
{
    int me = shmem_my_pe(), size = shmem_n_pes(), right = (me + 1) % size, left = (me + size - 1) % size;
    shmem_ctx_t ctx, other;
    CHECK(shmem_ctx_create(0, &ctx) == 0 && shmem_ctx_create(SHMEM_CTX_PRIVATE, &other) == 0);
    shmem_ctx_long_p(ctx, &symmetric[0], me + 1, right);
    shmem_ctx_long_put(other, &symmetric[1], (const long[]){me + 2, me + 3}, 2, right);
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    shmem_ctx_quiet(other);
    shmem_sync_all();
    CHECK(symmetric[0] == left + 1 && symmetric[1] == left + 2 && symmetric[2] == left + 3);
    CHECK(shmem_ctx_long_g(other, &symmetric[2], right) == me + 3);
    shmem_ctx_destroy(ctx);
    shmem_ctx_destroy(other);
    shmem_barrier_all();
}

/* The selections by type of C11. */
static void generic(long *symmetric)
{
    int me = shmem_my_pe(), size = shmem_n_pes(), right = (me + 1) % size, left = (me + size - 1) % size;
    long double value = me + 0.5L;
    shmem_put(&wide, &value, 1, right);
    shmem_p(SHMEM_CTX_DEFAULT, symmetric, 5L * me, right);
    shmem_quiet();
    shmem_barrier_all();
    CHECK(wide == left + 0.5L && symmetric[0] == 5L * left);
    CHECK(shmem_g(symmetric, right) == 5L * me);
    CHECK(shmem_g(&wide, right) == me + 0.5L);
    shmem_barrier_all();
}

static void addresses(unsigned char *symmetric, int neighbours)
{
    int me = shmem_my_pe(), automatic = 0;
    CHECK(shmem_addr_accessible(symmetric, 0) && shmem_addr_accessible(box, 0));
    CHECK(!shmem_addr_accessible(&automatic, 0) && !shmem_addr_accessible(symmetric, shmem_n_pes()));
    CHECK(shmem_ptr(symmetric, me) == symmetric && shmem_ptr(box, me) == box);
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        unsigned char *there = shmem_ptr(box, pe);
        CHECK((there != NULL) == (pe == me || (neighbours && pe == (me ^ 1))));
        box[0] = mark(me, 3);
        shmem_barrier_all();
        CHECK(!there || *there == mark(pe, 3));
        shmem_barrier_all();
    }
}

/* With an argument: PEs 0 and 1, 2 and 3 ... share a host. */
int main(int argc, char **argv)
{
    shmem_init();
    (void)argv;
    int major, minor;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    CHECK(major == 1 && minor == 4 && *name);
    CHECK(shmem_malloc(0) == NULL);
    unsigned char *symmetric = shmem_malloc(MOST);
    long *longs = shmem_align(1024, 8 * sizeof(long));
    int *zeros = shmem_calloc(100, sizeof *zeros);
    CHECK(symmetric && longs && zeros && (uintptr_t)longs % 1024 == 0 && zeros[99] == 0);
    CHECK(shmem_malloc((size_t)1 << 40) == NULL);
    void *aligned = shmem_align((size_t)2 << 20, 100);
    CHECK(aligned && (uintptr_t)aligned % ((size_t)2 << 20) == 0);
    shmem_free(aligned);
    zeros[99] = shmem_my_pe();
    zeros = shmem_realloc(zeros, 100000 * sizeof *zeros);
    CHECK(zeros && zeros[99] == shmem_my_pe());
    blocks(box);
    blocks(symmetric);
    strides();
    contexts(longs);
    generic(longs);
    addresses(symmetric, argc > 1);
    shmem_free(longs);
    shmem_free(symmetric);
    CHECK(shmem_malloc(MOST) == symmetric); /* the first place that is free again */
    pass();
    return 0;
}
