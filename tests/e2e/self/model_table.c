/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Into the library of this test, model `analytic` is the implementation `self`: linked with --wrap, so that
 * no table of the real library knows of it.
 */
#include "adapters/self/self_adapter.h"
#include "adapters/model.h"

const struct pf_adapter *__real_pf_adapter_get(enum pf_impl impl);
const struct pf_adapter *__wrap_pf_adapter_get(enum pf_impl impl);
int __real_pf_model_impl(enum pf_model model);
int __wrap_pf_model_impl(enum pf_model model);

const struct pf_adapter *__wrap_pf_adapter_get(enum pf_impl impl)
{
    return impl == PF_IMPL_SELF ? &pf_self_adapter : __real_pf_adapter_get(impl);
}

int __wrap_pf_model_impl(enum pf_model model)
{
    return model == PF_MODEL_ANALYTIC ? PF_IMPL_SELF : __real_pf_model_impl(model);
}
