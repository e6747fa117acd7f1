#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A library that is linked with -Bsymbolic-functions, as Ubuntu does: Debian's source package is built so below DIRECTORY, and tests run
# with it. Not part of ./run-tests. Usage: tests/install/symbolic.sh DIRECTORY simgrid|openmpi [TEST...] (default: --suite cli, --suite
# unit). Debian packages: dpkg-dev; for SimGrid (half an hour) libboost-dev libboost-context-dev libboost-stacktrace-dev libeigen3-dev
# cmake ninja-build; for Open MPI 4.1 (ten minutes) gfortran and those of its own development package.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1"
checkout=$PWD work=$(realpath "$1") library=$2
shift 2

fetch()
{
    mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial"
    for file in /etc/apt/sources.list.d/*.sources; do
        sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/sources/$(basename "$file")"
    done
    apt="apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$work/sources -o Dir::State::lists=$work/lists -o Dir::Cache=$work/cache -o APT::Sandbox::User="
    $apt update
    (cd "$work" && $apt source "$library")
}

case $library in
simgrid)
    if [ ! -e "$work/built/lib/libsimgrid.so" ]; then
        fetch
        cmake -S "$work"/simgrid-*/ -B "$work/built" -GNinja -Denable_documentation=OFF -Denable_java=OFF -Denable_python=OFF -Denable_fortran=OFF \
            -Denable_smpi=ON -Denable_lto=OFF -DCMAKE_SHARED_LINKER_FLAGS=-Wl,-Bsymbolic-functions
        ninja -C "$work/built" simgrid
    fi
    [ $# -gt 0 ] || set -- --suite cli
    LD_LIBRARY_PATH=$work/built/lib meson test -C "$checkout/build" --no-rebuild --print-errorlogs "$@"
    ;;
openmpi)
    if [ ! -e "$work/prefix/lib/libmpi.so" ]; then
        fetch
        # Debian's patches are younger than what was generated before them, which is as good without.
        cd "$work"/openmpi-*/
        ./configure -q --prefix="$work/prefix" --with-devel-headers --with-libevent=external --with-hwloc=external --disable-wrapper-runpath --without-verbs \
            --without-ucx --with-libfabric=no --disable-oshmem LDFLAGS=-Wl,-Bsymbolic-functions ACLOCAL=true AUTOCONF=true AUTOMAKE=true AUTOHEADER=true
        make -s -j"$(nproc)" install
    fi
    [ $# -gt 0 ] || set -- --suite unit
    [ -e "$work/build/build.ninja" ] || meson setup "$work/build" "$checkout" -Dopenmpi="$work/prefix"
    meson test -C "$work/build" --print-errorlogs "$@"
    ;;
*)
    echo "symbolic.sh: $library: simgrid or openmpi" >&2
    exit 2
    ;;
esac
