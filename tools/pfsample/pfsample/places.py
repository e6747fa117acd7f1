# SPDX-License-Identifier: BSD-3-Clause
"""Places of a program, from which it calls, as lines of its source."""
import re
import subprocess

LIBRARY = 40  # bits of an address, above which it is told which library it is in


def lines(program, addresses):
    """{address: "file.c:12 (function)"}, of those that can be told: by addr2line, as all our messages. Addresses are those of marks: hexadecimal,
    and where the call returns to. Of a function that the compiler has put into another one, both lines are told."""
    own = [address for address in addresses if program and not int(address, 16) >> LIBRARY]
    if not own:
        return {}
    try:
        done = subprocess.run(["addr2line", "-a", "-i", "-C", "-f", "-s", "-e", program, *(hex(int(address, 16) - 1) for address in own)],
                              capture_output=True, text=True, errors="replace", timeout=300, check=False)
    except (OSError, subprocess.SubprocessError):
        return {}
    result = {}
    for address, answer in zip(own, re.split(r"^0x[0-9a-f]+\n", done.stdout, flags=re.M)[1:]):
        words = answer.splitlines()
        frames = [f"{line.split(' ')[0]} ({function})" if not line.startswith(("?", ":")) else f"in {function}"
                  for function, line in zip(words[::2], words[1::2]) if not function.startswith("?")]
        if frames:
            result[address] = frames[0] if len(frames) == 1 else f"{frames[0]} from {frames[1]}"
    return result
