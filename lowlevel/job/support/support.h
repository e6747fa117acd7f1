/* SPDX-License-Identifier: BSD-3-Clause */
/* The names by which the test programs and benchmarks of the Portals 4 reference implementation ask their
 * support library, over parfocal_portals.h. Such a program builds with "pfcc -I<this folder> test.c
 * -lpfportals_test", where it has the include line support.h after portals4.h. New programs should use
 * parfocal_portals.h itself.
 *
 * Functions that cannot do what they are asked for print the reason and end the process with status 1, except
 * where something else is said. No function keeps a pointer of the caller.
 */
#ifndef PARFOCAL_PORTALS_TEST_SUPPORT_H
#define PARFOCAL_PORTALS_TEST_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>

#include <portals4.h>

#ifdef __cplusplus
extern "C" {
#endif

/* To be called first; before or after PtlInit. 0, or 1 when the program does not run under pfrun. */
int libtest_init(void);

/* To be called last. Returns 0. */
int libtest_fini(void);

/* Physical identifiers of all ranks, an array of libtest_get_size() elements that the library keeps until
 * libtest_fini. The first call is a matter of all ranks together (pf_portals_map). NULL: an error. */
ptl_process_t *libtest_get_mapping(ptl_handle_ni_t ni);

/* The caller's rank, and the number of ranks; -1 before libtest_init. */
int libtest_get_rank(void);
int libtest_get_size(void);

/* A barrier of all ranks outside the network: it costs no simulated time but waiting. */
void libtest_barrier(void);

/* The name of a return code, "PTL_OK"; a static text. */
char *libtest_StrPtlError(int code);

/* Ends the process unless rc is PTL_OK or PTL_IGNORED; `what` names the call in the message. */
#define LIBTEST_CHECK(rc, what)                                                                              \
    do {                                                                                                     \
        if ((rc) != PTL_OK && (rc) != PTL_IGNORED) {                                                         \
            fprintf(stderr, "%s() failed (%s)\n", what, libtest_StrPtlError(rc));                            \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Puts without acknowledgement and user data; the second with match bits and offsets. Return codes of
 * PtlPut. */
#define libtest_Put(md, size, target, pt_index)                                                              \
    PtlPut(md, 0, size, PTL_NO_ACK_REQ, target, pt_index, 0, 0, NULL, 0)
#define libtest_Put_offset(md, local_offset, size, target, pt_index, match_bits, remote_offset)              \
    PtlPut(md, local_offset, size, PTL_NO_ACK_REQ, target, pt_index, match_bits, remote_offset, NULL, 0)

/* A memory descriptor over `length` bytes without events; the second one counts SENDs in *ct, which is made
 * when it holds PTL_INVALID_HANDLE. */
ptl_handle_md_t libtest_CreateMD(ptl_handle_ni_t ni, void *start, ptl_size_t length);
void libtest_CreateMDCT(ptl_handle_ni_t ni, void *start, ptl_size_t length, ptl_handle_md_t *md,
                        ptl_handle_ct_t *ct);

/* A lasting list entry for puts that counts them in *ct, which is made when it holds PTL_INVALID_HANDLE. */
void libtest_CreateLECT(ptl_handle_ni_t ni, ptl_pt_index_t pt_index, void *start, ptl_size_t length,
                        ptl_handle_le_t *le, ptl_handle_ct_t *ct);

/* `count` matching entries for puts from anybody, entry i with match bits i over bytes i * length ... of
 * `start`: lasting ones, and such as unlink after one put. Return PTL_OK. */
int libtest_CreateMEPersistent(ptl_handle_ni_t ni, ptl_pt_index_t pt_index, void *start, ptl_size_t length,
                               ptl_size_t count, ptl_handle_me_t *entries);
int libtest_CreateMEUseOnce(ptl_handle_ni_t ni, ptl_pt_index_t pt_index, void *start, ptl_size_t length,
                            ptl_size_t count, ptl_handle_me_t *entries);
void libtest_FreeME(ptl_size_t count, ptl_handle_me_t *entries);

/* A portal table entry, the given one or any (PTL_PT_ANY). */
ptl_pt_index_t libtest_PTAlloc(ptl_handle_ni_t ni, ptl_pt_index_t request, ptl_handle_eq_t eq);

/* A barrier over the network, on a logically addressed interface whose map is set; portal table entry 14. */
void libtest_BarrierInit(ptl_handle_ni_t ni, int rank, int nproc);
void libtest_Barrier(void);

/* Combines one value per rank over the network, after libtest_BarrierInit; entries 15 and 16. `op` is
 * PTL_SUM, PTL_PROD, PTL_MIN or PTL_MAX; values are combined in the order of ranks. */
void libtest_AllreduceDouble_init(ptl_handle_ni_t ni);
double libtest_AllreduceDouble(double value, ptl_op_t op);

#ifdef __cplusplus
}
#endif

#endif
