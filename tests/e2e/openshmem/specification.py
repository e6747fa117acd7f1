# SPDX-License-Identifier: BSD-3-Clause
"""What OpenSHMEM 1.4 has, as its text says it and not as our own table does: names, types, constants; and programs that use all of it."""
import re

RMA = {"float": "float", "double": "double", "longdouble": "long double", "char": "char", "schar": "signed char", "short": "short",
       "int": "int", "long": "long", "longlong": "long long", "uchar": "unsigned char", "ushort": "unsigned short", "uint": "unsigned int",
       "ulong": "unsigned long", "ulonglong": "unsigned long long", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t",
       "int64": "int64_t", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "size": "size_t",
       "ptrdiff": "ptrdiff_t"}
NUMBERS = RMA | {"complexf": "float PF_SHMEM_COMPLEX", "complexd": "double PF_SHMEM_COMPLEX"}
ATOMIC = "int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff"
EXTENDED = "float double " + ATOMIC
BITWISE = "uint ulong ulonglong int32 int64 uint32 uint64"
SYNC = "short int long longlong ushort uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff"
INTEGER = "short int long longlong"
REAL = INTEGER + " float double longdouble"
OLD = "int long longlong"
ALL = " ".join(RMA)

# Each row: what returns(arguments), for which types or sizes. CTX: also on a context. GENERIC: also selected by type.
# Where the text has TYPE *ivar and long *lock, ours take volatile ones, too.
ROWS = """
void shmem_{N}_put(T *dest, const T *source, size_t nelems, int pe)                                  | ALL | CTX GENERIC put
void shmem_{N}_get(T *dest, const T *source, size_t nelems, int pe)                                  | ALL | CTX GENERIC get
void shmem_{N}_put_nbi(T *dest, const T *source, size_t nelems, int pe)                              | ALL | CTX GENERIC put_nbi
void shmem_{N}_get_nbi(T *dest, const T *source, size_t nelems, int pe)                              | ALL | CTX GENERIC get_nbi
void shmem_{N}_iput(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)   | ALL | CTX GENERIC iput
void shmem_{N}_iget(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)   | ALL | CTX GENERIC iget
void shmem_{N}_p(T *dest, T value, int pe)                                                           | ALL | CTX GENERIC p
T shmem_{N}_g(const T *source, int pe)                                                               | ALL | CTX GENERIC g
void shmem_put{N}(void *dest, const void *source, size_t nelems, int pe)                             | 8 16 32 64 128 mem | CTX
void shmem_get{N}(void *dest, const void *source, size_t nelems, int pe)                             | 8 16 32 64 128 mem | CTX
void shmem_put{N}_nbi(void *dest, const void *source, size_t nelems, int pe)                         | 8 16 32 64 128 mem | CTX
void shmem_get{N}_nbi(void *dest, const void *source, size_t nelems, int pe)                         | 8 16 32 64 128 mem | CTX
void shmem_iput{N}(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) | 8 16 32 64 128 | CTX
void shmem_iget{N}(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) | 8 16 32 64 128 | CTX
T shmem_{N}_atomic_fetch(const T *source, int pe)                                                    | EXTENDED | CTX GENERIC atomic_fetch
void shmem_{N}_atomic_set(T *dest, T value, int pe)                                                  | EXTENDED | CTX GENERIC atomic_set
T shmem_{N}_atomic_swap(T *dest, T value, int pe)                                                    | EXTENDED | CTX GENERIC atomic_swap
T shmem_{N}_atomic_compare_swap(T *dest, T cond, T value, int pe)                                    | ATOMIC | CTX GENERIC atomic_compare_swap
T shmem_{N}_atomic_fetch_inc(T *dest, int pe)                                                        | ATOMIC | CTX GENERIC atomic_fetch_inc
void shmem_{N}_atomic_inc(T *dest, int pe)                                                           | ATOMIC | CTX GENERIC atomic_inc
T shmem_{N}_atomic_fetch_add(T *dest, T value, int pe)                                               | ATOMIC | CTX GENERIC atomic_fetch_add
void shmem_{N}_atomic_add(T *dest, T value, int pe)                                                  | ATOMIC | CTX GENERIC atomic_add
T shmem_{N}_atomic_fetch_and(T *dest, T value, int pe)                                               | BITWISE | CTX GENERIC atomic_fetch_and
T shmem_{N}_atomic_fetch_or(T *dest, T value, int pe)                                                | BITWISE | CTX GENERIC atomic_fetch_or
T shmem_{N}_atomic_fetch_xor(T *dest, T value, int pe)                                               | BITWISE | CTX GENERIC atomic_fetch_xor
void shmem_{N}_atomic_and(T *dest, T value, int pe)                                                  | BITWISE | CTX GENERIC atomic_and
void shmem_{N}_atomic_or(T *dest, T value, int pe)                                                   | BITWISE | CTX GENERIC atomic_or
void shmem_{N}_atomic_xor(T *dest, T value, int pe)                                                  | BITWISE | CTX GENERIC atomic_xor
void shmem_{N}_wait_until(volatile T *ivar, int cmp, T cmp_value)                                    | SYNC | GENERIC wait_until
int shmem_{N}_test(volatile T *ivar, int cmp, T cmp_value)                                           | SYNC | GENERIC test
void shmem_fence(void)                                                                               | | CTX
void shmem_quiet(void)                                                                               | | CTX
void shmem_init(void)
int shmem_init_thread(int requested, int *provided)
void shmem_query_thread(int *provided)
void shmem_finalize(void)
void shmem_global_exit(int status)
void shmem_info_get_version(int *major, int *minor)
void shmem_info_get_name(char *name)
int shmem_my_pe(void)
int shmem_n_pes(void)
int shmem_pe_accessible(int pe)
int shmem_addr_accessible(const void *addr, int pe)
void *shmem_ptr(const void *dest, int pe)
void *shmem_malloc(size_t size)
void shmem_free(void *ptr)
void *shmem_realloc(void *ptr, size_t size)
void *shmem_align(size_t alignment, size_t size)
void *shmem_calloc(size_t count, size_t size)
int shmem_ctx_create(long options, shmem_ctx_t *ctx)
void shmem_ctx_destroy(shmem_ctx_t ctx)
void shmem_barrier_all(void)
void shmem_sync_all(void)
void shmem_barrier(SET)
void shmem_sync(SET)
void shmem_broadcast{N}(void *dest, const void *source, size_t nelems, int PE_root, SET)             | 32 64
void shmem_collect{N}(void *dest, const void *source, size_t nelems, SET)                            | 32 64
void shmem_fcollect{N}(void *dest, const void *source, size_t nelems, SET)                           | 32 64
void shmem_alltoall{N}(void *dest, const void *source, size_t nelems, SET)                           | 32 64
void shmem_alltoalls{N}(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, SET) | 32 64
void shmem_{N}_and_to_all(T *dest, const T *source, int nreduce, PES, T *pWrk, long *pSync)          | INTEGER
void shmem_{N}_or_to_all(T *dest, const T *source, int nreduce, PES, T *pWrk, long *pSync)           | INTEGER
void shmem_{N}_xor_to_all(T *dest, const T *source, int nreduce, PES, T *pWrk, long *pSync)          | INTEGER
void shmem_{N}_min_to_all(T *dest, const T *source, int nreduce, PES, T *pWrk, long *pSync)          | REAL
void shmem_{N}_max_to_all(T *dest, const T *source, int nreduce, PES, T *pWrk, long *pSync)          | REAL
void shmem_{N}_sum_to_all(T *dest, const T *source, int nreduce, PES, T *pWrk, long *pSync)          | REAL complexf complexd
void shmem_{N}_prod_to_all(T *dest, const T *source, int nreduce, PES, T *pWrk, long *pSync)         | REAL complexf complexd
void shmem_set_lock(volatile long *lock)
void shmem_clear_lock(volatile long *lock)
int shmem_test_lock(volatile long *lock)
T shmem_{N}_fetch(const T *source, int pe)                                                           | float double OLD | GENERIC fetch
void shmem_{N}_set(T *dest, T value, int pe)                                                         | float double OLD | GENERIC set
T shmem_{N}_swap(T *dest, T value, int pe)                                                           | float double OLD | GENERIC swap
T shmem_{N}_cswap(T *dest, T cond, T value, int pe)                                                  | OLD | GENERIC cswap
T shmem_{N}_finc(T *dest, int pe)                                                                    | OLD | GENERIC finc
void shmem_{N}_inc(T *dest, int pe)                                                                  | OLD | GENERIC inc
T shmem_{N}_fadd(T *dest, T value, int pe)                                                           | OLD | GENERIC fadd
void shmem_{N}_add(T *dest, T value, int pe)                                                         | OLD | GENERIC add
void shmem_{N}_wait(volatile T *ivar, T cmp_value)                                                   | INTEGER
void shmem_wait(volatile long *ivar, long cmp_value)
void shmem_clear_cache_inv(void)
void shmem_set_cache_inv(void)
void shmem_clear_cache_line_inv(void *dest)
void shmem_set_cache_line_inv(void *dest)
void shmem_udcflush(void)
void shmem_udcflush_line(void *dest)
"""
# Before 1.2; they have no profiling names.
OLDEST = """
void start_pes(int npes)
int _my_pe(void)
int _num_pes(void)
void *shmalloc(size_t size)
void shfree(void *ptr)
void *shrealloc(void *ptr, size_t size)
void *shmemalign(size_t alignment, size_t size)
"""
CONSTANTS = """THREAD_SINGLE THREAD_FUNNELED THREAD_SERIALIZED THREAD_MULTIPLE CTX_SERIALIZED CTX_PRIVATE CTX_NOSTORE CTX_DEFAULT
SYNC_SIZE ALLTOALL_SYNC_SIZE ALLTOALLS_SYNC_SIZE"""
CONSTANTS_TWICE = """SYNC_VALUE BCAST_SYNC_SIZE BARRIER_SYNC_SIZE REDUCE_SYNC_SIZE COLLECT_SYNC_SIZE REDUCE_MIN_WRKDATA_SIZE MAJOR_VERSION
MINOR_VERSION MAX_NAME_LEN VENDOR_STRING CMP_EQ CMP_NE CMP_GT CMP_LE CMP_LT CMP_GE"""
GROUPS = {"ALL": ALL, "ATOMIC": ATOMIC, "EXTENDED": EXTENDED, "BITWISE": BITWISE, "SYNC": SYNC, "INTEGER": INTEGER, "REAL": REAL, "OLD": OLD}
PES = "int PE_start, int logPE_stride, int PE_size"


