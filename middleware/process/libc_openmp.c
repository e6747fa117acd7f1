/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions of OpenMP: which rank's they are, and what they cost in simulated time. */
#include "middleware/process/libc_openmp.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/compute/compute.h"
#include "middleware/core/job_state.h"
#include "middleware/process/libc_process.h"

/* A thread of a team. Times are ns of its processor time. */
struct member {
    clockid_t clock;
    bool here;
    uint64_t began, arrived; /* in the region, at its last barrier */
};

/* Where a thread is: the region in which it works (NULL: none that counts), its number there, how many
 * regions it has begun within, and how many barriers it has passed. */
struct place {
    struct pf_openmp *region;
    unsigned index, depth, segment;
};

/* What a rank has of the library, and its region. */
struct pf_openmp {
    struct pf_process *process;
    char *saved; /* the library's memory, while others run */
    int cores;   /* of the rank; 0: not counted yet */
    struct place place;
    void (*body)(void *);
    void *data;
    struct member *member;
    unsigned size, room;
    _Atomic uint64_t longest[2]; /* ns, from barrier to barrier: of the segment that runs, and of the next */
    uint64_t total;              /* ns, of the longest of each segment that has ended */
    struct pf_rank *rank;
    double date, shown,
        scale;        /* s, when the region began, also with what was not charged; simulated s in a ns */
    uint64_t charged; /* ns of the rank's computation that had been charged then */
};

static uint64_t others; /* ns of processor time of all teams but for ranks' own threads */
static _Thread_local struct place elsewhere; /* of the library's threads */

/* The library's memory of the thread in which ranks live, as it was before any rank, and whose it is now. */
static struct {
    char *block, *fresh;
    size_t size;
    struct pf_process *owner;
} memory;

#define REGION void (*body)(void *), void *data, unsigned threads
#define LOOP   REGION, long first, long last, long step
#define FUNCTIONS(F)                                                                                         \
    F(void, GOMP_barrier, (void))                                                                            \
    F(void, GOMP_loop_end, (void))                                                                           \
    F(void, GOMP_sections_end, (void))                                                                       \
    F(void, GOMP_parallel, (REGION, unsigned flags))                                                         \
    F(unsigned, GOMP_parallel_reductions, (REGION, unsigned flags))                                          \
    F(void, GOMP_parallel_sections, (REGION, unsigned count, unsigned flags))                                \
    F(void, GOMP_parallel_loop_static, (LOOP, long chunk, unsigned flags))                                   \
    F(void, GOMP_parallel_loop_dynamic, (LOOP, long chunk, unsigned flags))                                  \
    F(void, GOMP_parallel_loop_guided, (LOOP, long chunk, unsigned flags))                                   \
    F(void, GOMP_parallel_loop_nonmonotonic_dynamic, (LOOP, long chunk, unsigned flags))                     \
    F(void, GOMP_parallel_loop_nonmonotonic_guided, (LOOP, long chunk, unsigned flags))                      \
    F(void, GOMP_parallel_loop_runtime, (LOOP, unsigned flags))                                              \
    F(void, GOMP_parallel_loop_nonmonotonic_runtime, (LOOP, unsigned flags))                                 \
    F(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, (LOOP, unsigned flags))                           \
    F(int, omp_get_thread_num, (void))                                                                       \
    F(int, omp_get_max_threads, (void))

#define MEMBER(type, name, parameters) type(*name) parameters;
static struct {
    FUNCTIONS(MEMBER)
} real;

static struct pf_openmp *openmp_of(struct pf_process *p)
{
    if (!p->openmp) {
        p->openmp = pf_calloc(1, sizeof *p->openmp);
        p->openmp->process = p;
        p->openmp->saved = pf_calloc(1, memory.size);
        memcpy(p->openmp->saved, memory.fresh, memory.size);
    }
    return p->openmp;
}

struct search {
    uintptr_t address;
    unsigned long module;
    size_t size;
};

static int find_memory(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    bool is_it = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        is_it |= part->p_type == PT_LOAD && search->address - info->dlpi_addr - part->p_vaddr < part->p_memsz;
        if (part->p_type == PT_TLS)
            search->size = part->p_memsz;
    }
    search->module = info->dlpi_tls_modid;
    return is_it;
}

void *__tls_get_addr(unsigned long *module_and_offset); /* of the psABI */

static const void *found; /* a function of the library */

/* Not while the program is loaded, when the library has no memory yet. */
static void resolve(void)
{
    struct search search = {.address = (uintptr_t)found};
    Dl_info info = {0};
    dladdr(found, &info);
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library || !dl_iterate_phdr(find_memory, &search) || !search.module)
        pf_die("the OpenMP of the program, %s, is not as GCC's: its threads' memory is not found",
               info.dli_fname ? info.dli_fname : "?");
