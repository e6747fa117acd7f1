#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs over the packet network of built-in platforms (docs/packet.md).

pairs     with routing minimal each pair of ranks alone takes the time that it takes over SimGrid's routes
results   programs give the right results with every routing, also with those by which packets overtake each other
same      runs are the same, to the last digit
shapes    SimGrid can route every shape of a built-in dragonfly
statistics  the table of links and the summary say the same, and nothing is lost
picture   a platform is drawn for a browser, with all links and their loads, and as text
background  background traffic slows a program down and blocks nothing
failures  what a link that goes down has on it is sent again, another way or when the link is back
refused   what a platform file cannot have is refused in one line
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
import run_e2e  # noqa: E402

LIMIT = 120
ROUTINGS = ["minimal", "minimal-adaptive", "valiant", "ugal", "par"]
# Many collectives at once, order of headers, requests of all kinds, one-sided operations
SAMPLE = ["coll", "icoll", "inorder", "persistent", "probe", "rma", "sendmodes", "waiting"]
# Other ways cost next to nothing, so that many packets take them.
EAGER = {"PARFOCAL_NET_UGAL_BIAS": "0.1", "PARFOCAL_NET_UGAL_CANDIDATES": "3", "PARFOCAL_NET_UGAL_THRESHOLD": "-1"}


class Network:
    """The commands, and what has failed."""

    def __init__(self, bindir, work):
        self.tools = harness.Tools(bindir, work)
        self.work = work
        self.failures = 0

    def pfrun(self, program, np, platform, args=(), environment=None, options=()):
        env = {"E2E_SIMULATED": "1", "E2E_A": "packet", "E2E_B": "packet",
               "PARFOCAL_LIVELOCK_POLLS": "200000", **(environment or {})}
        command = [self.tools.command("pfrun"), "-np", str(np), "-platform", platform, "-model", "packet",
                   *harness.SIMULATION, *options, program, *args]
        return self.tools.run(command, LIMIT, env)

    def write_platform(self, platform):
        file = os.path.join(self.work, "platform.xml")
        with open(file, "w", encoding="utf-8") as out:
            subprocess.run([self.tools.command("pfinfo"), "--platform", platform], stdout=out, check=True, timeout=60)
        return file

    @staticmethod
    def errors(result):
        """Lines of errors; what ranks were doing may follow them."""
        return sum("error:" in line for line in result.err.splitlines())

    def expect(self, right, what, result):
        if right:
            return
        self.failures += 1
        print(f"FAIL {what}: status {result.status}\n    {result.command}")
        for line in (result.lines + result.err.splitlines())[-8:]:
            print("    | " + line[:200])


def is_misled(a, b):
    """SimGrid's dragonfly leaves a router of chassis c by the row's link as if it led to chassis 0."""
    chassis_a, chassis_b = a // 16 % 4, b // 16 % 4
    return a // 64 == b // 64 and a // 4 % 4 != b // 4 % 4 and (chassis_b != 0) != (chassis_a != chassis_b)


def pairs(network):
    program = network.tools.build(os.path.join(HERE, "pairs.c"), "pfcc")
    for platform, np in (("star:12", 12), ("fattree:20", 20), ("torus:24", 24), ("dragonfly:64", 36),
                         ("mesh:8", 8), ("ring:7,oneway", 7), ("twisted:9", 9), ("hyperx:12", 12), ("twolevels:9", 9), ("tree:2,3", 8),
                         ("dragonfly:1,3,1", 12), ("cascade:1,2x3,1,2", 12), ("dragonflyplus:2,2,2,1", 12)):
        file = network.write_platform(platform)
        for size in ("1", "3000", "100000"):
            by_routers, by_routes = (network.pfrun(program, np, where, [size]) for where in (platform, file))
            times = [{tuple(map(int, line.split()[:2])): float(line.split()[2]) for line in run.lines} for run in (by_routers, by_routes)]
            network.expect(len(times[0]) == np * (np - 1) and times[0].keys() == times[1].keys(), platform, by_routers)
            odd = {pair for pair, time in times[0].items() if abs(time - times[1].get(pair, 0)) > 1e-9 * time}
            misled = {(a, b) for a, b in times[0] if platform == "dragonfly:64" and (is_misled(a, b) or is_misled(b, a))}
            network.expect(odd == misled, f"{platform}, {size} bytes: unexpected pairs {sorted(odd ^ misled)[:5]}", by_routers)
            print(f"{platform}, {size} bytes: {len(times[0])} pairs, {len(odd)} differ: there SimGrid's route is no way through the routers")


