# SPDX-License-Identifier: BSD-3-Clause
# Threads of OpenMP inside ranks (docs/faq.md).
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/threads
    "$PF_BIN/pfcc" -O1 -fopenmp -o "$APP" "$BATS_TEST_DIRNAME/threads.c"
    unset OMP_WAIT_POLICY
}

@test "threads wait passively, and only the rank's own takes simulated time" {
    pfrun -np 2 --cfg=smpi/host-speed:1Gf "$APP" | sort >times
    cat times
    [ "$(cut -d ' ' -f 1-3 times)" = "rank 0 passive
rank 1 passive" ]
    awk '!($4 > 0 && $5 >= 0 && $5 < $4 / 20) { exit 1 }' times # that it differs by a factor of 200 leaves room
    for way in portals analytic; do
        pfrun -np 2 -model $way --cfg=smpi/host-speed:1Gf "$APP" | awk '!($3 == "passive" && $4 > 0 && $5 < $4 / 20) { exit 1 }'
    done
}

@test "a policy of the user's stays" {
    OMP_WAIT_POLICY=ACTIVE pfrun -np 1 --cfg=smpi/simulate-computation:no "$APP" | grep "rank 0 ACTIVE"
}
