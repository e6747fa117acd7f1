/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the C library that return their result in its memory, or keep something for the next call. */

#include <arpa/inet.h>
#include <locale.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "base/memory.h"
#include "middleware/process/libc_process.h"

struct results {
    struct tm date;
    char date_text[64], error[128], signal[64], address[INET_ADDRSTRLEN], terminal[64];
    struct hsearch_data table;
};

static struct results *own(void)
{
    struct pf_process *p = pf_process();
    if (p && !p->results)
        p->results = pf_calloc(1, sizeof *p->results);
    return p ? p->results : NULL;
}

char *pf_libc_strtok(char *text, const char *separators)
{
    struct pf_process *p = pf_process();
    return p ? strtok_r(text, separators, &p->token) : strtok(text, separators);
}

/* localtime_r() need not look at TZ. */
struct tm *pf_libc_localtime(const time_t *time)
{
    struct results *r = own();
    if (!r)
        return localtime(time);
    tzset();
    return localtime_r(time, &r->date);
}

struct tm *pf_libc_gmtime(const time_t *time)
{
    struct results *r = own();
    return r ? gmtime_r(time, &r->date) : gmtime(time);
}

char *pf_libc_asctime(const struct tm *date)
{
    struct results *r = own();
    return r ? asctime_r(date, r->date_text) : asctime(date);
}

char *pf_libc_ctime(const time_t *time)
{
    const struct tm *date = pf_libc_localtime(time);
    return date ? pf_libc_asctime(date) : NULL;
}

char *pf_libc_strerror(int error)
{
    struct results *r = own();
    return r ? strerror_r(error, r->error, sizeof r->error) : strerror(error);
}

char *pf_libc_strsignal(int signal)
{
    struct results *r = own();
    char *text = strsignal(signal);
    if (!r)
        return text;
    snprintf(r->signal, sizeof r->signal, "%s", text);
    return r->signal;
}

char *pf_libc_inet_ntoa(struct in_addr address)
{
    struct results *r = own();
    return r ? (char *)inet_ntop(AF_INET, &address, r->address, sizeof r->address) : inet_ntoa(address);
}

char *pf_libc_ttyname(int descriptor)
{
    struct results *r = own();
    descriptor = pf_process_behind(descriptor);
    if (!r)
        return ttyname(descriptor);
    return ttyname_r(descriptor, r->terminal, sizeof r->terminal) == 0 ? r->terminal : NULL;
}

int pf_libc_hcreate(size_t size)
{
    struct results *r = own();
    return r ? hcreate_r(size, &r->table) : hcreate(size);
}

ENTRY *pf_libc_hsearch(ENTRY item, ACTION action)
{
    struct results *r = own();
    ENTRY *found;
    if (!r)
        return hsearch(item, action);
    return hsearch_r(item, action, &found, &r->table) ? found : NULL;
}

void pf_libc_hdestroy(void)
{
    struct results *r = own();
    if (r)
        hdestroy_r(&r->table);
    else
        hdestroy();
}

/* The C library has one locale for all ranks: what a rank asks for is compared at the end. */
char *pf_libc_setlocale(int category, const char *locale)
{
    struct pf_process *p = locale ? pf_process() : NULL;
    char *result = setlocale(category, locale);
    if (p && result) {
        free(p->locale);
        p->locale = pf_strdup(setlocale(LC_ALL, NULL));
    }
    return result;
}

/* Characters of several bytes: each function has a state of its own for callers that bring none. */
static mbstate_t *state(mbstate_t *given, int function)
{
    struct pf_process *p = given ? NULL : pf_process();
    return p ? &p->multibyte[function] : given;
}

/* mbtowc() and mblen() are the same with another answer for what is no whole character. */
static int length(wchar_t *wide, const char *text, size_t size, struct pf_process *p, int function)
{
    mbstate_t *state = &p->multibyte[function];
    if (!text) {
        memset(state, 0, sizeof *state);
        return 0; /* no character set of the C library has shifts */
    }
    size_t used = mbrtowc(wide, text, size, state);
    if (used < (size_t)-2)
        return (int)used;
    memset(state, 0, sizeof *state);
    return -1;
}

int pf_libc_mblen(const char *text, size_t size)
{
    struct pf_process *p = pf_process();
    return p ? length(NULL, text, size, p, 0) : mblen(text, size);
}

int pf_libc_mbtowc(wchar_t *wide, const char *text, size_t size)
{
    struct pf_process *p = pf_process();
    return p ? length(wide, text, size, p, 1) : mbtowc(wide, text, size);
}

size_t pf_libc_mbrlen(const char *text, size_t size, mbstate_t *given)
{
    return mbrlen(text, size, state(given, 2));
}

size_t pf_libc_mbrtowc(wchar_t *wide, const char *text, size_t size, mbstate_t *given)
{
    return mbrtowc(wide, text, size, state(given, 3));
}

size_t pf_libc_mbsrtowcs(wchar_t *wide, const char **text, size_t size, mbstate_t *given)
{
    return mbsrtowcs(wide, text, size, state(given, 4));
}

size_t pf_libc_wcsrtombs(char *text, const wchar_t **wide, size_t size, mbstate_t *given)
{
    return wcsrtombs(text, wide, size, state(given, 5));
}
