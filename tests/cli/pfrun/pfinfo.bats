# SPDX-License-Identifier: BSD-3-Clause
# What pfinfo prints.

pfinfo() { timeout 300 "$PF_BIN/pfinfo" "$@"; }

@test "version and models" {
    run pfinfo
    echo "$output"
    [ "$status" -eq 0 ]
    grep "^Parfocal [0-9]" <<<"$output"
    grep "smpi  *available" <<<"$output"
    grep "portals  *available" <<<"$output"
    grep "packet  *available" <<<"$output"
}

@test "-c lists every entry of the configuration table" {
    run pfinfo -c
    [ "$status" -eq 0 ]
    entries=$(grep -c '^PF_CFG(' "$BATS_TEST_DIRNAME/../../../base/config.def")
    [ "$entries" -gt 10 ]
    [ "$(grep -c '^PARFOCAL_' <<<"$output")" -eq "$entries" ]
}

@test "-c shows the value in force" {
    PARFOCAL_PLATFORM_CORES=7 run pfinfo -c
    grep '^PARFOCAL_PLATFORM_CORES=7$' <<<"$output"
}

@test "a misspelt variable: a warning with the nearest name" {
    PARFOCAL_SCHEDUL=x run pfinfo
    echo "$output"
    [ "$status" -eq 0 ]
    grep "PARFOCAL_SCHEDUL; maybe PARFOCAL_SCHEDULE?" <<<"$output"
}

@test "--coverage: one line per function of the table" {
    run pfinfo --coverage
    [ "$status" -eq 0 ]
    grep -E '^MPI_Send +p2p +SMPI +Open MPI +[a-z]' <<<"$output"
    functions=$(grep -c '^MPI_' "$BATS_TEST_DIRNAME/../../../middleware/surface/mpi.tsv")
    [ "$(grep -c '^MPI_' <<<"$output")" -eq "$functions" ]
}

@test "--platform: list, XML, unknown name, bad size" {
    run pfinfo --platform
    grep "fattree" <<<"$output"
    run pfinfo --platform fattree:100
    [ "$status" -eq 0 ]
    grep 'topo_parameters="2;10,10;1,10;1,1"' <<<"$output"
    run pfinfo --platform nosuch
    [ "$status" -eq 1 ]
    grep "no built-in platform 'nosuch'" <<<"$output"
    run pfinfo --platform torus:0
    [ "$status" -eq 1 ]
    grep "number of hosts" <<<"$output"
}

@test "--check passes here, and runs a program in every model" {
    run pfinfo --check
    echo "$output"
    [ "$status" -eq 0 ]
    grep "^ok .*run in smpi" <<<"$output"
    grep "^ok .*run in portals" <<<"$output"
    [ "$(grep -c "^FAIL" <<<"$output")" -eq 0 ]
}

@test "--check finds a low limit of open files" {
    ulimit -n 100
    run pfinfo --check
    echo "$output"
    [ "$status" -eq 1 ]
    grep "^FAIL  open files .*limit 100" <<<"$output"
}

@test "unexpected argument" {
    run pfinfo nonsense
    [ "$status" -ne 0 ]
}

@test "-h is --help, for each tool" {
    for tool in pfinfo pfrun pfcurve pftune pfcc pfcxx; do
        run timeout 60 "$PF_BIN/$tool" -h
        echo "$output"
        [ "$status" -eq 0 ]
        grep -i "^usage: $tool" <<<"$output"
    done
    [ "$(timeout 60 "$PF_BIN/pfinfo" -h)" = "$(timeout 60 "$PF_BIN/pfinfo" --help)" ]
}
