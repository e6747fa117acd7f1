#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The container's stages (packaging/container), on root file systems that mmdebstrap makes, since a test should need no registry; then an
# ordinary user compiles, runs and sweeps a program in it with bubblewrap, in a working folder of his own, which is all that can be
# written. The Debian package is built and installed on the way. Needs root, mmdebstrap and bubblewrap: without them status 77.
# Usage: container.sh. The last line is "N passed, N failed".
set -eu
{ # Read as a whole, so that the file may change while it runs.

checkout=$(realpath "$(dirname "$0")/../..")
skip() { echo "container: skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root can make root file systems of other users"
for tool in mmdebstrap bwrap; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done

place=$(mktemp -d)
log=$place/log passed=0 failed=0
leave() { rm -rf "$place"; }
trap leave EXIT
trap 'exit 143' INT TERM HUP
chmod 755 "$place"

# step WHAT COMMAND...: counts it; of a failure the end is shown. Within it set -e means nothing.
step()
{
    what=$1 start=$(date +%s)
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        passed=$((passed + 1))
        echo "ok   $what ($(($(date +%s) - start)) s)"
    else
        failed=$((failed + 1))
        echo "FAIL $what"
        tail -n 40 "$log"
        echo "$passed passed, $failed failed"
        exit 1
    fi
}

# Debian 12 as this machine's apt knows it: its sources, and its certificates for mirrors that want them.
system()
{
    apt-get indextargets --format 'deb $(SITE) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
        awk '$5 == "Debian" && $4 == "main" && index($3, "bookworm") == 1 { print $1, $2, $3, $4 }' | sort -u >"$place/sources" || return
    timeout 1800 mmdebstrap --mode=root --variant=minbase --aptopt='APT::Sandbox::User "root"' \
        --setup-hook='mkdir -p "$1/etc/ssl" && cp -rL /etc/ssl/certs "$1/etc/ssl/"' \
        --customize-hook='cp -L /etc/resolv.conf /etc/hosts "$1/etc/"' bookworm "$1" <"$place/sources"
}

# stage ROOT ARGUMENT...: packaging/container/stages.sh there
stage()
{
    root=$1
    shift
    cp "$checkout/packaging/container/stages.sh" "$root/stages.sh" || return
    apt-config dump | grep -E '^Acquire::https?::Proxy ' >"$root/etc/apt/apt.conf.d/90proxy" || :
    echo 'force-unsafe-io' >"$root/etc/dpkg/dpkg.cfg.d/90fast"
    timeout 3000 unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" /stages.sh "$@" || return
    rm -f "$root/stages.sh" "$root/etc/apt/apt.conf.d/90proxy" "$root/etc/dpkg/dpkg.cfg.d/90fast"
}

# inside COMMAND...: as an ordinary user, in the image, which cannot be written; the working folder is his
inside()
{
    timeout 1200 setpriv --reuid=65534 --regid=65534 --clear-groups bwrap --unshare-all --ro-bind "$place/image" / --proc /proc --dev /dev \
        --tmpfs /tmp --bind "$place/mine" /work --chdir /work --clearenv --setenv PATH /usr/bin:/bin --setenv HOME /work "$@"
}

sources()
{
    mkdir -p "$place/build/src/parfocal"
    git -C "$checkout" ls-files -z | (cd "$checkout" && xargs -0 tar cf - --) | tar xf - -C "$place/build/src/parfocal"
}

image_is_small() { size=$(du -smx "$place/image" | cut -f1); echo "$size MB"; [ "$size" -le 1500 ]; }

step "a minimal Debian 12" system "$place/build"
step "its copy" cp -a "$place/build" "$place/image"
step "the sources" sources
step "stage build: the Debian package" stage "$place/build" build src/parfocal
step "the package has docs and examples" sh -c "dpkg-deb -c '$place/build/parfocal.deb' >'$place/list' &&
    grep -q 'doc/parfocal/docs/tutorial' '$place/list' && grep -q 'doc/parfocal/examples/cg' '$place/list'"
mv "$place/build/parfocal.deb" "$place/image/"
rm -rf "$place/build"
step "stage run" stage "$place/image" run
step "its size" image_is_small
tail -n 1 "$log"
mkdir "$place/mine"
cp "$checkout/examples/cg/cg.c" "$place/mine"
chown -R 65534:65534 "$place/mine"
step "pfinfo --check" inside pfinfo --check
step "pfcc" inside pfcc -O2 cg.c -o cg -lm
for model in analytic smpi portals packet; do
    step "pfrun -model $model" inside pfrun -np 4 -model $model ./cg -n 8
done
step "pfcurve" inside pfcurve -np 4 --phases --max-points 1 --repeat 1 --cfg=smpi/simulate-computation:no --models analytic,portals --output curve ./cg -n 8
step "its picture" test -s "$place/mine/curve/curve.png"
echo "$passed passed, $failed failed"
exit 0
}
