/* SPDX-License-Identifier: BSD-3-Clause */
/* What the entry points of Fortran (surface/ompi_fortran.py) share with the middleware's: the same sources,
 * with Open MPI's mpi.h and the names that meson.build gives. */
/* NOLINTBEGIN(bugprone-suspicious-include) */
#include "middleware/fortran/by_hand.c"
#include "middleware/fortran/callbacks.c"
#include "middleware/fortran/convert.c"
#include "middleware/fortran/procedures.c"
/* NOLINTEND(bugprone-suspicious-include) */
