/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that needs the other one. */
extern int low_count, *low_pointer;
int low_begun(void);
int low_value(void);

static int seen;

/* When it begins, the other one is complete. */
static __attribute__((constructor)) void begin(void)
{
    seen = low_begun() == 1 && *low_pointer == 40 ? 2 : -1;
}

int high_seen(void)
{
    return seen;
}

int high_add(int n)
{
    low_count += n;
    return *low_pointer;
}

int both(void)
{
    return 2;
}

int high_both(void)
{
    return both();
}

int high_calls(void)
{
    return low_value();
}
