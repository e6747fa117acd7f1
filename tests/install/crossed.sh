#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI of another Debian release in a prefix, as an own build would be, with its sources in PREFIX/apt; what its libraries need comes
# from this system's packages. For a Debian machine's root. Usage: crossed.sh RELEASE PREFIX
set -eu
release=$1 prefix=$2
apt=$prefix/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
sed -n "s/^\(deb\) \([^ ]*\) .*/\1 \2 $release main\n\1-src \2 $release main/p" /etc/apt/sources.list | sort -u >"$apt/sources.list"
cat >"$apt/conf" <<END
Dir::Etc { sourcelist "$apt/sources.list"; sourceparts "-"; };
Dir { State::lists "$apt/lists"; Cache "$apt/cache"; };
APT::Sandbox::User "";
END
export APT_CONFIG="$apt/conf"
cd "$apt"
apt-get -q update
library=$(apt-cache depends libopenmpi-dev | awk '$1 == "Depends:" && $2 ~ /^libopenmpi[0-9]/ { print $2 }')
apt-get -q download "$library" libopenmpi-dev openmpi-bin openmpi-common
apt-get -q source --download-only --tar-only openmpi
for package in *.deb; do
    dpkg-deb -x "$package" "$apt"
done
mv usr/* "$prefix"
sed -i "s|^prefix=/usr|prefix=$prefix|" "$prefix"/lib/*/openmpi/lib/pkgconfig/*.pc
