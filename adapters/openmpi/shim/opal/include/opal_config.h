/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's source tree has this header here, its installed headers have it one level up. */
#include <opal_config.h>
