/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that an image refuses, one for each reason. */
#ifdef THREAD_LOCAL /* the compiler's word for it */
THREAD_LOCAL int of_a_thread = 1;
int refused(void)
{
    return of_a_thread++;
}
#elif defined(CHOSEN)
static int one(void)
{
    return 1;
}

static int (*choose(void))(void)
{
    return one;
}

int refused(void) __attribute__((ifunc("choose")));
#else
extern int of_nobody;
int refused(void)
{
    return of_nobody;
}
#endif
