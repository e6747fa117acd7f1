/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocols: which messages bring data from a send to its receive. Short data go with the command to the
 * NIC, longer ones through a buffer of UCX (bcopy) or, read by the NIC where they are, without a copy
 * (zcopy). The longest wait for their receiver: it reads them from the sender's memory (rendezvous by get)
 * or, if they are not in one piece on both sides, has them sent.
 */
#include "base/memory.h"
#include "lowlevel/ucx/internal.h"

/*
 * Long data go in pieces of the size of UCX's buffers, so that the copies of one overlap with the way of
 * another. All are in the first message from the beginning, where no rank sees them before the last has come.
 */
void ucx_protocol_send(struct ucx_message *head)
{
    struct ucx_process *process = head->from->process;
    struct ucp_worker *from = head->from, *to = head->to;
    struct ucp_request *send = head->send;
    size_t left = head->length, most = ucx_is_short(left) ? left : pf_ucx_settings()->seg_size;
    bool acked = head->zcopy && !head->sync, copies = !head->zcopy && !ucx_is_short(left);
    uint8_t network = head->nic.transfer.network;
    for (struct ucx_message *m = head;;) {
        m->part = left < most ? left : most;
        left -= m->part;
        m->acked = acked && left == 0;
        if (copies)
            ucx_process_copy(process, m->part);
        ucx_message_post(m);
        if (left == 0)
            return;
        m = ucx_message_new(UCX_PIECE, from, to);
        m->nic.transfer.network = network;
        m->head = head;
        m->send = send;
    }
}

/* So many bytes have come for a receive that knows its message, or of an active message. */
static void receive_part(struct ucx_message *m, size_t part)
{
    struct ucp_request *recv = m->recv;
    ucx_process_copy(m->place->process, part);
    if (m->come < m->length)
        return;
    if (m->kind == UCX_AM) {
        ucx_am_arrived(m);
        ucx_message_free(m);
        return;
    }
    ucs_status_t status = ucx_data_unpack(&recv->data, m->bytes, m->length);
    if (m->sync)
        ucx_message_post(ucx_message_answer(UCX_DONE, m));
    ucx_message_free(m);
    ucx_request_complete(recv, status);
}

static void receive_piece(const struct ucx_message *m)
{
    struct ucx_message *head = m->head;
    head->come += m->part;
    if (head->recv || head->kind == UCX_AM)
        receive_part(head, m->part);
}

/* The sender waits for news in any case, also where its data do not fit. */
static void meet_rendezvous(struct ucx_message *m)
{
    struct ucp_request *recv = m->recv;
    bool pieces = ucx_data_is_contiguous(&recv->data) && ucx_data_is_contiguous(&m->send->data);
    bool fits = m->length <= ucx_data_length(&recv->data);
    struct ucx_message *next = ucx_message_answer(!fits ? UCX_DONE : pieces ? UCX_FETCH : UCX_RTR, m);
    next->source = m->send->data.buffer;
    next->target = recv->data.buffer;
    ucx_process_pay(m->place->process, pieces ? pf_config.ucx_reg_time : 0);
    ucx_message_free(m);
    ucx_message_post(next);
    if (!fits)
        ucx_request_complete(recv, UCS_ERR_MESSAGE_TRUNCATED);
}

void ucx_protocol_meets(struct ucx_message *m, struct ucp_request *recv)
{
    m->recv = recv;
    recv->info = (ucp_tag_recv_info_t){m->tag, m->length};
    ucx_process_pay(m->place->process, pf_config.openmpi_receive_time);
    if (m->kind == UCX_RTS)
        meet_rendezvous(m);
    else
        receive_part(m, m->come);
}

/* The receiver has asked for data that the NIC cannot read. */
static void send_data(const struct ucx_message *cause)
{
    struct ucx_message *m = ucx_message_answer(UCX_DATA, cause);
    struct ucp_request *send = m->send;
    m->bytes = pf_malloc(m->length ? m->length : 1);
    ucx_data_pack(&send->data, m->bytes, m->length);
    ucx_protocol_send(m);
    ucx_request_complete(send, UCS_OK);
}

void ucx_protocol_handle(struct ucx_message *m)
{
    struct ucp_request *request = m->recv;
    switch (m->kind) {
    case UCX_EAGER: /* matched first */
    case UCX_RTS:
    case UCX_WRITE: /* the NIC has ended it */
        return;
    case UCX_DATA:
    case UCX_AM:
        m->come = m->part;
        receive_part(m, m->part);
        return;
    case UCX_PIECE:
        receive_piece(m);
        break;
    case UCX_RTR:
        send_data(m);
        break;
    case UCX_FETCH: /* with the data */
        ucx_message_post(ucx_message_answer(UCX_DONE, m));
        ucx_request_complete(request, UCS_OK);
        break;
    case UCX_READ:
    case UCX_ATOMIC: /* with the value before */
        ucx_rma_done(m);
        break;
    case UCX_DONE:
        if (m->ep)
            ucx_rma_done(m);
        else
            ucx_request_complete(m->send, UCS_OK);
        break;
    }
    ucx_message_free(m);
}
