#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the recipes of this folder do inside a minimal Debian 12, or 13, as root: `stages.sh build SOURCE` makes /parfocal.deb of a copy of the
# sources; `stages.sh run` installs it, with what pfcc, pff90 and pfcurve need, and removes what no run needs.
set -eu
export DEBIAN_FRONTEND=noninteractive

install_packages() { apt-get -q install -y --no-install-recommends "$@"; }

case $1 in
build)
    apt-get -q update
    install_packages build-essential debhelper
    # The packages that debian/control names, which are those of scripts/packages.txt.
    (cd "$2" && apt-get -q build-dep -y --no-install-recommends .)
    (cd "$2" && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -us -uc -b)
    mv "$(dirname "$2")"/parfocal_*.deb /parfocal.deb
    ;;
run)
    printf 'path-exclude=%s\n' '/usr/share/locale/*' '/usr/share/man/*' '/usr/share/unicode/*' '/usr/share/doc/*' >/etc/dpkg/dpkg.cfg.d/small
    printf 'path-include=%s\n' '/usr/share/doc/parfocal/*' '/usr/share/doc/*/copyright' >>/etc/dpkg/dpkg.cfg.d/small
    apt-get -q update
    install_packages /parfocal.deb libc6-dev g++ gfortran python3-matplotlib python3-munkres python3-jinja2
    rm -rf /parfocal.deb /var/lib/apt/lists/* /var/cache/apt/*
    mkdir -p /work
    ;;
*)
    echo "usage: stages.sh build SOURCE | run" >&2
    exit 1
    ;;
esac
