/* SPDX-License-Identifier: BSD-3-Clause */
/* For operations that an adapter does without. */
#include "adapters/adapter.h"
#include "base/error.h"

int pf_adapter_no_start(struct pf_instance *in)
{
    return PF_SUCCESS;
}

double pf_adapter_no_debt(const struct pf_instance *in)
{
    return 0.0;
}

void pf_adapter_no_hook(struct pf_instance *in)
{
}

int pf_adapter_no_intercomm(struct pf_instance *in, const struct pf_intercomm_recipe *recipe, void **native)
{
    return PF_ERR_UNSUPPORTED;
}

bool pf_adapter_no_comm_kept(struct pf_instance *in, int id)
{
    return false;
}
