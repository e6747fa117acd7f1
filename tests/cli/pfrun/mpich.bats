#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Model mpich: stock MPICH over the simulated UCX, alone and with others; what it does not have, and where there is none.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/mpich
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/mpich.c"
}

only_mpich() {
    "$PF_BIN/pfinfo" | grep -q "^  mpich  *available" || skip "MPICH is not installed"
}

# passes RANKS FROM TO: the program switches between these models, and takes the same simulated time again
passes() {
    for time in first second; do
        "$PF_BIN/pfrun" -np "$1" -model "$2" -quiet --cfg=smpi/simulate-computation:no "$APP" "$2" "$3" >"$time" || return 1
    done
    grep PASS first
    cmp first second
}

@test "messages, types, collectives, communicators and windows in MPICH" {
    only_mpich
    for ranks in 1 2 3 5 8; do
        passes "$ranks" mpich mpich
    done
}

@test "memory of a rank's own that has the size of the table of all addresses" {
    only_mpich
    passes 32 mpich mpich
}

@test "switches between MPICH and other models" {
    only_mpich
    for model in smpi analytic portals ucx; do
        passes 4 mpich "$model"
        passes 5 "$model" mpich
    done
}

@test "ranks of one host use the NIC, too" {
    only_mpich
    printf 'node-0\nnode-0\nnode-0\nnode-0\n' >hosts
    "$PF_BIN/pfrun" -np 4 -hostfile hosts -model mpich -quiet -report report --cfg=smpi/simulate-computation:no "$APP" mpich mpich
    python3 -c 'import json; u = json.load(open("report/summary.json"))["ucx"]; assert u["ranks"] == 4 and u["short"] > 0 and u["rndv"] == 0 and u["zcopy"] > 0, u'
}

@test "NICs put and get without the target's processor, which a sum needs" {
    only_mpich
    for network in ideal flow packet; do
        "$PF_BIN/pfrun" -np 2 -model mpich:$network -quiet --cfg=smpi/simulate-computation:no "$APP" "" "" accesses >times
        awk '$1 == "put" || $1 == "get" {n += $2 > 1e-6 && $2 < 4e-6} $1 == "sum" {n += $2 > 0.99 && $2 < 1.01} END {exit n != 3}' times
    done
}

@test "without MPICH the model is missing, and its package is named" {
    export PARFOCAL_MPICH_LIBDIR=$PWD
    "$PF_BIN/pfinfo" | grep -A 1 "^  mpich  *missing" | grep "install the Debian package libmpich12"
    refuses "install the Debian package libmpich12" -np 2 -model mpich "$APP" mpich mpich
    cp "$(ldd "$APP" | awk '/libc\.so/ {print $3}')" libmpich.so.12
    refuses "is not MPICH over UCX" -np 2 -model mpich "$APP" mpich mpich
    echo 'int PMPI_Abi_get_version;' | cc -shared -x c - -o libmpich.so.12
    refuses "is of MPICH 5, but 4.0 to 4.3 is needed" -np 2 -model mpich "$APP" mpich mpich
    "$PF_BIN/pfinfo" --check | grep "^none *model mpich .*is of MPICH 5" # nothing of an installation to mend
    "$PF_BIN/pfrun" -np 2 -model smpi -quiet "$APP" smpi smpi
}

# Of 8 members, and of 6, which are no power of two.
@test "analytic with MPICH's protocols is as long in the calls that make communicators and windows" {
    only_mpich
    "$PF_BIN/pfcc" -O1 -w -o makers "$BATS_TEST_DIRNAME/makers.c"
    makers() { pfrun -np "$1" --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 -model "$2" ./makers; }
    for ranks in 8 6; do
        makers $ranks mpich >mpich.txt
        PARFOCAL_ANALYTIC_STACK=mpich makers $ranks analytic >analytic.txt
        paste -d ' ' mpich.txt analytic.txt
        paste -d ' ' mpich.txt analytic.txt | awk -v ranks=$ranks '{ error = $6 / $3 - 1
            if (error ^ 2 > 0.02 ^ 2) wrong = 1; n++ } END { exit wrong || n != 10 * ranks }'
    done
}
