/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include SMPI's header by its own name. */
#ifndef PARFOCAL_SMPI_SMPI_H
#define PARFOCAL_SMPI_SMPI_H

#include "mpi.h"

#endif
