#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Several programs in one MPI_COMM_WORLD: pfrun a : b, and -app.
load common

setup_file() {
    export DIR=$BATS_FILE_TMPDIR
    cd "$DIR"
    for name in a b; do
        "$PF_BIN/pfcc" -g -DNAME="\"$name\"" -o $name "$BATS_TEST_DIRNAME/programs.c"
        mpicc -w -DNAME="\"$name\"" -o $name.mpi "$BATS_TEST_DIRNAME/programs.c"
    done
    printf '%s\n' '# three programs' '-np 2 ./a one "two words"' '' "-np 3 ./b --help   # its own" '-n 1 ./a last' >apps
    cat >expected <<'END'
a: rank 0 of 6, program 0 (1) of 2 ranks, sum 58515, got 9705, arguments 'one' 'two words'
a: rank 1 of 6, program 0 (1) of 2 ranks, sum 58515, got 9700, arguments 'one' 'two words'
a: rank 5 of 6, program 2 (1) of 1 ranks, sum 58515, got 9804, arguments 'last'
b: rank 2 of 6, program 1 (1) of 3 ranks, sum 58515, got 9701, arguments '--help'
b: rank 3 of 6, program 1 (1) of 3 ranks, sum 58515, got 9802, arguments '--help'
b: rank 4 of 6, program 1 (1) of 3 ranks, sum 58515, got 9803, arguments '--help'
END
}

@test "this is what mpirun prints" {
    # Another one than Parfocal was built for may be there; that of Debian 13 ends with a segmentation fault with several programs.
    [[ $(mpirun --version) == *" 4."* ]] || skip "this mpirun is that of Open MPI 5"
    cd "$DIR"
    env -u MALLOC_PERTURB_ mpirun --allow-run-as-root --oversubscribe -np 2 ./a.mpi one "two words" : -np 3 ./b.mpi --help : \
        -n 1 ./a.mpi last 2>/dev/null | sort | diff expected -
}

# same pfrun-options...: each rank prints what it prints under mpirun
same() {
    (cd "$DIR" && pfrun --cfg=smpi/simulate-computation:no "$@") 2>err | sort >got
    diff "$DIR/expected" got || { cat err; return 1; }
}

@test "as under mpirun, in each model and across switches" {
    local programs=(-np 2 ./a one "two words" : -np 3 ./b --help : -n 1 ./a last)
    for model in smpi analytic portals portals-ideal packet; do
        same -model $model "${programs[@]}"
        same -schedule "every:1=$model|portals" "${programs[@]}"
    done
    PARFOCAL_PROGRAM_LOADING=copies same "${programs[@]}"
    same -app apps
}

@test "the C library's messages begin with the rank's program" {
    cd "$DIR"
    pfrun -np 1 ./a : -np 2 ./b 2>&1 >/dev/null | grep '^\./' | sort >"$BATS_TEST_TMPDIR/said"
    diff - "$BATS_TEST_TMPDIR/said" <<<$'./a: 0\n./b: 1\n./b: 2'
}

@test "one program by two names: the time of one program" {
    cp "$DIR/a" a1
    cp "$DIR/a" a2
    for model in smpi analytic portals packet; do
        pfrun -quiet -np 6 -model $model --cfg=smpi/simulate-computation:no -report one ./a1 barriers
        pfrun -quiet -np 2 -model $model --cfg=smpi/simulate-computation:no -report two ./a1 barriers : -np 4 ./a2 barriers
        diff <(grep simulated_s one/summary.json) <(grep simulated_s two/summary.json)
    done
    grep -F '"./a1 : ./a2"' two/summary.json
}

@test "a diagnosis names the program of each rank" {
    run pfrun -np 1 "$DIR/a" : -np 1 "$DIR/b" crash
    echo "$output"
    [ "$status" -eq 139 ]
    grep -E "rank 1: segmentation fault .* at programs.c:[0-9]+ \($DIR/b\+0x" <<<"$output"
    strip -g -o a.plain "$DIR/a"
    cp a.plain b.plain
    run pfrun -np 20 ./a.plain wait : -np 20 ./b.plain wait # so many that ranks at one place are printed together
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$(grep -c 'blocked in MPI_Recv.* ./a.plain+0x' <<<"$output")" -eq 1 ]
    [ "$(grep -c 'blocked in MPI_Recv.* ./b.plain+0x' <<<"$output")" -eq 1 ]
}

