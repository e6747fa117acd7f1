/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions between Fortran and C integers, which the C components only include and never use. */
