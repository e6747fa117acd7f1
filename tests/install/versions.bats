# SPDX-License-Identifier: BSD-3-Clause
# Versions of SimGrid and Open MPI that Parfocal does not know: `meson setup` says so in one line, before it builds anything.

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir pc
    export PKG_CONFIG_PATH=$PWD/pc
}

# package NAME VERSION: what pkg-config finds before the system's own
package() {
    printf 'Name: %s\nDescription: none\nVersion: %s\nLibs: -lm\nlibdir=/usr/lib\nincludedir=/usr/include\n' "$1" "$2" >"pc/$1.pc"
}

# refused TEXT: the last word of meson is this one line
refused() {
    run timeout 120 meson setup build "$BATS_TEST_DIRNAME/../.."
    echo "$output"
    [ "$status" -ne 0 ]
    [ "$(grep -c ERROR <<<"$output")" -eq 1 ]
    grep -F "ERROR: Problem encountered: $1" <<<"$output"
}

@test "SimGrid of another version, newer or older" {
    package simgrid 4.0
    refused "SimGrid 4.0 is installed, but 3.32 is needed (package libsimgrid-dev)"
    rm -r build
    package simgrid 3.31.1
    refused "SimGrid 3.31.1 is installed, but 3.32 is needed (package libsimgrid-dev)"
}

@test "no SimGrid" {
    export PKG_CONFIG_LIBDIR=$PWD/pc
    refused "SimGrid is not installed, but 3.32 is needed (package libsimgrid-dev)"
}

@test "Open MPI of another version, or none" {
    package ompi-c 5.0.7
    refused "Open MPI 5.0.7 is installed, but 4.1.4 is needed (package libopenmpi-dev)"
    rm -r build pc/ompi-c.pc
    cp "$(pkg-config --variable=pcfiledir simgrid)/simgrid.pc" pc/
    export PKG_CONFIG_LIBDIR=$PWD/pc
    refused "Open MPI is not installed, but 4.1.4 is needed (package libopenmpi-dev)"
}
