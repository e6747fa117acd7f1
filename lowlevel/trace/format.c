/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of traces as text, without the C library. */
#include "lowlevel/trace/format.h"

#include <stdio.h>
#include <string.h>

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                            "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

char *pf_trace_put_whole(char *to, uint64_t number)
{
    char text[20];
    size_t first = sizeof text;
    for (; number >= 100; number /= 100)
        memcpy(text + (first -= 2), pairs + 2 * (number % 100), 2);
    if (number >= 10)
        memcpy(text + (first -= 2), pairs + 2 * number, 2);
    else
        text[--first] = (char)('0' + number);
    memcpy(to, text + first, sizeof text - first);
    return to + (sizeof text - first);
}

/* Six digits, with zeros in front. */
static inline char *put_six(char *to, uint32_t number)
{
    memcpy(to, pairs + 2 * (number / 10000), 2);
    memcpy(to + 2, pairs + 2 * (number / 100 % 100), 2);
    memcpy(to + 4, pairs + 2 * (number % 100), 2);
    return to + 6;
}

/* value * scale, rounded like printf's: exactly, and a half to the even number. For values in [0, 1e6). */
static inline uint64_t rounded(double value, uint64_t scale)
{
    enum { EXPONENT_AT = 52, BIAS = 1075, MOST_SHIFT = 100 };
    __extension__ typedef unsigned __int128 wide;
    uint64_t bits, one = UINT64_C(1) << EXPONENT_AT;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> EXPONENT_AT), shift = BIAS - exponent;
    if (shift >= MOST_SHIFT) /* those without the leading bit are among them */
        return 0;
    wide scaled = (wide)((bits & (one - 1)) | one) * scale; /* below 2^93 */
    wide half = (wide)1 << (shift - 1), rest = scaled & (2 * half - 1);
    uint64_t whole = (uint64_t)(scaled >> shift);
    return whole + (rest > half || (rest == half && whole % 2));
}

char *pf_trace_put_fixed(char *to, double value, int places)
{
    const uint64_t six = 1000000;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (!(value >= 0 && value < 1e6) || bits >> 63 || (places != 6 && places != 12))
        return to + sprintf(to, "%.*f", places, value);
    if (places == 6) {
        uint64_t number = rounded(value, six);
        to = pf_trace_put_whole(to, number / six);
        *to++ = '.';
        return put_six(to, (uint32_t)(number % six));
    }
    uint64_t number = rounded(value, six * six);
    to = pf_trace_put_whole(to, number / (six * six));
    *to++ = '.';
    to = put_six(to, (uint32_t)(number / six % six));
    return put_six(to, (uint32_t)(number % six));
}
