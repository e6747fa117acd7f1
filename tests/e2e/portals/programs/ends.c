/* SPDX-License-Identifier: BSD-3-Clause */
/* A Portals program without MPI that goes on in the way its argument names. */
#include <parfocal_portals.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int global; /* each rank has its own */
static ptl_handle_ni_t ni;
static ptl_handle_ct_t ct;
static ptl_process_t map[16];
static int rank, size;

static int is(const char *mode, const char *name)
{
    return strcmp(mode, name) == 0;
}

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Waits by looking at clocks, and sleeps in all ways; every rank ends at the same simulated date. */
static void pass_time(void)
{
    double begin = now();
    while (now() < begin + 100e-6)
        ;
    clock_t ticks = clock();
    while (clock() < ticks + 5)
        ;
    struct timespec half = {0, 500};
    usleep(10);
    sleep(1);
    nanosleep(&half, NULL);
    pf_portals_barrier();
    printf("slept %d\n", (int)((now() - begin) * 1e3));
}

/* A process that does not exist: the counter shows the failure. */
static void put_to_nobody(void)
{
    ptl_handle_md_t md;
    ptl_ct_event_t count;
    ptl_md_t memory = {.start = map,
                       .length = sizeof map,
                       .eq_handle = PTL_EQ_NONE,
                       .ct_handle = ct,
                       .options = PTL_MD_EVENT_CT_ACK};
    ptl_process_t nobody = map[0];
    nobody.phys.pid = 77;
    PtlMDBind(ni, &memory, &md);
    PtlPut(md, 0, 8, PTL_ACK_REQ, nobody, 0, 0, 0, NULL, 0);
    PtlCTWait(ct, 1, &count);
    printf("to nobody: %d arrived, %d failed\n", (int)count.success, (int)count.failure);
}

/* No simulated process: refused. */
static void *foreign_poll(void *queue)
{
    ptl_event_t event;
    PtlEQWait(*(ptl_handle_eq_t *)queue, &event);
    return NULL;
}

static void *foreign_init(void *unused)
{
    PtlInit();
    return unused;
}

static void in_a_thread(void *(*function)(void *))
{
    ptl_handle_eq_t queue;
    pthread_t thread;
    PtlEQAlloc(ni, 8, &queue);
    if (pthread_create(&thread, NULL, function, &queue) == 0)
        pthread_join(thread, NULL);
}

static int in_a_child(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        PtlCTWait(ct, 0, &(ptl_ct_event_t){0, 0});
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) ? 7 : 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    ptl_ct_event_t count;
    if (pf_portals_rank() != -1 || PtlInit() != PTL_OK)
        return 9;
    PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &ni);
    rank = pf_portals_rank();
    size = pf_portals_size();
    if (is(mode, "exit") && rank == 1)
        exit(5);
    pf_portals_map(ni, map);
    PtlCTAlloc(ni, &ct);
    global += rank + 1;
    if (global != rank + 1)
        return 8;
    if (is(mode, "unclosed"))
        return rank == 1 ? 3 : 0;
    if (is(mode, "time"))
        pass_time();
    if (is(mode, "child"))
        return in_a_child();
    if (is(mode, "thread"))
        in_a_thread(foreign_poll);
    if (is(mode, "threadinit"))
        in_a_thread(foreign_init);
    if (is(mode, "nobody") && rank == 0)
        put_to_nobody();
    if (is(mode, "barrier") && rank)
        pf_portals_barrier();
    if (is(mode, "wait") || is(mode, "barrier"))
        PtlCTWait(ct, 1, &count);
    while (is(mode, "poll") && PtlCTGet(ct, &count) == PTL_OK && !count.success)
        ;
    if (is(mode, "abort") && rank == 1)
        abort();
    PtlNIFini(ni);
    PtlFini();
    printf("rank %d of %d ends\n", rank, size);
    return 0;
}
