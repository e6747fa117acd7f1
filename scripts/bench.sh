#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds, then measures: see tests/bench/run.py --help for the arguments.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh build
exec python3 tests/bench/run.py --bin "${BUILD_DIR:-build}/bin" "$@"
