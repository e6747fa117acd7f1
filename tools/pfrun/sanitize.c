/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AddressSanitizer refuses libraries that are loaded with RTLD_DEEPBIND, as SMPI loads the application. In a
 * build with the sanitizer, this definition comes before the C library's and takes the flag away; symbols
 * then resolve in the ordinary order, which is good enough for tests. Otherwise the file is empty.
 */
#if defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>

#include "base/export.h"

PF_EXPORT void *dlopen(const char *file, int mode);

void *dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(file, mode & ~RTLD_DEEPBIND);
}

/*
 * SimGrid's stacks are unknown to the sanitizer; what SimGrid and Open MPI leave behind at the end is not
 * ours; and a communicator's shadow in SMPI is larger than what SMPI deletes (adapters/smpi/smpi_shadow.cpp).
 */
PF_EXPORT const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_stack_use_after_return=0:detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:"
           "handle_abort=0:handle_sigill=0:use_sigaltstack=0:detect_odr_violation=0:new_delete_type_mismatch="
           "0";
}
#endif
