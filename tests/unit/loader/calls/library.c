/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that calls functions of its own, linked so that no import table knows of it. */
__attribute__((noinline)) int calls_step(int value)
{
    return value + 1;
}

int calls_twice(int value)
{
    return calls_step(value) + calls_step(2 * value);
}

int calls_last(int value) /* a jump */
{
    return calls_step(3 * value);
}
