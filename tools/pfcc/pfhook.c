/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In each program and shared library: announces the copy of a rank before its other constructors run, so that
 * its references to stdout, std::cout and the like lead to the rank's (middleware/process/libc_lead.c).
 */
void pf_process_lead_at(const void *address);

/* By this name pfcc brings the object in. */
__attribute__((visibility("hidden"))) const char _pf_hook = 0;

__attribute__((constructor(101))) static void announce(void)
{
    pf_process_lead_at(&_pf_hook);
}
