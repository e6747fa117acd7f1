# SPDX-License-Identifier: BSD-3-Clause
# What is said at the end of a run, and its exit status: schedules, reports on a full disk, deadlocks, livelocks, costs.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/ends COSTS=$BATS_FILE_TMPDIR/costs
    "$PF_BIN/pfcc" -g -o "$APP" "$BATS_TEST_DIRNAME/ends.c"
    "$PF_BIN/pfcc" -g -o "$COSTS" "$BATS_TEST_DIRNAME/costs.c"
}

@test "items of the schedule that never happen are reported, the others are not" {
    run pfrun -np 2 -schedule 'solve=smpi,nosuch=analytic,@coll:2=smpi,@coll:9=analytic,@time:1e6=analytic,every:1000=smpi|analytic' "$APP" phases
    echo "$output"
    [ "$status" -eq 0 ]
    grep "^parfocal: warning: schedule item 'nosuch=analytic' never happened: the program's phases: solve$" <<<"$output"
    grep "^parfocal: warning: schedule item '@coll:9=analytic' never happened: no rank made more than 3 collectives on" <<<"$output"
    grep "^parfocal: warning: schedule item '@time:1000000=analytic' never happened: .* the run ended at" <<<"$output"
    grep "^parfocal: warning: schedule item 'every:1000=analytic' never happened: no rank made more than 4 comm" <<<"$output"
    [ "$(grep -c warning <<<"$output")" -eq 4 ]
}

@test "a report that cannot be written: exit status 1" {
    for file in /dev/full nosuch/x; do
        PARFOCAL_SUMMARY=$file run pfrun -np 2 "$APP" phases
        echo "$output"
        [ "$status" -eq 1 ]
        [ "$(grep -c "error: cannot write the summary '$file'" <<<"$output")" -eq 1 ]
    done
    [ -c /dev/full ]
}

@test "a trace that cannot be written: exit status 1" {
    ln -s /dev/full full
    for trace in csv smpi; do
        run pfrun -np 2 -trace "$trace:full" "$APP" phases
        echo "$output"
        [ "$status" -eq 1 ]
        grep "parfocal: error: .*trace.*full" <<<"$output"
    done
}

