# SPDX-License-Identifier: BSD-3-Clause
"""pffit: fits the costs of a machine file to measured collectives (pfinfo --fit=MEASURED.tsv --for=MACHINE)."""
