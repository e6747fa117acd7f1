#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A SimGrid that is linked with -Bsymbolic-functions, as Ubuntu does: Debian's source package is built so in DIRECTORY (half an hour),
# and tests run with it. Not part of ./run-tests. Usage: tests/install/symbolic.sh DIRECTORY [TEST...] (default: --suite cli); Debian
# packages: libboost-dev libboost-context-dev libboost-stacktrace-dev libeigen3-dev cmake ninja-build dpkg-dev.
set -eu
cd "$(dirname "$0")/../.."
checkout=$PWD work=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- --suite cli
if [ ! -e "$work/built/lib/libsimgrid.so" ]; then
    mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial"
    for file in /etc/apt/sources.list.d/*.sources; do
        sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/sources/$(basename "$file")"
    done
    apt="apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$work/sources -o Dir::State::lists=$work/lists -o Dir::Cache=$work/cache -o APT::Sandbox::User="
    $apt update
    (cd "$work" && $apt source simgrid)
    cmake -S "$work"/simgrid-*/ -B "$work/built" -GNinja -Denable_documentation=OFF -Denable_java=OFF -Denable_python=OFF -Denable_fortran=OFF \
        -Denable_smpi=ON -Denable_lto=OFF -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-Bsymbolic-functions
    ninja -C "$work/built" simgrid
fi
cd "$checkout"
LD_LIBRARY_PATH=$work/built/lib meson test -C build --no-rebuild --print-errorlogs "$@"
