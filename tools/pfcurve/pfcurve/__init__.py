# SPDX-License-Identifier: BSD-3-Clause
"""pfcurve: runs an application under a set of schedules and draws accuracy against slowdown."""
