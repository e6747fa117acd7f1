/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <cstring>
#include <new>
#include <utility>

extern "C" {
#include "base/log.h"
}
#include "lowlevel/simgrid/private.h"

/*
 * Makes an object whose true size the compiler does not know, in the memory of the class that private.h
 * declares in its place. Ends the process when the end of that memory does not stay as it was: then the
 * object is larger than expected. `what` names the kind. SimGrid's own `delete` frees it.
 */
template <class Object, class... Arguments> Object *pf_simgrid_new(const char *what, Arguments &&...arguments)
{
    enum { SPARE = 64, FILL = 0x5a };
    char untouched[SPARE];
    char *room = static_cast<char *>(operator new(sizeof(Object))), *spare = room + sizeof(Object) - SPARE;
    memset(untouched, FILL, SPARE);
    memset(spare, FILL, SPARE);
    __asm__ volatile(""
                     :
                     : "r"(room)
                     : "memory"); /* before an object begins, compilers see no use of a store */
    auto *object = new (room) Object(std::forward<Arguments>(arguments)...);
    if (memcmp(spare, untouched, SPARE) != 0)
        pf_die("this SimGrid is not the %d.%d that Parfocal was built for: its %s needs more than %zu bytes; "
               "install the package " PF_SIMGRID_PACKAGE " of the distribution, or build Parfocal again",
               PF_SIMGRID_MAJOR, PF_SIMGRID_MINOR, what, sizeof(Object) - SPARE);
    return object;
}
