/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory descriptors: PtlMDBind and PtlMDRelease. */
#include "lowlevel/portals/internal.h"

static struct pf_pool descriptors = PF_POOL(struct ptl_md);

int PtlMDBind(ptl_handle_ni_t ni_handle, const ptl_md_t *md, ptl_handle_md_t *md_handle)
{
    struct ptl_ni *ni = ptl_object(ni_handle, PTL_KIND_NI);
    if (!ni || !md || !md_handle || (md->options & ~PTL_MD_OPTIONS_MASK))
        return ptl_invalid();
    struct ptl_eq *eq = NULL;
    struct ptl_ct *ct = NULL;
    if (md->eq_handle != PTL_EQ_NONE && !(eq = ptl_object(md->eq_handle, PTL_KIND_EQ)))
        return PTL_ARG_INVALID;
    if (md->ct_handle != PTL_CT_NONE && !(ct = ptl_object(md->ct_handle, PTL_KIND_CT)))
        return PTL_ARG_INVALID;
    if ((eq && eq->ni != ni) || (ct && ct->ni != ni))
        return PTL_ARG_INVALID;
    if ((md->options & PTL_IOVEC) && (!md->start || md->length > (ptl_size_t)ni->limits.max_iovecs))
        return PTL_ARG_INVALID;
    if (ni->md_count >= ni->limits.max_mds)
        return PTL_NO_SPACE;
    struct ptl_md *object = pf_pool_get(&descriptors);
    *object = (struct ptl_md){.ni = ni, .md = *md, .eq = eq, .ct = ct};
    struct ptl_memory memory = ptl_md_memory(object);
    object->length = ptl_memory_length(&memory);
    object->handle = ptl_handle_new(ni->process, PTL_KIND_MD, object);
    ni->md_count++;
    *md_handle = object->handle;
    return PTL_OK;
}

int PtlMDRelease(ptl_handle_md_t md_handle)
{
    struct ptl_md *md = ptl_object(md_handle, PTL_KIND_MD);
    if (!md)
        return ptl_invalid();
    if (md->pending > 0)
        return ptl_in_use(md->ni->process, "PtlMDRelease", PTL_IN_USE);
    md->ni->md_count--;
    ptl_handle_free(md->ni->process, md_handle);
    pf_pool_put(&descriptors, md);
    return PTL_OK;
}
