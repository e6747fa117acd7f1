/* SPDX-License-Identifier: BSD-3-Clause */
/* The generators of the C library: each rank has those of one process. */

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "middleware/process/libc_process.h"

struct generators {
    struct random_data random;
    struct drand48_data counters;
    unsigned short before[3]; /* what seed48 returns */
    int32_t words[32];        /* of random() until the program brings its own */
};

/* As the C library begins: random() as after srandom(1), the others with zeroes. */
static struct generators *own(void)
{
    struct pf_process *p = pf_process();
    if (p && !p->generators) {
        struct generators *g = p->generators = pf_calloc(1, sizeof *g);
        initstate_r(1, (char *)g->words, sizeof g->words, &g->random);
    }
    return p ? p->generators : NULL;
}

long pf_libc_random(void)
{
    struct generators *g = own();
    int32_t result;
    if (!g)
        return random();
    random_r(&g->random, &result);
    return result;
}

int pf_libc_rand(void)
{
    return (int)pf_libc_random();
}

void pf_libc_srandom(unsigned seed)
{
    struct generators *g = own();
    if (g)
        srandom_r(seed, &g->random);
    else
        srandom(seed);
}

void pf_libc_srand(unsigned seed)
{
    pf_libc_srandom(seed);
}

char *pf_libc_initstate(unsigned seed, char *state, size_t size)
{
    struct generators *g = own();
    if (!g)
        return initstate(seed, state, size);
    char *before = (char *)(g->random.state - 1);
    return initstate_r(seed, state, size, &g->random) == 0 ? before : NULL;
}

char *pf_libc_setstate(char *state)
{
    struct generators *g = own();
    if (!g)
        return setstate(state);
    char *before = (char *)(g->random.state - 1);
    return setstate_r(state, &g->random) == 0 ? before : NULL;
}

/* The C library's function, or that with _r on what the rank has. */
#define DRAWN(type, name)                                                                                    \
    type pf_libc_##name(void)                                                                                \
    {                                                                                                        \
        struct generators *g = own();                                                                        \
        type result;                                                                                         \
        return g ? name##_r(&g->counters, &result), result : name();                                         \
    }
#define DRAWN_FROM(type, name)                                                                               \
    type pf_libc_##name(unsigned short state[3])                                                             \
    {                                                                                                        \
        struct generators *g = own();                                                                        \
        type result;                                                                                         \
        return g ? name##_r(state, &g->counters, &result), result : name(state);                             \
    }
#define SET(name, argument)                                                                                  \
    void pf_libc_##name(argument)                                                                            \
    {                                                                                                        \
        struct generators *g = own();                                                                        \
        if (g)                                                                                               \
            name##_r(given, &g->counters);                                                                   \
        else                                                                                                 \
            name(given);                                                                                     \
    }
DRAWN(double, drand48)
DRAWN(long, lrand48)
DRAWN(long, mrand48)
DRAWN_FROM(double, erand48)
DRAWN_FROM(long, nrand48)
DRAWN_FROM(long, jrand48)
SET(srand48, long given)
SET(lcong48, unsigned short given[7])

unsigned short *pf_libc_seed48(unsigned short seed[3])
{
    struct generators *g = own();
    if (!g)
        return seed48(seed);
    for (int i = 0; i < 3; i++)
        g->before[i] = g->counters.__x[i];
    seed48_r(seed, &g->counters);
    return g->before;
}
