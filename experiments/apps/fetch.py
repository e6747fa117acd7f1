# SPDX-License-Identifier: BSD-3-Clause
"""Upstream tarballs of Debian source packages, through apt with a state of its own: no root, no change to the system."""
import glob
import os
import re
import subprocess


def source_entries():
    """The system's package sources turned into deb-src ones: [(file name, contents)]. Reads both of apt's formats."""
    found = []
    for path in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
        with open(path, encoding="utf-8") as f:
            text = "\n".join(line for line in f.read().splitlines() if not line.startswith("#"))
        stanzas = []
        for stanza in re.split(r"\n\s*\n", text.strip()):
            if re.search(r"(?mi)^enabled:\s*(no|false|0)\s*$", stanza) or not re.search(r"(?mi)^types:", stanza):
                continue
            stanzas.append(re.sub(r"(?mi)^types:.*$", "Types: deb-src", stanza))
        if stanzas:
            found.append((os.path.basename(path), "\n\n".join(stanzas) + "\n"))
    for path in ["/etc/apt/sources.list"] + sorted(glob.glob("/etc/apt/sources.list.d/*.list")):
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            lines = {re.sub(r"^\s*deb(-src)?\s", "deb-src ", line.rstrip()) for line in f
                     if re.match(r"\s*deb(-src)?\s", line)}
        if lines:
            found.append(("from-" + os.path.basename(path), "\n".join(sorted(lines)) + "\n"))
    return found


def apt_options(state):
    """Options that keep all of apt's files below `state`."""
    parts = os.path.join(state, "sources.d")
    for folder in (parts, os.path.join(state, "lists", "partial"), os.path.join(state, "cache", "archives", "partial")):
        os.makedirs(folder, exist_ok=True)
    for name, contents in source_entries():
        with open(os.path.join(parts, name), "w", encoding="utf-8") as f:
            f.write(contents)
    settings = {
        "Dir::State": state, "Dir::State::lists": os.path.join(state, "lists"),
        "Dir::Cache": os.path.join(state, "cache"), "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": parts, "Dir::State::status": "/var/lib/dpkg/status",
        "APT::Sandbox::User": "", "APT::Update::Post-Invoke::": "",
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def run_apt(state, arguments, folder):
    command = ["apt-get", "-q"] + apt_options(state) + arguments
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(("E:", "W:"))]
        raise RuntimeError(f"apt-get {' '.join(arguments)} failed: {'; '.join(lines) or done.stderr.strip()}")


def tarball(package, cache):
    """Path of the upstream tarball of `package`, downloaded when it is not in the folder `cache` yet."""
    pattern = os.path.join(cache, f"{package}_*.orig.tar.*")
    found = [path for path in glob.glob(pattern) if not path.endswith(".asc")]
    if not found:
        state = os.path.join(cache, "apt")
        os.makedirs(cache, exist_ok=True)
        if not glob.glob(os.path.join(state, "lists", "*Sources*")):
            run_apt(state, ["update"], cache)
        run_apt(state, ["source", "--tar-only", "--only-source", package], cache)
        found = [path for path in glob.glob(pattern) if not path.endswith(".asc")]
    if not found:
        raise RuntimeError(f"apt-get source {package} left no tarball in {cache}")
    return found[0]
