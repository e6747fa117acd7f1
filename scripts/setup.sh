#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes ./build ready: installs missing Debian packages, configures, builds. Usage: scripts/setup.sh [build] [test] [ci] [develop]
# says which groups of scripts/packages.txt are needed (default: build); tests are configured with the group test. BUILD_DIR names
# another directory than ./build. Quiet, and fast when there is nothing to do.
set -eu

cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build}
groups=" ${*:-build} "
log=$build/setup.log

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { say "$*"; exit 1; }

# The Debian release that this is, or that this derives from. Others have other versions of SimGrid, which the build refuses: better
# before anything is installed.
find_release()
{
    file=${OS_RELEASE:-/etc/os-release}
    [ -r "$file" ] || return 0
    # shellcheck disable=SC1090
    . "$file"
    case " ${VERSION_CODENAME:-} ${DEBIAN_CODENAME:-} " in
    *" bookworm "*) echo bookworm ;;
    *" trixie "*) echo trixie ;;
    *) die "this is ${PRETTY_NAME:-another system}: Parfocal needs Debian 12 (SimGrid 3.32, Open MPI 4.1.4) or 13 (SimGrid 4.0, Open MPI 5.0.7) (nothing was installed)" ;;
    esac
}

wanted_packages()
{
    while read -r package group _; do
        case "$package" in
        */"$release") package=${package%/*} ;;
        */*) continue ;;
        esac
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

# Root installs; another user does it through sudo, which may ask for a password only on a terminal.
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

# The folders that a build directory was configured for, one a line.
configured_for()
{
    python3 -c 'import json, sys
folders = json.load(open(sys.argv[1]))["directories"]
print(folders["source"], folders["build"], sep="\n")' "$build/meson-info/meson-info.json" 2>/dev/null
}

# What was configured for another folder holds its paths, and would use what lies there.
forget_other_folder()
{
    there=$(configured_for) || return 0
    here=$(pwd -P; cd "$build"; pwd -P)
    [ "$there" != "$here" ] || return 0
    say "$build was configured in another folder: starting afresh"
    find "$build" -mindepth 1 -delete
}

tests_configured() { grep -q '"name": "tests", "value": true' "$build/meson-info/intro-buildoptions.json"; }

# Tests need packages of their own, so they are installed with the tests only.
configure()
{
    case "$groups" in *" test "*) tests=true ;; *) tests=false ;; esac
    if [ ! -f "$build/build.ninja" ]; then
        say "configuring $build"
        step "meson setup" meson setup "$build" "-Dtests=$tests"
    elif [ -n "$missing" ] || { [ "$tests" = true ] && ! tests_configured; }; then
        say "configuring $build again"
        [ "$tests" = false ] || step "meson configure" meson configure "$build" -Dtests=true
        step "meson setup" meson setup --reconfigure "$build"
    fi
}

missing=
if command -v dpkg-query >/dev/null; then
    release=$(find_release) # a subshell, because the file sets many variables
    mkdir -p "$build"
    install_packages
else
    say "this is no Debian system: the packages of scripts/packages.txt are taken for granted"
    mkdir -p "$build"
fi
forget_other_folder
configure
case "$groups" in *" develop "*) scripts/check-commits.py --install ;; esac
# Ninja reports how much there is to do, so that only real work is announced.
if ! ninja -C "$build" -n 2>/dev/null | grep -q 'no work to do'; then
    say "building"
fi
step "the build" ninja -C "$build"
