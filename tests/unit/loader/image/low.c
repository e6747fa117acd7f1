/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that others need, with all that one in an image can have. */
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

int low_count = 40;            /* written */
int *low_pointer = &low_count; /* leads into the image */
FILE **low_output = &stdout;   /* leads out of it */
static int begun;

static __attribute__((constructor)) void begin(void)
{
    begun += 1;
}

int low_begun(void)
{
    return begun;
}

int low_value(void)
{
    return 1;
}

int low_calls(void)
{
    return low_value(); /* by the table of imports */
}

int both(void) /* which the other one has, too */
{
    return 1;
}

int low_both(void)
{
    return both();
}

int low_asks(void)
{
    return (int)getppid(); /* which the test answers */
}

void no_such_thing(void) __attribute__((weak));
int low_weak(void)
{
    return no_such_thing == NULL;
}

void low_visit(void (*visitor)(void *), void *argument)
{
    visitor(argument);
    low_count++; /* so that this is a frame of its own */
}
