#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fetches the directories of Open MPI's source that the distribution's binary packages leave out: the stock Portals 4
# components. Usage: fetch-openmpi-source.sh VERSION DIRECTORY. The result is DIRECTORY/openmpi-VERSION; nothing is
# done when it is there. It uses a package state of its own, so neither root nor a deb-src line is needed.
set -eu

version=$1
target=$2
wanted="ompi/mca/mtl/portals4 opal/mca/btl/portals4 ompi/mca/coll/portals4 ompi/mca/osc/portals4"
case $version in
4.*) ;;
# Headers that those that are installed include, and that the package with them leaves out.
*) wanted="$wanted opal/mca/threads/pthreads opal/mca/timer/linux opal/include/opal/align.h" ;;
esac

die()
{
    echo "fetch-openmpi-source: $*" >&2
    exit 1
}

# All directories are there, also those that an earlier version of this script did not want.
complete()
{
    [ -f "$target/openmpi-$version/.complete" ] || return 1
    for directory in $wanted; do
        [ -e "$target/openmpi-$version/$directory" ] || return 1
    done
}

complete && exit 0

# A source tree or tarball given by the user is taken as it is (offline builds).
unpack()
{
    work="$target/openmpi-$version.tmp"
    rm -rf "$work"
    mkdir -p "$work"
    patterns=
    for directory in $wanted examples; do # only a test runs those of OpenSHMEM
        patterns="$patterns openmpi-$version/$directory openmpi_$version.orig/$directory"
    done
    # The archive has one of the two top folders.
    # shellcheck disable=SC2086
    tar -xf "$1" -C "$work" --strip-components=1 $patterns 2>/dev/null || true
    for directory in $wanted; do
        [ -e "$work/$directory" ] || die "$1 has no $directory"
    done
    touch "$work/.complete"
    rm -rf "$target/openmpi-$version"
    mv "$work" "$target/openmpi-$version"
}

mkdir -p "$target"
if [ -n "${OPENMPI_TARBALL:-}" ]; then
    unpack "$OPENMPI_TARBALL"
    exit 0
fi

command -v apt-get >/dev/null || die "apt-get not found; set OPENMPI_TARBALL to the openmpi-$version source archive"

apt="$target/apt"
mkdir -p "$apt/sources.d" "$apt/lists/partial" "$apt/cache/archives/partial"

# The machine's own package sources as source-package entries, in both forms that APT knows. Those of third parties may
# have none, which is why errors of the update do not count.
etc=${APT_ETC:-/etc/apt}
for file in "$etc"/sources.list "$etc"/sources.list.d/*.list; do
    [ -f "$file" ] || continue
    sed -n 's/^[[:space:]]*deb\(-src\)\{0,1\}[[:space:]]/deb-src /p' "$file" | sort -u \
        >"$apt/sources.d/$(basename "$file")"
done
for file in "$etc"/sources.list.d/*.sources; do
    [ -f "$file" ] || continue
    sed 's/^[Tt]ypes:.*/Types: deb-src/' "$file" >"$apt/sources.d/$(basename "$file")"
done
find "$apt/sources.d" -type f -size 0 -delete
[ -n "$(ls "$apt/sources.d")" ] || die "no package source found under $etc"

run_apt()
{
    apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/sources.d" \
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="" \
        -o Debug::NoLocking=1 -o APT::Get::List-Cleanup=0 "$@"
}

log="$apt/log"
{ run_apt update || true; cd "$apt" && run_apt source --download-only --tar-only openmpi; } >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    die "the openmpi source package could not be fetched (see $log)"
}
archive=$(ls "$apt"/openmpi_"$version"*.orig.tar.* 2>/dev/null | head -n 1)
[ -n "$archive" ] || die "the distribution has another version of openmpi than $version, $(ls "$apt" | grep orig || true): set OPENMPI_TARBALL to the openmpi-$version source archive"
unpack "$archive"
rm -rf "$apt"
