/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds stock Open MPI's libraries and plugins on this system, and checks their version. */
#include "adapters/openmpi/parts.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/openmpi/private/layout.h"
#include "base/config.h"
#include "base/memory.h"

/* Plugins of stock Open MPI. */
static const struct {
    const char *name;
    enum { ALWAYS, CM, OB1, UCX, OPTIONAL } when;
} stock[] = {
#define X(name, when) {#name, when},
    PF_OMPI_PLUGINS(X)
#undef X
};

enum { STOCK_COUNT = sizeof stock / sizeof stock[0], MAX_FILES = 48 };
_Static_assert(STOCK_COUNT + 4 <= PF_OMPI_PLUGIN_LIMIT, "a stack has room for all plugins");

static struct {
    struct pf_family *core[PF_CORE_COUNT];
    char library_dir[PATH_MAX];
    char own_dir[PATH_MAX];
    struct pf_family *files[MAX_FILES]; /* plugins and common libraries that have been mapped */
    int file_count;
} parts;

static const char *const libraries[] = {
#define X(name, file) [PF_CORE_##name] = (file),
    PF_OMPI_LIBRARIES(X)
#undef X
};

static bool exists(const char *path)
{
    return access(path, R_OK) == 0;
}

static bool have_library(const char *directory)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", directory, libraries[PF_CORE_MPI]);
    return exists(path);
}

static bool find_library_dir(char *why, size_t n)
{
    const char *const candidates[] = {pf_config.openmpi_libdir, PF_OPENMPI_LIBDIR, PF_OPENMPI_LIBDIR "/../..",
                                      "/usr/lib"};
    bool chosen = *pf_config.openmpi_libdir;
    for (size_t i = chosen ? 0 : 1; i < (chosen ? 1 : sizeof candidates / sizeof candidates[0]); i++)
        if (have_library(candidates[i])) {
            snprintf(parts.library_dir, sizeof parts.library_dir, "%s", candidates[i]);
            return true;
        }
    snprintf(why, n,
             "Open MPI's library %s was not found%s%s: install the Debian package " PF_OMPI_PACKAGE
             " or set PARFOCAL_OPENMPI_LIBDIR",
             libraries[PF_CORE_MPI], chosen ? " in " : "", pf_config.openmpi_libdir);
    return false;
}

/* Parfocal's own plugins are in the folder of its library: installed, and in the build directory. */
static bool find_own_dir(char *why, size_t n)
{
    static const char probe[] = "mca_ess_parfocal.so";
    static const char *const near[] = {"parfocal-openmpi", "../adapters/openmpi", "../../adapters/openmpi",
                                       "."};
    char path[PATH_MAX];
    Dl_info info;
    if (*pf_config.openmpi_plugin_dir) {
        snprintf(parts.own_dir, sizeof parts.own_dir, "%s", pf_config.openmpi_plugin_dir);
        if ((size_t)snprintf(path, sizeof path, "%s/%s", parts.own_dir, probe) < sizeof path && exists(path))
            return true;
    } else if (dladdr((void *)find_own_dir, &info) && info.dli_fname) {
        char real[PATH_MAX];
        char *slash = realpath(info.dli_fname, real) ? strrchr(real, '/') : NULL;
        if (slash)
            *slash = 0;
        for (size_t i = 0; slash && i < sizeof near / sizeof near[0]; i++) {
            snprintf(parts.own_dir, sizeof parts.own_dir, "%.2000s/%s", real, near[i]);
            snprintf(path, sizeof path, "%.3000s/%s", parts.own_dir, probe);
            if (exists(path))
                return true;
        }
    }
    snprintf(why, n,
             "Parfocal's Open MPI plugins (%s and others) were not found: rebuild Parfocal or set "
             "PARFOCAL_OPENMPI_PLUGIN_DIR",
             probe);
    return false;
}

/* What an instance costs from its start on: a library has five segments. */
static void count_file(struct pf_ompi_stack *stack, const char *path)
{
    enum { MAPS_PER_FILE = 5 };
    struct stat status;
    stack->maps += MAPS_PER_FILE;
    if (stat(path, &status) == 0)
        stack->bytes += (size_t)status.st_size;
}

static bool add_plugin(struct pf_ompi_stack *stack, const char *directory, const char *name, bool required,
                       const char *advice, char *why, size_t n)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/mca_%s.so", directory, name);
    if (exists(path))
        stack->plugins[stack->plugin_count++] = pf_strdup(path);
    if (required)
        count_file(stack, path);
    if (required && !exists(path))
        snprintf(why, n, "Open MPI's plugin %s is missing: %s", path, advice);
    return exists(path) || !required;
}

