/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication matrix in the summary. */
#include "middleware/summary/communication.h"

#include <limits.h>
#include <stdlib.h>

#include "adapters/model.h"
#include "base/config.h"
#include "lowlevel/network/traffic.h"
#include "middleware/account/accounting.h"

void pf_communication_begin(int ranks)
{
    if (pf_config.analytic_explain && (*pf_config.report || *pf_config.summary))
        pf_traffic_begin(ranks);
}

static json_t *contents(void)
{
    struct pf_account_row *rows;
    size_t count = pf_account_rows(&rows, 0, INT_MAX);
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        const char *model = pf_model_name(rows[i].model);
        json_object_set_new(object, model,
                            json_string(*pf_model_network(rows[i].model)
                                            ? "whatever NICs send: collectives, windows and protocols too"
                                            : "what the program itself sends: what collectives and windows "
                                              "send inside is not seen in this model"));
    }
    free(rows);
    return object;
}

json_t *pf_communication_json(void)
{
    const struct pf_traffic *t = pf_traffic;
    if (!t)
        return NULL;
    json_t *sent = json_array();
    for (int from = 0; from < t->rows; from++) {
        for (int to = 0; to < t->rows; to++) {
            const struct pf_traffic_cell *cell = &t->cells[from * t->rows + to];
            if (cell->messages)
                json_array_append_new(sent, json_pack("[i, i, I, I]", from, to, (json_int_t)cell->messages,
                                                      (json_int_t)cell->bytes));
        }
    }
    return json_pack("{s:i, s:o, s:o}", "ranks_in_row", t->each, "contains", contents(), "sent", sent);
}
