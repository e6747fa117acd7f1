/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of a derived datatype of SMPI as rows of equal blocks, found once and kept as long as the type
 * lives. SMPI walks through the tree of the type for each item, and a face of a cube has as many blocks as
 * points.
 */
#include "adapters/local/types.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <simgrid/s4u/Actor.hpp>
#include <smpi/smpi.h>

namespace
{

/* Equal blocks in equal steps. */
struct row {
    ptrdiff_t offset, step;
    size_t bytes, count;
};

constexpr size_t most_rows = 1 << 16;

struct layout {
    ptrdiff_t extent = 0;
    std::vector<row> rows;
    bool usable = true;
};

/* The last one that was asked for: of all types a program uses a few, again and again. */
constexpr size_t slots = 64;

struct {
    MPI_Datatype type;
    const layout *found;
} lately[slots];

size_t slot_of(MPI_Datatype type)
{
    return (reinterpret_cast<uintptr_t>(type) >> 4 ^ reinterpret_cast<uintptr_t>(type) >> 10) % slots;
}

/* The layout is an attribute of the type: SMPI calls this when it deletes the type. */
int forget(MPI_Datatype type, int, void *value, void *)
{
    lately[slot_of(type)] = {};
    delete static_cast<layout *>(value);
    return MPI_SUCCESS;
}

int key()
{
    static int made = MPI_KEYVAL_INVALID;
    if (made == MPI_KEYVAL_INVALID)
        PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &made, nullptr);
    return made;
}

bool follows(const row &before, const row &next)
{
    return before.bytes == next.bytes && next.count == 1 &&
           (before.count == 1 ||
            next.offset == before.offset + static_cast<ptrdiff_t>(before.count) * before.step);
}

/* The last row is complete: it may be the next block of the one before. */
void close_row(std::vector<row> &rows)
{
    if (rows.size() < 2 || !follows(rows[rows.size() - 2], rows.back()))
        return;
    row &before = rows[rows.size() - 2];
    if (before.count++ == 1)
        before.step = rows.back().offset - before.offset;
    rows.pop_back();
}

void add_block(std::vector<row> &rows, ptrdiff_t offset, size_t bytes)
{
    if (!rows.empty() && rows.back().count == 1 &&
        offset == rows.back().offset + static_cast<ptrdiff_t>(rows.back().bytes)) {
        rows.back().bytes += bytes;
        return;
    }
    if (!rows.empty())
        close_row(rows);
    rows.push_back({offset, 0, bytes, 1});
}

std::vector<row> *walked; /* pf_local_type_walk() gives no context, and no other actor runs before it ends */

void take_block(ptrdiff_t offset, int items, void *basic)
{
    size_t bytes = pf_local_type_size(basic) * static_cast<size_t>(items);
    if (bytes > 0 && walked->size() <= 2 * most_rows)
        add_block(*walked, offset, bytes);
}

/* Whether two items are where the rows of one and the extent say. */
bool is_double(const layout &one, std::vector<row> two)
{
    std::vector<row> expected = one.rows;
    size_t bytes = 0, again = 0;
    for (const row &r : one.rows)
        bytes += r.bytes * r.count;
    for (const row &r : two)
        again += r.bytes * r.count;
    if (again != 2 * bytes)
        return false;
    for (const row &r : one.rows)
        for (size_t i = 0; i < r.count; i++)
            add_block(expected, r.offset + static_cast<ptrdiff_t>(i) * r.step + one.extent, r.bytes);
    close_row(expected);
    close_row(two);
    return expected.size() == two.size() &&
           (two.empty() || memcmp(expected.data(), two.data(), two.size() * sizeof(row)) == 0);
}