/* The stock components that this build has compiled. */
static bool add_portals_plugin(struct pf_ompi_stack *stack, const char *kind, char *why, size_t n)
{
    char name[32];
    snprintf(name, sizeof name, "%s_portals4", kind);
    return add_plugin(stack, parts.own_dir, name, true,
                      "rebuild Parfocal (its build fetches the distribution's Open MPI source package)", why,
                      n);
}

static bool add_portals_plugins(struct pf_ompi_stack *stack, char *why, size_t n)
{
    if (pf_ompi_stack_has_pml(stack, "ucx"))
        return true;
    return add_portals_plugin(stack, pf_ompi_stack_has_pml(stack, "ob1") ? "btl" : "mtl", why, n) &&
           (!*stack->ops->coll() || add_portals_plugin(stack, "coll", why, n)) &&
           (strcmp(stack->ops->osc(), "portals4") != 0 || add_portals_plugin(stack, "osc", why, n));
}

/* Those for the messaging layer that the stack has; btl/self is asked for whatever that is. */
static bool is_wanted(const struct pf_ompi_stack *stack, int i)
{
    static const char *const layers[] = {[CM] = "cm", [OB1] = "ob1", [UCX] = "ucx"};
    if (stock[i].when == ALWAYS || stock[i].when == OPTIONAL || strcmp(stock[i].name, "btl_self") == 0)
        return true;
    if (strcmp(stock[i].name, "osc_ucx") == 0 && strcmp(pf_config_ucx_osc(), "ucx") != 0)
        return false;
    return pf_ompi_stack_has_pml(stack, layers[stock[i].when]);
}

static bool list_plugins(struct pf_ompi_stack *stack, char *why, size_t n)
{
    char directory[PATH_MAX];
    const char *const dirs[] = {PF_OMPI_PLUGIN_FOLDERS};
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        snprintf(directory, sizeof directory, "%.3000s/%s", parts.library_dir, dirs[i]);
        if (exists(directory))
            break;
    }
    for (int i = 0; i < STOCK_COUNT; i++) {
        if (!is_wanted(stack, i))
            continue;
        if (!add_plugin(stack, directory, stock[i].name, stock[i].when != OPTIONAL,
                        "install the Debian package " PF_OMPI_PACKAGE, why, n))
            return false;
    }
    return add_portals_plugins(stack, why, n);
}

/* Internal structures of Open MPI are used, so nothing but the version that the glue was built for will
 * do. */
static bool check_version(char *why, size_t n)
{
    const char *found = pf_elf_string(&parts.core[PF_CORE_MPI]->elf, PF_OMPI_VERSION_TEXT);
    const char *at = found ? strstr(found, PF_OMPI_VERSION) : NULL;
    char next = at ? at[strlen(PF_OMPI_VERSION)] : '0';
    if (at && !(next >= '0' && next <= '9') && !(at > found && at[-1] >= '0' && at[-1] <= '9'))
        return true;
    snprintf(why, n,
             "%s is Open MPI %s, but Parfocal was built for " PF_OMPI_VERSION
             ": install the package " PF_OMPI_PACKAGE " of that version or set PARFOCAL_OPENMPI_LIBDIR",
             parts.core[PF_CORE_MPI]->elf.path, found ? found : "of an unknown version");
    return false;
}

/* libmpi comes first: another version may have other libraries, and other plugins. */
static bool map_core(char *why, size_t n)
{
    if (parts.core[PF_CORE_GLUE])
        return true;
    char path[PATH_MAX + 64];
    for (int i = PF_CORE_MPI; i >= 0; i--) {
        snprintf(path, sizeof path, "%s/%s", parts.library_dir, libraries[i]);
        parts.core[i] = pf_family_open(path, why, n);
        if (!parts.core[i] || (i == PF_CORE_MPI && !check_version(why, n)))
            return false;
    }
    snprintf(path, sizeof path, "%s/mca_ess_parfocal.so", parts.own_dir);
    parts.core[PF_CORE_GLUE] = pf_family_open(path, why, n);
    return parts.core[PF_CORE_GLUE] != NULL;
}

static bool check_layouts(char *why, size_t n)
{
    for (int i = 0; i < PF_CORE_GLUE; i++)
        if (!pf_ompi_layout_check(&parts.core[i]->elf, (enum pf_core)i, pf_ompi_data, pf_ompi_data_count, why,
                                  n))
            return false;
    return true;
}

