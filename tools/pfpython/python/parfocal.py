# SPDX-License-Identifier: BSD-3-Clause
"""Parfocal's own interface for programs in Python that pfrun runs: that of parfocal.h. Nothing here communicates or costs simulated time."""

import ctypes

_process = ctypes.CDLL(None)
_process.pf_model_current.restype = ctypes.c_char_p


def phase(name):
    """Begins a phase of the program on this rank and ends the one before."""
    _process.pf_phase(name.encode())


def model_switch(model):
    """Sends the operations that this rank starts from now on to another model."""
    _process.pf_model_switch(model.encode())


def model_current():
    """The name of the model in force for this rank."""
    return _process.pf_model_current().decode()
