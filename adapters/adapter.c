/* SPDX-License-Identifier: BSD-3-Clause */
/* Which adapter serves an implementation, and the fillers for operations that an adapter does without. */
#include "adapters/adapter.h"

#include "adapters/analytic/analytic_adapter.h"
#include "adapters/openmpi/openmpi_adapter.h"
#include "adapters/smpi/smpi_adapter.h"
#include "base/error.h"
#include "base/log.h"

const struct pf_adapter *pf_adapter_get(enum pf_impl impl)
{
    static const struct pf_adapter *const adapters[PF_IMPL_COUNT] = {
        [PF_IMPL_SMPI] = &pf_smpi_adapter,
        [PF_IMPL_OPENMPI] = &pf_openmpi_adapter,
        [PF_IMPL_ANALYTIC] = &pf_analytic_adapter,
    };
    const struct pf_adapter *adapter = adapters[impl];
    if (adapter->abi != PF_ADAPTER_ABI || adapter->ops->size != sizeof *adapter->ops)
        pf_die("the adapter '%s' was built for interface %u, but this middleware has %u; rebuild it",
               adapter->name, adapter->abi, PF_ADAPTER_ABI);
    return adapter;
}

int pf_adapter_no_start(struct pf_instance *in)
{
    (void)in;
    return PF_SUCCESS;
}

double pf_adapter_no_debt(const struct pf_instance *in)
{
    (void)in;
    return 0.0;
}

void pf_adapter_no_hook(struct pf_instance *in)
{
    (void)in;
}

int pf_adapter_no_intercomm(struct pf_instance *in, const struct pf_intercomm_recipe *recipe, void **native)
{
    (void)in, (void)recipe, (void)native;
    return PF_ERR_UNSUPPORTED;
}

bool pf_adapter_no_comm_kept(struct pf_instance *in, int id)
{
    (void)in, (void)id;
    return false;
}
