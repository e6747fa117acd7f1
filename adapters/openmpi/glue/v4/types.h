/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Headers of Open MPI 4.1 with what PF_OMPI_DATA and PF_OMPI_CLASSES name. After ompi_config.h. */

#include "opal/dss/dss_types.h"
#include "opal/mca/pmix/pmix.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/util/proc_info.h"

/* The one job of the process has this number in Open MPI's names. */
enum { PF_GLUE_JOB = 1 };