#define RESOLVE(type, name, parameters) real.name = (type(*) parameters)dlsym(library, #name);
    FUNCTIONS(RESOLVE)
    memory.block = __tls_get_addr((unsigned long[]){search.module, 0});
    memory.size = search.size;
    memory.fresh = pf_calloc(1, memory.size);
    memcpy(memory.fresh, memory.block, memory.size);
}

/* The calling rank goes on. */
static void returned(void)
{
    struct pf_process *p = pf_process();
    if (!memory.block)
        resolve();
    if (!p || p == memory.owner)
        return;
    if (memory.owner)
        memcpy(openmp_of(memory.owner)->saved, memory.block, memory.size);
    memcpy(memory.block, openmp_of(p)->saved, memory.size);
    memory.owner = p;
}

void pf_openmp_found(const void *function)
{
    found = function;
    pf_account_returns = returned;
}

/* The place of the caller, NULL if it is none of a rank. */
static struct place *here(void)
{
    if (!pf_process_here())
        return &elsewhere;
    returned();
    struct pf_process *p = pf_process();
    return p ? &openmp_of(p)->place : NULL;
}

struct pf_process *pf_openmp_process(void)
{
    return elsewhere.region ? elsewhere.region->process : NULL;
}

/* Of the rank's own thread: what it has computed and waited since the region began. */
static uint64_t time_of_rank(const struct pf_openmp *o)
{
    struct pf_account *account = o->rank->account;
    pf_account_stop(account);
    pf_account_leave(account);
    double passed = (simgrid_get_clock() - o->date) / o->scale - (double)(account->charged - o->charged);
    return account->computed + (passed > 0 ? (uint64_t)passed : 0);
}

