/* SPDX-License-Identifier: BSD-3-Clause */
/* What a routing may look at in a router. */
#include "lowlevel/network/packet/state.h"

static int64_t queued(void *of, int32_t port, int vc)
{
    struct packet_view *view = of;
    int32_t output = view->first_port + port;
    int64_t taken = pf_packet_channel_taken(view->sim, output, vc);
    return view->sim->settings.sees_credits_only ? taken : taken + view->sim->outputs[output].waiting_bytes;
}

struct pf_packet_load pf_packet_view(struct pf_packet_sim *sim, int32_t router, struct packet_view *view)
{
    *view = (struct packet_view){sim, sim->vertex[router].first_port};
    return (struct pf_packet_load){sizeof(struct pf_packet_load), queued, view};
}

void pf_packet_begin(struct pf_packet_sim *sim, int32_t router, struct pf_packet *p)
{
    struct packet_view view;
    struct pf_packet_load load = pf_packet_view(sim, router, &view);
    sim->routing->ops->begin(sim->routing, &load, &p->path);
}
