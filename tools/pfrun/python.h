/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "tools/pfrun/options.h"

/*
 * Python instead of a program that pfcc has built: `python3 app.py`, by any name or path of an interpreter.
 * The part of the job then names a program of our own (tools/pfpython) with the interpreter's arguments, and
 * each rank gets a copy of its library. Ends the process with one line when the interpreter cannot be found,
 * or has no library. Others stay as they are.
 */
void python_prepare(struct part *part);