def results(network):
    cases = [("torus:27", routing, SAMPLE if routing == "ugal" else ["coll", "inorder"]) for routing in ROUTINGS]
    cases += [("dragonfly:128", "ugal", ["coll"]), ("fattree:64", "ugal", ["coll"]), ("fattree:64", "minimal-adaptive", ["rma"])]
    for platform, routing, names in cases:
        for name in names:
            for v in run_e2e.variants_of(os.path.join(run_e2e.PROGRAMS, name + ".c")):
                if v.exit != "0" or v.options:
                    continue
                program = network.tools.build(v.source, "pfcc")
                result = network.pfrun(program, v.np, platform, v.args, {"PARFOCAL_NET_ROUTING": routing, **EAGER})
                network.expect(result.status == 0 and result.data == [f"{v.name}: PASS"], f"{v.title}, {routing} on {platform}", result)


def same(network):
    program = network.tools.build(os.path.join(HERE, "crowd.c"), "pfcc")

    def crowd(platform, routing, settings=None):
        result = network.pfrun(program, 16, platform, ["20000"], {"PARFOCAL_NET_ROUTING": routing, **(settings or {})})
        network.expect(result.status == 0 and len(result.lines) == 16, f"crowd on {platform}, {routing} with {settings}", result)
        return result.lines

    for platform in ("dragonfly:128", "torus:16"):
        for routing in ("ugal", "par"):
            runs = [crowd(platform, routing) for _ in range(20 if routing == "ugal" and platform == "torus:16" else 3)]
            if any(run != runs[0] for run in runs):
                network.failures += 1
                print(f"FAIL {routing} on {platform}: runs differ")
    changes = [("torus:16", "ugal", {"PARFOCAL_NET_SEED": "2"}), ("torus:16", "ugal", {"PARFOCAL_NET_UGAL_BIAS": "8"}),
               ("torus:16", "ugal", {"PARFOCAL_NET_UGAL_THRESHOLD": "1e9"}), ("torus:16", "ugal", {"PARFOCAL_NET_UGAL_CANDIDATES": "5"}),
               ("dragonfly:128", "valiant", {"PARFOCAL_NET_INTERMEDIATE": "group"})]
    for platform, routing, setting in changes:
        if crowd(platform, routing, setting) == crowd(platform, routing):
            network.failures += 1
            print(f"FAIL {setting} changes nothing for {routing} on {platform}")


def shapes(network):
    program = network.tools.build(os.path.join(HERE, "shifts.c"), "pfcc")
    for hosts in (1, 65, 256, 257, 300, 401, 512, 600, 1025):
        platform = f"dragonfly:{hosts}"
        with open(network.write_platform(platform), encoding="utf-8") as f:
            first, last = map(int, re.search(r'radical="(\d+)-(\d+)"', f.read()).groups())
        # A host of every router; with many routers, of each third one, which leaves out no group, chassis or row.
        step = 4 if last - first < 500 else 12
        hostfile = os.path.join(network.work, "hostfile")
        with open(hostfile, "w", encoding="utf-8") as f:
            f.writelines(f"node-{number}\n" for number in range(first, last + 1, step))
        count = len(range(first, last + 1, step))
        result = network.pfrun(program, count, platform, options=["-hostfile", hostfile, "-model", "smpi"])
        network.expect(result.status == 0 and len(result.lines) == count and all(line.endswith(f" {count - 1}") for line in result.lines), platform, result)
    for model in ("portals", "packet"):
        result = network.pfrun(program, 64, "dragonfly:300", options=["-model", model])
        network.expect(result.status == 0, f"dragonfly:300 in {model}", result)