layout *make(MPI_Datatype type)
{
    auto made = std::make_unique<layout>();
    std::vector<row> two;
    made->extent = pf_local_type_extent(type);
    walked = &made->rows;
    pf_local_type_walk(type, 1, take_block);
    walked = &two;
    if (made->rows.size() <= most_rows)
        pf_local_type_walk(type, 2, take_block);
    walked = nullptr;
    made->usable = made->rows.size() <= most_rows && is_double(*made, two);
    close_row(made->rows);
    if (!made->usable)
        made->rows = {};
    return made.release();
}

/* nullptr: it is not known, and the caller is no rank, so that SMPI makes no objects. */
const layout *layout_of(MPI_Datatype type)
{
    auto &last = lately[slot_of(type)];
    if (last.type == type)
        return last.found;
    if (simgrid::s4u::this_actor::is_maestro())
        return nullptr;
    layout *found = nullptr;
    int known = 0;
    PMPI_Type_get_attr(type, key(), &found, &known);
    if (!known) {
        found = make(type);
        PMPI_Type_set_attr(type, key(), found);
    }
    last = {type, found};
    return found;
}

template <size_t bytes> void gather(const char *from, const row &r, char *to)
{
    for (size_t i = 0; i < r.count; i++)
        memcpy(to + i * bytes, from + static_cast<ptrdiff_t>(i) * r.step, bytes);
}

template <size_t bytes> void scatter(const char *from, const row &r, char *to)
{
    for (size_t i = 0; i < r.count; i++)
        memcpy(to + static_cast<ptrdiff_t>(i) * r.step, from + i * bytes, bytes);
}

void gather_row(const char *from, const row &r, char *to)
{
    if (r.bytes == 8)
        return gather<8>(from, r, to);
    if (r.bytes == 4)
        return gather<4>(from, r, to);
    for (size_t i = 0; i < r.count; i++)
        memcpy(to + i * r.bytes, from + static_cast<ptrdiff_t>(i) * r.step, r.bytes);
}

void scatter_row(const char *from, const row &r, char *to)
{
    if (r.bytes == 8)
        return scatter<8>(from, r, to);
    if (r.bytes == 4)
        return scatter<4>(from, r, to);
    for (size_t i = 0; i < r.count; i++)
        memcpy(to + static_cast<ptrdiff_t>(i) * r.step, from + i * r.bytes, r.bytes);
}

/* Calls move(offset in the items, row, bytes packed before it) for each row. */
template <typename Move> bool move_rows(void *handle, int count, Move move)
{
    const layout *found = layout_of(static_cast<MPI_Datatype>(handle));
    size_t done = 0;
    if (!found || !found->usable)
        return false;
    for (int item = 0; item < count; item++)
        for (const row &r : found->rows) {
            move(item * found->extent + r.offset, r, done);
            done += r.bytes * r.count;
        }
    return true;
}

/* By number, because the address may be MPI_BOTTOM. */
uintptr_t place(const void *base, ptrdiff_t offset)
{
    return reinterpret_cast<uintptr_t>(base) + static_cast<uintptr_t>(offset);
}

} // namespace

/* Where a layout is too long for that, or SMPI's items do not follow each other by the extent: its way. */
extern "C" void pf_local_type_serialize(void *type, int count, const void *from, void *packed)
{
    auto gather = [&](ptrdiff_t offset, const row &r, size_t done) {
        gather_row(reinterpret_cast<const char *>(place(from, offset)), r,
                   static_cast<char *>(packed) + done);
    };
    if (!pf_local_type_is_derived(type) || !move_rows(type, count, gather))
        pf_local_type_serialize_by_tree(type, count, from, packed);
}

extern "C" void pf_local_type_unpack(void *type, int count, const void *packed, void *to)
{
    auto scatter = [&](ptrdiff_t offset, const row &r, size_t done) {
        scatter_row(static_cast<const char *>(packed) + done, r, reinterpret_cast<char *>(place(to, offset)));
    };
    if (!pf_local_type_is_derived(type) || !move_rows(type, count, scatter))
        pf_local_type_unpack_by_tree(type, count, packed, to);
}
