/* SPDX-License-Identifier: BSD-3-Clause */
/* Keyvals and the attributes of one object, with the callbacks: MPI 3.1 section 6.7. */
#include <stdlib.h>
#include <uthash.h>

#include "middleware/core/rank_objects.h"
#include "middleware/object/attribute.h"

/* Numbers of user keyvals start above the predefined ones. */
#define FIRST_KEYVAL 1000

/* A keyval lives until it is freed and the last attribute that uses it is gone. Until then its number is good
 * for looking at such attributes, deleting them, and freeing it once more, but not for new ones. */
struct pf_keyval {
    int number;
    bool freed;
    enum pf_attribute_kind kind;
    union pf_attribute_copy copy;
    union pf_attribute_delete drop;
    void *extra_state;
    bool fortran; /* its callbacks are procedures, which get numbers */
    int references;
    struct pf_keyval **table; /* the rank's */
    UT_hash_handle hh;
};

/* The attributes of one object, newest first. */
struct pf_attributes {
    struct pf_keyval *keyval;
    void *value;
    bool number; /* set in Fortran: C sees its address (MPI 3.1 section 17.2.7) */
    struct pf_attributes *next;
};

/* Is the call that runs one of Fortran, where an attribute is a number? Ends that state. */
static bool called_in_fortran(struct pf_rank *r)
{
    bool is = r->fortran_attribute;
    r->fortran_attribute = false;
    return is;
}

static void *seen_from_c(struct pf_attributes *attribute)
{
    return attribute->number ? &attribute->value : attribute->value;
}

static void *seen_by_callbacks(struct pf_attributes *attribute)
{
    return attribute->keyval->fortran ? attribute->value : seen_from_c(attribute);
}

static struct pf_keyval *find_keyval(struct pf_rank *r, enum pf_attribute_kind kind, int number)
{
    struct pf_keyval *keyval;
    HASH_FIND_INT(pf_rank_objects(r)->keyvals, &number, keyval);
    return keyval && keyval->kind == kind ? keyval : NULL;
}

static void release_keyval(struct pf_keyval *keyval)
{
    if (--keyval->references > 0)
        return;
    HASH_DEL(*keyval->table, keyval);
    free(keyval);
}

int pf_keyval_create(struct pf_rank *r, enum pf_attribute_kind kind, union pf_attribute_copy copy,
                     union pf_attribute_delete drop, void *extra_state, int *number)
{
    struct pf_rank_objects *objects = pf_rank_objects(r);
    struct pf_keyval *keyval = calloc(1, sizeof *keyval);
    if (!keyval)
        return MPI_ERR_NO_MEM;
    if (objects->last_keyval < FIRST_KEYVAL)
        objects->last_keyval = FIRST_KEYVAL;
    keyval->number = ++objects->last_keyval;
    keyval->kind = kind;
    keyval->copy = copy;
    keyval->drop = drop;
    keyval->extra_state = extra_state;
    keyval->fortran = called_in_fortran(r);
    keyval->references = 1;
    keyval->table = &objects->keyvals;
    HASH_ADD_INT(objects->keyvals, number, keyval);
    *number = keyval->number;
    return MPI_SUCCESS;
}

int pf_keyval_free(struct pf_rank *r, enum pf_attribute_kind kind, int *number)
{
    struct pf_keyval *keyval = find_keyval(r, kind, *number);
    if (!keyval)
        return MPI_ERR_KEYVAL;
    *number = MPI_KEYVAL_INVALID;
    if (keyval->freed)
        return MPI_SUCCESS;
    keyval->freed = true;
    release_keyval(keyval);
    return MPI_SUCCESS;
}

/* The null and dup functions are small numbers, not code. */
static bool is_null_function(const void *function)
{
    return function == NULL;
}

static bool is_dup_function(const void *function)
{
    return function == (const void *)(uintptr_t)1;
}

static int call_copy(struct pf_attributes *from, const void *handle, void **value, int *flag)
{
    struct pf_keyval *keyval = from->keyval;
    void *old = (void *)(uintptr_t)handle, *in = seen_by_callbacks(from);
    switch (keyval->kind) {
    case PF_ATTRIBUTE_COMM:
        return keyval->copy.comm((MPI_Comm)old, keyval->number, keyval->extra_state, in, value, flag);
    case PF_ATTRIBUTE_TYPE:
        return keyval->copy.type((MPI_Datatype)old, keyval->number, keyval->extra_state, in, value, flag);
    default:
        return keyval->copy.win((MPI_Win)old, keyval->number, keyval->extra_state, in, value, flag);
    }
}

