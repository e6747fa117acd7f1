# SPDX-License-Identifier: BSD-3-Clause
"""The functions of OpenSHMEM 1.4: the one table that shmem.h and the bodies of the calls are made from.

A row is a family: what its functions are called, which types they exist for, what they take, and the call below that does the work. In
a name or a text, {N} is the name of a type in function names, {T} the type itself, {B} a number of bits. A family with `context` exists
twice: on the default context, and as shmem_ctx_... with a context before its other arguments."""

import dataclasses

# Names of types in function names, and the types.
TYPES = {
    "float": "float", "double": "double", "longdouble": "long double", "char": "char", "schar": "signed char", "short": "short",
    "int": "int", "long": "long", "longlong": "long long", "uchar": "unsigned char", "ushort": "unsigned short",
    "uint": "unsigned int", "ulong": "unsigned long", "ulonglong": "unsigned long long",
    "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t",
    "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "size": "size_t",
    "ptrdiff": "ptrdiff_t", "complexf": "float PF_SHMEM_COMPLEX", "complexd": "double PF_SHMEM_COMPLEX",
}
# Types that are others under a new name have no branch of their own in a selection by type. So each family with selection that exists
# for one of them exists for the type itself, too.
ALIASES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "size", "ptrdiff")

RMA = tuple(n for n in TYPES if not n.startswith("complex"))
ATOMIC = ("int", "long", "longlong", "uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64", "size", "ptrdiff")
EXTENDED = ("float", "double") + ATOMIC
# int, long and longlong are more than 1.4 has: int32 and int64 are selected by them.
BITWISE = ("int", "long", "longlong", "uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64")
SYNC = ("short", "int", "long", "longlong", "ushort", "uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64", "size",
        "ptrdiff")
INTEGER = ("short", "int", "long", "longlong")
REAL = INTEGER + ("float", "double", "longdouble")
NUMBER = REAL + ("complexf", "complexd")
OLD_ATOMIC = ("int", "long", "longlong")
OLD_EXTENDED = ("float", "double") + OLD_ATOMIC


@dataclasses.dataclass
class Family:
    name: str                # after shmem_
    types: tuple             # of type names, or numbers of bits, or () for one function without a type
    returns: str             # {T}, void, int ...
    arguments: str           # without a context
    body: str                # the call below; CTX is the context
    context: bool = False
    generic: str = ""        # the selection by type of C11 under this name, after shmem_
    kind: str = "COMMUNICATES"  # for a schedule: also LOCAL, ALL (a collective of all PEs)


def transfers():
    """Puts and gets, which differ in direction and in when they are done."""
    rows = []
    for put, nbi in ((True, ""), (True, "_nbi"), (False, ""), (False, "_nbi")):
        verb = "put" if put else "get"
        call = f"pf_shmem_{verb}{nbi}(me, CTX, dest, source, "
        rows += [
            Family("{N}_" + verb + nbi, RMA, "void", "{T} *dest, const {T} *source, size_t nelems, int pe",
                   call + "nelems * sizeof *dest, pe)", True, verb + nbi),
            Family(verb + "{B}" + nbi, (8, 16, 32, 64, 128), "void", "void *dest, const void *source, size_t nelems, int pe",
                   call + "nelems * ({B} / 8), pe)", True),
            Family(verb + "mem" + nbi, (), "void", "void *dest, const void *source, size_t nelems, int pe",
                   call + "nelems, pe)", True),
        ]
    for verb in ("iput", "iget"):
        call = f"pf_shmem_{verb}(me, CTX, dest, source, dst, sst, nelems, "
        rows += [
            Family("{N}_" + verb, RMA, "void",
                   "{T} *dest, const {T} *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe",
                   call + "sizeof *dest, pe)", True, verb),
            Family(verb + "{B}", (8, 16, 32, 64, 128), "void",
                   "void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe",
                   call + "{B} / 8, pe)", True),
        ]
    rows += [
        Family("{N}_p", RMA, "void", "{T} *dest, {T} value, int pe",
               "pf_shmem_put(me, CTX, dest, &value, sizeof value, pe)", True, "p"),
        Family("{N}_g", RMA, "{T}", "const {T} *source, int pe",
               "pf_shmem_get(me, CTX, &result, source, sizeof result, pe)", True, "g"),
    ]
    return rows


