/* SPDX-License-Identifier: BSD-3-Clause */
/* The C library as an instance of Open MPI sees it, which believes that it has a process of its own. */
#include "loader/libc.h"

#include <aio.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

#include "base/log.h"
#include "base/self.h"
#include "loader/keys.h"

static struct pf_libc_host host;

void pf_libc_set_host(const struct pf_libc_host *given)
{
    host = *given;
}

static int instance_gethostname(char *name, size_t length)
{
    const pf_self_t *self = pf_self();
    if (!self)
        return gethostname(name, length);
    snprintf(name, length, "%s", sg_host_get_name(self->host));
    return 0;
}

static __attribute__((noreturn)) void instance_exit(int status)
{
    if (host.exit)
        host.exit(status);
    pf_end_process(status ? status : 1);
}

static __attribute__((noreturn)) void instance_abort(void)
{
    instance_exit(128 + 6);
}

static char *instance_getenv(const char *name)
{
    return host.getenv ? (char *)(uintptr_t)host.getenv(name) : getenv(name);
}

#define instance_secure_getenv instance_getenv
#define instance__exit         instance_exit

static int instance_setenv(const char *name, const char *value, int overwrite)
{
    if (host.setenv && (overwrite || !instance_getenv(name)))
        host.setenv(name, value);
    return 0;
}

static int instance_unsetenv(const char *name)
{
    if (host.setenv)
        host.setenv(name, NULL);
    return 0;
}

/* The keys of an instance are its own, so its values need no owner. */
static int instance_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    return pf_keys_create(key);
}

static int instance_pthread_key_delete(pthread_key_t key)
{
    return 0;
}

static void *instance_pthread_getspecific(pthread_key_t key)
{
    return pf_keys_get(key, 0);
}

static int instance_pthread_setspecific(pthread_key_t key, const void *value)
{
    return pf_keys_set(key, 0, value);
}

/* Simulated time, so that no timeout or back-off of Open MPI depends on the machine that simulates. */
static void split_clock(long *seconds, long *nanoseconds)
{
    double now = simgrid_get_clock();
    *seconds = (long)floor(now);
    *nanoseconds = (long)((now - floor(now)) * 1e9);
}

static int instance_gettimeofday(struct timeval *restrict value, void *restrict zone)
{
    long nanoseconds;
    split_clock(&value->tv_sec, &nanoseconds);
    value->tv_usec = nanoseconds / 1000;
    return 0;
}

static int instance_clock_gettime(clockid_t clock, struct timespec *value)
{
    split_clock(&value->tv_sec, &value->tv_nsec);
    return 0;
}

static time_t instance_time(time_t *result)
{
    time_t now = (time_t)simgrid_get_clock();
    if (result)
        *result = now;
    return now;
}

static int instance_usleep(useconds_t microseconds)
{
    sg_actor_sleep_for(microseconds * 1e-6);
    return 0;
}

static unsigned instance_sleep(unsigned seconds)
{
    sg_actor_sleep_for(seconds);
    return 0;
}

static int instance_nanosleep(const struct timespec *request, struct timespec *rest)
{
    sg_actor_sleep_for((double)request->tv_sec + (double)request->tv_nsec * 1e-9);
    return 0;
}

static ssize_t moved(int descriptor, ssize_t bytes, bool writes)
{
    if (host.moved && bytes >= 0)
        host.moved(descriptor, bytes, writes);
    return bytes;
}

static ssize_t instance_pread(int descriptor, void *data, size_t bytes, off_t offset)
{
    return moved(descriptor, pread(descriptor, data, bytes, offset), false);
}

static ssize_t instance_pwrite(int descriptor, const void *data, size_t bytes, off_t offset)
{
    return moved(descriptor, pwrite(descriptor, data, bytes, offset), true);
}

static ssize_t instance_preadv(int descriptor, const struct iovec *parts, int count, off_t offset)
{
    return moved(descriptor, preadv(descriptor, parts, count, offset), false);
}

static ssize_t instance_pwritev(int descriptor, const struct iovec *parts, int count, off_t offset)
{
    return moved(descriptor, pwritev(descriptor, parts, count, offset), true);
}

/*
 * The C library would read and write in threads of its own, and Open MPI would poll for their end, which is
 * no event of the simulation. The access happens at once, and aio_error() and aio_return() find its outcome
 * where the C library looks for it.
 */
static int finish_access(struct aiocb *control, ssize_t bytes)
{
    control->__error_code = bytes < 0 ? errno : 0;
    control->__return_value = bytes;
    return 0;
}

static int instance_aio_read(struct aiocb *control)
{
    ssize_t bytes = instance_pread(control->aio_fildes, (void *)(uintptr_t)control->aio_buf,
                                   control->aio_nbytes, control->aio_offset);
    if (bytes ==
        0) /* the end of the file: fbtl/posix asks again as long as it has not got all that it wants */
        control->aio_nbytes = 0;
    return finish_access(control, bytes);
}

static int instance_aio_write(struct aiocb *control)
{
    return finish_access(control,
                         instance_pwrite(control->aio_fildes, (const void *)(uintptr_t)control->aio_buf,
                                         control->aio_nbytes, control->aio_offset));
}

/* A polling loop has no other rank to yield to: the poll itself blocks in the simulated NIC. */
static int instance_sched_yield(void)
{
    return 0;
}

#define PF_LIBC_own(name)
#define PF_LIBC_free(name)                        PF_LIBC_ENTRY(name, instance_)
#define PF_LIBC_rank(name)                        PF_LIBC_ENTRY(name, instance_)
#define PF_LIBC(name, program, runtime, instance) PF_LIBC_##instance(name)
static const struct pf_libc_function column[] = {
#include "loader/libc.def"
    {0}};

void *pf_libc_of_instance(const char *name)
{
    return pf_libc_find(column, name);
}

void *pf_libc_find(const struct pf_libc_function *functions, const char *name)
{
    for (; functions->name; functions++)
        if (*functions->name == *name && strcmp(functions->name, name) == 0) /* all imports of all copies */
            return (void *)functions->function;
    return NULL;
}
