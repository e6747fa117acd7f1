#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kills runs at many moments of their start; what they leave behind (one file at most) goes with the next run.
# Usage: kill.sh PROGRAM [ARGUMENT...]
set -eu
clones=$(mktemp -d)
trap 'rm -rf "$clones"' EXIT
export PARFOCAL_CLONE_DIR="$clones" PARFOCAL_OPENMPI_LOADING=clones
left=0
for delay in 0.02 0.04 0.06 0.08 0.10 0.15 0.2 0.3; do
    "$@" >/dev/null 2>&1 &
    process=$!
    sleep "$delay"
    kill -9 "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
    files=$(find "$clones" -type f | wc -l)
    [ "$files" -le 1 ] || { echo "$files files left after a kill at $delay s"; exit 1; }
    [ -z "$(ls "$clones")" ] || left=$((left + 1))
done
echo "a directory was left behind $left times"
"$@" >/dev/null
[ -z "$(ls "$clones")" ] || { echo "not cleaned up by the next run:"; ls "$clones"; exit 1; }
