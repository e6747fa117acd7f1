#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program with a glue in place of the adapter's own must end with an error, in one line that matches. Usage:
# refused.sh GLUE FOLDER-OF-PLUGINS PATTERN PROGRAM [ARGUMENT...]
set -eu
glue=$(realpath "$1") plugins=$2 pattern=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$plugins"/mca_*.so "$folder"
ln -sf "$glue" "$folder/mca_ess_parfocal.so"
if PARFOCAL_OPENMPI_PLUGIN_DIR=$folder PARFOCAL_CLONE_DIR=$folder "$@" >"$folder/out" 2>&1; then
    echo "it was not refused"
    exit 1
fi
cat "$folder/out"
[ "$(grep -c "^parfocal: error: this Open MPI is not the .*; install the package " "$folder/out")" -eq 1 ] && grep "$pattern" "$folder/out"
