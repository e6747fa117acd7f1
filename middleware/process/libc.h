/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_LIBC_H
#define PF_MIDDLEWARE_LIBC_H

#include <getopt.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/export.h"

/*
 * The C library of a rank's program, and of gfortran's run-time library: the functions that loader/libc.def
 * does not leave to the real one. Each means what its namesake does.
 */

/* The name under which the linker leads a reference to `name` here. */
#define WRAPPED(name) __asm__("__wrap_" #name) PF_EXPORT

unsigned int pf_libc_sleep(unsigned int seconds) WRAPPED(sleep);
int pf_libc_usleep(useconds_t microseconds) WRAPPED(usleep);
int pf_libc_nanosleep(const struct timespec *request, struct timespec *remain) WRAPPED(nanosleep);
int pf_libc_clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                            struct timespec *remain) WRAPPED(clock_nanosleep);
int pf_libc_gettimeofday(struct timeval *tv, void *tz) WRAPPED(gettimeofday);
int pf_libc_clock_gettime(clockid_t clock, struct timespec *ts) WRAPPED(clock_gettime);
time_t pf_libc_time(time_t *t) WRAPPED(time);
clock_t pf_libc_clock(void) WRAPPED(clock);
pid_t pf_libc_getpid(void) WRAPPED(getpid);
int pf_libc_gethostname(char *name, size_t length) WRAPPED(gethostname);
void pf_libc_exit(int status) WRAPPED(exit) __attribute__((noreturn));
int pf_libc_getopt(int argc, char *const *argv, const char *options) WRAPPED(getopt);
int pf_libc_getopt_long(int argc, char *const *argv, const char *options, const struct option *longs,
                        int *index) WRAPPED(getopt_long);
int pf_libc_getopt_long_only(int argc, char *const *argv, const char *options, const struct option *longs,
                             int *index) WRAPPED(getopt_long_only);
char *pf_libc_getenv(const char *name) WRAPPED(getenv);
char *pf_libc_secure_getenv(const char *name) WRAPPED(secure_getenv);
int pf_libc_setenv(const char *name, const char *value, int overwrite) WRAPPED(setenv);
int pf_libc_unsetenv(const char *name) WRAPPED(unsetenv);
int pf_libc_putenv(char *entry) WRAPPED(putenv);
int pf_libc_clearenv(void) WRAPPED(clearenv);
void *pf_libc_dlopen(const char *name, int flags) WRAPPED(dlopen);
int64_t pf_libc__ZNSt6chrono3_V212system_clock3nowEv(void) WRAPPED(_ZNSt6chrono3_V212system_clock3nowEv);
int64_t pf_libc__ZNSt6chrono3_V212steady_clock3nowEv(void) WRAPPED(_ZNSt6chrono3_V212steady_clock3nowEv);

/* In gfortran's library only. */
int pf_libc_getrusage(int who, struct rusage *usage);
void *pf_libc_pthread_getspecific(pthread_key_t key);
int pf_libc_pthread_setspecific(pthread_key_t key, const void *value);
int pf_libc_pthread_key_delete(pthread_key_t key);

/* The function of this name for a program that the linker of pfcc has not led here, NULL where the C
 * library's own is right. */
void *pf_libc_of_program(const char *name);

/* The function of this name for gfortran's library, NULL where the C library's own is right. */
void *pf_libc_of_runtime(const char *name);

#endif
