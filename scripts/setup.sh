#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes ./build ready: installs missing Debian packages, configures, builds. Usage: scripts/setup.sh [build] [test] [develop]
# says which groups of scripts/packages.txt are needed (default: build). BUILD_DIR names another directory than ./build. Quiet, and fast when there is nothing to do.
set -eu

cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build}
groups=" ${*:-build} "
log=$build/setup.log

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { say "$*"; exit 1; }

wanted_packages()
{
    while read -r package group _; do
        case "$groups" in
        *" $group "*) [ "$package" = "#" ] || echo "$package" ;;
        esac
    done <scripts/packages.txt
}

missing_packages()
{
    for package in $(wanted_packages); do
        state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=none
        [ "$state" = installed ] || echo "$package"
    done
}

can_sudo()
{
    command -v sudo >/dev/null || return 1
    [ -t 0 ] || sudo -n true 2>/dev/null
}

# Root installs; another user does it through sudo, which may ask for a password only where somebody can answer.
install_packages()
{
    missing=$(missing_packages | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        [ -t 0 ] || as_root="sudo -n"
        can_sudo || die "missing packages: $missing(become root, or: sudo apt-get install $missing)"
    fi
    say "installing $missing"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    { $as_root apt-get -q update && $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q install -y --no-install-recommends $missing; } >"$log" 2>&1 ||
        { tail -n 20 "$log" >&2; die "the packages could not be installed: $missing(log: $log)"; }
}

# A step with its output in the log; the log's end is shown when the step fails.
step()
{
    what=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; die "$what failed (log: $log)"; }
}

mkdir -p "$build"
if command -v dpkg-query >/dev/null; then
    install_packages
else
    say "this is no Debian system: the packages of scripts/packages.txt are taken for granted"
fi
if [ ! -f "$build/build.ninja" ]; then
    say "configuring $build"
    step "meson setup" meson setup "$build"
fi
# Ninja tells how much there is to do, so that only real work is announced.
if ! ninja -C "$build" -n 2>/dev/null | grep -q 'no work to do'; then
    say "building"
fi
step "the build" ninja -C "$build"
