/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Conversions between Fortran and C integers, which are of one size here. */

#define OMPI_FINT_2_INT(number) (number)
#define OMPI_INT_2_FINT(number) (number)
