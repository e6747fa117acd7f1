/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of the C library, which other threads of the program use, too. */
#include "base/streams.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <time.h>

/* The C library's own list of streams, which its header does not declare. */
typedef struct list_place *place_t;
place_t _IO_iter_begin(void);
place_t _IO_iter_end(void);
place_t _IO_iter_next(place_t place);
FILE *_IO_iter_file(place_t place);
void _IO_list_lock(void);
void _IO_list_unlock(void);

/* Another thread that writes is soon done with it. */
static bool lock(FILE *stream)
{
    enum { TRIES = 100, WAIT = 10000000 /* ns */ };
    for (int i = 0; i < TRIES; i++) {
        if (ftrylockfile(stream) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = WAIT}, NULL);
    }
    return false;
}

void pf_flush(FILE *stream)
{
    if (__fpending(stream) == 0)
        return;
    bool locked = lock(stream);
    fflush_unlocked(stream);
    if (locked)
        funlockfile(stream);
}

void pf_flush_all(void)
{
    _IO_list_lock();
    for (place_t place = _IO_iter_begin(); place != _IO_iter_end(); place = _IO_iter_next(place))
        pf_flush(_IO_iter_file(place));
    _IO_list_unlock();
}

bool pf_streams_kept(void)
{
    bool kept = false;
    _IO_list_lock();
    for (place_t place = _IO_iter_begin(); place != _IO_iter_end(); place = _IO_iter_next(place)) {
        FILE *stream = _IO_iter_file(place);
        if (ftrylockfile(stream) == 0)
            funlockfile(stream);
        else
            kept = true;
    }
    _IO_list_unlock();
    return kept;
}