@test "traces of SMPI that are whole: exit status 0, as long as SimGrid has written them" {
    run pfrun -np 2 -trace ti:run.ti "$APP" phases
    echo "$output"
    [ "$status" -eq 0 ]
    grep -q init run.ti_files/*
    [ "$(tail -c 1 run.ti | od -An -c | tr -d ' ')" = '\n' ]
}

@test "one report of a deadlock" {
    for model in smpi portals analytic; do
        run timeout 60 "$PF_BIN/pfrun" -np 2 -model $model "$APP" deadlock
        echo "$output"
        [ "$status" -eq 1 ]
        [ "$(grep -ci deadlock <<<"$output")" -eq 1 ]
        [ "$(grep -c 'is blocked in MPI_Recv' <<<"$output")" -eq 2 ]
    done
}

@test "the report of a deadlock lists what is still waited for" {
    for model in smpi portals analytic; do
        run pfrun -np 2 -model $model "$APP" partly
        echo "$output"
        [ "$status" -eq 1 ]
        [ "$(grep -c 'rank 0 waits for' <<<"$output")" -eq 1 ]
        grep -E "^parfocal:   rank 0 waits for MPI_Issend \(peer 1, tag 5\), model $model, started at ends.c:[0-9]+ " <<<"$output"
    done
}

@test "a rank that is lost gives its exit status, never 0" {
    for model in smpi portals analytic; do
        run pfrun -np 2 -model $model "$APP" lost 3
        [ "$status" -eq 3 ]
        run pfrun -np 3 -model $model "$APP" lost 3 barrier # in portals its message cannot be delivered: an error of MPI's
        echo "$output"
        [ "$status" -eq 3 ]
        run pfrun -np 2 -model $model "$APP" lost 256
        echo "$output"
        [ "$status" -eq 1 ]
    done
}

@test "a message to a rank that has ended: one line in smpi, nothing in the others, as under mpirun" {
    run pfrun -np 2 -model smpi "$APP" late
    echo "$output"
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "parfocal: error: rank 0 sends a message to rank 1, which has called MPI_Finalize and ended" ]
    [ "$(grep -ci backtrace <<<"$output")" -eq 0 ]
    for model in portals analytic; do
        run pfrun -np 2 -model $model "$APP" late
        echo "$output"
        [ "$status" -eq 0 ]
    done
}

@test "of many ranks that end with an error the first ones are named" {
    for model in smpi portals; do
        run pfrun -np 64 -model $model "$APP" left
        echo "$output"
        [ "$status" -eq 3 ]
        [ "$(grep -c "ended with status 3 and without MPI_Finalize; its last call was MPI_Comm_rank" <<<"$output")" -eq 4 ]
        grep "warning: more ranks have ended so, which are not listed" <<<"$output"
        [ "$(wc -l <<<"$output")" -le 12 ]
        run pfrun -np 64 -model $model "$APP" failed
        echo "$output"
        [ "$status" -eq 3 ]
        [ "$(wc -l <<<"$output")" -le 5 ]
    done
}

@test "a livelock names model and source line of all ranks" {
    for call in Win_test Request_get_status; do
        for model in smpi portals analytic; do
            PARFOCAL_LIVELOCK_POLLS=20000 run pfrun -np 2 -model $model "$APP" $call
            echo "$output"
            [ "$status" -eq 1 ]
            [ "$(grep -c "is blocked in MPI_$call, model $model, at .*ends.c:[0-9]" <<<"$output")" -eq 2 ]
        done
    done
}

@test "a probe that waits for ever is a deadlock, in model smpi as well" {
    for model in smpi portals analytic ucx; do
        for call in Probe Mprobe; do
            run pfrun -np 2 -model $model "$APP" $call
            echo "$output"
            [ "$status" -eq 1 ]
            [[ "$output" == *"error: deadlock"*"rank 0 is blocked in MPI_$call "*", model $model, at "*"ends.c:"* ]]
        done
    done
}

@test "the rank pays what Open MPI's messages cost, and only that" {
    run pfrun -np 2 -model portals "$COSTS" 1e-3
    [ "$status" -eq 0 ]
    [ "$(grep -c ' 0 0$' <<<"$output")" -eq 10 ]
    PARFOCAL_OPENMPI_MESSAGE_COST=1e-3 run pfrun -np 2 --cfg=smpi/host-speed:1Gf -model portals "$COSTS" 1e-3 compute
    echo "$output"
    [ "$status" -eq 0 ]
    diff - <(printf '%s\n' "$output") <<'END'
send 1 0
recv 0 1
isend 1 0
irecv 0 1
wait 0 0
sendrecv 2 2
replace 2 2
bsend 1 0
mrecv 0 1
start 1 1
beside a computation 1
END
    PARFOCAL_OPENMPI_MESSAGE_COST=1e-3 run pfrun -np 2 -model smpi "$COSTS" 1e-3
    [ "$(grep -c ' 0 0$' <<<"$output")" -eq 10 ]
}

@test "shadows of all kinds are counted and timed, and take no simulated time" {
    for settings in --cfg=smpi/simulate-computation:no --cfg=smpi/host-speed:1Gf; do
        PARFOCAL_SUMMARY=summary.json run pfrun -np 2 $settings -schedule shadows=portals "$APP" shadows
        echo "$output"
        [ "$status" -eq 0 ]
        python3 - <<'END'
import json
rows = {(row["phase"], row["model"]): row for row in json.load(open("summary.json"))["phases"]}
first, then = rows["start", "smpi"], rows["shadows", "portals"]
assert first["shadows"] == 0 and first["shadow_wall_clock_s"] == 0, first
assert then["shadows"] == 2 * 3, then  # of each rank a communicator, a datatype and an operation
assert then["shadow_wall_clock_s"] > 0 and then["shadow_simulated_s"] == 0, then
END
    done
}

@test "ranks go to the hosts of built-in platforms in the order of their numbers" {
    run timeout 60 "$PF_BIN/pfrun" -np 12 -platform star:12 -map "$APP" phases
    echo "$output"
    for rank in 0 1 2 11; do
        grep -F "[rank $rank] -> node-10$(printf %02d $rank)" <<<"$output"
    done
}

@test "data move in analytic unless they are not wanted" {
    run pfrun -np 2 -model analytic "$APP" data
    [ "$output" = "received 7" ]
    PARFOCAL_ANALYTIC_DATA=no run pfrun -np 2 -model analytic "$APP" data
    echo "$output"
    [ "$output" = "received 0" ]
}

@test "SMPI's ended messages are forgotten or not, at the same dates" {
    run pfrun -np 2 --cfg=smpi/simulate-computation:no "$APP" tests
    local with=$output
    PARFOCAL_SMPI_FORGET=no run pfrun -np 2 --cfg=smpi/simulate-computation:no "$APP" tests
    echo "$output"
    [ "$status" -eq 0 ]
    grep "^ended at [0-9]" <<<"$output"
    [ "$output" = "$with" ]
}

@test "copies of Open MPI are kept when they are wanted" {
    mkdir clones
    PARFOCAL_CLONE_DIR=$PWD/clones PARFOCAL_OPENMPI_LOADING=clones run pfrun -np 2 -model portals "$APP" phases
    [ "$status" -eq 0 ]
    [ -z "$(find clones -name '*.so*')" ]
    PARFOCAL_CLONE_DIR=$PWD/clones PARFOCAL_OPENMPI_KEEP_CLONES=yes run pfrun -np 2 -model portals "$APP" phases
    echo "$output"
    [ "$(find clones -type f | wc -l)" -gt 2 ]
}

@test "a deadlock of messages that no rank has received names the limit that they have reached" {
    local growth=$BATS_TEST_DIRNAME/../../bench/growth.c
    "$PF_BIN/pfcc" -w -I"${growth%/*}" -o growth "$growth"
    PARFOCAL_PTL_MAX_UNEXPECTED=100 run pfrun -np 2 -model portals ./growth unexpected 400
    echo "$output"
    [ "$status" -eq 1 ]
    grep "the NIC of rank [01] was full: it keeps 100 messages .*PARFOCAL_PTL_MAX_UNEXPECTED" <<<"$output"
    export PARFOCAL_OPENMPI_SHORT_RECV_NUM=2 PARFOCAL_OPENMPI_SHORT_RECV_SIZE=4096
    run pfrun -np 2 -model portals ./growth unexpected 10000
    echo "$output"
    [ "$status" -eq 1 ]
    grep "the buffers of rank [01] were full: .* 2 of 4096 B .*PARFOCAL_OPENMPI_SHORT_RECV_NUM" <<<"$output"
}

@test "what Fortran has printed is in the file, and MPI_Abort at its line, however another rank ends the run" {
    [ -x "$PF_BIN/pff90" ] || skip "there is no pff90"
    cat >ends.f90 <<'END'
program ends
  use mpi
  implicit none
  character(len=8) :: how
  integer :: ierror, rank
  integer, pointer :: nowhere
  call get_command_argument(1, how)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  print '(a,i0)', 'rank ', rank
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 1 .and. how == 'abort') call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
  nullify(nowhere)
  if (rank == 1 .and. how == 'crash') nowhere = 1
  if (rank == 1) call MPI_Recv(ierror, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Finalize(ierror)
end program
END
    "$PF_BIN/pff90" -g -o ends ends.f90
    for how in abort:3 crash:139 wait:1; do
        status=0
        pfrun -np 2 -quiet ./ends "${how%:*}" >"$how.out" 2>"$how.err" || status=$?
        [ "$status" -eq "${how#*:}" ]
        [ "$(sort "$how.out")" = $'rank 0\nrank 1' ]
    done
    grep "rank 1 called MPI_Abort with code 3 at .*ends.f90:12 (MAIN__)" abort:3.err
}

@test "a deadlock names a rank that has ended without MPI_Init" {
    printf '#include <mpi.h>\n#include <stdlib.h>\nint main(void)\n{\n    if (atoi(getenv("OMPI_COMM_WORLD_RANK")) == 1)\n        return 3;\n    MPI_Init(0, 0);\n    return MPI_Finalize();\n}\n' >early.c
    "$PF_BIN/pfcc" early.c -o early
    for model in analytic smpi; do
        run timeout 60 "$PF_BIN/pfrun" -np 3 -model $model ./early
        [ "$status" -ne 0 ]
        [[ "$output" == *"rank 1 has ended with status 3 and without MPI_Init"* ]]
    done
}
