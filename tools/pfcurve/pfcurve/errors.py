# SPDX-License-Identifier: BSD-3-Clause
"""What ends pfcurve with one line."""


class Problem(Exception):
    """Bad input, or a machine on which the sweep cannot run. The text says what to do."""
