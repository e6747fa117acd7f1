/* SPDX-License-Identifier: BSD-3-Clause */
/* Every layout of private.h against the library: each member that is used, or one behind it. */
#include "lowlevel/simgrid/check.h"

#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <malloc.h>

#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <simgrid/s4u/Io.hpp>
#include <smpi/smpi.h>

#include "lowlevel/simgrid/private.h"

namespace
{

namespace views = pf_simgrid;
using simgrid::smpi::Datatype, simgrid::smpi::Op;

/* Notes the first difference; what follows it may follow from it. */
class Report
{
    char *why_;
    size_t room_;
    bool good_ = true;

  public:
    Report(char *why, size_t room) : why_(why), room_(room)
    {
    }
    bool good() const
    {
        return good_;
    }
    void same(const char *what, long long found, long long expected)
    {
        if (found != expected && good_)
            snprintf(why_, room_,
                     "this SimGrid is not the %d.%d that Parfocal was built for: %s is %lld, but %lld was "
                     "expected; install the package " PF_SIMGRID_PACKAGE
                     " of the distribution, or build Parfocal again",
                     PF_SIMGRID_MAJOR, PF_SIMGRID_MINOR, what, found, expected);
        good_ = good_ && found == expected;
    }
    void same(const char *what, const void *found, const void *expected)
    {
        same(what, reinterpret_cast<long long>(found), reinterpret_cast<long long>(expected));
    }
    /* What may be no text at all is not read further than its length is right. */
    void same(const char *what, const std::string &found, const char *expected)
    {
        same(what, static_cast<long long>(found.size()), static_cast<long long>(strlen(expected)));
        if (good_)
            same(what, memcmp(found.data(), expected, found.size()), 0);
    }
};

void check_state(Report &report, const simgrid::kernel::activity::ActivityImpl *activity,
                 views::activity *view)
{
    int before = view->state;
    for (const auto &known : views::activity_states) {
        view->state = known.state;
        bool same = strcmp(activity->get_state_str(), known.name) == 0;
        view->state = before;
        report.same("the name of an activity's state", same, true);
    }
}

views::actor *self()
{
    return reinterpret_cast<views::actor *>(simgrid::kernel::actor::ActorImpl::self());
}

/* Of the kind that needs nothing of the platform until it starts. It joins those of the calling actor, where
 * it would stay. */
void check_activity(Report &report)
{
    auto &list = self()->communications;
    size_t others = list.size();
    auto io = simgrid::s4u::Io::init();
    auto *activity = io->get_impl();
    auto *view = reinterpret_cast<views::activity *>(activity);
    report.same("the length of an actor's list", static_cast<long long>(list.size() - others), 1);
    if (!report.good())
        return;
    report.same("an activity's being in an actor's list", list.has(activity), true);
    auto references = view->references;
    intrusive_ptr_add_ref(activity);
    report.same("the count of an activity's references", view->references, references + 1);
    intrusive_ptr_release(activity);
    check_state(report, activity, view);
    list.remove(activity);
}

void check_actor(Report &report)
{
    auto *actor = sg_actor_self();
    const auto *view = self();
    report.same("an actor's name", view->name, sg_actor_get_name(actor));
    report.same("an actor's number", view->pid, sg_actor_get_pid(actor));
    report.same("the number of an actor's parent", view->parent, sg_actor_get_ppid(actor));
    report.same("an actor's host", view->host, sg_actor_get_host(actor));
    report.same("an actor's being a daemon", view->daemon, sg_actor_is_daemon(actor));
}

/* The place of a virtual function in the table, as the compiler has understood its declaration. */
template <typename Member> size_t slot_of(Member member)
{
    size_t word;
    static_assert(sizeof member == 2 * sizeof word, "a pointer to a member as the C++ ABI of gcc has it");
    memcpy(&word, &member, sizeof word);
    return 2 + (word - 1) / sizeof(void *); /* two words come before the functions */
}

void check_virtual(Report &report)
{
    auto *const *table = static_cast<void *const *>(dlsym(RTLD_DEFAULT, views::datatype_table));
    report.same("the table of a datatype's virtual functions", table != nullptr, true);
    if (!table)
        return;
    report.same("Datatype::clone", table[slot_of(&Datatype::clone)],
                dlsym(RTLD_DEFAULT, views::datatype_clone));
    report.same("Datatype::serialize", table[slot_of(&Datatype::serialize)],
                dlsym(RTLD_DEFAULT, views::datatype_serialize));
    report.same("Datatype::unserialize", table[slot_of(&Datatype::unserialize)],
                dlsym(RTLD_DEFAULT, views::datatype_unserialize));
}

/* 12 bytes of data in [8, 32). */
MPI_Datatype new_type()
{
    int lengths[] = {1, 2};
    MPI_Aint places[] = {8, 24};
    MPI_Datatype type;
    PMPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    return type;
}

void check_type(Report &report)
{
    MPI_Datatype type = new_type();
    MPI_Aint lb, extent;
    int size;
    PMPI_Type_size(type, &size);
    PMPI_Type_get_extent(type, &lb, &extent);
    report.same("a datatype's size", static_cast<long long>(type->size), size);
    report.same("a datatype's lower bound", type->lb, lb);
    report.same("a datatype's upper bound", type->ub, lb + extent);
    report.same("the flag of a derived datatype", type->flags & views::type_derived, views::type_derived);
    report.same("the flag of a new datatype", type->flags & views::type_committed, 0);
    PMPI_Type_commit(&type);
    report.same("the flag of a committed datatype", type->flags & views::type_committed,
                views::type_committed);
    report.same("the flag of MPI_INT", MPI_INT->flags & (views::type_derived | views::type_committed),
                views::type_committed);
    PMPI_Type_set_name(type, "checked");
    report.same("a datatype's name", type->own_name, "checked");
    report.same("the mark of a datatype", type->deleted, false);
    Datatype *kept = type;
    kept->ref();
    PMPI_Type_free(&type);
    report.same("the mark of a freed datatype", kept->deleted, true);
    Datatype::unref(kept);
}

void no_operation(void *, void *, int *, MPI_Datatype *)
{
}

void check_op(Report &report)
{
    MPI_Op op;
    PMPI_Op_create(no_operation, 0, &op);
    report.same("an operation's function", reinterpret_cast<void *>(op->function),
                reinterpret_cast<void *>(no_operation));
    report.same("an operation's being commutative", op->commutative, false);
    report.same("MPI_SUM's being commutative", MPI_SUM->commutative, true);
    report.same("an operation's being predefined", op->predefined, false);
    report.same("MPI_SUM's being predefined", MPI_SUM->predefined, true);
    report.same("the types of an operation", op->allowed_types, 0);
    report.same("MPI_SUM for MPI_INT", (MPI_SUM->allowed_types & MPI_INT->flags) != 0, true);
    report.same("MPI_BAND for MPI_DOUBLE", (MPI_BAND->allowed_types & MPI_DOUBLE->flags) != 0, false);
    int references = op->references;
    op->ref();
    report.same("the count of an operation's references", op->references, references + 1);
    report.same("the mark of an operation", op->deleted, false);
    Op *kept = op;
    PMPI_Op_free(&op);
    report.same("the mark of a freed operation", kept->deleted, true);
    Op::unref(&kept);
}

void check_parts(Report &report, const simgrid::smpi::Request *request, views::request *view)
{
    size_t found = 0;
    view->parts.push_back(view);
    try {
        found = request->get_nbc_requests().size();
    } catch (const std::exception &) { /* no vector at all */
    }
    report.same("the number of a request's parts", static_cast<long long>(found), 1);
    if (report.good())
        view->parts.clear();
}

/* A receive that is never started. SMPI gives it a buffer of its own, because the type is not contiguous. */
void check_request(Report &report)
{
    enum { TAG = 4711 };
    char buffer[32];
    MPI_Datatype type = new_type();
    PMPI_Type_commit(&type);
    MPI_Request request =
        simgrid::smpi::Request::recv_init(buffer, 1, type, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD);
    auto *view = reinterpret_cast<views::request *>(request);
    report.same("the buffer of a request's own", view->buffer != nullptr && view->buffer != buffer, true);
    report.same("a request's buffer", view->old_buffer, buffer);
    report.same("a request's datatype", view->datatype, type);
    report.same("a request's size", static_cast<long long>(view->size), 12);
    report.same("a request's source", view->source, MPI_ANY_SOURCE);
    report.same("a request's destination", view->destination, sg_actor_self_get_pid());
    report.same("a request's tag", view->tag, TAG);
    report.same("the size of what a request has received", static_cast<long long>(view->real_size), 0);
    report.same("a request's communicator", view->comm, MPI_COMM_WORLD);
    report.same("a request's activity", view->action, nullptr);
    report.same("a request's flags",
                view->flags &
                    (views::request_persistent | views::request_not_persistent | views::request_receive |
                     views::request_accumulate | views::request_without_data),
                views::request_persistent | views::request_receive | views::request_prepared);
    report.same("a request's being detached", view->detached, false);
    report.same("the count of a request's references", view->references, 1);
    report.same("the number of a request's parts", static_cast<long long>(view->parts.size()), 0);
    if (report.good())
        check_parts(report, request, view);
    if (!report.good())
        return; /* what has been written elsewhere could not be freed */
    simgrid::smpi::Request::unref(&request);
    PMPI_Type_free(&type);
}

} // namespace

bool pf_simgrid_check(char *why, size_t room)
{
    static void (*const checks[])(Report &) = {check_actor, check_activity, check_virtual,
                                               check_type,  check_op,       check_request};
    Report report(why, room);
    for (auto *check : checks)
        if (report.good())
            check(report);
    return report.good();
}
