# SPDX-License-Identifier: BSD-3-Clause
# The environment of a rank (docs/faq.md).
load common.bash

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    export APP=$BATS_FILE_TMPDIR/environment ENV_GIVEN=given ENV_GONE=there
    echo '#include <stdlib.h>
const char *of_library(const char *name) { return getenv(name); }' >library.c
    "$PF_BIN/pfcc" -c library.c
    "$PF_BIN/pfcc" -w -o environment "$BATS_TEST_DIRNAME/environment.c" library.o
    "$PF_BIN/pfcc" -shared -o libasks.so library.c
    "$PF_BIN/pfcc" -w -o linked "$BATS_TEST_DIRNAME/environment.c" -L. -Wl,-rpath,"$PWD" -lasks
    printf 'node-1000\nnode-1001\nnode-1000\n' >hosts
}

# The three ranks on two hosts: numbers in the world, on the host, of Slurm.
PLACES='0 3 0 2 0 0 3 0 0 2 - - -
1 3 0 1 0 1 3 1 0 1 - - -
2 3 1 2 1 2 3 2 1 2 - - -'

places() {
    pfrun -hostfile "$BATS_FILE_TMPDIR/hosts" -np 3 -quiet "$@" >out || { cat out; return 1; }
    sort out >sorted
    diff sorted - <<<"$PLACES"
}

@test "launchers' variables are those of the rank, and what a rank changes is its own" {
    for way in smpi analytic portals; do
        for loading in image copies; do
            PARFOCAL_PROGRAM_LOADING=$loading places -model $way "$APP"
        done
    done
    places "$BATS_FILE_TMPDIR/linked"
}

@test "variables of the launcher in which pfrun itself runs are replaced" {
    export OMPI_COMM_WORLD_RANK=7 PMI_SIZE=8
    places "$APP"
    export SLURM_PROCID=5 SLURM_NTASKS=1 SLURM_LOCALID=5
    PLACES='0 3 0 2 0 0 3 0 0 2 0 3 0
1 3 0 1 0 1 3 1 0 1 1 3 0
2 3 1 2 1 2 3 2 1 2 2 3 1'
    places "$APP"
}

@test "a program that does not run under pfrun has the process's environment" {
    "$PF_BIN/pfcc" -w -o direct -DWITHOUT_MPI "$BATS_TEST_DIRNAME/environment.c" \
        "$BATS_FILE_TMPDIR/library.o"
    [ "$(./direct)" = "- - - - - - - - - - - - -" ]
    [ "$(PMI_RANK=3 ./direct)" = "- - - - - 3 - - - - - - -" ]
}

@test "a library that pfcc has not linked sees the environment" {
    echo '#include <unistd.h>
        int variables(void) { int n = 0; while (environ && environ[n]) n++; return n; }' >library.c
    echo '#include <mpi.h>
        #include <stdio.h>
        int variables(void);
        int main(int argc, char **argv) { MPI_Init(&argc, &argv); printf("%d\n", variables() > 3); MPI_Finalize(); return 0; }' >program.c
    cc -shared -fPIC -D_GNU_SOURCE library.c -o libvariables.so
    "$PF_BIN/pfcc" program.c -o program -L. -lvariables -Wl,-rpath,"$PWD"
    [ "$(pfrun -np 2 ./program)" = $'1\n1' ]
}

@test "Fortran asks for the rank's" {
    [ -x "$PF_BIN/pff90" ] || skip "there is no pff90"
    printf '%s\n' 'program asks' 'character(len=8) :: rank' "call get_environment_variable('PMIX_RANK', rank)" 'print *, rank' 'end' >asks.f90
    "$PF_BIN/pff90" -o asks asks.f90
    [ "$(pfrun -np 3 -quiet ./asks | tr -d ' ' | sort | tr '\n' ' ')" = "0 1 2 " ]
}

@test "a profiler names its report after the program, whichever way it looks" {
    "$PF_BIN/pfcc" -DPROGRAM -o "$PWD/prog" "$BATS_TEST_DIRNAME/profiler.c"
    mkdir shared
    "$PF_BIN/pfcc" -shared -fPIC -o shared/libprofiler.so "$BATS_TEST_DIRNAME/profiler.c"
    sed -n '/^#ifdef PROGRAM/,/^#endif/p' "$BATS_TEST_DIRNAME/profiler.c" | sed '1i #define PROGRAM\n#include <mpi.h>\n#include <stddef.h>' >main.c
    "$PF_BIN/pfcc" -o shared/prog main.c -Lshared -lprofiler "-Wl,-rpath,$PWD/shared"
    for program in ./prog shared/prog; do
        for model in smpi portals analytic; do
            pfrun -np 2 -model $model $program
            [ "$(cat prog.*.report)" = "$(printf "prog $program $program prog prog 1 1 101\n%.0s" 1 2)" ]
            rm prog.*.report
        done
    done
    pfrun -np 2 ./prog thread
    [ "$(cat prog.*.report)" = "$(printf "prog ./prog ./prog prog prog 1 2 101\n%.0s" 1 2)" ]
}

# The simulator computes before a rank does, and a rank's number may be that of one of its parents in /proc.
@test "flags of the arithmetic are a rank's own, and its parents in /proc come to an end" {
    for compiler in "$PF_BIN/pfcc" mpicc; do
        "$compiler" -o process "$BATS_TEST_DIRNAME/process.c" -lm
        for model in smpi portals analytic; do
            [ "$(pfrun -np 3 -quiet -model $model ./process)" = "$(printf 'flags 0 invalid 0 end 1 number 1\n%.0s' 1 2 3)" ]
        done
    done
}
