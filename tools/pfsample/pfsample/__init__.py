# SPDX-License-Identifier: BSD-3-Clause
"""pfsample: the simulated time of a whole run in a fine model from a sample of its iterations, with an interval (pfrun -sample)."""