static uint64_t time_of(const struct pf_openmp *o, unsigned index)
{
    struct timespec now;
    if (index == 0)
        return time_of_rank(o);
    clock_gettime(o->member[index].clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double pf_openmp_date(void)
{
    const struct pf_openmp *o = elsewhere.region;
    return o ? o->shown + o->scale * (double)(time_of(o, elsewhere.index) - o->member[elsewhere.index].began)
             : 0;
}

/* What each thread of the team runs. */
static void run(void *region)
{
    struct pf_openmp *o = region;
    unsigned index = (unsigned)real.omp_get_thread_num();
    struct member *member = &o->member[index];
    struct place *place = here();
    *place = (struct place){.region = o, .index = index};
    if (index > 0)
        pthread_getcpuclockid(pthread_self(), &member->clock);
    member->began = member->arrived = time_of(o, index);
    member->here = true;
    o->body(o->data);
    if (index > 0)
        place->region = NULL;
}

/* Also before MPI_Init; NULL: the rank has ended. */
static sg_host_t host_of(int rank)
{
    if (pf_job_state.selves)
        return pf_job_state.selves[rank]->host;
    sg_actor_t actor = sg_actor_by_pid(rank + 1);
    return actor ? sg_actor_get_host(actor) : NULL;
}

/* A rank has its share of the cores of its host. */
static int cores_of(const struct pf_process *p)
{
    sg_host_t host = host_of(p->rank);
    int ranks = 1;
    for (int i = 0; i < pf_job_state.size; i++)
        ranks += i != p->rank && host_of(i) == host;
    int cores = sg_host_core_count(host) / ranks;
    return cores > 0 ? cores : 1;
}

static void warn_of_cores(const struct pf_openmp *o)
{
    static bool said;
    if (!said)
        pf_warn(
            "rank %d has %u threads and %d core%s of host %s: their computation is charged as taking turns "
            "(PARFOCAL_PLATFORM_CORES, or core=\"...\" in the platform)",
            o->rank->self.rank, o->size, o->cores, o->cores == 1 ? "" : "s",
            sg_host_get_name(o->rank->self.host));
    said = true;
}

static bool counts(const struct pf_rank *r)
{
    return r && pf_compute_counts(r) && r->account && !r->account->inside && pf_clock_measures();
}

/* The rank's thread begins a region, whose body and data may be replaced; NULL: one that is not counted. */
static struct pf_openmp *begin(void (**body)(void *), void **data, unsigned threads)
{
    struct place *place = here();
    if (place && place->region)
        place->depth++;
    const pf_self_t *self = place && !place->region && place != &elsewhere ? pf_self() : NULL;
    if (!self || !counts(self->mpi))
        return NULL;
    struct pf_openmp *o = pf_process()->openmp;
    o->size = threads ? threads : (unsigned)real.omp_get_max_threads();
    if (o->size < 2)
        return NULL;
    if (o->size > o->room)
        o->member = pf_reallocarray(o->member, o->room = o->size, sizeof *o->member);
    memset(o->member, 0, o->size * sizeof *o->member);
    o->rank = self->mpi;
    if (!o->cores)
        o->cores = cores_of(o->process);
    if (o->size > (unsigned)o->cores)
        warn_of_cores(o);
    o->body = *body;
    o->data = *data;
    o->longest[0] = o->longest[1] = o->total = 0;
    o->date = simgrid_get_clock();
    o->shown = o->date + o->rank->owed + pf_compute_due(o->rank);
    o->scale = pf_compute_scale(o->rank);
    o->charged = o->rank->account->charged;
    *body = run;
    *data = o;
    return o;
}

/* It has ended for all threads. */
static void end(struct pf_openmp *o)
{
    uint64_t longest = 0, all = 0, own = 0;
    if (!o) {
        struct place *place = here();
        if (place && place->region)
            place->depth--;
        return;
    }
    for (unsigned i = 0; i < o->size; i++)
        if (o->member[i].here) {
            uint64_t now = time_of(o, i), segment = now - o->member[i].arrived;
            longest = segment > longest ? segment : longest;
            all += now - o->member[i].began;
            own = i == 0 ? now - o->member[i].began : own;
        }
    others += all - own;
    o->place.region = NULL;
    o->total += longest;
    uint64_t shared = all / (unsigned)o->cores, took = o->total > shared ? o->total : shared;
    o->rank->account->computed += took > own ? took - own : 0;
}

static void arrive(struct place *place)
{
    struct pf_openmp *o = place->region;
    struct member *member = &o->member[place->index];
    uint64_t now = time_of(o, place->index), segment = now - member->arrived;
    _Atomic uint64_t *longest = &o->longest[place->segment & 1];
    uint64_t before = *longest;
    member->arrived = now;
    while (segment > before && !atomic_compare_exchange_weak(longest, &before, segment))
        ;
}

/* Around a barrier: what the next segment but one uses is free again when the rank's thread arrives once
 * more. */
static void meet(void (*barrier)(void))
{
    struct place *place = here();
    bool is_of_region = place && place->region && !place->depth;
    if (is_of_region)
        arrive(place);
    barrier();
    if (is_of_region && place->index == 0)
        place->region->total += atomic_exchange(&place->region->longest[place->segment & 1], 0);
    if (is_of_region)
        place->segment++;
}

void pf_libc_GOMP_barrier(void)
{
    meet(real.GOMP_barrier);
}

void pf_libc_GOMP_loop_end(void)
{
    meet(real.GOMP_loop_end);
}

void pf_libc_GOMP_sections_end(void)
{
    meet(real.GOMP_sections_end);
}

void pf_libc_GOMP_parallel(REGION, unsigned flags)
{
    struct pf_openmp *o = begin(&body, &data, threads);
    real.GOMP_parallel(body, data, threads, flags);
    end(o);
}

unsigned pf_libc_GOMP_parallel_reductions(REGION, unsigned flags)
{
    struct pf_openmp *o = begin(&body, &data, threads);
    unsigned reductions = real.GOMP_parallel_reductions(body, data, threads, flags);
    end(o);
    return reductions;
}

void pf_libc_GOMP_parallel_sections(REGION, unsigned count, unsigned flags)
{
    struct pf_openmp *o = begin(&body, &data, threads);
    real.GOMP_parallel_sections(body, data, threads, count, flags);
    end(o);
}

#define CHUNKS(schedule)                                                                                     \
    void pf_libc_GOMP_parallel_loop_##schedule(LOOP, long chunk, unsigned flags)                             \
    {                                                                                                        \
        struct pf_openmp *o = begin(&body, &data, threads);                                                  \
        real.GOMP_parallel_loop_##schedule(body, data, threads, first, last, step, chunk, flags);            \
        end(o);                                                                                              \
    }
CHUNKS(static)
CHUNKS(dynamic)
CHUNKS(guided)
CHUNKS(nonmonotonic_dynamic)
CHUNKS(nonmonotonic_guided)

#define RUNTIME(schedule)                                                                                    \
    void pf_libc_GOMP_parallel_loop_##schedule(LOOP, unsigned flags)                                         \
    {                                                                                                        \
        struct pf_openmp *o = begin(&body, &data, threads);                                                  \
        real.GOMP_parallel_loop_##schedule(body, data, threads, first, last, step, flags);                   \
        end(o);                                                                                              \
    }
RUNTIME(runtime)
RUNTIME(nonmonotonic_runtime)
RUNTIME(maybe_nonmonotonic_runtime)

int pf_libc_omp_get_num_procs(void)
{
    struct pf_process *p = here() ? pf_process() : NULL;
    if (!p)
        return 1;
    struct pf_openmp *o = openmp_of(p);
    if (!o->cores)
        o->cores = cores_of(p);
    return o->cores;
}

int pf_libc_omp_get_num_procs_(void) /* Fortran's */
{
    return pf_libc_omp_get_num_procs();
}

void pf_openmp_warn(void)
{
    struct timespec own;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    struct pf_account_spent spent = pf_account_spent();
    double unseen = spent.processor - (double)own.tv_sec - (double)own.tv_nsec * 1e-9 - (double)others * 1e-9;
    if (pf_compute_measures() && unseen > 0.01 && unseen > spent.application / 10)
        pf_warn("threads of the program have used %.2g s of processor time that no rank was charged for "
                "(those of GCC's OpenMP are charged)",
                unseen);
}
