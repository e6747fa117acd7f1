#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Settings do what they say: each is changed alone, and the named piece of effects.c must take longer, or less long.
Open MPI never asks for PIO: tests/e2e/portals/nic.c tests that.

Usage: run_effects.py PFCC PFRUN
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Setting, value, model, piece, and whether it takes more (+) or less (-) than with the default
EFFECTS = [
    ("PARFOCAL_PLATFORM_LINK_BW", "1e9", "smpi", "1MiB", "+"),
    ("PARFOCAL_PLATFORM_LINK_LATENCY", "5e-6", "smpi", "8B", "+"),
    ("PARFOCAL_PLATFORM_LOOPBACK_BW", "1e9", "smpi", "host 1MiB", "+"),
    ("PARFOCAL_PLATFORM_LOOPBACK_LATENCY", "5e-6", "smpi", "host 8B", "+"),
    ("PARFOCAL_PLATFORM_HOST_SPEED", "1e7", "smpi", "compute", "+"),
    ("PARFOCAL_PLATFORM", "torus:64", "portals", "8B", "-"),
    ("PARFOCAL_ANALYTIC_IDLE_TIME", "1e-5", "analytic", "polls", "-"),
    ("PARFOCAL_OPENMPI_IDLE_TIME", "1e-5", "portals", "polls", "-"),
    ("PARFOCAL_OPENMPI_CALL_COST", "1e-6", "portals", "8B", "+"),
    ("PARFOCAL_OPENMPI_MESSAGE_COST", "1e-6", "portals", "8B", "+"),
    ("PARFOCAL_OPENMPI_SEND_TIME", "1e-6", "portals", "8B", "+"),
    ("PARFOCAL_OPENMPI_RECEIVE_TIME", "1e-6", "portals", "8B", "+"),
    ("PARFOCAL_OPENMPI_BUFFERED_MAX", "64", "portals", "*", "*"),
    ("PARFOCAL_OPENMPI_SHORT_LIMIT", "1048576", "portals", "late 1MiB", "-"),
    ("PARFOCAL_NIC_HANDSHAKE_TIME", "1e-6", "portals", "8B", "+"),
    ("PARFOCAL_NIC_PCIE_LATENCY", "2e-6", "portals", "8B", "+"),
    ("PARFOCAL_NIC_PCIE_PACKET", "65536", "portals", "1MiB", "+"),
    ("PARFOCAL_NIC_COMMAND_BYTES", "65536", "portals", "8B", "+"),
    ("PARFOCAL_NIC_EVENT_BYTES", "65536", "portals", "8B", "+"),
    ("PARFOCAL_NIC_TX_TIME", "1e-6", "portals", "8B", "+"),
    ("PARFOCAL_NIC_PUT_TIME", "1e-6", "portals", "8B", "+"),
    ("PARFOCAL_NIC_GET_TIME", "1e-5", "portals", "late 1MiB", "+"),
    ("PARFOCAL_NIC_RX_TIME", "2e-6", "portals", "8B", "+"),
    ("PARFOCAL_NIC_RX_GAP", "1e-6", "portals", "stream 8B", "+"),
    ("PARFOCAL_NIC_INLINE_MAX", "400", "portals", "200B", "*"),
    ("PARFOCAL_NIC_EARLY_SEND", "0", "portals", "*", "*"),
    ("PARFOCAL_NIC_HEADER_BYTES", "65536", "portals", "8B", "+"),
    ("PARFOCAL_NIC_ACK_BYTES", "65536", "portals", "*", "*"),
    ("PARFOCAL_NIC_RESPONSE_TIME", "1e-5", "portals", "*", "*"),
    ("PARFOCAL_NIC_PACKET_OVERHEAD", "200", "portals", "1MiB", "+"),
    ("PARFOCAL_NET_PACKET_BYTES", "1024", "packet", "crowd", "*"),
    ("PARFOCAL_NET_PACKET_HEADER", "64", "packet", "4KiB", "+"),
    ("PARFOCAL_NET_VIRTUAL_CHANNELS", "1", "packet", "crowd", "*"),
    ("PARFOCAL_NET_VC_BUFFER", "0", "packet", "1MiB", "-"),
    ("PARFOCAL_NET_ROUTER_LATENCY", "0", "packet", "crowd", "*"),
    ("PARFOCAL_NET_CREDIT_DELAY", "1e-5", "packet", "1MiB", "+"),
    ("PARFOCAL_NET_CROSSBAR_SPEEDUP", "4", "packet", "crowd", "*"),
    ("PARFOCAL_NET_OUTPUT_QUEUES", "yes", "packet", "crowd", "*"),
    ("PARFOCAL_NET_ARBITRATION", "age", "packet", "crowd", "*"),
    ("PARFOCAL_NET_ALTERNATES", "yes", "packet", "crowd", "*"),
    ("PARFOCAL_IDLE_PASSES", "64", "portals", "", "="),
]


def run(pfrun, program, hosts, model, settings):
    command = [pfrun, "-np", "3", "-hostfile", hosts, "-platform", "star:4", "-model", model, "--log=root.thres:critical"]
    if model == "packet":  # routers show what they do where messages meet, none passes another, and the buffers are short
        command = [pfrun, "-np", "8", "-platform", "star:8", "-model", "portals", "--log=root.thres:critical"]
        settings = {"PARFOCAL_NET_MODEL": "packet", "PARFOCAL_NET_VC_BUFFER": "4400", "PARFOCAL_NET_CREDIT_DELAY": "5e-7",
                    "PARFOCAL_NET_ALTERNATES": "no", **settings}
    if "PARFOCAL_PLATFORM" in settings:
        command[5:7] = []
    command += ["--cfg=smpi/host-speed:1Gf"] if model == "smpi" else ["--cfg=smpi/simulate-computation:no"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PARFOCAL_")}
    done = subprocess.run([*command, program], capture_output=True, text=True, timeout=200, env=dict(environment, **settings))
    if done.returncode != 0:
        sys.exit(f"{settings} {' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines()}


def judge(piece, sign, before, after):
    if sign == "=":  # the number of polls has no influence on the clock
        return all(before[name] == after[name] for name in before if name != "compute")
    if piece == "*":
        return any(before[name] != after[name] for name in before if name != "compute")
    a, b = before[piece], after[piece]
    return b > a * 1.001 if sign == "+" else b < a * 0.999 if sign == "-" else b != a


def main():
    pfcc, pfrun = (os.path.abspath(name) for name in sys.argv[1:3])
    failures = 0
    with tempfile.TemporaryDirectory(prefix="effects-") as folder:
        program, hosts = os.path.join(folder, "effects"), os.path.join(folder, "hosts")
        subprocess.run([pfcc, "-O1", "-o", program, os.path.join(HERE, "effects.c")], check=True, timeout=120)
        with open(hosts, "w", encoding="utf-8") as file:
            file.write("node-1000\nnode-1001\nnode-1000\n")
        default = {model: run(pfrun, program, hosts, model, {}) for model in ("smpi", "portals", "analytic", "packet")}
        for name, value, model, piece, sign in EFFECTS:
            if name == "PARFOCAL_PLATFORM":
                sign = "*"
            after = run(pfrun, program, hosts, model, {name: value})
            if not judge(piece, sign, default[model], after):
                failures += 1
                print(f"FAIL {name}={value}, model {model}: '{piece}' {sign}\n  default {default[model]}\n  then    {after}")
    print(f"run_effects: {len(EFFECTS)} settings, {failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
