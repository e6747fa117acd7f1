/* SPDX-License-Identifier: BSD-3-Clause */
/* Type signatures (MPI 3.1 section 4.1): the sequence of basic elements that a count and a datatype stand
 * for. */
#include <stdio.h>
#include <string.h>

#include "middleware/check/internal.h"
#include "middleware/datatype/datatype.h"

enum { FLOATING = 1, INTEGER = 2 };

/* The hash of a sequence is a polynomial in BASE, so that the hash of two sequences one after the other
 * follows from theirs. */
#define BASE 1099511628211u

static struct pf_check_signature joined(struct pf_check_signature a, struct pf_check_signature b)
{
    if (a.elements == 0 || b.elements == 0)
        return a.elements == 0 ? b : a;
    return (struct pf_check_signature){.hash = a.hash * b.power + b.hash,
                                       .power = a.power * b.power,
                                       .elements = a.elements + b.elements,
                                       .uniform = a.uniform == b.uniform ? a.uniform : 0,
                                       .unknown = a.unknown || b.unknown};
}

static struct pf_check_signature repeated(struct pf_check_signature one, MPI_Count count)
{
    struct pf_check_signature all = {.power = 1, .unknown = one.unknown};
    for (; count > 0; count /= 2, one = joined(one, one))
        if (count % 2)
            all = joined(all, one);
    return all;
}

static struct pf_check_signature element(int class, int size)
{
    unsigned token = (unsigned)class * 256u + (unsigned)size;
    return (struct pf_check_signature){.hash = token, .power = BASE, .elements = 1, .uniform = token};
}

/* Kinds of numbers differ, and their sizes; signed and unsigned ones, and those of C and Fortran, do not: no
 * implementation converts between them. */
static struct pf_check_signature of_named(MPI_Datatype type)
{
    static struct pf_check_signature known[PF_PREDEFINED_LIMIT];
    struct pf_check_signature *signature = &known[(uintptr_t)type];
    const struct pf_named_type *named = pf_datatype_named(type);
    if (!named || signature->elements)
        return *signature;
    bool floating = strstr(named->name, "FLOAT") || strstr(named->name, "DOUBLE") ||
                    strstr(named->name, "REAL") || strstr(named->name, "COMPLEX");
    size_t length = strlen(named->name);
    bool second_integer = length > 4 && strcmp(named->name + length - 4, "_INT") == 0;
    int class = floating ? FLOATING : INTEGER;
    bool complex = strstr(named->name, "COMPLEX") && !named->parts[1]; /* two numbers */
    *signature = element(class, complex ? named->parts[0] / 2 : named->parts[0]);
    if (complex)
        *signature = joined(*signature, *signature);
    if (named->parts[1])
        *signature = joined(*signature, element(second_integer ? INTEGER : class, named->parts[1]));
    signature->unknown = type == MPI_BYTE || type == MPI_PACKED;
    return *signature;
}

static struct pf_check_signature of_type(struct pf_rank *r, MPI_Datatype handle)
{
    const struct pf_datatype *type = pf_datatype_of(handle);
    if (pf_is_predefined(handle))
        return of_named(handle);
    struct pf_check_record *record = pf_check_find(r, handle);
    if (record && record->kind != PF_KIND_DATATYPE)
        record = NULL;
    if (record && record->signature.power)
        return record->signature;
    struct pf_check_signature all = {.power = 1};
    for (int i = 0; type && i < pf_datatype_runs(type); i++) {
        struct pf_datatype_run run = pf_datatype_run_at(type, i);
        all = joined(all, repeated(of_type(r, run.type), run.items));
    }
    if (record)
        record->signature = all;
    return all;
}

struct pf_check_signature pf_check_signature_of(struct pf_rank *r, MPI_Count count, MPI_Datatype type)
{
    struct pf_check_signature none = {.unknown = true};
    return pf_datatype_valid(type) && count >= 0 ? repeated(of_type(r, type), count) : none;
}

static void element_text(unsigned token, char *text, size_t size)
{
    snprintf(text, size, "%u-byte %s", token % 256u,
             token / 256u == FLOATING ? "floating-point numbers" : "integers");
}

const char *pf_check_signatures_differ(struct pf_check_signature a, struct pf_check_signature b)
{
    static char text[120];
    char first[40], second[40];
    if (a.unknown || b.unknown || a.elements == 0 || b.elements == 0)
        return NULL;
    if (a.uniform && b.uniform && a.uniform != b.uniform) {
        element_text(a.uniform, first, sizeof first);
        element_text(b.uniform, second, sizeof second);
        snprintf(text, sizeof text, "%s and %s", first, second);
        return text;
    }
    if ((a.uniform && b.uniform) || a.elements != b.elements || a.hash == b.hash)
        return NULL;
    return "datatypes of other elements";
}
