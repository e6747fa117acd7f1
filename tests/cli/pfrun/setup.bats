# SPDX-License-Identifier: BSD-3-Clause
# The set-up script on machines where a package is missing. Tools of the system are replaced by small scripts in PATH.

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset BUILD_DIR
    mkdir scripts tools
    cp "$BATS_TEST_DIRNAME/../../../scripts/setup.sh" scripts/
    cp "$BATS_TEST_DIRNAME/../../../scripts/check-commits.py" scripts/
    echo 'some-library build a reason' >scripts/packages.txt
    echo 'some-debugger develop a reason' >>scripts/packages.txt
    fake dpkg-query 'case $* in *some-*) [ -e installed ] && echo installed || exit 1 ;; esac'
    fake id 'echo 1000'
    fake sudo 'exit 1'
    fake meson 'echo "meson $*" >>log; mkdir -p build; touch build/build.ninja'
    fake ninja 'echo ninja >>log'
    fake apt-get 'echo "apt-get $*" >>log; case $* in *install*) touch installed ;; esac'
    PATH=$PWD/tools:$PATH
}

fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"tools/$1"
    chmod +x "tools/$1"
}

@test "user without root and sudo: says which packages are missing, and how to get them" {
    run scripts/setup.sh </dev/null
    echo "$output"
    [ "$status" -ne 0 ]
    grep "missing packages: some-library" <<<"$output"
    grep "apt-get install some-library" <<<"$output"
    [ ! -e log ]
}

@test "a system that was not tried: its own installer and names, and where it works anyway" {
    fake id 'echo 0'
    fake rpm 'exit 1'
    fake pacman '[ "$1" != -Q ] || exit 1; echo "pacman $*" >>log'
    fake dnf 'echo "dnf $*" >>log'
    printf '# dnf pacman zypper\nsome-library some-devel somelib -\nother-library - other -\n' >scripts/packages-elsewhere.txt
    echo 'other-library build' >>scripts/packages.txt
    echo 'PRETTY_NAME="Fedora Linux 41"' >os-release
    without_apt=$(mktemp -d "$BATS_TEST_TMPDIR/XXXXXX")
    for tool in sh awk sed sort cat mkdir dirname basename tr tail env python3 pwd grep touch; do
        ln -s "$(command -v $tool)" "$without_apt/"
    done
    rm tools/apt-get
    for manager in dnf pacman; do
        rm -rf log build
        PATH=$PWD/tools:$without_apt OS_RELEASE=$PWD/os-release run scripts/setup.sh </dev/null
        echo "$output"
        [ "$status" -eq 0 ]
        grep -F "Fedora Linux 41 was not tried; packages are $manager's. Anywhere: podman build" <<<"$output"
        cat log
        case $manager in
        dnf) grep -x "dnf install -y --setopt=install_weak_deps=False some-devel" log ;;
        pacman) grep -x "pacman -S --needed --noconfirm other somelib" log ;;
        esac
        rm tools/dnf || :
    done
}

@test "a package that only one release has" {
    fake id 'echo 0'
    printf 'some-older/bookworm build\nsome-newer/trixie build\n' >>scripts/packages.txt
    for release in bookworm trixie; do
        rm -rf log build installed
        echo "VERSION_CODENAME=$release" >os-release
        OS_RELEASE=$PWD/os-release run scripts/setup.sh </dev/null
        [ "$status" -eq 0 ]
        grep -o 'some-[a-z]*' log >"$release"
    done
    [ "$(tr '\n' ' ' <bookworm)" = "some-library some-older " ]
    [ "$(tr '\n' ' ' <trixie)" = "some-library some-newer " ]
}

@test "packages that were not there before: the build is configured again" {
    fake id 'echo 0'
    mkdir build
    touch build/build.ninja
    run scripts/setup.sh </dev/null
    [ "$status" -eq 0 ]
    grep "^meson setup --reconfigure build" log
}

@test "user with sudo: installs through it" {
    fake sudo '[ "$1" = -n ] && shift; [ "$1" = true ] || echo sudo >>log; exec "$@"'
    run scripts/setup.sh </dev/null
    echo "$output"
    [ "$status" -eq 0 ]
    grep "^sudo" log
    grep "apt-get .*install .*some-library" log
    [ "$(grep -c -E "some-debugger" log)" -eq 0 ]
    grep "^meson" log
}

@test "root: installs directly" {
    fake id 'echo 0'
    run scripts/setup.sh build develop </dev/null
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c -E "^sudo" log)" -eq 0 ]
    grep "apt-get .*install .*some-library some-debugger" log
}

@test "nothing missing: no installation, no new configuration" {
    touch installed
    mkdir build
    touch build/build.ninja
    run scripts/setup.sh </dev/null
    [ "$status" -eq 0 ]
    [ "$(grep -c -E "apt-get|meson" log)" -eq 0 ]
}

@test "a package that cannot be installed: the end of the log, the name, an exit status" {
    fake id 'echo 0'
    fake apt-get 'echo "E: Unable to locate package"; exit 100'
    run scripts/setup.sh </dev/null
    echo "$output"
    [ "$status" -ne 0 ]
    grep "Unable to locate" <<<"$output"
    grep "could not be installed: some-library" <<<"$output"
}

@test "a build that fails: the end of the log, an exit status" {
    touch installed
    fake ninja 'echo "x.c: broken"; exit 1'
    run scripts/setup.sh </dev/null
    [ "$status" -ne 0 ]
    grep "x.c: broken" <<<"$output"
    grep "the build failed" <<<"$output"
}

@test "a library of one's own: taken from its prefix, or refused by name" {
    rm tools/meson # the real one
    source="$BATS_TEST_DIRNAME/../../.."
    run meson setup one "$source" -Dtests=false -Dsimgrid="$PWD/nowhere"
    echo "$output"
    [ "$status" -ne 0 ]
    grep -F -- "-Dsimgrid=$PWD/nowhere: there is no lib/pkgconfig/simgrid.pc" <<<"$output"
    mkdir -p 'a prefix/lib/pkgconfig'
    sed 's/^Version: .*/Version: 3.31/' "$(pkg-config --variable=pcfiledir simgrid)/simgrid.pc" >'a prefix/lib/pkgconfig/simgrid.pc'
    run meson setup two "$source" -Dtests=false -Dsimgrid="$PWD/a prefix"
    echo "$output"
    [ "$status" -ne 0 ]
    grep -F "SimGrid 3.31 is installed, but 3.32 or newer is needed" <<<"$output"
}
