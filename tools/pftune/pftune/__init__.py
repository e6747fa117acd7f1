# SPDX-License-Identifier: BSD-3-Clause
"""pftune: chooses Open MPI's algorithms of collectives by simulation, and writes a file of rules for it."""
