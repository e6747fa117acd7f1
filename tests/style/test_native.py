#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wrong native calls and wrong entries of an adapter's table do not compile; the right ones do.

Usage: test_native.py BUILD DIRECTORY. Compiles with the options that the project's own files are compiled with.
"""

import json
import os
import shlex
import subprocess
import sys
import unittest

BUILD = sys.argv.pop(1) if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]) else "build"

CALLER = """
#include "middleware/core/call.h"
int caller(struct pf_instance *in, MPI_Comm comm, MPI_Datatype type, int *data, int *flag, union pf_native_status *status);
int caller(struct pf_instance *in, MPI_Comm comm, MPI_Datatype type, int *data, int *flag, union pf_native_status *status)
{
    pf_native_request_t request = NULL, requests[2] = {NULL};
    (void)comm, (void)type, (void)data, (void)flag, (void)status, (void)request, (void)requests;
    return %s;
}
"""
RIGHT_CALLS = [
    "in->fn->Isend(data, 1, pf_native(in, type), 0, 7, pf_native(in, comm), &request)",
    "in->fn->Test(&request, flag, status)",
    "in->fn->Waitall(2, requests, status)",
    "in->fn->Type_commit(&(pf_native_datatype_t){pf_native(in, type)})",
]
WRONG_CALLS = {
    "a handle of the middleware": "in->fn->Isend(data, 1, type, 0, 7, pf_native(in, comm), &request)",
    "two handles in the wrong order": "in->fn->Isend(data, 1, pf_native(in, comm), 0, 7, pf_native(in, type), &request)",
    "an argument less": "in->fn->Isend(data, 1, pf_native(in, type), 0, pf_native(in, comm), &request)",
    "an argument more": "in->fn->Test(&request, flag, status, 1)",
    "a request instead of its address": "in->fn->Isend(data, 1, pf_native(in, type), 0, 7, pf_native(in, comm), request)",
    "a number as a handle": "in->fn->Send(data, 1, 13, 0, 7, pf_native(in, comm))",
    "a handle as a number": "in->fn->Send(data, pf_native(in, type), pf_native(in, type), 0, 7, pf_native(in, comm))",
    "a status of the middleware": "in->fn->Wait(&request, &(MPI_Status){0})",
    "status and flag in the wrong order": "in->fn->Test(&request, status, flag)",
    "a handle of another kind": "in->fn->Type_commit(&request)",
    "the number of a function": "in->fn[PF_FN_Test](&request, flag, status)",
    "a function that is none of MPI": "in->fn->Tset(&request, flag, status)",
    "a request that is translated": "pf_native(in, (MPI_Request)0) != NULL",
}

ADAPTER = """
#include <smpi/smpi.h>
#include "pf_own.h"
void fill(struct pf_own_fn *fn);
void fill(struct pf_own_fn *fn)
{
    fn->%s;
}
"""
RIGHT_ENTRIES = ["Send = PMPI_Send", "Op_create = PMPI_Op_create", "Recv = PMPI_Recv"]
WRONG_ENTRIES = {
    "another function": "Isend = PMPI_Send",
    "one that would write to what is only read": "Send = (int (*)(void *, int, MPI_Datatype, int, int, MPI_Comm))PMPI_Send",
    "an address without a type": "Send = 3",
}


def command_of(source):
    """The project's own compiler command for a file, without its input and outputs."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        entry = next(e for e in json.load(file) if e["file"].endswith(source) and "unit" not in e.get("output", ""))
    words = shlex.split(entry["command"])
    kept, skip = [], False
    for word in words:
        if skip or word in ("-MD", "-c") or word == entry["file"]:
            skip = False
        elif word in ("-o", "-MF", "-MQ"):
            skip = True
        else:
            kept.append(word)
    return kept + ["-fsyntax-only", "-x", "c", "-"], entry["directory"]


def errors(like, text):
    command, directory = command_of(like)
    done = subprocess.run(command, input=text, cwd=directory, capture_output=True, text=True, timeout=120)
    return done.stderr if done.returncode else ""


class NativeTable(unittest.TestCase):
    def test_right_calls_compile(self):
        for call in RIGHT_CALLS:
            self.assertEqual(errors("middleware/p2p/wait.c", CALLER % call), "", call)

    def test_wrong_calls_do_not(self):
        for what, call in WRONG_CALLS.items():
            with self.subTest(what):
                self.assertIn("error:", errors("middleware/p2p/wait.c", CALLER % call))

    def test_right_entries_compile(self):
        for entry in RIGHT_ENTRIES:
            self.assertEqual(errors("adapters/smpi/smpi_adapter.c", ADAPTER % entry), "", entry)

    def test_wrong_entries_do_not(self):
        for what, entry in WRONG_ENTRIES.items():
            with self.subTest(what):
                self.assertIn("error:", errors("adapters/smpi/smpi_adapter.c", ADAPTER % entry))


if __name__ == "__main__":
    unittest.main()