def atomics():
    """With the names of 1.4, and with those before it, which are the same functions."""
    rows = []

    def both(verb, old, types, old_types, returns, arguments, body):
        rows.append(Family("{N}_atomic_" + verb, types, returns, arguments, body, True, "atomic_" + verb))
        if old:
            rows.append(Family("{N}_" + old, old_types, returns, arguments, body, False, old))

    fetch = "pf_shmem_atomic_fetch(me, CTX, PF_SHMEM_ATOMIC_TYPE({T}), "
    plain = "pf_shmem_atomic(me, CTX, PF_SHMEM_ATOMIC_TYPE({T}), "
    both("fetch", "fetch", EXTENDED, OLD_EXTENDED, "{T}", "const {T} *source, int pe",
         "pf_shmem_get(me, CTX, &result, source, sizeof result, pe)")
    both("set", "set", EXTENDED, OLD_EXTENDED, "void", "{T} *dest, {T} value, int pe",
         "pf_shmem_put(me, CTX, dest, &value, sizeof value, pe)")
    both("compare_swap", "cswap", ATOMIC, OLD_ATOMIC, "{T}", "{T} *dest, {T} cond, {T} value, int pe",
         "pf_shmem_atomic_compare(me, CTX, PF_SHMEM_ATOMIC_TYPE({T}), dest, &cond, &value, &result, pe)")
    both("swap", "swap", EXTENDED, OLD_EXTENDED, "{T}", "{T} *dest, {T} value, int pe",
         "pf_shmem_atomic_swap(me, CTX, PF_SHMEM_ATOMIC_TYPE({T}), dest, &value, &result, pe)")
    one = "&(const {T}){{1}}"
    both("fetch_inc", "finc", ATOMIC, OLD_ATOMIC, "{T}", "{T} *dest, int pe", fetch + "PTL_SUM, dest, " + one + ", &result, pe)")
    both("inc", "inc", ATOMIC, OLD_ATOMIC, "void", "{T} *dest, int pe", plain + "PTL_SUM, dest, " + one + ", pe)")
    both("fetch_add", "fadd", ATOMIC, OLD_ATOMIC, "{T}", "{T} *dest, {T} value, int pe",
         fetch + "PTL_SUM, dest, &value, &result, pe)")
    both("add", "add", ATOMIC, OLD_ATOMIC, "void", "{T} *dest, {T} value, int pe", plain + "PTL_SUM, dest, &value, pe)")
    for verb in ("and", "or", "xor"):
        operation = "PTL_B" + verb.upper()
        both("fetch_" + verb, "", BITWISE, (), "{T}", "{T} *dest, {T} value, int pe",
             fetch + operation + ", dest, &value, &result, pe)")
        both(verb, "", BITWISE, (), "void", "{T} *dest, {T} value, int pe", plain + operation + ", dest, &value, pe)")
    return rows


def waiting():
    """Older programs declare what they wait for as volatile."""
    return [
        Family("{N}_wait_until", SYNC, "void", "volatile {T} *ivar, int cmp, {T} cmp_value",
               "pf_shmem_wait_until(me, (const void *)ivar, sizeof *ivar, holds_{N}, cmp, &cmp_value)", False, "wait_until"),
        Family("{N}_test", SYNC, "int", "volatile {T} *ivar, int cmp, {T} cmp_value",
               "result = pf_shmem_test(me, (const void *)ivar, sizeof *ivar, holds_{N}, cmp, &cmp_value)", False, "test"),
        Family("{N}_wait", INTEGER, "void", "volatile {T} *ivar, {T} cmp_value",
               "pf_shmem_wait_until(me, (const void *)ivar, sizeof *ivar, holds_{N}, SHMEM_CMP_NE, &cmp_value)"),
        Family("wait", (), "void", "volatile long *ivar, long cmp_value",
               "pf_shmem_wait_until(me, (const void *)ivar, sizeof *ivar, holds_long, SHMEM_CMP_NE, &cmp_value)"),
        Family("wait_until", (), "void", "volatile long *ivar, int cmp, long cmp_value",
               "pf_shmem_wait_until(me, (const void *)ivar, sizeof *ivar, holds_long, cmp, &cmp_value)"),
    ]


