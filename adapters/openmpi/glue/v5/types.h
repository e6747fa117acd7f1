/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Headers of Open MPI 5.0 with what PF_OMPI_DATA and PF_OMPI_CLASSES name. After ompi_config.h. */

#include "ompi/communicator/communicator.h"
#include "opal/util/proc.h"
