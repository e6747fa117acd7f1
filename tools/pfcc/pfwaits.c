/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library whose names are words that a program may well have for functions of its own, so
 * that the linker must not rename the references to them (libc_names.ld). A program or library that refers to
 * one of them and does not define it finds it here, and none of the others if it does.
 */
#define LEAD(name)                                                                                           \
    __asm__(".text\n"                                                                                        \
            ".weak " #name "\n"                                                                              \
            ".protected " #name "\n"                                                                         \
            ".type " #name ", @function\n" #name ": jmp *__wrap_" #name "@GOTPCREL(%rip)\n"                  \
            ".size " #name ", . - " #name "\n");

LEAD(times)
LEAD(ftime)
LEAD(poll)
LEAD(select)
LEAD(alarm)
LEAD(ualarm)
LEAD(pause)
