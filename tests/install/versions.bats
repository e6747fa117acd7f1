# SPDX-License-Identifier: BSD-3-Clause
# Versions of SimGrid and Open MPI that Parfocal does not know: `meson setup` says so in one line, before it builds anything. Without
# SimGrid there is nothing to build; without Open MPI there are the models that do not need it.

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir pc
    export PKG_CONFIG_PATH=$PWD/pc
}

# package NAME VERSION: what pkg-config finds before the system's own
package() {
    printf 'Name: %s\nDescription: none\nVersion: %s\nLibs: -lm\nlibdir=/usr/lib\nincludedir=/usr/include\n' "$1" "$2" >"pc/$1.pc"
}

# says STATUS KIND TEXT: how `meson setup` ends, and the one line of that kind
says() {
    run timeout 120 meson setup build "$BATS_TEST_DIRNAME/../.."
    echo "$output"
    [ "$status" -eq "$1" ]
    [ "$(grep -c "$2" <<<"$output")" -eq 1 ]
    grep -F "$2: $3" <<<"$output"
}

refused() {
    says 1 "ERROR" "Problem encountered: $1, but 3.32 or newer is needed (package libsimgrid-dev)"
}

warned() {
    says 0 "WARNING" "the models portals, portals-ideal, packet and external will not be available: $1 when Parfocal was built, but 4.1 (from 4.1.4) or 5.0 (from 5.0.5) is needed"
}

@test "SimGrid of an older version, and one in which nothing is found" {
    package simgrid 3.31.1
    refused "SimGrid 3.31.1 is installed"
    rm -r build
    package simgrid 4.9
    says 1 "ERROR" "Problem encountered: SimGrid 4.9 is installed, but Parfocal does not find in it what it needs (lowlevel/simgrid/probe.cpp): what looks does not compile with its headers"
}

@test "no SimGrid" {
    export PKG_CONFIG_LIBDIR=$PWD/pc
    refused "SimGrid is not installed"
}

@test "Open MPI of another version, or none" {
    package ompi-c 6.0.0
    warned "Open MPI 6.0.0 was installed"
    rm -r build
    package ompi-c 4.1.3
    warned "Open MPI 4.1.3 was installed"
    rm -r build pc/ompi-c.pc
    mkdir others
    IFS=: read -ra folders <<<"$(pkg-config --variable=pc_path pkg-config)"
    find "${folders[@]}" -name '*.pc' ! -name 'ompi*' -exec cp -t others {} + 2>/dev/null || true
    export PKG_CONFIG_LIBDIR=$PWD/pc:$PWD/others
    warned "Open MPI was not installed"
}
