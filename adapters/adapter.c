/* SPDX-License-Identifier: BSD-3-Clause */
/* Which adapter serves an implementation. */
#include "adapters/adapter.h"

#include "base/log.h"

const struct pf_adapter *pf_adapter_get(enum pf_impl impl)
{
    static const struct pf_adapter *const adapters[PF_IMPL_COUNT] = {
        [PF_IMPL_SMPI] = &pf_smpi_adapter,         [PF_IMPL_OPENMPI] = &pf_openmpi_adapter,
        [PF_IMPL_ANALYTIC] = &pf_analytic_adapter, [PF_IMPL_UCX] = &pf_openmpi_ucx_adapter,
        [PF_IMPL_MPICH] = &pf_mpich_adapter,
    };
    const struct pf_adapter *adapter = adapters[impl];
    if (adapter->abi != PF_ADAPTER_ABI || adapter->ops->size != sizeof *adapter->ops)
        pf_die("the adapter '%s' was built for interface %u, but this middleware has %u; rebuild it",
               adapter->name, adapter->abi, PF_ADAPTER_ABI);
    return adapter;
}
