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

container="podman build -t parfocal -f packaging/container/Containerfile ."

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { say "$*"; exit 1; }

# This system: the Debian release that it is, or derives from, if that was tried; and what installs packages.
find_system()
{
    file=${OS_RELEASE:-/etc/os-release}
    # shellcheck disable=SC1090
    [ ! -r "$file" ] || . "$file"
    manager=none
    for candidate in apt-get dnf zypper pacman; do
        ! command -v $candidate >/dev/null || { manager=$candidate; break; }
    done
    case " ${VERSION_CODENAME:-} ${DEBIAN_CODENAME:-} " in
    *" bookworm "*) release=bookworm ;;
    *" trixie "*) release=trixie ;;
    *" forky "*) release=forky ;;
    *" noble "*) release=noble ;;
    *" resolute "*) release=resolute ;;
    *) release=other ;;
    esac
    echo "$manager $release ${PRETTY_NAME:-this system}"
}

# A line of its own for each package that this system calls otherwise or has not got (scripts/packages-elsewhere.txt).
translate()
{
    case $manager in
    apt-get) cat ;;
    *) awk -v manager="$manager" 'NR == 1 { while ($column != manager) column++; next } # their first line names the columns
        NR == FNR { name[$1] = $column; next }
        $1 in name && name[$1] != "-" { print name[$1] }' scripts/packages-elsewhere.txt - | sort -u ;;
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
    for package in $(wanted_packages | translate); do
        case $manager in
        apt-get) [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ;;
        pacman) pacman -Q "$package" >/dev/null 2>&1 ;;
        *) rpm -q --whatprovides "$package" >/dev/null 2>&1 ;;
        esac || echo "$package"
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
        can_sudo || die "missing packages: $missing(become root, or: sudo $manager install $missing)"
    fi
    say "installing $missing"
    update=true
    case $manager in
    apt-get) update="apt-get -q update" command="apt-get -q install -y --no-install-recommends" ;;
    dnf) command="dnf install -y --setopt=install_weak_deps=False" ;;
    zypper) command="zypper --non-interactive install --no-recommends" ;;
    pacman) command="pacman -S --needed --noconfirm" ;;
    esac
    # shellcheck disable=SC2086
    { $as_root $update && $as_root env DEBIAN_FRONTEND=noninteractive $command $missing; } >"$log" 2>&1 ||
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
read -r manager release name <<END
$(find_system)
END
mkdir -p "$build"
[ "$release" != other ] || say "$name was not tried; packages are $manager's. Anywhere: $container"
[ "$manager" = none ] || install_packages
forget_other_folder
configure
case "$groups" in *" develop "*) scripts/check-commits.py --install ;; esac
# Ninja reports how much there is to do, so that only real work is announced.
if ! ninja -C "$build" -n 2>/dev/null | grep -q 'no work to do'; then
    say "building"
fi
step "the build" ninja -C "$build"
