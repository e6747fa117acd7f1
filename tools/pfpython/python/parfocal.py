# SPDX-License-Identifier: BSD-3-Clause
"""Parfocal for Python: run() for scripts that start pfrun, and, for programs that pfrun runs, the interface of parfocal.h, in which
nothing communicates or costs simulated time."""

import ctypes
import json
import os
import subprocess
import tempfile
import types

_process = ctypes.CDLL(None)


def run(*command, np, pfrun="pfrun", **options):
    """Runs a program and its arguments on `np` simulated ranks, and returns what summary.json says (docs/summary.md) as attributes, with
    what the program has printed as `output`: run("./app", np=16, model="packet").phases[0].simulated_s. Other keywords are pfrun's
    options: explain=True, cfg=["smpi/host-speed:1Gf"]. Raises subprocess.CalledProcessError, whose text ends as pfrun's message does,
    when the run fails."""
    words = [pfrun, "-np", str(np), "-quiet"]
    for name, value in options.items():
        if name == "cfg":
            words += [f"--cfg={setting}" for setting in value]
        elif value is True:
            words.append(f"-{name.replace('_', '-')}")
        else:
            words += [f"-{name.replace('_', '-')}", str(value)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*words, "-report", folder, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise _Failed(done.returncode, done.args, done.stdout, done.stderr)
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file, object_hook=lambda entries: types.SimpleNamespace(**entries))
    summary.output = done.stdout
    return summary


class _Failed(subprocess.CalledProcessError):
    def __str__(self):
        return f"{super().__str__()} {self.stderr.strip()}"


def phase(name):
    """Begins a phase of the program on this rank and ends the one before."""
    _process.pf_phase(name.encode())


def model_switch(model):
    """Sends the operations that this rank starts from now on to another model."""
    _process.pf_model_switch(model.encode())


def model_current():
    """The name of the model in force for this rank."""
    current = _process.pf_model_current
    current.restype = ctypes.c_char_p
    return current().decode()
