#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program with Open MPI as an image and as clones: both succeed, without a warning, print the same simulated
# dates, and leave no file in the directory of clones, in which the image has never had one. Usage: same.sh [NAME=VALUE...] PROGRAM [ARGUMENT...]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/clones"
# A directory that does not exist: an image needs none.
env PARFOCAL_OPENMPI_LOADING=image PARFOCAL_CLONE_DIR="$folder/none" "$@" >"$folder/image" 2>"$folder/errors"
env PARFOCAL_OPENMPI_LOADING=clones PARFOCAL_CLONE_DIR="$folder/clones" "$@" >"$folder/others" 2>>"$folder/errors"
cat "$folder/image" "$folder/errors"
[ -s "$folder/image" ] && ! grep "^parfocal: " "$folder/errors" && cmp "$folder/image" "$folder/others" && rmdir "$folder/clones"
