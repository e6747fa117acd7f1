/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the linker leads the references to environ, by all its names, of a program or of a shared library:
 * each rank has a copy of both, and so an environment of its own.
 */
void pf_program_environment(char ***variable);

char **program_environ __asm__("__wrap_environ") __attribute__((visibility("hidden")));
extern char **program_environ_2 __asm__("__wrap__environ")
    __attribute__((visibility("hidden"), alias("__wrap_environ")));
extern char **program_environ_3 __asm__("__wrap___environ")
    __attribute__((visibility("hidden"), alias("__wrap_environ")));

/* Before the constructors of the program or library, with or without the simulator. */
__attribute__((constructor(101))) static void announce_environment(void)
{
    pf_program_environment(&program_environ);
}
