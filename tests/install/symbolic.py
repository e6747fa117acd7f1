#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Changes libraries of x86-64 to what linking with -Bsymbolic-functions, as Ubuntu does it, would have made of them.

Usage: symbolic.py LIBRARY..., which it replaces: for copies, or for a machine that is thrown away (fresh_machine.sh RELEASE-symbolic).
What leads to a function of the library itself is bound to it: calls and jumps by way of the table of imports lead to the function, loads of its
address compute that, and relocations are relative ones without its name. Prints how many of each. Needs objdump (binutils)."""

import os
import pathlib
import re
import struct
import subprocess
import sys

R_64, R_GLOB_DAT, R_JUMP_SLOT, R_RELATIVE = 1, 6, 7, 8
GLOBAL, WEAK, FUNCTION = 1, 2, 2
RELA, SYMBOL = struct.Struct("<QQq"), struct.Struct("<IBBHQQ")
PLT = (".plt", ".plt.sec", ".plt.got")
LINE = re.compile(r"\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*(.*)")


class Library:
    def __init__(self, path):
        self.path = path
        self.bytes = bytearray(path.read_bytes())
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise SystemExit(f"symbolic.py: {path} is no library of 64 bits")
        self.sections = dict(self.read_sections())
        self.slots = {}  # of the table of imports: the function of this library that is there
        self.changed = dict.fromkeys(("relocations", "calls", "loads"), 0)

    def read_sections(self):
        start, size, count, names = struct.unpack_from("<Q", self.bytes, 0x28)[0], *struct.unpack_from("<HHH", self.bytes, 0x3a)
        rows = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, start + i * size) for i in range(count)]
        for name, _, _, address, offset, length, *_ in rows:
            at = rows[names][4] + name
            yield self.bytes[at:self.bytes.index(0, at)].decode(), (address, offset, length)

    def offset(self, address):
        for start, offset, length in self.sections.values():
            if start and start <= address < start + length:
                return offset + address - start
        raise SystemExit(f"symbolic.py: {self.path}: nothing at {address:#x}")

    def own_function(self, number):
        _, info, visibility, section, value, _ = SYMBOL.unpack_from(self.bytes, self.sections[".dynsym"][1] + number * SYMBOL.size)
        is_own = section != 0 and info & 15 == FUNCTION and info >> 4 in (GLOBAL, WEAK) and visibility & 3 == 0
        return value if is_own else None

    def bind_relocations(self):
        for name in (".rela.dyn", ".rela.plt"):
            _, start, length = self.sections.get(name, (0, 0, 0))
            for at in range(start, start + length, RELA.size):
                place, info, addend = RELA.unpack_from(self.bytes, at)
                kind, function = info & 0xffffffff, self.own_function(info >> 32)
                if function is None or kind not in (R_64, R_GLOB_DAT, R_JUMP_SLOT):
                    continue
                if kind != R_64:
                    self.slots[place] = function
                if kind == R_JUMP_SLOT:  # the dynamic linker wants this kind there; nothing goes through it any more
                    RELA.pack_into(self.bytes, at, place, kind, 0)
                else:
                    RELA.pack_into(self.bytes, at, place, R_RELATIVE, function + (addend if kind == R_64 else 0))
                self.changed["relocations"] += 1

    def instructions(self):
        """Section, address, bytes, and the address that it refers to, or None."""
        command = ("objdump", "-dw", "-z", str(self.path))
        section = ""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith("Disassembly of section "):
                    section = line.split()[-1].rstrip(":")
                elif match := LINE.match(line):
                    address, code = int(match[1], 16), bytes.fromhex(match[2])
                    if len(code) >= 5:
                        yield section, address, code, address + len(code) + struct.unpack("<i", code[-4:])[0]

    def bind_code(self):
        stubs = {}
        for section, address, code, target in self.instructions():
            if section in PLT:  # the jump of an entry, of 8 or 16 bytes
                if code.lstrip(b"\xf2\xf3")[:2] == b"\xff\x25" and target in self.slots:
                    stubs[address & -(8 if section == ".plt.got" else 16)] = self.slots[target]
                continue
            at = self.offset(address)
            lead = code[:-4]
            if lead in (b"\xe8", b"\xe9", b"\xf2\xe8", b"\xf2\xe9") or (len(lead) == 2 and lead[0] == 0x0f and lead[1] & 0xf0 == 0x80):
                if target in stubs:
                    self.point(at, address, len(code), stubs[target], "calls")
            elif target not in self.slots:
                continue
            elif lead in (b"\xff\x15", b"\xff\x25"):  # call *slot(%rip): a prefix without effect, and a call
                self.bytes[at:at + 2] = b"\x67" + (b"\xe8" if lead[1] == 0x15 else b"\xe9")
                self.point(at, address, len(code), self.slots[target], "calls")
            elif len(lead) == 3 and lead[0] & 0xf8 == 0x48 and lead[1] == 0x8b and lead[2] & 0xc7 == 5:  # mov to lea
                self.bytes[at + 1] = 0x8d
                self.point(at, address, len(code), self.slots[target], "loads")

    def point(self, at, address, length, function, what):
        struct.pack_into("<i", self.bytes, at + length - 4, function - address - length)
        self.changed[what] += 1

    def replace(self):
        self.bind_relocations()
        self.bind_code()
        new = self.path.with_name(self.path.name + ".symbolic")
        new.write_bytes(self.bytes)
        os.chmod(new, self.path.stat().st_mode)
        new.replace(self.path)
        print(f"{self.path}: " + ", ".join(f"{count} {what}" for what, count in self.changed.items()))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    for name in sys.argv[1:]:
        Library(pathlib.Path(os.path.realpath(name))).replace()
