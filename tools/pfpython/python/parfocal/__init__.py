# SPDX-License-Identifier: BSD-3-Clause
"""Parfocal for Python, under one name on both sides of a run (docs/python.md).

For studies, which start runs: run() and curve() start pfrun and pfcurve, read() takes what they have left; Error is what ends them.
For programs that pfrun runs: phase(), model_switch() and model_current(), the interface of parfocal.h, in which nothing communicates
or costs simulated time. In a program that pfrun does not run they do nothing, so one source serves both.
"""

import ctypes

_process = ctypes.CDLL(None)
simulated = hasattr(_process, "pf_phase")  # whether pfrun runs this program

_STUDY = ("run", "curve", "read", "Error", "Run", "Record", "Records")
__all__ = [*_STUDY, "phase", "model_switch", "model_current", "simulated"]


def __getattr__(name):
    """What starts runs is loaded when it is used: each rank of a simulated program has modules of its own."""
    if name not in _STUDY:
        raise AttributeError(f"module 'parfocal' has no attribute '{name}'")
    from . import study
    return getattr(study, name)


def phase(name):
    """Begins a phase of the program on this rank and ends the one before."""
    if simulated:
        _process.pf_phase(name.encode())


def model_switch(model):
    """Sends the operations that this rank starts from now on to another model."""
    if simulated:
        _process.pf_model_switch(model.encode())


def model_current():
    """The name of the model in force for this rank; "none" where nothing is simulated."""
    if not simulated:
        return "none"
    current = _process.pf_model_current
    current.restype = ctypes.c_char_p
    return current().decode()
