/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What all versions of SimGrid have in common; private.h says what each of these is. */

#define PF_SIMGRID_FINISH_WAIT "_ZN7simgrid4smpi7Request11finish_waitEPPS1_P10MPI_Status"
#define PF_SIMGRID_FINISH_NBC  "_ZN7simgrid4smpi7Request19finish_nbc_requestsEPPS1_i"
#define PF_SIMGRID_START       "_ZN7simgrid4smpi7Request5startEv"
#define PF_SIMGRID_COPY        "_ZN7simgrid4smpi8Datatype4copyEPKviPS1_PviS4_"
#define PF_SIMGRID_FIND                                                                                      \
    "_ZN7simgrid6kernel8activity11MailboxImpl18find_matching_commENS1_12CommImplTypeERKSt8functionIFbPvS5_"  \
    "PNS1_8CommImplEEES5_RKN5boost13intrusive_ptrIS6_EEbb"
#define PF_SIMGRID_COMM_SEND    "_ZN7simgrid6kernel8activity8CommImpl5isendEPNS0_5actor16CommIsendSimcallE"
#define PF_SIMGRID_COMM_RECEIVE "_ZN7simgrid6kernel8activity8CommImpl5irecvEPNS0_5actor16CommIrecvSimcallE"
#define PF_SIMGRID_COMM_START   "_ZN7simgrid6kernel8activity8CommImpl5startEv"
#define PF_SIMGRID_READS_CLOCK  "clock_gettime"
#define PF_SIMGRID_SET_CONTEXT  "_ZN7simgrid6kernel7context7Context11set_currentEPS2_"
#define PF_SIMGRID_CONTEXT      "_ZN7simgrid6kernel7context7Context4selfEv"

#ifdef __cplusplus
extern "C" {
#endif

/* CommImpl::set_mailbox */
void *pf_simgrid_set_mailbox(void *communication, void *mailbox) __asm__(
    "_ZN7simgrid6kernel8activity8CommImpl11set_mailboxEPNS1_11MailboxImplE") __attribute__((weak));

/* EngineImpl::now_ */
extern double pf_simgrid_clock __asm__("_ZN7simgrid6kernel10EngineImpl4now_E") __attribute__((weak));

#ifdef __cplusplus
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <simgrid/forward.h>
#include <smpi/forward.hpp>
#include <xbt/signal.hpp>

/* ---- the engine ---- */

extern "C" void pf_simgrid_yield(simgrid::kernel::actor::ActorImpl *actor) __asm__(
    "_ZN7simgrid6kernel5actor9ActorImpl5yieldEv") __attribute__((weak));
extern "C" void
pf_simgrid_run_next(simgrid::kernel::EngineImpl *engine, simgrid::kernel::actor::ActorImpl *actor) __asm__(
    "_ZN7simgrid6kernel10EngineImpl30add_actor_to_run_"
    "list_no_checkEPNS0_5actor9ActorImplE") __attribute__((weak));
extern "C" simgrid::kernel::context::Context *pf_simgrid_context(void) __asm__(PF_SIMGRID_CONTEXT)
    __attribute__((weak));
extern "C" void
pf_simgrid_set_context(simgrid::kernel::context::Context *context) __asm__(PF_SIMGRID_SET_CONTEXT)
    __attribute__((weak));
extern "C" void
pf_simgrid_swap(simgrid::kernel::context::Context *from, simgrid::kernel::context::Context *to) __asm__(
    "_ZN7simgrid6kernel7context14SwappedContext9swap_intoEPS2_") __attribute__((weak));
extern "C" void pf_simgrid_stop(simgrid::kernel::context::Context *context) __asm__(
    "_ZN7simgrid6kernel7context7Context4stopEv") __attribute__((weak));
extern "C" void pf_simgrid_clean_up(simgrid::kernel::actor::ActorImpl *actor) __asm__(
    "_ZN7simgrid6kernel5actor9ActorImpl19cleanup_from_kernelEv") __attribute__((weak));
extern "C" void pf_simgrid_run_all_actors(simgrid::kernel::EngineImpl *engine) __asm__(
    "_ZN7simgrid6kernel10EngineImpl14run_all_actorsEv") __attribute__((weak));
extern "C" void pf_simgrid_handle_simcall(simgrid::kernel::actor::ActorImpl *actor,
                                          int times_considered) __asm__("_ZN7simgrid6kernel5actor9ActorImpl"
                                                                        "14simcall_handleEi")
    __attribute__((weak));
extern simgrid::xbt::signal<void(double)>
    pf_simgrid_time_advances __asm__("_ZN7simgrid3s4u6Engine15on_time_advanceE") __attribute__((weak));

/* CommImpl::on_completion */
extern simgrid::xbt::signal<void(simgrid::kernel::activity::CommImpl const &)>
    pf_simgrid_comm_ends __asm__("_ZN7simgrid6kernel8activity8CommImpl13on_completionE")
        __attribute__((weak));

/* The first one that the installed headers have. */
template <typename Thing, typename Function>
auto pf_simgrid_on_turn_of(const Function &f, int) -> decltype(Thing::on_onoff_cb(f))
{
    return Thing::on_onoff_cb(f);
}
template <typename Thing, typename Function>
auto pf_simgrid_on_turn_of(const Function &f, long) -> decltype(Thing::on_state_change_cb(f))
{
    return Thing::on_state_change_cb(f);
}
template <typename Thing, typename Function> void pf_simgrid_on_turn(const Function &f)
{
    pf_simgrid_on_turn_of<Thing>(f, 0);
}

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
    int id() const;
};

