#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds, then measures. "bench.sh nic ..." measures the simulated NIC (tests/bench/nic.py --help), everything else whole
# MPI programs (tests/bench/run.py --help).
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh build
build="${BUILD_DIR:-build}"
if [ "${1:-}" = nic ]; then
    shift
    exec python3 tests/bench/nic.py --build "$build" "$@"
fi
exec python3 tests/bench/run.py --bin "$build/bin" "$@"
