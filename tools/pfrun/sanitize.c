/* SPDX-License-Identifier: BSD-3-Clause */
/* AddressSanitizer: of the program, or of a build of Parfocal itself. */
#include "tools/pfrun/sanitize.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/export.h"
#include "base/log.h"
#include "base/memory.h"

/*
 * SimGrid's stacks are unknown to the sanitizer; what SimGrid and Open MPI leave behind at the end is not
 * ours; and a communicator's shadow in SMPI is larger than what SMPI deletes (adapters/smpi/smpi_shadow.cpp).
 * The simulator names the rank of a signal.
 */
#define QUIET                                                                                                \
    "detect_stack_use_after_return=0:detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:"          \
    "handle_abort=0:handle_sigill=0:use_sigaltstack=0:detect_odr_violation=0:new_delete_type_mismatch=0"

void sanitize_start_again(const char *runtime, char **argv)
{
    const char *before = getenv("LD_PRELOAD"), *options = getenv("ASAN_OPTIONS");
    if (!*runtime || dlsym(RTLD_DEFAULT, "__asan_init"))
        return;
    if (before && strstr(before, runtime))
        pf_die("the program was built with -fsanitize=address, and its library %s cannot be loaded first",
               runtime);
    setenv("LD_PRELOAD", pf_asprintf("%s%s%s", runtime, before && *before ? ":" : "", before ? before : ""),
           1);
    /* A fault ends with a signal, so that the rank is named and the temporary files go. */
    setenv("ASAN_OPTIONS",
           pf_asprintf(QUIET ":abort_on_error=1%s%s", options && *options ? ":" : "", options ? options : ""),
           1);
    execv("/proc/self/exe", argv);
    pf_die("cannot start pfrun again: %s", strerror(errno));
}

/* In a build with the sanitizer this definition of dlopen comes before the C library's and takes the flag
 * away with which SMPI loads the application, and which the sanitizer refuses. */
#if defined(__SANITIZE_ADDRESS__)
PF_EXPORT void *dlopen(const char *file, int mode);

void *dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(file, mode & ~RTLD_DEEPBIND);
}

PF_EXPORT const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return QUIET;
}
#endif