/* So many messages with this tag the first rank has sent to the second one, and those that it has received.
 */
extern "C" unsigned pf_simgrid_sent_messages(Comm *comm, int from, int to, int tag) __asm__(
    "_ZN7simgrid4smpi4Comm23get_sent_messages_countEiii") __attribute__((weak));
extern "C" unsigned pf_simgrid_received_messages(Comm *comm, int from, int to, int tag) __asm__(
    "_ZN7simgrid4smpi4Comm27get_received_messages_countEiii") __attribute__((weak));

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
    static Request *isend(const void *buffer, int count, Datatype *type, int target, int tag, Comm *comm);
    static Request *irecv(void *buffer, int count, Datatype *type, int source, int tag, Comm *comm);
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
               request_prepared = 0x80, request_accumulate = 0x400, request_matched = 0x4000;
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
    void *head[PF_SIMGRID_ACTIVITY_HEAD];
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

/* A list: the first, the last, how many. The head of a set: its root, first, last, how many. */
inline bool is_empty_list(const void *const *words)
{
    return words[0] == words && words[1] == words && words[2] == nullptr;
}
inline bool is_empty_set(const void *const *words)
{
    return words[2] == nullptr && words[3] == words + 1 && words[4] == words + 1 && words[5] == nullptr;
}

/* Those of one actor, and its other activities. */
struct communications : PF_SIMGRID_COMMUNICATIONS<activity_reference> {
    /* Is this what it looks like before the first communication? */
    bool is_untouched() const
    {
        const auto *words = reinterpret_cast<const void *const *>(this);
        return is_empty_list(words) || is_empty_set(words);
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

/* ActorImpl up to its communications. */
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
    void *waiting[PF_SIMGRID_ACTOR_WAITING];
    pf_simgrid::communications communications;
};

inline const actor *view(const simgrid::kernel::actor::ActorImpl *object)
{
    return reinterpret_cast<const actor *>(object);
}

/* What an actor asks of the kernel, and which actor. */
struct simcall_observer {
    void *vtable;
    actor *issuer;
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
    PF_SIMGRID_REQUEST_MESSAGE message;
    void *op;
    void *generalized;
    std::vector<request *> parts;
};

} // namespace pf_simgrid
#endif
