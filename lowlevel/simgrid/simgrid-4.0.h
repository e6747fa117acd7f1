/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_LOWLEVEL_SIMGRID_4_0_H
#define PF_LOWLEVEL_SIMGRID_4_0_H

/* SimGrid 4.0; private.h says what each of these is. */

#define PF_SIMGRID_MAJOR       4
#define PF_SIMGRID_MINOR       0
#define PF_SIMGRID_PACKAGE     "libsimgrid4.0"

#define PF_SIMGRID_FINISH_WAIT "_ZN7simgrid4smpi7Request11finish_waitEPPS1_P10MPI_Status"
#define PF_SIMGRID_READS_CLOCK "clock_gettime"
#define PF_SIMGRID_LINK_TURNS  on_onoff_cb

#ifdef __cplusplus
extern "C" {
#endif

/* EngineImpl::now_ */
extern double pf_simgrid_clock __asm__("_ZN7simgrid6kernel10EngineImpl4now_E") __attribute__((weak));

#ifdef __cplusplus
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <simgrid/forward.h>
#include <smpi/forward.hpp>
#include <xbt/signal.hpp>

/* ---- the engine ---- */

extern "C" void pf_simgrid_answer_simcall(simgrid::kernel::actor::ActorImpl *actor) __asm__(
    "_ZN7simgrid6kernel5actor9ActorImpl14simcall_answerEv") __attribute__((weak));
extern "C" void pf_simgrid_run_all_actors(simgrid::kernel::EngineImpl *engine) __asm__(
    "_ZN7simgrid6kernel10EngineImpl14run_all_actorsEv") __attribute__((weak));
extern "C" void pf_simgrid_handle_simcall(simgrid::kernel::actor::ActorImpl *actor,
                                          int times_considered) __asm__("_ZN7simgrid6kernel5actor9ActorImpl"
                                                                        "14simcall_handleEi")
    __attribute__((weak));
extern simgrid::xbt::signal<void(double)>
    pf_simgrid_time_advances __asm__("_ZN7simgrid3s4u6Engine15on_time_advanceE") __attribute__((weak));

namespace simgrid::kernel::activity
{
class ActivityImpl
{
  public:
    const char *get_state_str() const;
};
void intrusive_ptr_add_ref(ActivityImpl *activity);
void intrusive_ptr_release(ActivityImpl *activity);
} // namespace simgrid::kernel::activity

namespace simgrid::kernel::actor
{
class ActorImpl
{
  public:
    static ActorImpl *self();
};
} // namespace simgrid::kernel::actor

/* ---- SMPI's objects: the virtual functions have their place in the table, the members in the object ---- */

namespace simgrid::smpi
{
struct F2C {
    int fortran_handle;
    bool deleted;
    std::string call_location;
    int c2f(); /* gives it a handle of Fortran at the first call */
    virtual ~F2C();
    virtual std::string name() const = 0;
};

struct Keyval {
    std::unordered_map<int, void *> attributes;
};

struct Op : F2C {
    void (*function)(void *in, void *inout, int *length, Datatype **type);
    bool commutative, fortran;
    int references;
    bool predefined;
    int allowed_types; /* a datatype has one of these flags; 0: any */

    void apply(const void *in, void *inout, const int *length, Datatype *type) const;
    void ref();
    static void unref(Op **op);
};

struct Datatype : F2C, Keyval {
    std::string own_name, id;
    size_t size;
    ptrdiff_t lb, ub;
    int flags;

    ~Datatype() override;
    std::string name() const override;
    virtual int clone(Datatype **type);
    virtual void serialize(const void *from, void *packed, int count);
    virtual void unserialize(const void *packed, void *to, int count, Op *op);
    void ref();
    static void unref(Datatype *type);
    static int copy(const void *from, int from_count, Datatype *from_type, void *to, int to_count,
                    Datatype *to_type);
};

/* The constructors are exported symbols; they get memory that is large enough, of which at most half is used
 * (room.h). */
class Comm
{
    alignas(16) char room_[1024];

  public:
    Comm(Group *group, std::shared_ptr<Topo> topology, bool smp, int id);
};

class Win
{
    alignas(16) char room_[2048];

  public:
    Win(void *base, ptrdiff_t size, int disp_unit, Info *info, Comm *comm, bool allocated, bool dynamic);
    static int del(Win *win);
    int fence(int assertion);
};

class Request
{
  public:
    static Request *recv_init(void *buffer, int count, Datatype *type, int source, int tag, Comm *comm);
    static void unref(Request **request);
    std::vector<Request *> get_nbc_requests() const;
};

namespace colls
{
extern int (*barrier)(Comm *);
extern int (*bcast)(void *, int, Datatype *, int, Comm *);
extern int (*allgather)(const void *, int, Datatype *, void *, int, Datatype *, Comm *);
} // namespace colls
} // namespace simgrid::smpi

namespace pf_simgrid
{
/* Of a datatype. */
const int type_committed = 0x2, type_derived = 0x800;

/* Of a request. */
const unsigned request_persistent = 1, request_not_persistent = 2, request_receive = 8,
               request_prepared = 0x80, request_accumulate = 0x400;
/* Not begun, or over, or there is nothing to unpack. */
const unsigned request_without_data = request_prepared | 0x100 | 0x800 | 0x8000;

/* Where the library says which function is virtual in which place. */
const char *const datatype_table = "_ZTVN7simgrid4smpi8DatatypeE";
const char *const datatype_clone = "_ZN7simgrid4smpi8Datatype5cloneEPPS1_";
const char *const datatype_serialize = "_ZN7simgrid4smpi8Datatype9serializeEPKvPvi";
const char *const datatype_unserialize = "_ZN7simgrid4smpi8Datatype11unserializeEPKvPviPNS0_2OpE";

/* The head of ActivityImpl. States up to `running` are no end; all others are, good or bad. */
struct activity {
    enum states : int { waiting, ready, running, done, cancelled };
    void *vtable;
    void *item; /* whom the model checker asks about */
    int_fast32_t references;
    std::string name;
    void *actor;
    int state;
};
const struct {
    int state;
    const char *name;
} activity_states[] = {{activity::waiting, "WAITING"},
                       {activity::ready, "READY"},
                       {activity::running, "RUNNING"},
                       {activity::done, "DONE"},
                       {activity::cancelled, "CANCELED"}};

/* SimGrid's counted pointer to an activity. */
class activity_reference
{
    simgrid::kernel::activity::ActivityImpl *activity_;

  public:
    explicit activity_reference(simgrid::kernel::activity::ActivityImpl *activity) : activity_(activity)
    {
    }
    activity_reference(const activity_reference &) = delete;
    activity_reference &operator=(const activity_reference &) = delete;
    ~activity_reference()
    {
        intrusive_ptr_release(activity_);
    }
    bool ended() const
    {
        return reinterpret_cast<const activity *>(activity_)->state == activity::done;
    }
    bool is(const simgrid::kernel::activity::ActivityImpl *activity) const
    {
        return activity_ == activity;
    }
    bool operator<(const activity_reference &other) const
    {
        return activity_ < other.activity_;
    }
};

/* Those of one actor, and its other activities. */
struct communications : std::set<activity_reference> {
    /* Is this what such a set looks like before the first communication? */
    bool is_untouched() const
    {
        const auto *words =
            reinterpret_cast<const void *const *>(this); /* of the head: its root, first, last */
        return words[2] == nullptr && words[3] == words + 1 && words[4] == words + 1 && words[5] == nullptr;
    }
    bool has(const simgrid::kernel::activity::ActivityImpl *activity) const
    {
        return std::any_of(begin(), end(), [=](const activity_reference &one) { return one.is(activity); });
    }
    void remove(const simgrid::kernel::activity::ActivityImpl *activity)
    {
        remove_if([=](const activity_reference &one) { return one.is(activity); });
    }
    void remove_ended()
    {
        remove_if([](const activity_reference &one) { return one.ended(); });
    }

  private:
    template <typename Test> void remove_if(Test test)
    {
        for (auto one = begin(); one != end();)
            one = test(*one) ? erase(one) : std::next(one);
    }
};

/* ActorImpl up to the set. */
struct actor {
    void *properties;
    std::string name;
    long pid, parent;
    bool restarts;
    int restart_count;
    void *host;
    bool daemon;
    unsigned stack_size;
    bool wants_to_die, to_be_freed;
    void *mailboxes[3];
    void *hooks[3][2];
    void *context;
    void *exception;
    bool suspended;
    void *waiting[3];
    pf_simgrid::communications communications;
};

/* Request with its base class F2C, up to the parts of a nonblocking collective. */
struct request {
    void *vtable;
    int fortran_handle;
    bool deleted;
    std::string call_location;
    void *buffer;
    void *old_buffer;
    void *datatype;
    size_t size;
    long source, destination;
    int tag;
    long real_source;
    int real_tag;
    bool truncated, unmatched_types;
    size_t real_size;
    void *comm;
    activity *action;
    unsigned flags;
    bool detached;
    void *detached_sender;
    int references;
    std::vector<unsigned> message;
    void *op;
    void *generalized;
    std::vector<request *> parts;
};

} // namespace pf_simgrid
#endif
#endif
