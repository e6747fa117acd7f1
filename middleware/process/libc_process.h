/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>

#include "base/export.h"

/*
 * What the C library keeps for a process, of each rank. It lives for as long as the simulation; what is large
 * is allocated when it is first used.
 */
enum { PF_STREAMS = 3, PF_MULTIBYTE = 6 };

struct pf_exit_function {
    void (*function)(void *arg);
    void (*on_exit)(int status, void *arg); /* or this one */
    void *arg, *object;
    struct pf_exit_function *next;
};

struct link_map;

struct pf_process {
    int rank;
    /* libc_stdio.c, libc_descriptor.c */
    FILE *stream[PF_STREAMS];  /* the program's variables stdin, stdout and stderr, */
    FILE **copied[PF_STREAMS]; /* unless it has them in its own data, here; NULL: it has not, */
    FILE *own[PF_STREAMS];     /* the objects to which they lead first, NULL before they are used, */
    int number[PF_STREAMS];    /* their descriptors as the program sees them, -1: closed */
    int behind[PF_STREAMS];    /* what really stands behind descriptors 0, 1 and 2, -1: closed */
    bool holes;                /* one of them is closed */
    /* libc_random.c, libc_state.c */
    struct generators *generators;
    struct results *results;
    char *token;
    char *locale; /* that it has asked for, NULL: "C" */
    mbstate_t multibyte[PF_MULTIBYTE];
    /* libc_getopt.c: the program's variables, the next letter of the current argument, and the arguments in
     * front of the position that are no options */
    char *optarg;
    int optind, opterr, optopt;
    char *next_option;
    int first_other, last_other;
    /* libc_folder.c: NULL, -1: those of the whole process */
    char *folder;
    int mask;
    /* libc_exit.c: the last one first */
    struct pf_exit_function *at_exit, *at_thread_exit, *at_quick_exit;
    struct sigaction *actions; /* libc_signal.c: by number of the signal */
    double alarm,
        alarm_interval; /* libc_alarm.c: s, the date of the next SIGALRM and the time to another; 0: none */
    bool rings;         /* and its handler runs */
    bool of_openmpi;    /* abi.c: its `image` is a program of Open MPI, not of the standard ABI */
    struct pf_cxx_streams *cxx; /* libc_cxx.cpp */
    struct pf_openmp *openmp;   /* libc_openmp.c */
    void *caught;               /* the exceptions that it handles, while others do */
    void *image;                /* abi.c: its copy of such a program (loader/image.h), NULL: none, */
    char **environ;             /* what that sees as environ if it has no such variable of its own, */
    void *stack_end,            /* and its variable __libc_stack_end, */
        **copied_stack_end;     /* unless it has that in its own data, here */
};

/* That of the calling rank, or of the rank whose child the caller is or whose thread may call; NULL for
 * others.
 */
struct pf_process *pf_process(void);

/* The rank that has made the calling thread; -1: none, or that is not known. */
int pf_process_rank_of_thread(void);

/* Its copy of a program in an image; NULL: it has none. */
void *pf_process_image(void);

/* That of a rank, NULL: it has asked for nothing. */
struct pf_process *pf_process_of(int rank);

/* The number of the calling actor, which is a rank's + 1; of a thread that a rank has made, its rank's; else
 * 0. */
long pf_process_actor(void);

/* Whether the caller runs in the thread of the ranks. */
bool pf_process_here(void);

/* The stream of this number: the rank's variable, outside of ranks the C library's. */
FILE *pf_process_stream(int number);

/* Its object, which is made when it is first asked for. */
FILE *pf_process_own(struct pf_process *p, int number);

/* What really stands behind a descriptor of the calling rank. */
int pf_process_behind(int descriptor);

/* Gives a new descriptor the lowest number that the calling rank has closed. */
int pf_process_opened(int descriptor);

/* Makes `number` a descriptor of the rank alone before it is closed or changed. */
void pf_process_detach(struct pf_process *p, int number);

/* `number` has another descriptor behind it now. */
void pf_process_redirect(struct pf_process *p, int number, int descriptor);

/* Around a call that may move bytes between a stream's buffer and its file: where that is (-1: it costs
 * nothing), and what it has moved since is charged to the rank. */
off_t pf_stream_position(FILE *stream);
void pf_stream_moved(FILE *stream, off_t before, bool writes);

/* A signal comes to the calling rank: its handler is called, if it has one. Whether it was; not for one that
 * it ignores. By default a signal ends the job. */
bool pf_signal_come(struct pf_process *p, int signal);
bool pf_signal_is_blocked(int signal);

/* The rank's folder and mask instead of the process's, and back. Nothing if the rank has changed neither. */
void pf_folder_enter(void);
void pf_folder_leave(void);

/* A file's name as the process must open it: `name`, or with the rank's folder in front; to be freed if it is
 * not `name`. */
char *pf_folder_name(const char *name);

/* The command line of the calling rank's program, as main() gets it, and its file; the first call for each
 * program counts. */
void pf_proc_set(int argc, char *const *argv, const char *path);

/* The C library's variables with the name of the program get that of the calling rank, if the job has
 * several. */
void pf_proc_take_name(void);

/* Which file to open for one of /proc that is about the rank; other names as they are. */
const char *pf_proc_name(const char *name);

/* The rank's folder, environment and descriptors for a child process, and back. In a child that is there: for
 * good. */
void pf_spawn_enter(void);
void pf_spawn_leave(void);

/* In a child process, which is alone: the rank's folder, mask and descriptors are the process's. */
void pf_process_child(void);

/* The input of all ranks but the first: it is empty. */
int pf_process_no_input(void);

/* Functions for the end of a program or library, in the order in which the linker has put them. */
struct pf_ends {
    void (**functions)(void);
    size_t count;
};
void pf_process_add_ends(struct pf_process *p, struct pf_ends ends);

/* Runs what the rank has registered for its end, the last first, and empties its streams. */
void pf_process_finish(int status);

/* Makes the exceptions that the calling rank handles those of the thread, which all ranks share. */
void pf_exceptions_enter(void);

/* The C++ library's streams of the rank: NULL for another name. They keep nothing that stdio does not. */
void *pf_cxx_stream(struct pf_process *p, const char *name);
/* Makes one in the data of an executable that has it there, as `name`. */
void pf_cxx_place(struct pf_process *p, const char *name, void *place);

/* At the end of the run: warns of what ranks have shared and should not have. */
void pf_process_report(void);

/* Whether a program was refused that a rank's child was to become. */
bool pf_exec_refused(void);

/* For a child, in which ompi_abi/child.c refuses MPI_Init: what it starts, or opens, is not known here. The
 * array alone is new. */
char **pf_exec_environment(char *const *given);

/* Where an import leads that the dynamic linker would lead to `real`; NULL: there. */
void *pf_process_import(const char *name, const void *real);

/* Leads the imports of the copy of a program or library in which `address` lies, or, if it is opaque as
 * loader/copy.h has it, of `loaded`. Before its constructors. */
void pf_process_lead(void *loaded);
PF_EXPORT void pf_process_lead_at(const void *address);

/* The same for one of the system's libraries, which all ranks share. */
void pf_process_lead_system(void *library);

/* Libraries that all ranks share: the last one that is loaded now, and, for those that have been loaded after
 * one, the same, and a look at the variables of the system's for pf_process_report(). */
struct link_map *pf_libraries_last(void);
void pf_libraries_lead(const struct link_map *after);
void pf_libraries_watch(const struct link_map *map);

/* Those that the program has brought; when the first rank's copy is loaded, later calls do nothing. */
void pf_libraries_lead_first(void);
