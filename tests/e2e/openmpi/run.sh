#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program twice: both runs must succeed and print the same simulated dates, and leave no file in the directory of
# clones. Usage: run.sh [NAME=VALUE...] PROGRAM [ARGUMENT...]
set -eu
clones=$(mktemp -d)
trap 'rm -rf "$clones"' EXIT
first=$(env PARFOCAL_CLONE_DIR="$clones" "$@")
second=$(env PARFOCAL_CLONE_DIR="$clones" "$@")
echo "$first"
[ -n "$first" ] || { echo "nothing was printed"; exit 1; }
[ "$first" = "$second" ] || { echo "another run printed:"; echo "$second"; exit 1; }
[ -z "$(ls "$clones")" ] || { echo "files were left behind:"; ls "$clones"; exit 1; }