static int call_delete(struct pf_attributes *attribute, const void *handle)
{
    struct pf_keyval *keyval = attribute->keyval;
    void *object = (void *)(uintptr_t)handle, *value = seen_by_callbacks(attribute);
    if (is_null_function((const void *)keyval->drop.comm))
        return MPI_SUCCESS;
    switch (keyval->kind) {
    case PF_ATTRIBUTE_COMM:
        return keyval->drop.comm((MPI_Comm)object, keyval->number, value, keyval->extra_state);
    case PF_ATTRIBUTE_TYPE:
        return keyval->drop.type((MPI_Datatype)object, keyval->number, value, keyval->extra_state);
    default:
        return keyval->drop.win((MPI_Win)object, keyval->number, value, keyval->extra_state);
    }
}

/* Puts a new attribute in front. */
static int push(struct pf_attributes **attributes, struct pf_keyval *keyval, void *value, bool number)
{
    struct pf_attributes *attribute = malloc(sizeof *attribute);
    if (!attribute)
        return MPI_ERR_NO_MEM;
    *attribute = (struct pf_attributes){keyval, value, number, *attributes};
    keyval->references++;
    *attributes = attribute;
    return MPI_SUCCESS;
}

static void drop_silently(struct pf_attributes *attribute)
{
    release_keyval(attribute->keyval);
    free(attribute);
}

/* Copies one attribute if its callback wants it. */
static int copy_one(struct pf_attributes *from, const void *old_handle, struct pf_attributes **to)
{
    struct pf_keyval *keyval = from->keyval;
    const void *function = (const void *)keyval->copy.comm;
    void *value = NULL;
    int flag = 0, error = MPI_SUCCESS;
    bool number = keyval->fortran;
    if (is_dup_function(function)) {
        value = from->value;
        number = from->number;
        flag = 1;
    } else if (!is_null_function(function)) {
        error = call_copy(from, old_handle, &value, &flag);
    }
    return error || !flag ? error : push(to, keyval, value, number);
}

/* Oldest first, so that the copies are in the same order. */
static int copy_rest(struct pf_attributes *from, const void *old_handle, struct pf_attributes **to)
{
    if (!from)
        return MPI_SUCCESS;
    int error = copy_rest(from->next, old_handle, to);
    return error ? error : copy_one(from, old_handle, to);
}

int pf_attributes_copy(struct pf_attributes *from, const void *old_handle, struct pf_attributes **to)
{
    int error = copy_rest(from, old_handle, to);
    while (error &&
           *to) { /* the new object will not exist, so there is nothing to call delete functions with */
        struct pf_attributes *attribute = *to;
        *to = attribute->next;
        drop_silently(attribute);
    }
    return error;
}

/* Takes the attribute out while its callback runs, which may change the list; puts it back when that
 * fails. */
static int delete_at(struct pf_attributes **attributes, struct pf_attributes **at, const void *handle)
{
    struct pf_attributes *attribute = *at;
    *at = attribute->next;
    int error = call_delete(attribute, handle);
    if (error) {
        attribute->next = *attributes;
        *attributes = attribute;
        return error;
    }
    drop_silently(attribute);
    return MPI_SUCCESS;
}

int pf_attributes_delete_all(struct pf_attributes **attributes, const void *handle)
{
    while (*attributes) {
        int error = delete_at(attributes, attributes, handle);
        if (error)
            return error;
    }
    return MPI_SUCCESS;
}

static struct pf_attributes **find(struct pf_attributes **attributes, const struct pf_keyval *keyval)
{
    while (*attributes && (*attributes)->keyval != keyval)
        attributes = &(*attributes)->next;
    return attributes;
}

int pf_attribute_set(struct pf_rank *r, enum pf_attribute_kind kind, struct pf_attributes **attributes,
                     const void *handle, int number, void *value)
{
    struct pf_keyval *keyval = find_keyval(r, kind, number);
    bool fortran = called_in_fortran(r);
    if (!keyval || keyval->freed)
        return MPI_ERR_KEYVAL;
    struct pf_attributes **old = find(attributes, keyval);
    if (*old) {
        int error = delete_at(attributes, old, handle);
        if (error)
            return error;
    }
    return push(attributes, keyval, value, fortran);
}

int pf_attribute_get(struct pf_rank *r, enum pf_attribute_kind kind, struct pf_attributes *attributes,
                     int number, void **value, int *flag)
{
    struct pf_keyval *keyval = find_keyval(r, kind, number);
    bool fortran = called_in_fortran(r);
    if (!keyval)
        return MPI_ERR_KEYVAL;
    struct pf_attributes *found = *find(&attributes, keyval);
    *flag = found != NULL;
    if (found)
        *value = fortran ? found->value : seen_from_c(found);
    return MPI_SUCCESS;
}

int pf_attribute_delete(struct pf_rank *r, enum pf_attribute_kind kind, struct pf_attributes **attributes,
                        const void *handle, int number)
{
    struct pf_keyval *keyval = find_keyval(r, kind, number);
    if (!keyval)
        return MPI_ERR_KEYVAL;
    struct pf_attributes **found = find(attributes, keyval);
    return *found ? delete_at(attributes, found, handle) : MPI_SUCCESS;
}