/* With this protocol mtl/portals4 4.1.4 ends a send, and forgets its buffer, when the first part of it has
 * been acknowledged and not when the rest has been fetched: data are wrong, or the fetch finds nothing. */
static bool check_protocol(char *why, size_t n)
{
    static const char name[] = "OMPI_MCA_mtl_portals4_long_protocol";
    const char *protocol = getenv(name);
    if (!protocol || (strcmp(protocol, "rndv") != 0 && strcmp(protocol, "1") != 0))
        return true;
    snprintf(why, n,
             "%s=%s does not work in Open MPI " PF_OMPI_VERSION
             ": a send ends before its data have been fetched; leave it "
             "eager",
             name, protocol);
    return false;
}

/* What another version has over this stack, and this one has not, or not so that it works. */
static bool check_missing(const struct pf_ompi_stack *stack, char *why, size_t n)
{
    const struct {
        const char *name, *value, *missing, *reason;
    } rows[] = {
#define X(name, value, missing, reason) {name, value, missing, reason},
        PF_OMPI_MISSING(X)
#undef X
            {NULL, NULL, NULL, NULL}};
    const char *own = pf_ompi_stack_has_pml(stack, "ucx") ? "UCX_" : "OPENMPI_";
    for (int i = 0; rows[i].name; i++)
        if (strncmp(rows[i].name, own, strlen(own)) == 0 && strcmp(rows[i].value, rows[i].missing) == 0) {
            snprintf(why, n, "PARFOCAL_%s=%s: Open MPI " PF_OMPI_VERSION " %s", rows[i].name, rows[i].missing,
                     rows[i].reason);
            return false;
        }
    return true;
}

/* The offloading components find the addresses of the others where mtl/portals4 has put them. Without it
 * they would refuse themselves, and Open MPI would take others without a word. */
static bool check_settings(const struct pf_ompi_stack *stack, char *why, size_t n)
{
    bool cm = pf_ompi_stack_has_pml(stack, "cm");
    const struct {
        const char *name, *value;
    } offloading[] = {{"COLL", stack->ops->coll()}, {"OSC", stack->ops->osc()}};
    for (size_t i = 0; i < sizeof offloading / sizeof offloading[0]; i++) {
        if (strcmp(offloading[i].value, "portals4") == 0 && !cm) {
            snprintf(why, n, "PARFOCAL_OPENMPI_%s=portals4 needs PARFOCAL_OPENMPI_PML=cm",
                     offloading[i].name);
            return false;
        }
    }
    return !cm || check_protocol(why, n);
}

bool pf_parts_find(struct pf_ompi_stack *stack, char *why, size_t n)
{
    if (stack->maps)
        return true;
    stack->plugin_count = 0;
    stack->bytes = 0;
    if (!check_missing(stack, why, n) || !check_settings(stack, why, n) || !find_library_dir(why, n) ||
        !find_own_dir(why, n) || !map_core(why, n) || !list_plugins(stack, why, n) ||
        !check_layouts(why, n)) {
        stack->maps = 0;
        return false;
    }
    for (int i = 0; i < PF_CORE_COUNT; i++)
        count_file(stack, parts.core[i]->elf.path);
    return true;
}

struct pf_family *pf_parts_core(enum pf_core which)
{
    return parts.core[which];
}

struct pf_family *pf_parts_plugin(const char *path, char *why, size_t n)
{
    for (int i = 0; i < parts.file_count; i++)
        if (strcmp(parts.files[i]->elf.path, path) == 0)
            return parts.files[i];
    if (parts.file_count == MAX_FILES) {
        snprintf(why, n, "more than %d plugins of Open MPI", MAX_FILES);
        return NULL;
    }
    struct pf_family *elf = pf_family_open(path, why, n);
    if (elf)
        parts.files[parts.file_count++] = elf;
    return elf;
}

struct pf_family *pf_parts_common(const char *name, char *why, size_t n)
{
    char path[PATH_MAX + 128];
    snprintf(path, sizeof path, "%s/%.96s", parts.library_dir, name);
    return pf_parts_plugin(path, why, n);
}

int pf_parts_each_plugin(const struct pf_ompi_stack *stack, int (*each)(const char *path, void *arg),
                         void *arg)
{
    int status = 0;
    for (int i = 0; i < stack->plugin_count && status == 0; i++)
        status = each(stack->plugins[i], arg);
    return status;
}