def collectives():
    active = "int PE_start, int logPE_stride, int PE_size, "
    these = "PE_start, logPE_stride, PE_size, pSync)"
    blocks = "void *dest, const void *source, size_t nelems, "
    strided = "void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, "
    rows = [
        Family("barrier_all", (), "void", "void", "pf_shmem_barrier_all(me)", kind="ALL"),
        Family("sync_all", (), "void", "void", "pf_shmem_sync_all(me)", kind="ALL"),
        Family("barrier", (), "void", active + "long *pSync", "pf_shmem_barrier(me, " + these),
        Family("sync", (), "void", active + "long *pSync", "pf_shmem_sync(me, " + these),
        Family("broadcast{B}", (32, 64), "void", blocks + "int PE_root, " + active + "long *pSync",
               "pf_shmem_broadcast(me, dest, source, nelems * ({B} / 8), PE_root, " + these),
        Family("collect{B}", (32, 64), "void", blocks + active + "long *pSync",
               "pf_shmem_collect(me, dest, source, nelems * ({B} / 8), " + these),
        Family("fcollect{B}", (32, 64), "void", blocks + active + "long *pSync",
               "pf_shmem_fcollect(me, dest, source, nelems * ({B} / 8), " + these),
        Family("alltoall{B}", (32, 64), "void", blocks + active + "long *pSync",
               "pf_shmem_alltoall(me, dest, source, nelems * ({B} / 8), " + these),
        Family("alltoalls{B}", (32, 64), "void", strided + active + "long *pSync",
               "pf_shmem_alltoalls(me, dest, source, dst, sst, nelems, {B} / 8, " + these),
    ]
    for operation, types in (("and", INTEGER), ("or", INTEGER), ("xor", INTEGER), ("min", REAL), ("max", REAL), ("sum", NUMBER),
                             ("prod", NUMBER)):
        rows.append(Family("{N}_" + operation + "_to_all", types, "void",
                           "{T} *dest, const {T} *source, int nreduce, " + active + "{T} *pWrk, long *pSync",
                           "pf_shmem_reduce(me, dest, source, nreduce, sizeof *dest, reduce_{N}_" + operation + ", " + these))
    return rows


def others():
    return [
        Family("n_pes", (), "int", "void", "result = me->size", kind="LOCAL"),
        Family("my_pe", (), "int", "void", "result = me->rank", kind="LOCAL"),
        Family("ptr", (), "void *", "const void *dest, int pe", "result = pf_shmem_ptr(me, dest, pe)", kind="LOCAL"),
        Family("pe_accessible", (), "int", "int pe", "result = pe >= 0 && pe < me->size", kind="LOCAL"),
        Family("addr_accessible", (), "int", "const void *addr, int pe", "result = pf_shmem_accessible(me, addr, pe)", kind="LOCAL"),
        Family("malloc", (), "void *", "size_t size", "result = pf_shmem_malloc(me, sizeof(max_align_t), size)"),
        Family("calloc", (), "void *", "size_t count, size_t size", "result = pf_shmem_calloc(me, count, size)"),
        Family("align", (), "void *", "size_t alignment, size_t size", "result = pf_shmem_malloc(me, alignment, size)"),
        Family("realloc", (), "void *", "void *ptr, size_t size", "result = pf_shmem_realloc(me, ptr, size)"),
        Family("free", (), "void", "void *ptr", "pf_shmem_free(me, ptr)"),
        Family("fence", (), "void", "void", "pf_shmem_fence(me, CTX)", True, "fence"),
        Family("quiet", (), "void", "void", "pf_shmem_quiet(me, CTX)", True, "quiet"),
        Family("ctx_create", (), "int", "long options, shmem_ctx_t *ctx", "result = pf_shmem_ctx_create(me, options, ctx)", kind="LOCAL"),
        Family("ctx_destroy", (), "void", "shmem_ctx_t ctx", "pf_shmem_ctx_destroy(me, ctx)"),
        Family("set_lock", (), "void", "volatile long *lock", "pf_shmem_set_lock(me, (long *)lock)"),
        Family("clear_lock", (), "void", "volatile long *lock", "pf_shmem_clear_lock(me, (long *)lock)"),
        Family("test_lock", (), "int", "volatile long *lock", "result = pf_shmem_test_lock(me, (long *)lock)"),
        Family("clear_cache_inv", (), "void", "void", "(void)me", kind="LOCAL"),
        Family("set_cache_inv", (), "void", "void", "(void)me", kind="LOCAL"),
        Family("clear_cache_line_inv", (), "void", "void *dest", "(void)dest", kind="LOCAL"),
        Family("set_cache_line_inv", (), "void", "void *dest", "(void)dest", kind="LOCAL"),
        Family("udcflush", (), "void", "void", "(void)me", kind="LOCAL"),
        Family("udcflush_line", (), "void", "void *dest", "(void)dest", kind="LOCAL"),
    ]


FAMILIES = transfers() + atomics() + waiting() + collectives() + others()


@dataclasses.dataclass
class Function:
    name: str
    returns: str
    arguments: str
    body: str
    family: Family
    type: str
    context: bool


def functions():
    """All of them, one after the other."""
    for f in FAMILIES:
        for kind in f.types or ("",):
            words = {"N": kind, "T": TYPES.get(kind, ""), "B": kind}
            for context in (False, True) if f.context else (False,):
                arguments = f.arguments.format(**words)
                if context:
                    arguments = "shmem_ctx_t ctx" + ("" if arguments == "void" else ", " + arguments)
                body = f.body.format(**words) if f.types else f.body
                yield Function("shmem_" + ("ctx_" if context else "") + f.name.format(**words), f.returns.format(**words), arguments,
                               body.replace("CTX", "ctx" if context else "SHMEM_CTX_DEFAULT"), f, kind, context)