def read_table(file):
    with open(file, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def statistics(network):
    program = network.tools.build(os.path.join(HERE, "crowd.c"), "pfcc")
    file, summary = os.path.join(network.work, "links.csv"), os.path.join(network.work, "summary.json")
    xml = network.write_platform("fattree:16")
    for platform, interval in (("fattree:16", "0"), ("fattree:16", "1e-5"), (xml, "0")):
        result = network.pfrun(program, 16, platform, ["50000"], {"PARFOCAL_NET_STATISTICS": file, "PARFOCAL_SUMMARY": summary,
                                                                  "PARFOCAL_NET_STATISTICS_INTERVAL": interval})
        network.expect(result.status == 0, platform, result)
        rows = [row for row in read_table(file) if row["channel"] == "all"]
        with open(summary, encoding="utf-8") as f:
            short = json.load(f)["network"]
        links = {}
        for row in rows:
            links[row["link"]] = links.get(row["link"], 0) + float(row["bytes"])
        if platform == "fattree:16":
            up = sum(count for name, count in links.items() if name.startswith("n"))
            down = sum(count for name, count in links.items() if "-n" in name)
            network.expect(up == down > 16 * 15 * 50000, f"bytes of nodes: {up} and {down}", result)
            network.expect(len({row["begin_s"] for row in rows}) > (3 if float(interval) else 0), "intervals", result)
        busiest = short["busiest_links"][0]
        network.expect(links.get(busiest["link"]) == busiest["bytes"], f"bytes of {busiest}", result)
        network.expect(short["dropped"] == 0 and 0.5 < busiest["utilisation"] <= 1, f"utilisation of {busiest}", result)
    result = network.pfrun(program, 4, "star:4", ["1"], {"PARFOCAL_NET_STATISTICS": network.work})
    network.expect(result.status not in (0, "timeout") and "PARFOCAL_NET_STATISTICS" in result.err, "a directory as the file", result)


def picture(network):
    program = network.tools.build(os.path.join(HERE, "crowd.c"), "pfcc")
    table, svg = os.path.join(network.work, "links.csv"), os.path.join(network.work, "load.svg")

    def pfinfo(*options):
        return network.tools.run([network.tools.command("pfinfo"), *options], LIMIT)

    for platform in ("star:12", "fattree:16", "torus:12", "dragonfly:128", "dragonflyplus:27"):
        result = network.pfrun(program, 12, platform, ["20000"], {"PARFOCAL_NET_STATISTICS": table})
        network.expect(result.status == 0, platform, result)
        busy = {row["link"]: float(row["utilisation"]) for row in read_table(table) if row["channel"] == "all"}
        result = pfinfo("--platform", platform, "--picture", svg, "--statistics", table)
        network.expect(result.status == 0 and not result.lines, f"picture of {platform}", result)
        boxes = [tuple(box.getAttribute(key) for key in "xy") for box in xml.dom.minidom.parse(svg).getElementsByTagName("rect")]
        network.expect(len(boxes) == len(set(boxes)), f"each router of {platform} has a place of its own", result)
        lines = {}  # of links, by the name in their titles
        for line in xml.dom.minidom.parse(svg).getElementsByTagName("line"):
            for title in line.getElementsByTagName("title"):
                lines[title.firstChild.data.split(":")[0]] = (title.firstChild.data, line.getAttribute("stroke"))
        with open(svg[:-4] + ".txt", encoding="utf-8") as f:
            text = [line.split() for line in f.read().splitlines()[1:]]
        network.expect(len(text) == len(lines) and {row[0] for row in text} == set(lines), f"links of {platform} as text", result)
        network.expect(busy.keys() <= lines.keys() and all(f"busy {100 * part:.1f} %" in lines[link][0] for link, part in busy.items()),
                       f"loads of {platform}", result)
        network.expect([float(row[3]) for row in text] == sorted((float(row[3]) for row in text), reverse=True), "order", result)
        most, least = max(busy, key=busy.get), next((link for link in lines if link not in busy), None)
        network.expect(least is None or lines[most][1] != lines[least][1], f"colours of {platform}", result)
    html = os.path.join(network.work, "plain.html")
    result = pfinfo("--platform=torus:8", "--picture", html)
    with open(html, encoding="utf-8") as f:
        text = f.read()
    network.expect(result.status == 0 and "<svg" in text and "r0-r1" in text and "</html>" in text, "a page", result)
    wrong = os.path.join(network.work, "wrong.csv")
    with open(wrong, "w", encoding="utf-8") as f:
        f.write("link,channel\n")
    for options in (["--platform=torus:8", "--picture", svg[:-4] + ".png"], ["--picture", svg], ["--statistics", table],
                    ["--platform=torus:8", "--picture", svg, "--statistics", wrong], ["--platform=nothing", "--picture", svg],
                    ["--platform=torus:2", "--picture", svg, "--statistics", table],
                    ["--platform=fattree:20000", "--picture", svg]):
        result = pfinfo(*options)
        network.expect(result.status not in (0, "timeout") and network.errors(result) == 1, "a mistake", result)


def background(network):
    program = network.tools.build(os.path.join(HERE, "crowd.c"), "pfcc")

    def end(traffic, args=("20000",), platform="fattree:16"):
        result = network.pfrun(program, 8, platform, args, options=["-background", traffic] if traffic else [])
        network.expect(result.status == 0 and len(result.lines) == 8, f"with {traffic}", result)
        return max((float(line.split()[1]) for line in result.lines), default=0)

    quiet, some, much = end(None), end("uniform:0.3"), end("uniform:0.7")
    if not quiet < some < much:
        network.failures += 1
        print(f"FAIL loads 0, 0.3 and 0.7 give {quiet}, {some} and {much}")
    if end("uniform:0.7") != much:
        network.failures += 1
        print("FAIL another run has another time")
    # Node 15 alone sends to node 14: no other message is in its way, not even in a tree.
    table = os.path.join(network.work, "pattern")
    with open(table, "w", encoding="utf-8") as f:
        f.write("15 14\n")
    if end(f"file:{table}:0.9") != quiet or not quiet < end("hotspot:3:0.9:8-15"):
        network.failures += 1
        print("FAIL traffic elsewhere has an effect, or none in the way")
    # Where more is offered than can go, a node's own messages take turns with the traffic as a whole, not with each packet that waits.
    if end("hotspot:15:1.0") > 20 * quiet:
        network.failures += 1
        print("FAIL too much traffic leaves nothing to the program")
    # A pause of a simulated second is not simulated packet by packet; nothing keeps the end waiting.
    if not 1 < end("uniform:0.5", ("20000", "1"), "torus:16") < 1.001:
        network.failures += 1
        print("FAIL a pause")
    stuck = network.tools.build(os.path.join(run_e2e.PROGRAMS, "deadlock.c"), "pfcc")
    result = network.pfrun(stuck, 4, "fattree:16", options=["-background", "uniform:0.5"])
    network.expect(result.status not in (0, "timeout") and "deadlock" in result.err, "a deadlock is found", result)
    result = network.pfrun(program, 8, network.write_platform("star:8"), ["20000"], options=["-background", "neighbour:0.5"])
    network.expect(result.status == 0, "on a platform file", result)
    for model, traffic in (("smpi", "uniform:0.5"), ("portals", "uniform:0.5"), ("packet", "uniform"), ("packet", "uniform:1.5"),
                           ("packet", "nothing:0.5"), ("packet", "uniform:0.5:16"), ("packet", "uniform:0.5:x"), ("packet", "hotspot:99:0.5")):
        result = network.pfrun(program, 8, "fattree:16", ["1"], options=["-model", model, "-background", traffic])
        network.expect(result.status not in (0, "timeout") and network.errors(result) == 1 and "-background" in result.err,
                       f"{traffic} in {model}", result)


def failures(network):
    program = network.tools.build(os.path.join(HERE, "crowd.c"), "pfcc")
    summary = os.path.join(network.work, "summary.json")

    def crowd(platform, routing, fail, args=("20000",), queues="auto"):
        result = network.pfrun(program, 8, platform, args, {"PARFOCAL_NET_ROUTING": routing, "PARFOCAL_SUMMARY": summary, "PARFOCAL_NET_OUTPUT_QUEUES": queues,
                                                            "PARFOCAL_NIC_RETRY_TIMEOUT": "1e-4"}, ["-fail", fail] if fail else [])
        with open(summary, encoding="utf-8") as f:
            return result, json.load(f).get("network", {})

    # Another way there is in trees and tori, and in a dragonfly for routings that may leave the minimal one.
    cases = [(platform, routing, fail) for platform, fail in (("fattree:16", "r0-r4@5e-6"), ("torus:8", "r0-r1@5e-6,r2-r3@6e-6"))
             for routing in ROUTINGS] + [("dragonfly:64", "ugal", "r0-r1@5e-6"), ("dragonfly:64", "par", "r0-r1@5e-6")]
    for platform, routing, fail in cases:
        result, short = crowd(platform, routing, fail)
        network.expect(result.status == 0 and len(result.lines) == 8 and short["dropped"] > 0, f"{fail} on {platform}, {routing}", result)
        if routing == "ugal":
            again, _ = crowd(platform, routing, fail)
            network.expect(result.status == 0 and again.lines == result.lines, f"{fail} on {platform}, {routing}, again", again)
    # What waits for an output that goes down goes another way from its queue.
    for platform, fail in (("fattree:16", "r0-r4@5e-6"), ("torus:8", "r0-r1@5e-6,r2-r3@6e-6")):
        result, short = crowd(platform, "minimal", fail, queues="yes")
        network.expect(result.status == 0 and len(result.lines) == 8 and short["dropped"] > 0, f"{fail} on {platform}, a queue for each output", result)
    # The only link of a node: it comes back, or it does not.
    result, short = crowd("fattree:16", "minimal", "n3-r0@5e-6:8e-6")
    network.expect(result.status == 0 and short["dropped"] > 0, "a node's link comes back", result)
    result, _ = crowd("fattree:16", "minimal", "n3-r0@5e-6")
    network.expect(result.status not in (0, "timeout") and "error" in result.err, "a node's link stays away", result)
    # What fails after the end, or on an unused link, changes nothing, and the run does not wait for it.
    plain, _ = crowd("fattree:16", "minimal", None)
    for fail in ("r0-r4@1000:2000", "n15-r3@0"):
        result, short = crowd("fattree:16", "minimal", fail)
        network.expect(result.lines == plain.lines and short["dropped"] == 0, fail, result)
    result, short = crowd("fattree:16", "ugal", "r0-r4@0.5", ("20000", "1"))  # while all pause
    network.expect(result.status == 0 and short["dropped"] == 0, "in a pause", result)
    # Links of a platform file have SimGrid's names.
    xml = network.write_platform("star:8")
    result, short = crowd(xml, "minimal", "cluster_link_1003_UP@5e-6:8e-6")
    network.expect(result.status == 0 and short["dropped"] > 0, "a link of a platform file", result)
    # A state profile of SimGrid's.
    with open(os.path.join(network.work, "state"), "w", encoding="utf-8") as f:
        f.write("0.000005 0\n0.000008 1\n")
    profile = os.path.join(network.work, "profile.xml")
    with open(profile, "w", encoding="utf-8") as f:
        hosts = "".join(f'<host id="h{i}" speed="1Gf"/>' for i in range(8))
        hosts += "".join(f'<link id="{way}{i}" bandwidth="10GBps" latency="200ns"{" state_file=" + chr(34) + "state" + chr(34) if (way, i) == ("up", 3) else ""}/>'
                         for i in range(8) for way in ("up", "down"))
        links = "".join(f'<host_link id="h{i}" up="up{i}" down="down{i}"/>' for i in range(8))
        f.write("<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
                f'<platform version="4.1"><zone id="z" routing="Cluster">{hosts}{links}<router id="r"/><backbone id="b" bandwidth="1TBps" latency="0"/></zone></platform>')
    result, short = crowd(profile, "minimal", None)
    network.expect(result.status == 0 and short["dropped"] > 0, "a state profile", result)
    for fail in ("r0-r4", "r0-r99@1", "r0-r4@x", "r0-r4@2:1", "r0-r4@-1", "@1", "r0-r4@1,"):
        result, _ = crowd("fattree:16", "minimal", fail)
        network.expect(result.status not in (0, "timeout") and network.errors(result) == 1 and "-fail" in result.err, fail, result)
    result = network.pfrun(program, 8, "fattree:16", ["1"], options=["-model", "portals", "-fail", "r0-r4@1"])
    network.expect(result.status not in (0, "timeout") and network.errors(result) == 1 and "-fail" in result.err, "in portals", result)


def refused(network):
    program = network.tools.build(os.path.join(HERE, "pairs.c"), "pfcc")
    for routing in ROUTINGS[1:]:
        result = network.pfrun(program, 4, harness.PLATFORM, ["1"], {"PARFOCAL_NET_ROUTING": routing})
        lines = [line for line in result.err.splitlines() if "error" in line]
        network.expect(result.status not in (0, "timeout") and len(lines) == 1 and "PARFOCAL_NET_ROUTING" in lines[0]
                       and "minimal" in lines[0], f"{routing} on a platform file", result)
    result = network.pfrun(program, 4, "torus:8", ["1"], {"PARFOCAL_NET_ROUTING": "valiant", "PARFOCAL_NET_INTERMEDIATE": "group"})
    network.expect(result.status not in (0, "timeout") and "PARFOCAL_NET_ROUTING" in result.err, "groups of a torus", result)


def main():
    checks = {"pairs": pairs, "results": results, "same": same, "shapes": shapes, "statistics": statistics, "picture": picture, "background": background, "failures": failures, "refused": refused}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=checks)
    parser.add_argument("--bin", default=os.path.join(harness.ROOT, "build", "bin"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="network-") as work:
        network = Network(options.bin, work)
        checks[options.check](network)
    return network.failures != 0


if __name__ == "__main__":
    sys.exit(main())
