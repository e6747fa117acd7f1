/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX's own variables: those that have an effect here, and a warning for the others. */
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "lowlevel/nic/nic.h"
#include "lowlevel/ucx/settings.h"

extern char **environ;

static struct pf_ucx_settings settings;
static bool known, rndv_given;

/* Variables that no user has set. */
enum { MOST_OWN = 8 };
static const char *own[MOST_OWN];
static int own_count;

void pf_ucx_settings_own(const char *variable)
{
    if (own_count < MOST_OWN)
        own[own_count++] = variable;
}

static bool is_own(const char *variable)
{
    int i = 0;
    while (i < own_count && strcmp(own[i], variable) != 0)
        i++;
    return i < own_count;
}

/* UCX's numbers of bytes: 8192, 8k, 8KB, 1m, inf, auto. */
static size_t read_size(const char *name, const char *text, size_t automatic)
{
    static const char units[] = "kmgt";
    char *end;
    if (strcasecmp(text, "auto") == 0)
        return automatic;
    if (strcasecmp(text, "inf") == 0)
        return SIZE_MAX;
    unsigned long long value = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    end += unit != NULL;
    end += (*end | 0x20) == 'b';
    if (end == text || *end || *text == '-' || value > SIZE_MAX >> shift)
        pf_die("%s is \"%s\": it must be a number of bytes such as 8192 or 8k, inf or auto", name, text);
    return (size_t)value << shift;
}

/* UCX's bandwidths: 7000MBs, 7GBs, auto. */
static double read_bandwidth(const char *name, const char *text, double automatic)
{
    size_t length = strlen(text);
    if (strcasecmp(text, "auto") == 0)
        return automatic;
    char number[32];
    if (length < 2 || length >= sizeof number || (text[length - 1] | 0x20) != 's')
        pf_die("%s is \"%s\": it must be a bandwidth such as 7000MBs, or auto", name, text);
    memcpy(number, text, length - 1);
    number[length - 1] = 0;
    return (double)read_size(name, number, 0);
}

/* One variable, without UCX_ or, for what Open MPI alone reads, UCX_MPI_. False if it has no effect. */
static bool read_variable(const char *variable, const char *name, const char *text)
{
    if (strcmp(name, "ZCOPY_THRESH") == 0)
        settings.zcopy_thresh = read_size(variable, text, pf_config.ucx_zcopy_thresh);
    else if (strcmp(name, "RNDV_THRESH") == 0) {
        settings.rndv_thresh = read_size(variable, text, pf_config.ucx_rndv_thresh);
        rndv_given = strcasecmp(text, "auto") != 0;
    } else if (strcmp(name, "RNDV_SEND_NBR_THRESH") == 0)
        settings.rndv_nbr_thresh = read_size(variable, text, pf_config.ucx_rndv_nbr_thresh);
    else if (strcmp(name, "IB_SEG_SIZE") == 0)
        settings.seg_size = read_size(variable, text, pf_config.ucx_seg_size);
    else if (strcmp(name, "BCOPY_BW") == 0)
        settings.bcopy_bw = read_bandwidth(variable, text, pf_config.ucx_bcopy_bw);
    else
        return false;
    return true;
}

static void read_variables(const char *prefix, const char *other)
{
    size_t length = strlen(prefix);
    for (char **at = environ; at && *at; at++) {
        const char *text = strchr(*at, '=');
        char variable[64];
        if (!text || strncmp(*at, prefix, length) != 0 || (other && strncmp(*at, other, strlen(other)) == 0))
            continue;
        snprintf(variable, sizeof variable, "%.*s", (int)(text - *at), *at);
        if (!read_variable(variable, variable + length, text + 1) && !is_own(variable))
            pf_warn("%s has no effect on the simulated UCX (docs/ucx.md)", variable);
    }
}

const struct pf_ucx_settings *pf_ucx_settings(void)
{
    if (known)
        return &settings;
    known = true;
    pf_config_load();
    settings = (struct pf_ucx_settings){pf_nic_volatile_max() + PF_NIC_MATCH_BITS - PF_UCX_EAGER_HEADER,
                                        pf_config.ucx_zcopy_thresh,
                                        pf_config.ucx_rndv_thresh,
                                        pf_config.ucx_rndv_nbr_thresh,
                                        pf_config.ucx_seg_size,
                                        pf_config.ucx_bcopy_bw};
    read_variables("UCX_", "UCX_MPI_");
    read_variables("UCX_MPI_", NULL);
    if (rndv_given) /* holds for both kinds of sends, as in UCX, whatever else is given */
        settings.rndv_nbr_thresh = settings.rndv_thresh;
    if (settings.seg_size == 0)
        pf_die("UCX_IB_SEG_SIZE is 0: a buffer has room for one byte at least");
    return &settings;
}
