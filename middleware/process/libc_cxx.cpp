/* SPDX-License-Identifier: BSD-3-Clause */
/* std::cout and its like of each rank. In C++, because these are its objects. */
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <iostream>
#include <new>

#include <ext/stdio_sync_filebuf.h>

extern "C" {
#include "middleware/process/libc_process.h"
}

namespace
{
template <typename C> struct Set {
    __gnu_cxx::stdio_sync_filebuf<C> input, output, error;
    std::basic_istream<C> in{&input};
    std::basic_ostream<C> out{&output}, err{&error}, log{&error};
    std::basic_ostream<C> *tied = &out;
    Set(FILE *i, FILE *o, FILE *e) : input(i), output(o), error(e)
    {
        in.tie(&out);
        err.setf(std::ios_base::unitbuf);
        err.tie(&out);
    }
};
} // namespace

struct pf_cxx_streams {
    Set<char> narrow;
    Set<wchar_t> wide;
    bool synchronised = true;
    pf_cxx_streams(FILE *i, FILE *o, FILE *e) : narrow(i, o, e), wide(i, o, e)
    {
    }
};

/* They live as long as the process: destructors of the program's objects may still write. */
static pf_cxx_streams *streams(struct pf_process *p)
{
    if (!p->cxx)
        p->cxx = new pf_cxx_streams(pf_process_own(p, 0), pf_process_own(p, 1), pf_process_own(p, 2));
    return p->cxx;
}

extern "C" void *pf_cxx_stream(struct pf_process *p, const char *name)
{
    static const char *const names[] = {"_ZSt3cin",  "_ZSt4cout",  "_ZSt4cerr",  "_ZSt4clog",
                                        "_ZSt4wcin", "_ZSt5wcout", "_ZSt5wcerr", "_ZSt5wclog"};
    int which = 0;
    while (which < 8 && std::strcmp(name, names[which]) != 0)
        which++;
    if (which == 8)
        return nullptr;
    pf_cxx_streams *s = streams(p);
    void *const objects[] = {&s->narrow.in, &s->narrow.out, &s->narrow.err, &s->narrow.log,
                             &s->wide.in,   &s->wide.out,   &s->wide.err,   &s->wide.log};
    return objects[which];
}

/* The others are tied to the program's own cout, which comes first. */
template <typename C> static void place(Set<C> &set, const void *stream, void *at)
{
    if (stream == &set.in) {
        (new (at) std::basic_istream<C>(&set.input))->tie(set.tied);
        return;
    }
    auto *made = new (at) std::basic_ostream<C>(stream == &set.out ? &set.output : &set.error);
    if (stream == &set.out)
        set.tied = made;
    if (stream == &set.err) {
        made->setf(std::ios_base::unitbuf);
        made->tie(set.tied);
    }
}

extern "C" void pf_cxx_place(struct pf_process *p, const char *name, void *at)
{
    const void *stream = pf_cxx_stream(p, name);
    if (stream && name[5] == 'w')
        place(p->cxx->wide, stream, at);
    else if (stream)
        place(p->cxx->narrow, stream, at);
}

/* Nothing is gained by buffers that stdio does not know. */
extern "C" bool pf_libc__ZNSt8ios_base15sync_with_stdioEb(bool on)
{
    struct pf_process *p = pf_process();
    if (!p)
        return std::ios_base::sync_with_stdio(on);
    bool before = streams(p)->synchronised;
    p->cxx->synchronised = on;
    return before;
}

/* What __cxa_get_globals() begins with, by the ABI. Those in flight are not kept apart: a rank does not give
 * way while it unwinds. */
struct Globals {
    void *caught;
};

extern "C" void pf_exceptions_enter(void)
{
    static struct pf_process *owner;
    static void *of_nobody;
    if (!pf_process_here())
        return;
    struct pf_process *p = pf_process();
    if (p == owner)
        return;
    void *&caught = reinterpret_cast<Globals *>(abi::__cxa_get_globals())->caught;
    (owner ? owner->caught : of_nobody) = caught;
    caught = p ? p->caught : of_nobody;
    owner = p;
}
