/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the library of this test, `self` is the implementation behind model `analytic`, under its number: linked
 * with --wrap, so that no table of the real library knows of it.
 */
#include "self_adapter.h"

const struct pf_adapter *__real_pf_adapter_get(enum pf_impl impl);
const struct pf_adapter *__wrap_pf_adapter_get(enum pf_impl impl);

const struct pf_adapter *__wrap_pf_adapter_get(enum pf_impl impl)
{
    return impl == PF_IMPL_ANALYTIC ? &pf_self_adapter : __real_pf_adapter_get(impl);
}
