# SPDX-License-Identifier: BSD-3-Clause
"""pf_refused.h: the functions for which wrappers.py generates a refusal, for the coverage table."""

import cfile
import wrappers


def generate(functions):
    by_hand = wrappers.handwritten()
    refused = [f.stem for f in functions if f.stem not in by_hand and wrappers.is_refused(f)]
    return (cfile.header("functions that this version does not implement")
            + "#define PF_REFUSED_LIST(X) \\\n" + " \\\n".join(f"    X({stem})" for stem in refused) + "\n")
