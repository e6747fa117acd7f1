#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# SIGALRM in simulated time.
load common

setup_file() {
    export APP=$BATS_FILE_TMPDIR/alarms
    "$PF_BIN/pfcc" -g -o "$APP" "$BATS_TEST_DIRNAME/alarms.c"
}

# alarms WHAT: in the model
alarms() {
    pfrun -np 2 -quiet -model "$model" -platform star:2 --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:1e-6 "$APP" "$@"
}

@test "sleeps end with the signal" {
    for model in smpi analytic portals packet; do
        diff - <(alarms sleep) <<'END'
sleep: 3.000 s, 1 rings, 7 left
nanosleep: 4.000 s, 2 rings, 1000 left
changed: 5.000 s, 2 rings, 4 left
pause: 12.000 s, 3 rings, 0 left
END
        diff - <(alarms periodic) <<'END'
armed: 0.100 s, 0 rings, 400 left
periodic: 1.250 s, 4 rings, 0 left
ignored: 3.250 s, 4 rings, 0 left
END
        diff - <(alarms early) <<'END'
early: 1.000 s, 1 rings, 2 left
END
    done
}

@test "a handler is not called inside itself, and waits end with a signal that was blocked" {
    for model in smpi portals; do
        # The first ring ends the sleep; the second one has come meanwhile, and rings when say() reads the clock.
        diff - <(alarms slow) <<'END'
slow: 0.400 s, 2 rings, 0 left
END
        diff - <(alarms jumps) <<'END'
jumps: 1.500 s, 0 rings, 3 left
END
        diff - <(alarms blocked) <<'END'
blocked: 2.000 s, 0 rings, 0 left
suspended: 2.000 s, 1 rings, 0 left
suspended: 3.000 s, 2 rings, 0 left
END
    done
}

@test "calls of MPI and clocks run the handler when the date has passed" {
    for model in smpi analytic portals packet; do
        # A probe that finds nothing takes up to 15 ms after a while (SMPI).
        diff - <(alarms mpi | sed 's/\.0[0-9]* s/ s/') <<'END'
received: 2 s, 1 rings, 0 left
polled: 3 s, 2 rings, 0 left
read the clock: 4 s, 3 rings, 0 left
jumped: 5 s, 3 rings, 0 left
END
    done
}

@test "no handler: the job ends as by the signal" {
    model=portals
    run alarms default
    [ "$status" -eq 142 ]
    grep "rank 1: Alarm clock (SIGALRM) at simulated time 1" <<<"$output"
}

@test "a program that has blocked the signal takes it" {
    for model in smpi portals; do
        diff - <(alarms taken) <<'END'
sigwait: 1.000 s, 0 rings, 14 left
none: 1.500 s, 0 rings, -1 left
not yet: 2.000 s, 0 rings, -1 left
sigtimedwait: 2.500 s, 0 rings, 1 left
sigwaitinfo: 3.250 s, 0 rings, 14 left
END
    done
}
