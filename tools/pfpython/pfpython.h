/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What pfrun gives to its program for Python (pf_hand()). */
struct python {
    char *program; /* the interpreter as a program, absolute */
    char *library; /* the interpreter as a library: a path, or a name that the dynamic linker knows */
};
