/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* AddressSanitizer watches the whole process, so its library must be the first one in it. For a program that
 * was built with it, of which `runtime` is that library ("" for other programs), starts pfrun again with the
 * library in front, if it is not there yet; then it does not return. */
void sanitize_start_again(const char *runtime, char **argv);
