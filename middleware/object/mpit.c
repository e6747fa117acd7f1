/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool interface (MPI 3.1 chapter 14) with no variables and no categories, which the standard allows:
 * every index is out of range, every handle invalid. Tool functions work before MPI_Init and after
 * MPI_Finalize and never run an error handler, so they do not enter like other calls.
 */
#include <stdlib.h>
#include <uthash.h>

#include "base/memory.h"
#include "middleware/core/call.h"

/* Per simulated process, found by its number in the simulation: a rank has no state of ours before
 * MPI_Init. */
struct tool {
    long process;
    int initialised; /* calls of init less calls of finalize */
    UT_hash_handle hh;
};

struct MPI_ABI_T_pvar_session {
    const struct MPI_ABI_T_pvar_session *self; /* distinguishes a session from a wild pointer */
};

static struct tool *tools;

static struct tool *tool_of_caller(void)
{
    long process = sg_actor_self_get_pid();
    struct tool *tool;
    HASH_FIND(hh, tools, &process, sizeof process, tool);
    if (tool)
        return tool;
    tool = pf_calloc(1, sizeof *tool);
    tool->process = process;
    HASH_ADD(hh, tools, process, sizeof tool->process, tool);
    return tool;
}

/* The error of a call on something that does not exist. */
static int without(int error)
{
    return tool_of_caller()->initialised > 0 ? error : MPI_T_ERR_NOT_INITIALIZED;
}

static int none(int *number)
{
    if (tool_of_caller()->initialised <= 0)
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!number)
        return MPI_ERR_ARG;
    *number = 0;
    return MPI_SUCCESS;
}

static bool session_valid(MPI_T_pvar_session session)
{
    return session != MPI_T_PVAR_SESSION_NULL && session->self == session;
}

/* Calls on all handles of a session succeed, because it has none. */
static int on_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle, bool all_allowed)
{
    if (tool_of_caller()->initialised <= 0)
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!session_valid(session))
        return MPI_T_ERR_INVALID_SESSION;
    return all_allowed && handle == MPI_T_PVAR_ALL_HANDLES ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int pf_PMPI_T_init_thread(int required, int *provided)
{
    if (!provided)
        return MPI_ERR_ARG;
    tool_of_caller()->initialised++;
    *provided = pf_thread_level(required);
    return MPI_SUCCESS;
}

int pf_PMPI_T_finalize(void)
{
    struct tool *tool = tool_of_caller();
    if (tool->initialised <= 0)
        return MPI_T_ERR_NOT_INITIALIZED;
    tool->initialised--;
    return MPI_SUCCESS;
}

/* Control variables */

int pf_PMPI_T_cvar_get_num(int *num_cvar)
{
    return none(num_cvar);
}

int pf_PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
                            MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
    return without(MPI_T_ERR_INVALID_INDEX);
}

int pf_PMPI_T_cvar_get_index(const char *name, int *cvar_index)
{
    return without(name && cvar_index ? MPI_T_ERR_INVALID_NAME : MPI_ERR_ARG);
}

int pf_PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count)
{
    return without(MPI_T_ERR_INVALID_INDEX);
}

int pf_PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    return without(MPI_T_ERR_INVALID_HANDLE);
}

int pf_PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    return without(MPI_T_ERR_INVALID_HANDLE);
}

int pf_PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    return without(MPI_T_ERR_INVALID_HANDLE);
}

/* Categories */

int pf_PMPI_T_category_get_num(int *num_cat)
{
    return none(num_cat);
}

int pf_PMPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                                int *num_cvars, int *num_pvars, int *num_categories)
{
    return without(MPI_T_ERR_INVALID_INDEX);
}

int pf_PMPI_T_category_get_index(const char *name, int *cat_index)
{
    return without(name && cat_index ? MPI_T_ERR_INVALID_NAME : MPI_ERR_ARG);
}

int pf_PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
    return without(MPI_T_ERR_INVALID_INDEX);
}

int pf_PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
    return without(MPI_T_ERR_INVALID_INDEX);
}

int pf_PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{
    return without(MPI_T_ERR_INVALID_INDEX);
}

int pf_PMPI_T_category_changed(int *update_number)
{
    return none(update_number);
}

/* Performance variables */

int pf_PMPI_T_pvar_get_num(int *num_pvar)
{
    return none(num_pvar);
}

int pf_PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                            MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                            int *bind, int *readonly, int *continuous, int *atomic)
{
    return without(MPI_T_ERR_INVALID_INDEX);
}

int pf_PMPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    return without(name && pvar_index ? MPI_T_ERR_INVALID_NAME : MPI_ERR_ARG);
}

int pf_PMPI_T_pvar_session_create(MPI_T_pvar_session *pe_session)
{
    if (tool_of_caller()->initialised <= 0)
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!pe_session)
        return MPI_ERR_ARG;
    MPI_T_pvar_session session = malloc(sizeof *session);
    if (!session)
        return MPI_T_ERR_OUT_OF_SESSIONS;
    session->self = session;
    *pe_session = session;
    return MPI_SUCCESS;
}

int pf_PMPI_T_pvar_session_free(MPI_T_pvar_session *pe_session)
{
    if (tool_of_caller()->initialised <= 0)
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!pe_session || !session_valid(*pe_session))
        return MPI_T_ERR_INVALID_SESSION;
    (*pe_session)->self = NULL;
    free(*pe_session);
    *pe_session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

int pf_PMPI_T_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index, void *obj_handle,
                                MPI_T_pvar_handle *handle, int *count)
{
    return without(session_valid(pe_session) ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_INVALID_SESSION);
}

int pf_PMPI_T_pvar_handle_free(MPI_T_pvar_session pe_session, MPI_T_pvar_handle *handle)
{
    return on_handle(pe_session, MPI_T_PVAR_HANDLE_NULL, false);
}

int pf_PMPI_T_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle)
{
    return on_handle(pe_session, handle, true);
}

int pf_PMPI_T_pvar_stop(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle)
{
    return on_handle(pe_session, handle, true);
}

int pf_PMPI_T_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void *buf)
{
    return on_handle(pe_session, handle, false);
}

int pf_PMPI_T_pvar_write(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void *buf)
{
    return on_handle(pe_session, handle, false);
}

int pf_PMPI_T_pvar_reset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle)
{
    return on_handle(pe_session, handle, true);
}

int pf_PMPI_T_pvar_readreset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void *buf)
{
    return on_handle(pe_session, handle, false);
}

/* Enumerations: no variable has one. */

int pf_PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    return without(MPI_T_ERR_INVALID_HANDLE);
}

int pf_PMPI_T_enum_get_item(MPI_T_enum enumtype, int index, int *value, char *name, int *name_len)
{
    return without(MPI_T_ERR_INVALID_HANDLE);
}
