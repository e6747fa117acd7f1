/* SPDX-License-Identifier: BSD-3-Clause */
/* The few entry points whose arguments follow no rule: lists of strings, and an argument that is not used. */

#include "middleware/fortran/convert.h"
#include "base/memory.h"

__typeof__(pf_MPI_Comm_spawn) pf_entry_Comm_spawn;
__typeof__(pf_MPI_Comm_spawn_multiple) pf_entry_Comm_spawn_multiple;
__typeof__(pf_MPI_Buffer_detach) pf_entry_Buffer_detach;

/* Strings of C, on the heap with the list. */
static void free_list(char **list)
{
    for (char **each = list; list && *each; each++)
        free(*each);
    free(list);
}

/* `count` strings that are `step` characters apart; with a negative count a blank one ends them. */
static char **make_list(const char *text, size_t length, size_t step, int count)
{
    int used = 0, room = 8;
    char **list = pf_malloc((size_t)room * sizeof *list);
    for (; list && used != count; used++) {
        char *next = pf_f_string(text + (size_t)used * step, length, false);
        if (used + 1 == room)
            list = realloc(list, (size_t)(room *= 2) * sizeof *list);
        if (!list)
            break;
        list[used] = next;
        if (count < 0 && !*next) {
            free(next);
            break;
        }
    }
    if (!list)
        abort();
    list[used] = NULL;
    return list;
}

static int *error_codes(MPI_Fint *codes)
{
    return codes == pf_mpi_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}

void pmpi_comm_spawn_(const char *command, const char *argv, const MPI_Fint *maxprocs, const MPI_Fint *info,
                      const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *codes,
                      MPI_Fint *ierror, pf_f_length command_length, pf_f_length argv_length);
void pmpi_comm_spawn_(const char *command, const char *argv, const MPI_Fint *maxprocs, const MPI_Fint *info,
                      const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *codes,
                      MPI_Fint *ierror, pf_f_length command_length, pf_f_length argv_length)
{
    char *program = pf_f_string(command, command_length, false);
    char **arguments = argv == pf_mpi_argv_null_ ? NULL : make_list(argv, argv_length, argv_length, -1);
    MPI_Comm made = NULL;
    PF_F_SITE();
    int code = pf_entry_Comm_spawn(program, arguments, *maxprocs, pf_f_info(*info), *root, pf_f_comm(*comm),
                                   &made, error_codes(codes));
    if (code == MPI_SUCCESS && made)
        *intercomm = pf_f_from_comm(made);
    pf_f_ierror(ierror, code);
    free(program);
    free_list(arguments);
}
__typeof__(pmpi_comm_spawn_) mpi_comm_spawn_ __attribute__((weak, alias("pmpi_comm_spawn_")));

/* argv(count, *): the arguments of one command are `count` strings apart (MPI 3.1 section 10.3.3). */
void pmpi_comm_spawn_multiple_(const MPI_Fint *count, const char *commands, const char *argv,
                               const MPI_Fint maxprocs[], const MPI_Fint info[], const MPI_Fint *root,
                               const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *codes, MPI_Fint *ierror,
                               pf_f_length command_length, pf_f_length argv_length);
void pmpi_comm_spawn_multiple_(const MPI_Fint *count, const char *commands, const char *argv,
                               const MPI_Fint maxprocs[], const MPI_Fint info[], const MPI_Fint *root,
                               const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *codes, MPI_Fint *ierror,
                               pf_f_length command_length, pf_f_length argv_length)
{
    int n = *count > 0 ? *count : 0;
    char **programs = make_list(commands, command_length, command_length, n);
    char ***arguments = argv == pf_mpi_argvs_null_ ? NULL : pf_calloc((size_t)n + 1, sizeof *arguments);
    struct pf_f_array infos;
    pf_f_array_open(&infos, n);
    for (int i = 0; i < n; i++) {
        infos.all[i] = pf_f_info(info[i]);
        if (arguments)
            arguments[i] = make_list(argv + (size_t)i * (size_t)argv_length, (size_t)argv_length,
                                     (size_t)n * (size_t)argv_length, -1);
    }
    MPI_Comm made = NULL;
    PF_F_SITE();
    int code = pf_entry_Comm_spawn_multiple(n, programs, arguments, maxprocs, (MPI_Info *)infos.all, *root,
                                            pf_f_comm(*comm), &made, error_codes(codes));
    if (code == MPI_SUCCESS && made)
        *intercomm = pf_f_from_comm(made);
    pf_f_ierror(ierror, code);
    for (int i = 0; arguments && i < n; i++)
        free_list(arguments[i]);
    free(arguments);
    pf_f_array_close(&infos);
    free_list(programs);
}
__typeof__(pmpi_comm_spawn_multiple_) mpi_comm_spawn_multiple_
    __attribute__((weak, alias("pmpi_comm_spawn_multiple_")));

/* Fortran cannot receive an address in its first argument, which is not used (MPI 3.1 section 3.6). */
void pmpi_buffer_detach_(void *buffer, MPI_Fint *size, MPI_Fint *ierror)
{
    void *detached = NULL;
    PF_F_SITE();
    pf_f_ierror(ierror, pf_entry_Buffer_detach(&detached, size));
}
__typeof__(pmpi_buffer_detach_) mpi_buffer_detach_ __attribute__((weak, alias("pmpi_buffer_detach_")));

/* With the module mpi_f08 it can. */
void pmpi_buffer_detach_f08_(void **buffer, MPI_Fint *size, MPI_Fint *ierror)
{
    PF_F_SITE();
    pf_f_ierror(ierror, pf_entry_Buffer_detach(buffer, size));
}
__typeof__(pmpi_buffer_detach_f08_) mpi_buffer_detach_f08_
    __attribute__((weak, alias("pmpi_buffer_detach_f08_")));

/* Nothing to do: the call itself keeps the compiler from holding the buffer in registers (MPI 3.1 section
 * 17.1.17). */
void pmpi_f_sync_reg_(void *buffer)
{
}
__typeof__(pmpi_f_sync_reg_) mpi_f_sync_reg_ __attribute__((weak, alias("pmpi_f_sync_reg_")));
