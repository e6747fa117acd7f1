/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds stock MPICH, and makes the copies of all ranks at no simulated time. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/semaphore.h>

#include "adapters/mpich/abi.h"
#include "adapters/mpich/hooks.h"
#include "adapters/mpich/mpich.h"
#include "base/config.h"
#include "base/error.h"
#include "base/memory.h"
#include "loader/copy.h"
#include "loader/image.h"
#include "lowlevel/engine/chain.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/ucx/runtime.h"

#define LIBRARY "libmpich.so.12"
#define ADVICE  "install the Debian package libmpich12 or set PARFOCAL_MPICH_LIBDIR"

static struct {
    struct pf_elf elf;
    struct pf_image *image;
    enum { CLOSED, CREATING, READY, FAILED } state;
    sg_sem_t initialised, created;
    int waiting;
    char why[512];
} mpich;

static bool find_file(char *path, size_t size, char *why, size_t n)
{
    const char *const folders[] = {pf_config.mpich_libdir, PF_MPICH_LIBDIR, "/usr/lib64", "/usr/lib"};
    bool chosen = *pf_config.mpich_libdir;
    for (size_t i = chosen ? 0 : 1; i < (chosen ? 1 : sizeof folders / sizeof folders[0]); i++) {
        snprintf(path, size, "%s/" LIBRARY, folders[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    snprintf(why, n, "MPICH's library " LIBRARY " was not found%s%s: " ADVICE, chosen ? " in " : "",
             pf_config.mpich_libdir);
    return false;
}

static bool is_name(char *name, size_t address, size_t size, const void *arg)
{
    return strcmp(name, arg) == 0;
}

int pf_mpich_probe(char *why, size_t n)
{
    char path[PATH_MAX];
    if (mpich.elf.bytes)
        return PF_SUCCESS;
#ifdef __SANITIZE_ADDRESS__
    snprintf(why, n, "not in a build with the address sanitizer, which knows no images of libraries");
    return PF_ERR_UNSUPPORTED;
#endif
    if (!find_file(path, sizeof path, why, n))
        return PF_ERR_UNSUPPORTED; /* no fault of an installation: all else works without */
    enum pf_elf_fault fault = pf_elf_read(&mpich.elf, path);
    int error = PF_ERR_VERSION;
    if (fault != PF_ELF_GOOD) {
        snprintf(why, n, "%s: it %s", path, pf_elf_fault_text(fault));
    } else if (pf_elf_symbols(&mpich.elf, is_name, "PMIx_Init")) {
        snprintf(why, n,
                 "%s starts by PMIx, as Ubuntu's does, which is not simulated: Debian's starts by PMI", path);
        error = PF_ERR_UNSUPPORTED;
    } else if (pf_elf_symbols(&mpich.elf, is_name, "PMPI_Abi_get_version")) {
        snprintf(why, n, "%s is of MPICH 5, but 4.0 to 4.3 is needed", path);
        error = PF_ERR_UNSUPPORTED;
    } else if (!pf_elf_symbols(&mpich.elf, is_name, "ucp_tag_send_nbx")) {
        snprintf(why, n, "%s is not MPICH over UCX 1.13 or newer (ch4:ucx): " ADVICE, path);
    } else {
        return PF_SUCCESS;
    }
    pf_elf_free(&mpich.elf);
    mpich.elf = (struct pf_elf){0};
    return error;
}

/* UCX's work takes simulated time in the calls of its rank; not while it is initialised, and not in a
 * helper's progress. */
static void pay(pf_self_t *self, double seconds)
{
    struct pf_mpich_rank *rank = pf_mpich_rank(self->rank);
    if (seconds > 0 && rank->ready && !rank->helper)
        pf_engine_pay(&rank->owed, seconds);
}

/* MPICH's handles and the order of its start are the same in these versions. */
static bool is_known(const char *number)
{
    static const char *const known[] = {"4.0.", "4.1.", "4.2.", "4.3."};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(number, known[i], strlen(known[i])) == 0)
            return true;
    return false;
}

static bool check_version(const struct pf_mpich_rank *rank)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0, (*ask)(char *, int *);
    *(void **)&ask = pf_copy_symbol(rank->library, "PMPI_Get_library_version");
    bool told = ask && ask(version, &length) == MPI_SUCCESS;
    const char *number = version + strcspn(version, "0123456789");
    if (told && is_known(number))
        return true;
    snprintf(mpich.why, sizeof mpich.why, "%s is of MPICH %.*s, but 4.0 to 4.3 is needed: " ADVICE,
             mpich.elf.path, (int)strcspn(number, "\n"), number);
    return false;
}

static int never_query(void *state, void *status)
{
    return MPI_SUCCESS;
}

static int never_free(void *state)
{
    return MPI_SUCCESS;
}

static int never_cancel(void *state, int complete)
{
    return MPI_SUCCESS;
}

/* Started alone it has a world of its own. */
static bool is_in_world(const struct pf_mpich_rank *rank)
{
    int me = -1, all = -1, (*rank_of)(int, int *), (*size_of)(int, int *);
    *(void **)&rank_of = rank->natives[PF_FN_Comm_rank];
    *(void **)&size_of = rank->natives[PF_FN_Comm_size];
    rank_of(MPI_COMM_WORLD, &me);
    size_of(MPI_COMM_WORLD, &all);
    return me == rank->self->rank && all == pf_mpich_job()->size;
}

static int start(struct pf_mpich_rank *rank)
{
    int (*init)(int *, char ***, int, int *), (*set)(int, int),
        (*begin)(void *, void *, void *, void *, int *);
    int level;
    *(void **)&init = rank->natives[PF_FN_Init_thread];
    *(void **)&set = rank->natives[PF_FN_Comm_set_errhandler];
    *(void **)&begin = rank->natives[PF_FN_Grequest_start];
    /* The middleware answers for the thread level; MPICH itself runs in one thread and needs no locks. */
    int code = init(NULL, NULL, 0, &level);
    if (code == MPI_SUCCESS)
        code = set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = set(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = begin((void *)never_query, (void *)never_free, (void *)never_cancel, NULL, &rank->never);
    return code;
}

static bool initialise(struct pf_mpich_rank *rank)
{
    static const char *const names[] = {
#define X(stem, route, group, smpi) "PMPI_" #stem,
        PF_FN_LIST(X)
#undef X
    };
    rank->library = pf_image_open(mpich.image, rank->self->rank, &mpich.elf);
    if (!rank->library) {
        snprintf(mpich.why, sizeof mpich.why, "%s for rank %d: %s", mpich.elf.path, rank->self->rank,
                 strerror(errno));
        return false;
    }
    if (rank->self->rank == 0 && !check_version(rank))
        return false;
    for (int i = 0; i < PF_FN_COUNT; i++)
        rank->natives[i] = pf_copy_symbol(rank->library, names[i]);
    int code = start(rank);
    if (code != MPI_SUCCESS)
        snprintf(mpich.why, sizeof mpich.why, "MPICH's MPI_Init failed for rank %d with error %d",
                 rank->self->rank, code);
    else if (!is_in_world(rank))
        snprintf(mpich.why, sizeof mpich.why, "%s did not ask its launcher for the job of rank %d: " ADVICE,
                 mpich.elf.path, rank->self->rank);
    else
        return pf_mpich_shadow_prepare(rank, &mpich.elf, mpich.why, sizeof mpich.why);
    return false;
}

/* Body of the helper that initialises one rank's copy: it is the rank, as far as MPICH and the NIC can see.
 */
static void init_actor(int argc, char **argv)
{
    struct pf_mpich_rank *rank = pf_mpich_caller();
    rank->helper = sg_actor_self();
    pf_ucx_free_mode(rank->self, PF_UCX_MPICH, true);
    rank->ready = initialise(rank);
    pf_ucx_free_mode(rank->self, PF_UCX_MPICH, false);
    rank->helper = NULL;
    if (!rank->ready)
        mpich.state = FAILED;
    sg_sem_release(mpich.initialised);
}

static void start_helpers(void)
{
    for (int i = 0; i < pf_mpich_job()->size; i++) {
        char name[32];
        snprintf(name, sizeof name, "mpich-init-%d", i);
        sg_actor_t helper = sg_actor_init(name, pf_mpich_job()->ranks[i]->host);
        sg_actor_set_data(helper, pf_mpich_job()->ranks[i]);
        if (pf_chain_on)
            pf_chain_help(pf_mpich_job()->ranks[i], false);
        sg_actor_start(helper, init_actor, 0, NULL);
    }
    for (int done = 0; done < pf_mpich_job()->size && mpich.state != FAILED; done++)
        sg_sem_acquire(mpich.initialised);
}

static bool make_image(void)
{
    static const char *const answered[] = {"libhwloc.so.15", "libucp.so.0", "libucs.so.0", "libucm.so.0",
                                           NULL};
    const struct pf_elf *files[] = {&mpich.elf};
    const struct pf_image_plan plan = {.files = files,
                                       .count = 1,
                                       .copies = pf_mpich_job()->size,
                                       .flags = pf_copy_flags(),
                                       .find = pf_mpich_hooks_find,
                                       .answered = answered};
    char refused[400];
    mpich.image = pf_image_make(&plan, refused, sizeof refused);
    if (!mpich.image)
        snprintf(mpich.why, sizeof mpich.why, "%s: %s", mpich.elf.path, refused);
    return mpich.image != NULL;
}

static void create(const struct pf_job *job)
{
    mpich.state = CREATING;
    pf_mpich_ranks_make(job);
    mpich.initialised = sg_sem_init(0);
    mpich.created = sg_sem_init(0);
    pf_ucx_set_pay(PF_UCX_MPICH, pay);
    if (make_image())
        start_helpers();
    else
        mpich.state = FAILED;
    if (mpich.state == CREATING)
        mpich.state = READY;
    for (; mpich.waiting > 0; mpich.waiting--)
        sg_sem_release(mpich.created);
}

int pf_mpich_open(const struct pf_job *job, char *why, size_t n)
{
    int error = pf_mpich_probe(why, n);
    if (error)
        return error;
    if (mpich.state == CREATING) {
        mpich.waiting++;
        sg_sem_acquire(mpich.created);
    }
    if (mpich.state == CLOSED)
        create(job);
    if (mpich.state == READY)
        return PF_SUCCESS;
    snprintf(why, n, "%s", mpich.why);
    return PF_ERR_NATIVE;
}
