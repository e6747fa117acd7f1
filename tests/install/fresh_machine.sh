#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What README says, on machines that have only Debian: minimal systems in mount and process namespaces of their own
# (fresh_steps.sh is what they do). The base systems and downloaded packages are kept in ${XDG_CACHE_HOME:-~/.cache}/parfocal;
# nothing else stays, however this ends. Usage: fresh_machine.sh [RELEASE-USER...]: RELEASE is bookworm, trixie, forky, noble or resolute
# (Ubuntu 24.04 and 26.04, whose archive must be reachable, and is taken without a check of its signature), USER is root, or user, who has
# sudo and folders with spaces in their names, symbolic: root, whose SimGrid and Open MPI are linked with -Bsymbolic-functions: built from
# the release's source packages into a prefix (rebuilt.sh), or changed to that (symbolic.py) if the mirror has no sources, as MPICH and UCX
# are, or crossed: root, whose Open MPI is built so from Debian 12's sources; by default bookworm-user trixie-root. The whole matrix of
# these is bookworm-symbolic trixie-symbolic forky-symbolic trixie-crossed. Machines of different releases run at the same time. Needs
# root and debootstrap; without them status 77. The last line is "N passed, N failed".
set -eu
{ # Read as a whole, so that the file may change while it runs.

checkout=$(realpath "$(dirname "$0")/../..")
all=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/parfocal/machine

skip() { echo "fresh machine: skipped: $*"; exit 77; }
die() { echo "fresh machine: $*"; exit 1; }

is_ubuntu() { [ "$release" = noble ] || [ "$release" = resolute ]; }

# of NAME: the folder of its release, and the machine, while it lives
name() { release=${1%-*} who=${1##*-} cache=$all/$release root=$all/$release/root; }

# Debian's mirrors as this machine's apt knows them: "SITE RELEASE COMPONENT", one a line. What has one release has the others: of one
# that is not this machine's, its first part.
mirrors()
{
    if is_ubuntu; then
        printf 'http://archive.ubuntu.com/ubuntu %s main universe\n' "$release" "$release-updates"
        return
    fi
    apt-get indextargets --format "\$(SITE) \$(RELEASE) \$(COMPONENT) \$(ORIGIN)" 'Created-By: Packages' |
        awk '$4 == "Debian" && $3 == "main" { print $1, $2, $3 }' | sort -u >"$cache/mirrors"
    if grep -q " $release" "$cache/mirrors"; then
        grep " $release" "$cache/mirrors"
    else
        awk -v r="$release" '$2 !~ /-/ { print $1, r, $3; exit }' "$cache/mirrors"
    fi
}

proxies() { apt-config dump | grep -E '^Acquire::https?::Proxy ' || :; }

make_base()
{
    mirror=$(mirrors | awk -v r="$release" '$2 == r { print $1; exit }')
    echo "fresh machine: making the base system of $release"
    eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
    [ -z "${http_proxy:-}" ] || export http_proxy
    script=
    [ -e "/usr/share/debootstrap/scripts/$release" ] || script=/usr/share/debootstrap/scripts/sid # a release that is younger than it
    set -- # Debian's debootstrap has neither a key nor, if it is older, a script of Ubuntu's releases.
    ! is_ubuntu || { script=/usr/share/debootstrap/scripts/gutsy && set -- --no-check-gpg --components=main,universe; }
    debootstrap --variant=minbase --cache-dir="$cache/archives" "$@" "$release" "$cache/base.new" "$mirror" ${script:+"$script"} \
        >"$cache/log" 2>&1 ||
        { tail -n 20 "$cache/log"; die "debootstrap failed"; }
    chroot "$cache/base.new" useradd --create-home --shell /bin/bash user
    mv "$cache/base.new" "$cache/base-$release" # last: half a base has another name
}

# The base, with this machine's network settings.
make_system()
{
    cp -a "$cache/base-$release" "$root"
    mirrors | sed 's/^/deb /' >"$root/etc/apt/sources.list"
    proxies >"$root/etc/apt/apt.conf.d/90proxy"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    echo "127.0.1.1 $(hostname)" >>"$root/etc/hosts" # sudo wants the name to resolve
    echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90old" # a mirror may be older than it should be
    # The certificates for mirrors that want them.
    [ ! -d /etc/ssl/certs ] || { mkdir -p "$root/etc/ssl" && cp -rL /etc/ssl/certs "$root/etc/ssl/"; }
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/90fast" # it is not needed after a crash
    # There is no init that could start a service.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
    mount -t proc proc "$root/proc"
    mount --bind /sys "$root/sys" # without it UCX complains on the standard output of programs under mpirun
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    mkdir "$root/dev/pts" "$root/dev/shm"
    for node in null zero full random urandom tty; do
        touch "$root/dev/$node"
        mount --bind "/dev/$node" "$root/dev/$node"
    done
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    mount --bind "$cache/archives" "$root/var/cache/apt/archives"
    touch "$root/lock" "$cache/archives/lock" # apt does not wait for a lock of packages that another system's apt has left
    mount --bind "$root/lock" "$root/var/cache/apt/archives/lock"
}

# The checkout as a user gets it: without what was built.
copy_checkout()
{
    mkdir -p "$root$at"
    tar -C "$checkout" --exclude-vcs --exclude='./build*' --exclude-vcs-ignores -cf - . | tar -C "$root$at" -xf -
    chroot "$root" chown -R "$1:$1" "$at"
}

# Inside the namespaces: a machine RELEASE-USER. No variable of this machine is known there, not even LANG.
machine()
{
    case $who in symbolic | crossed) who=root ;; esac
    [ -d "$cache/base-$release" ] || make_base
    make_system
    home=$(awk -F: -v who="$who" '$1 == who { print $6 }' "$root/etc/passwd")
    case $who in
    root) at=$home/parfocal tmp=/tmp ;;
    *) at="$home/my project" tmp="$home/my tmp" ;;
    esac
    copy_checkout "$who"
    if [ "$who" = user ]; then
        mkdir "$root$tmp"
        chroot "$root" chown user:user "$tmp"
        chroot "$root" sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends sudo' \
            >"$cache/log" 2>&1 || { tail -n 20 "$cache/log"; die "sudo cannot be installed"; }
        echo 'user ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/user"
    fi
    env -i HOME="$home" USER="$who" LOGNAME="$who" TMPDIR="$tmp" TERM=dumb \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        chroot --userspec="$who:$who" --groups="$who" "$root" sh -c 'cd "$1" && exec tests/install/fresh_steps.sh "$2"' sh "$at" "$1"
}

