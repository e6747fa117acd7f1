# SPDX-License-Identifier: BSD-3-Clause
"""pfparaver: traces for Paraver, from a recording and back (pfrun -trace prv:FILE, pfrun -replay FILE.prv)."""