def prototypes(rows):
    """(returns, name, arguments, name of the selection by type or None)"""
    for row in rows.strip().splitlines():
        text, kinds, marks = ([part.strip() for part in row.split("|")] + ["", ""])[:3]
        text = text.replace("SET", PES + ", long *pSync").replace("PES,", PES + ",")
        returns, name, arguments = re.fullmatch(r"(.*?)(\w*\{?N?\}?\w*)\((.*)\)", text).groups()
        kinds = " ".join(GROUPS.get(kind, kind) for kind in kinds.split()).split() or [""]
        selection = marks.split()[-1] if "GENERIC" in marks else None
        for kind in kinds:
            def typed(words, kind=kind):
                return re.sub(r"\bT\b", NUMBERS.get(kind, "T"), words)
            own = name.replace("{N}", kind)
            yield typed(returns), own, typed(arguments), selection and "shmem_" + selection
            if "CTX" in marks.split():
                rest = "" if arguments == "void" else ", " + typed(arguments)
                yield typed(returns), own.replace("shmem_", "shmem_ctx_", 1), "shmem_ctx_t ctx" + rest, selection and "shmem_" + selection


def value(argument):
    """An expression of the argument's type."""
    kind = re.sub(r"\w+$", "", argument.strip()).strip()
    return "context" if kind == "shmem_ctx_t" else f"({kind})memory" if kind.endswith("*") else f"({kind})0"


