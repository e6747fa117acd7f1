#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What watches the calls of a program sees those from Fortran, too, with each of its interfaces.
load common.bash

setup_file() {
    [ -x "$PF_BIN/pff90" ] || skip "there is no pff90"
    cd "$BATS_FILE_TMPDIR"
    export PROGRAMS=$PWD
    for interface in 'use mpi' 'use mpi_f08' "include 'mpif.h'"; do
        types=integer requests=integer use=$interface include=
        [[ "$interface" = use* ]] || use= include=$interface
        [ "$interface" != 'use mpi_f08' ] || types='type(MPI_Datatype)' requests='type(MPI_Request)'
        cat >ring.f90 <<END
program ring
  $use
  implicit none
  $include
  integer :: ierror, rank, ranks, received
  $types :: datatype
  $requests :: request
  character(len=8) :: how
  call get_command_argument(1, how)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  datatype = MPI_INTEGER
  if (how == 'wrong' .and. rank == 0) datatype = MPI_REAL
  call MPI_Isend(rank, 1, datatype, mod(rank + 1, ranks), 7, MPI_COMM_WORLD, request, ierror)
  call MPI_Recv(received, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, received, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0)', received
  call MPI_Finalize(ierror)
end program
END
        "$PF_BIN/pff90" -g -o "ring-${interface//[^a-z0-9]/}" ring.f90
    done
}

@test "traces and recordings of programs in Fortran" {
    for program in "$PROGRAMS"/ring-*; do
        for model in smpi portals; do
            [ "$(pfrun -np 3 -model $model -quiet -trace csv:calls.csv -trace replay:calls --cfg=smpi/simulate-computation:no -report run "$program")" = 3 ]
            for call in Init Isend Recv Wait Allreduce Finalize; do
                [ "$(grep -c ",MPI_$call," calls.csv)" -eq 3 ]
            done
            pfrun -replay calls -model $model -quiet --cfg=smpi/simulate-computation:no -report again
            python3 -c 'import json; a, b = (json.load(open(d + "/summary.json"))["simulated_s"] for d in ("run", "again")); assert a == b, (a, b)'
        done
    done
}

@test "errors of programs in Fortran are found, at their lines" {
    export PARFOCAL_CHECK=yes
    for program in "$PROGRAMS"/ring-*; do
        [ "$(pfrun -np 3 -quiet "$program")" = 3 ]
        run pfrun -np 3 -model portals -quiet "$program" wrong
        echo "$output"
        [ "$status" -eq 86 ]
        grep "check: rank 1: MPI_Recv at .*ring.f90:16 (MAIN__) receives what rank 0 has sent by MPI_Isend at .*ring.f90:15 (MAIN__)" <<<"$output"
    done
}
