/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread-local variables, of which each copy has its own: known by name, by place, zero, and with an address.
 */
static int target = 5;
THREAD_LOCAL int local_counter = 40; /* the compiler's word for it */
static THREAD_LOCAL int *local_pointer = &target;
static THREAD_LOCAL long zeroes[3];

int local_count(void)
{
    return ++local_counter;
}

int local_zeroes(void)
{
    zeroes[2]++;
    return (int)(zeroes[0] + zeroes[1] + zeroes[2]);
}

int local_target(void)
{
    return (*local_pointer)++;
}
