/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses the support library by the names of the reference implementation's, all of them. */
#include <portals4.h>
#include <support.h>

#include <string.h>

enum { COUNT = 4, LENGTH = 16, PT = 3, PT_LE = 5 };

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "library.c:%d: rank %d: not true: %s\n", __LINE__, libtest_get_rank(),           \
                    #condition);                                                                             \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static char received[COUNT * LENGTH], sent[LENGTH];
static uint64_t word;

static ptl_handle_ni_t open_interface(unsigned int kind)
{
    ptl_handle_ni_t ni;
    LIBTEST_CHECK(PtlNIInit(PTL_IFACE_DEFAULT, kind | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, &ni),
                  "PtlNIInit");
    ptl_process_t *map = libtest_get_mapping(ni);
    CHECK(map && map == libtest_get_mapping(ni));
    LIBTEST_CHECK(PtlSetMap(ni, (ptl_size_t)libtest_get_size(), map), "PtlSetMap");
    return ni;
}

/* Each rank puts into the entries of its right neighbour. */
static void matching(ptl_handle_ni_t ni, int once)
{
    ptl_handle_me_t entries[COUNT];
    ptl_handle_eq_t eq;
    ptl_event_t event;
    ptl_process_t right = {.rank = (ptl_rank_t)((libtest_get_rank() + 1) % libtest_get_size())};
    LIBTEST_CHECK(PtlEQAlloc(ni, 64, &eq), "PtlEQAlloc");
    CHECK(libtest_PTAlloc(ni, PT, eq) == PT);
    CHECK((once ? libtest_CreateMEUseOnce : libtest_CreateMEPersistent)(ni, PT, received, LENGTH, COUNT,
                                                                        entries) == PTL_OK);
    ptl_handle_md_t md;
    ptl_handle_ct_t ct = PTL_INVALID_HANDLE;
    libtest_CreateMDCT(ni, sent, LENGTH, &md, &ct);
    memset(received, 0, sizeof received);
    memset(sent, 'a' + libtest_get_rank(), LENGTH);
    libtest_barrier();
    for (ptl_match_bits_t i = 0; i < COUNT; i++)
        LIBTEST_CHECK(libtest_Put_offset(md, i, LENGTH - i, right, PT, i, i), "PtlPut");
    for (int puts = 0; puts < COUNT; puts++) { /* nothing but puts: its entries post no link events */
        LIBTEST_CHECK(PtlEQWait(eq, &event), "PtlEQWait");
        CHECK(event.type == PTL_EVENT_PUT);
    }
    int left = (libtest_get_rank() + libtest_get_size() - 1) % libtest_get_size();
    for (int i = 0; i < COUNT * LENGTH; i++)
        CHECK(received[i] == (i % LENGTH < i / LENGTH ? 0 : 'a' + left));
    libtest_barrier();
    if (!once)
        libtest_FreeME(COUNT, entries);
    LIBTEST_CHECK(PtlMDRelease(md), "PtlMDRelease");
    LIBTEST_CHECK(PtlPTFree(ni, PT), "PtlPTFree");
}

static void counting(ptl_handle_ni_t ni)
{
    ptl_handle_le_t le;
    ptl_handle_ct_t ct = PTL_INVALID_HANDLE;
    ptl_ct_event_t count;
    ptl_process_t root = {.rank = 0};
    uint64_t value = 42;
    ptl_pt_index_t index = libtest_PTAlloc(ni, PT_LE, PTL_EQ_NONE);
    libtest_CreateLECT(ni, index, &word, sizeof word, &le, &ct);
    ptl_handle_md_t md = libtest_CreateMD(ni, &value, sizeof value);
    libtest_Barrier();
    LIBTEST_CHECK(libtest_Put(md, sizeof value, root, index), "PtlPut");
    if (libtest_get_rank() == 0) {
        LIBTEST_CHECK(PtlCTWait(ct, (ptl_size_t)libtest_get_size(), &count), "PtlCTWait");
        CHECK(word == 42 && count.failure == 0);
    }
    libtest_Barrier();
}

int main(void)
{
    LIBTEST_CHECK(PtlInit(), "PtlInit");
    CHECK(libtest_init() == 0);
    int rank = libtest_get_rank(), size = libtest_get_size();
    ptl_handle_ni_t ni = open_interface(PTL_NI_MATCHING);
    matching(ni, 0);
    matching(ni, 1);
    libtest_barrier();
    LIBTEST_CHECK(PtlNIFini(ni), "PtlNIFini");
    ni = open_interface(PTL_NI_NO_MATCHING);
    libtest_BarrierInit(ni, rank, size);
    libtest_barrier();
    counting(ni);
    libtest_AllreduceDouble_init(ni);
    libtest_barrier();
    for (int round = 0; round < 3; round++) {
        CHECK(libtest_AllreduceDouble(rank + round, PTL_SUM) == size * (size - 1) / 2.0 + size * round);
        CHECK(libtest_AllreduceDouble(rank, PTL_MAX) == size - 1);
        CHECK(libtest_AllreduceDouble(rank + 1, PTL_MIN) == 1);
        libtest_Barrier();
    }
    CHECK(strcmp(libtest_StrPtlError(PTL_PT_IN_USE), "PTL_PT_IN_USE") == 0);
    CHECK(strncmp(libtest_StrPtlError(12345), "PTL", 3) != 0);
    libtest_barrier();
    LIBTEST_CHECK(PtlNIFini(ni), "PtlNIFini");
    CHECK(libtest_fini() == 0);
    PtlFini();
    if (rank == 0)
        printf("library: PASS\n");
    return 0;
}
