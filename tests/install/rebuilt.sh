#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI and SimGrid as a user builds them: from the source packages of a Debian release, without Debian's changes, into a prefix, but
# linked as Ubuntu's packages are, with -Bsymbolic-functions. Each has a folder in PREFIX of its own, since smpicc would find another
# mpi.h beside SimGrid's. Installs what that needs: for the root of a Debian machine that is thrown away. The sources stay in
# PREFIX/source. Last lines: the seconds of each, or that the mirror has not got its sources. Usage: rebuilt.sh
# RELEASE PREFIX openmpi|simgrid...
set -eu
release=$1 prefix=$2
shift 2
folder=$prefix/source
jobs=$(nproc)
apt-get -q update
DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends gcc g++ gfortran make cmake perl dpkg-dev xz-utils pkg-config \
    python3 libpython3-dev libhwloc-dev libevent-dev libpmix-dev libucx-dev zlib1g-dev libboost-dev libeigen3-dev nlohmann-json3-dev

mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
sed -n "s/^deb \(\(\[[^]]*] \)\{0,1\}[^ ]*\) [^ -]* .*/deb-src \1 $release main/p" /etc/apt/sources.list | sort -u >"$folder/sources.list"
cat >"$folder/conf" <<CONF
Dir::Etc { sourcelist "$folder/sources.list"; sourceparts "-"; };
Dir { State::lists "$folder/lists"; Cache "$folder/cache"; };
APT::Sandbox::User "";
CONF
cd "$folder"
APT_CONFIG=$folder/conf apt-get -q update

export LDFLAGS="-Wl,-Bsymbolic-functions -Wl,-z,relro" # Ubuntu's

build_openmpi()
{
    ./configure --prefix="$prefix/openmpi" --with-devel-headers --with-ucx --without-verbs --disable-io-romio --disable-oshmem CFLAGS=-O2 FCFLAGS=-O1 \
        $([ ! -d ompi/mpi/cxx ] || echo --enable-mpi-cxx) # as Debian's of that age
    make -j"$jobs" install
}

build_simgrid()
{
    cmake -B made -DCMAKE_INSTALL_PREFIX="$prefix/simgrid" -DCMAKE_INSTALL_LIBDIR=lib -Denable_smpi=ON -Denable_documentation=OFF -Denable_python=OFF \
        -Denable_java=OFF -Denable_lto=OFF
    make -C made -j"$jobs" install
}

for name; do
    start=$(date +%s)
    # Not every mirror has the sources of what it has in binary form.
    APT_CONFIG=$folder/conf apt-get -q source --download-only --tar-only "$name" || { echo "rebuilt.sh: $name: the mirror has no sources"; continue; }
    mkdir "$name"
    tar -xf "$name"_*.orig.tar.* -C "$name" --strip-components=1
    (cd "$name" && "build_$name")
    rm -r "$name"
    echo "rebuilt.sh: $name: $(($(date +%s) - start)) s"
done
