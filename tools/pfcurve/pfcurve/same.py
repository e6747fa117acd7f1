# SPDX-License-Identifier: BSD-3-Clause
"""What decides the result of a run: of two with the same key, one is enough."""
import functools
import hashlib
import json
import os

SETTINGS = ("PARFOCAL_", "OMPI_MCA_")


def environment():
    """What a run depends on besides its command line: variables of ours, and those that pfrun hands to Open MPI."""
    return {k: v for k, v in sorted(os.environ.items()) if k.startswith(SETTINGS)}


@functools.lru_cache(maxsize=None)
def fingerprint(word):
    """Contents of a file that a word of a command line names: another program under the old name is another run."""
    name = word.rpartition(":")[2] if word.startswith("--cfg=") else word
    if not os.path.isfile(name):
        return ""
    with open(name, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def digest(*what):
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:10]


def key(version, command, *more):
    """Of a run of `command` by this version, here and now."""
    variables = environment()
    return digest(version, command, variables, os.getcwd(), [fingerprint(word) for word in [*command[1:], *variables.values()]], *more)