# A new process of this script in new namespaces. It dies with this one, and with it all that runs there and all mounts.
run_machine()
{
    setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
        "$0" inside "$1" "$results" </dev/null &
    child=$!
    status=0
    wait $child || status=$?
    child=
    [ "$status" -eq 0 ] || echo "FAIL $1: the machine could not be made" | tee -a "$results"
}

# What a killed run has left is removed by the next one.
clean()
{
    for attempt in 1 2 3 4 5; do
        rm -rf --one-file-system "$root" "$cache/base.new" && return
        sleep "$attempt" # the kernel still ends what was killed
    done
}

stop()
{
    [ -z "$child" ] || kill -KILL "$child" 2>/dev/null || :
    wait
    clean
}

case ${1:-} in
inside)
    name "$2"
    results=$3
    { (machine "$2") || echo "FAIL $2: the machine could not be made, or its steps were interrupted"; } 2>&1 | tee -a "$results"
    exit 0
    ;;
one)
    name "$2"
    results=$3 child=
    mkdir -p "$cache/archives/partial"
    exec 9>"$cache/lock"
    flock 9 # the machines of one release share a folder
    trap stop EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    clean
    run_machine "$2"
    exit
    ;;
esac

[ "$(id -u)" -eq 0 ] || skip "only root can make a machine"
command -v debootstrap >/dev/null || skip "debootstrap is missing (apt-get install debootstrap)"
unshare --mount --pid --fork true 2>/dev/null || skip "this machine has no namespaces for mounts and processes"
name bookworm-root
mkdir -p "$cache"
[ -n "$(mirrors)" ] || apt-get -q update >/dev/null
[ -n "$(mirrors)" ] || skip "apt knows no mirror of Debian here"
results=$(mktemp) children=
trap 'rm -f "$results"' EXIT
# shellcheck disable=SC2086
trap 'kill $children; wait; exit 143' INT TERM HUP
[ $# -gt 0 ] || set -- bookworm-user trixie-root
for name; do # Much of the time is a download or a package manager's, which takes one core.
    "$0" one "$name" "$results" &
    children="$children $!"
done
for child in $children; do # One that has ended before it could say so has failed.
    wait "$child" || echo "FAIL a machine: status $?" | tee -a "$results"
done
passed=$(grep -c '^ok ' "$results") || :
failed=$(grep -c '^FAIL ' "$results") || :
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
exit
}