def program(cplusplus):
    """Declares all functions again, which fails where a type differs, and takes their addresses; uses all constants and selections."""
    rows = list(prototypes(ROWS))
    profiled = [(returns, "p" + name, arguments, None) for returns, name, arguments, _ in rows]
    every = rows + profiled + list(prototypes(OLDEST))
    constants = ["SHMEM_" + name for name in (CONSTANTS + " " + CONSTANTS_TWICE).split()] + ["_SHMEM_" + name for name in CONSTANTS_TWICE.split()]
    lines = ["#include <mpp/shmem.h>", "#include <mpp/shmemx.h>", "#include <pshmem.h>", "#include <stdio.h>"]
    for name in constants:
        lines += [f"#ifndef {name}", f"#error {name}", "#endif"]
    lines += ['extern "C" {'] * cplusplus
    lines += [f"{returns} ({name})({arguments});" for returns, name, arguments, _ in every]
    lines += ["}"] * cplusplus
    lines += ["static void (*const all[])(void) = {", *(f"    (void (*)(void)){name}," for _, name, _, _ in every if not cplusplus), "    0};"]
    lines += ["void selections(void *memory, shmem_ctx_t context);", "void selections(void *memory, shmem_ctx_t context)", "{"]
    for _, _, arguments, selection in rows:
        if selection:
            lines.append(f"    {selection}({', '.join(value(argument) for argument in arguments.split(','))});")
    lines += ["}", "int main(void)", "{", "    shmem_init();"]
    lines += [f"    (void)({name});" for name in constants]
    lines += [f'    printf("%d\\n", (int)(sizeof all / sizeof *all) - 1);', "    shmem_finalize();", "    return 0;", "}"]
    return "\n".join(lines) + "\n", len(every)