@test "Fortran sees the number of its program" {
    cat >f.f90 <<'END'
program f
  use mpi
  integer :: ierror
  integer(kind=MPI_ADDRESS_KIND) :: number
  logical :: known
  call MPI_Init(ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, number, known, ierror)
  print '(a,i0,l2)', 'program ', number, known
  call MPI_Finalize(ierror)
end program
END
    "$PF_BIN/pff90" -o f f.f90
    cp f g
    diff - <(pfrun -np 1 ./f : -np 2 ./g 2>/dev/null) <<<$'program 0 T\nprogram 1 T\nprogram 1 T'
}

@test "libraries of their own: each rank of each program has its copies" {
    echo 'int state; int next(void) { return ++state; }' >state.c
    cat >use.c <<'END'
#include <mpi.h>
#include <stdio.h>
int next(void);
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    next();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%s %d\n", argv[1], next());
    return MPI_Finalize();
}
END
    for name in one two; do
        "$PF_BIN/pfcc" -shared -o lib$name.so state.c
        "$PF_BIN/pfcc" -o use.$name use.c -L. -l$name -Wl,-rpath,"$PWD"
    done
    diff - <(pfrun -np 2 ./use.one 1 : -np 2 ./use.two 2 : -np 1 ./use.one 3 2>/dev/null | sort) <<<$'1 2\n1 2\n2 2\n2 2\n3 2'
}

@test "input that is wrong" {
    local a=$DIR/a b=$DIR/b
    refuses "program 2 is missing after ':'" -np 2 "$a" :
    refuses "program 2 is missing" -np 2 "$a" : : -np 1 "$b"
    refuses "program 1 is missing" -np 2 : -np 1 "$b"
    refuses "program 1, '$a': -np is missing" "$a" : -np 1 "$b"
    refuses "program 2, '$b': -np is missing" -np 2 "$a" : "$b"
    refuses "-np needs a whole number of ranks" -np 2 "$a" : -np 0 "$b"
    refuses "unknown option '-modl', maybe -model?" -np 2 "$a" : -modl packet -np 1 "$b"
    refuses "program 2: '-model' must come before the first program" -np 2 "$a" : -model packet -np 1 "$b"
    refuses "the application './nosuch' does not exist" -np 2 "$a" : -np 1 ./nosuch
    cc -shared -o libmpich.so.12 -Wl,-soname,libmpich.so.12 -x c /dev/null
    cc -o "$b.other" -x c - -Wl,--no-as-needed -L. -l:libmpich.so.12 <<<'int main(void) { return 0; }'
    refuses "'$b.other' was built for another MPI (it needs libmpich.so.12)" -np 2 "$a" : -np 1 "$b.other"
    refuses "more than 10000000 ranks" -np 9999999 "$a" : -np 2 "$b"
    refuses "-no-privatize is for one program" -no-privatize -np 2 "$a" : -np 1 "$b"
    refuses "-replay: a trace is played instead of a program, and there is ':'" -replay trace : -np 2 "$b"
    refuses "program 2: -replay: a trace is all of a run" -np 2 "$a" : -replay trace
    refuses "-app: cannot read 'nosuch'" -app nosuch
    refuses "-app: the file '/dev/null' names no program" -app /dev/null
    refuses "-app: the file names all programs, and there is '$b'" -app "$DIR/apps" "$b"
    refuses "-np: the file of -app has" -np 2 -app "$DIR/apps"
    printf '%s\n' "-np 1 $a" '-np 3' >apps
    refuses "apps: line 2: the program is missing" -app apps
    echo "-np 1 $a it's open" >apps
    refuses "apps: line 1: the program: unclosed '" -app apps
}

@test "the words of a line are a shell's" {
    printf '%s\n' '#!/bin/sh' 'printf "[%s]" "$@"' >words
    chmod +x words
    local line="\"say \\\"hi\\\" \\n\" e\\ f 'a\\b' x\\#y g\"h i\"'j' \\k # comment"
    echo "-np 1 ./words $line" >apps
    [ "$(pfrun -app apps -quiet 2>/dev/null)" = "$(sh -c "./words $line")" ]
}

@test "a colon for the program itself" {
    pfrun -np 1 -- "$DIR/a" : -np 1 b 2>/dev/null | grep -F "':' '-np' '1' 'b'"
    "$DIR/a" : b 2>/dev/null | grep -F "':' 'b'"
}
