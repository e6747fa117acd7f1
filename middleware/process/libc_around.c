/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that are called as they are, with something done before and after: those of
 * imports.def of all kinds but rank and program. They take up to six integers,
 * and nothing looks at their arguments but the library. An entry leaves the address of the real one in r11
 * and goes on in the code of its kind.
 */
#include "middleware/process/libc.h"
#include "middleware/process/libc_process.h"

#define ENTRY(name, kind)                                                                                    \
    __asm__(".text\n.weak " #name "\n.globl pf_libc_" #name "\n.hidden pf_libc_" #name "\n"                  \
            ".type pf_libc_" #name ", @function\npf_libc_" #name ":\n"                                       \
            "    mov " #name "@GOTPCREL(%rip), %r11\n"                                                       \
            "    jmp pf_around_" #kind "\n.size pf_libc_" #name ", .-pf_libc_" #name "\n");
#define PF_IMPORT_rank(name)
#define PF_IMPORT_openmp(name)
#define PF_IMPORT_program(name)
#define PF_IMPORT_path(name)   ENTRY(name, path)
#define PF_IMPORT_opens(name)  ENTRY(name, opens)
#define PF_IMPORT_file(name)   ENTRY(name, file)
#define PF_IMPORT_named(name)  ENTRY(name, named)
#define PF_IMPORT_number(name) ENTRY(name, number)
#define PF_IMPORT_reads(name)  ENTRY(name, reads)
#define PF_IMPORT_writes(name) ENTRY(name, writes)
#define PF_IMPORT_spawn(name)  ENTRY(name, spawn)
#define PF_IMPORT_caught(name) ENTRY(name, caught)
#define PF_IMPORT(name, how)   PF_IMPORT_##how(name)
#include "middleware/process/imports.def"

/* Seven registers and r11 lie on the stack while another function is called; rax counts vector registers. */
#define KEEP                                                                                                 \
    "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n"               \
    "    push %rax\n    push %r11\n"
#define BACK                                                                                                 \
    "    pop %r11\n    pop %rax\n    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n"       \
    "    pop %rdi\n"
#define FUNCTION(name, body)                                                                                 \
    __asm__(".text\n.type pf_around_" #name ", @function\npf_around_" #name ":\n    .cfi_startproc\n"        \
            "    push %rbp\n    .cfi_def_cfa_offset 16\n    .cfi_offset %rbp, -16\n"                         \
            "    mov %rsp, %rbp\n    .cfi_def_cfa_register %rbp\n" KEEP body                                 \
            "    .cfi_endproc\n.size pf_around_" #name ", .-pf_around_" #name "\n");
#define RETURN "    pop %rbp\n    .cfi_def_cfa %rsp, 8\n    ret\n"

FUNCTION(path, "    call pf_folder_enter\n" BACK "    call *%r11\n"
               "    push %rax\n    push %rdx\n    call pf_folder_leave\n    pop %rdx\n    pop %rax\n" RETURN)
FUNCTION(opens, "    call pf_folder_enter\n" BACK "    call *%r11\n"
                "    push %rax\n    push %rdx\n    call pf_folder_leave\n    pop %rdx\n    pop %rdi\n"
                "    call pf_process_opened\n    cltq\n" RETURN)
/* The first argument is the name, which may be one of /proc. */
#define NAME                                                                                                 \
    "    call pf_folder_enter\n    mov 56(%rsp), %rdi\n    call pf_proc_name\n    mov %rax, 56(%rsp)\n"
FUNCTION(named, NAME BACK
         "    call *%r11\n"
         "    push %rax\n    push %rdx\n    call pf_folder_leave\n    pop %rdx\n    pop %rax\n" RETURN)
FUNCTION(file,
         NAME BACK "    call *%r11\n"
                   "    push %rax\n    push %rdx\n    call pf_folder_leave\n    pop %rdx\n    pop %rdi\n"
                   "    call pf_process_opened\n    cltq\n" RETURN)
FUNCTION(spawn, "    call pf_spawn_enter\n" BACK "    call *%r11\n"
                "    push %rax\n    push %rdx\n    call pf_spawn_leave\n    pop %rdx\n    pop %rax\n" RETURN)
FUNCTION(number, "    call pf_process_behind\n    mov %eax, 56(%rsp)\n" BACK
                 "    pop %rbp\n    .cfi_def_cfa %rsp, 8\n    jmp *%r11\n")
/* What has moved is the result. */
#define MOVES(function)                                                                                      \
    "    call pf_process_behind\n    mov %eax, 56(%rsp)\n" BACK                                              \
    "    push %rdi\n    push %rdi\n    call *%r11\n"                                                         \
    "    pop %rdi\n    pop %rdi\n    mov %rax, %rsi\n    call " #function "\n" RETURN
FUNCTION(reads, MOVES(pf_file_read))
FUNCTION(writes, MOVES(pf_file_written))
FUNCTION(caught,
         "    call pf_exceptions_enter\n" BACK "    pop %rbp\n    .cfi_def_cfa %rsp, 8\n    jmp *%r11\n")
