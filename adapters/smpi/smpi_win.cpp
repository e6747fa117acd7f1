/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constructor of SMPI's windows gathers the members' pointers to each other, and the destructor and a
 * fence contain barriers. SMPI finds its collectives through variables, so they lead here once a shadow is
 * needed. For an actor that is making a shadow, they answer without communication; for all others they go on
 * to SMPI's own.
 */
#include "adapters/smpi/smpi_win.h"

#include <unordered_set>

#include <simgrid/actor.h>
#include <smpi/smpi.h>

#include "lowlevel/simgrid/private.h"
#include "lowlevel/simgrid/room.h"

namespace
{

using simgrid::smpi::Win;

int (*stock_barrier)(MPI_Comm);
int (*stock_allgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);

/* While it exists, the collectives of the calling actor are local. Others may run meanwhile: SMPI's locks are
 * calls to the simulator. */
class Alone
{
    aid_t actor_ = sg_actor_self_get_pid();
    Alone *next_;
    static Alone *first;

  public:
    const pf_win_recipe *recipe;

    explicit Alone(const pf_win_recipe *given) : next_(first), recipe(given)
    {
        install();
        first = this;
        smpi_bench_end(); // what happens here is not the application's computation
    }
    ~Alone()
    {
        smpi_bench_begin();
        Alone **link = &first;
        while (*link != this)
            link = &(*link)->next_;
        *link = next_;
    }
    Alone(const Alone &) = delete;
    Alone &operator=(const Alone &) = delete;

    static Alone *mine()
    {
        if (!first)
            return nullptr;
        aid_t self = sg_actor_self_get_pid();
        for (Alone *one = first; one; one = one->next_)
            if (one->actor_ == self)
                return one;
        return nullptr;
    }

  private:
    static void install();
};

Alone *Alone::first;

int barrier(MPI_Comm comm)
{
    return Alone::mine() ? MPI_SUCCESS : stock_barrier(comm);
}

/* The members' windows and their arrays of all members' windows stand on the board; each new one is
 * entered at the others, and they at it. */
int allgather(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
              MPI_Datatype to_type, MPI_Comm comm)
{
    const Alone *alone = Alone::mine();
    if (!alone)
        return stock_allgather(from, from_count, from_type, to, to_count, to_type, comm);
    const pf_win_recipe *recipe = alone->recipe;
    void *win = *static_cast<void *const *>(from);
    auto **wins = static_cast<void **>(to);
    recipe->board[2 * recipe->me] = win;
    recipe->board[2 * recipe->me + 1] = wins;
    for (int i = 0; i < recipe->members; i++) {
        auto **theirs = static_cast<void **>(recipe->board[2 * i + 1]);
        if (!theirs)
            continue;
        wins[i] = recipe->board[2 * i];
        theirs[recipe->me] = win;
    }
    return MPI_SUCCESS;
}

void Alone::install()
{
    if (stock_barrier)
        return;
    stock_barrier = simgrid::smpi::colls::barrier;
    stock_allgather = simgrid::smpi::colls::allgather;
    simgrid::smpi::colls::barrier = barrier;
    simgrid::smpi::colls::allgather = allgather;
}

/* Windows, a rank's each, that count fences as open: an epoch of another kind would count against these. */
std::unordered_set<const void *> fenced;

} // namespace

extern "C" void *pf_smpi_win_new(const struct pf_win_recipe *recipe)
{
    Alone alone(recipe);
    if (recipe->dynamic)
        return pf_simgrid_new<Win>("window", MPI_BOTTOM, 0, 1, MPI_INFO_NULL,
                                   static_cast<MPI_Comm>(recipe->comm), false, true);
    return pf_simgrid_new<Win>("window", recipe->base, static_cast<MPI_Aint>(recipe->size), recipe->disp_unit,
                               MPI_INFO_NULL, static_cast<MPI_Comm>(recipe->comm), false, false);
}

extern "C" void pf_smpi_win_open(void *win)
{
    Alone alone(nullptr);
    static_cast<Win *>(win)->fence(MPI_MODE_NOPRECEDE);
    fenced.insert(win);
}

extern "C" void pf_smpi_win_fenced(const void *win, bool open)
{
    if (open)
        fenced.insert(win);
    else
        fenced.erase(win);
}

extern "C" void pf_smpi_win_close(void *win)
{
    if (!fenced.erase(win))
        return;
    Alone alone(nullptr);
    static_cast<Win *>(win)->fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
}

extern "C" void pf_smpi_win_free(void *win)
{
    fenced.erase(win);
    Alone alone(nullptr);
    Win::del(static_cast<Win *>(win));
}

extern "C" int pf_smpi_win_share(void *handle)
{
    void *pointer = nullptr;
    auto *comm = static_cast<MPI_Comm>(handle);
    smpi_bench_end();
    int code = simgrid::smpi::colls::bcast(&pointer, sizeof pointer, MPI_BYTE, 0, comm);
    if (code == MPI_SUCCESS)
        code = simgrid::smpi::colls::barrier(comm);
    smpi_bench_begin();
    return code;
}
