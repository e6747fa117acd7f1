# SPDX-License-Identifier: BSD-3-Clause
# How ranks get their copies of a program: as mappings of one image, or as files where that cannot be, with the same results.
load common.bash

setup_file() {
    export DIR=$BATS_FILE_TMPDIR
    "$PF_BIN/pfcc" -g -w -o "$DIR/loading" "$BATS_TEST_DIRNAME/loading.c" -lm
    "$PF_BIN/pfcxx" -o "$DIR/unique" "$BATS_TEST_DIRNAME/unique.cpp"
    "$PF_BIN/pfcc" -g -w -DTHREAD_LOCAL=__thread -o "$DIR/threads" "$BATS_TEST_DIRNAME/loading.c" -lm
}

# both PROGRAM arguments...: the same output, errors and status in both ways
both() {
    local way before=
    for way in image copies; do
        PARFOCAL_PROGRAM_LOADING=$way run pfrun -np 5 -quiet --cfg=smpi/simulate-computation:no "$@"
        output=$(sed -E 's/0x[0-9a-f]+//g' <<<"$output")
        echo "$way: $status: $output"
        [ -z "$before" ] || [ "$before" = "$status: $output" ]
        before="$status: $output"
    done
}

@test "a program in an image" {
    both "$DIR/loading"
    grep -q "5 of 5 good" <<<"$output"
    COUNT_MAPS=1 run pfrun -np 5 "$DIR/loading" # code and data of each; the file as it was read
    echo "$output"
    grep -q "^10 maps of images, 1 of files" <<<"$output"
}

@test "a program in an image with Open MPI" {
    both -model portals "$DIR/loading"
    grep -q "5 of 5 good" <<<"$output"
}

@test "what g++ would have once in a process, each rank has" {
    nm -D "$DIR/unique" | grep -q " u variable" # or there is nothing to test
    both "$DIR/unique"
    [ "$(grep -c "once in inline functions, variables, templates: 1 1 1" <<<"$output")" -eq 5 ]
}

@test "what cannot be an image is copied" {
    both "$DIR/threads"
    grep -q "5 of 5 good" <<<"$output"
    COUNT_MAPS=1 run pfrun -np 5 "$DIR/threads"
    echo "$output"
    grep -q "^0 maps of images, 21 of files" <<<"$output"
    ! grep -q "^parfocal: " <<<"$output"
}

@test "constants cannot be written" {
    both "$DIR/loading" write
    [ "$status" -eq 139 ]
    grep -q "loading.c:" <<<"$output"
}

@test "SMPI's own copies" {
    SMPI_PRIVATIZATION=mmap COUNT_MAPS=1 run pfrun -np 5 "$DIR/loading"
    echo "$output"
    # SimGrid looks for the data of a program in a list of maps, where it reads a path up to its first blank.
    if [[ "$DIR" = *" "* ]]; then
        grep -q "Did not find my data segment" <<<"$output"
    else
        grep -q "^0 maps of images" <<<"$output"
    fi
}

@test "more stacks than the kernel's default limit of memory maps allows with guards" {
    run pfrun -np 13000 -quiet -model analytic "$DIR/loading"
    echo "$status: $output"
    [ "$status" -eq 0 ]
    grep -q "13000 of 13000 good" <<<"$output"
    [ "$(cat /proc/sys/vm/max_map_count)" -gt 65530 ] || grep -q "a stack that overflows is not noticed" <<<"$output"
}

# The error handler of GSL is a variable of that library.
@test "each rank has a copy of a library of the system that is asked for" {
    cat >handler.c <<'END'
#include <mpi.h>
#include <stdio.h>
typedef void handler(const char *, const char *, int, int);
handler *gsl_set_error_handler(handler *);
static void own(const char *reason, const char *file, int line, int error) {}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    gsl_set_error_handler(own);
    MPI_Barrier(MPI_COMM_WORLD);
    puts(gsl_set_error_handler(NULL) == own ? "own" : "another's");
    MPI_Finalize();
    return 0;
}
END
    "$PF_BIN/pfcc" handler.c -o handler -lgsl -lgslcblas
    "$PF_BIN/pfcc" -private libgsl handler.c -o private -lgsl -lgslcblas
    [ "$(pfrun -np 3 ./handler | grep -c own)" -lt 3 ]
    for model in smpi portals analytic; do
        [ "$(pfrun -np 3 -model $model ./private | grep -c own)" -eq 3 ]
        [ "$(PARFOCAL_PRIVATE=libgsl,libgslcblas.so.0 pfrun -np 3 -model $model ./handler | grep -c own)" -eq 3 ]
    done
    PARFOCAL_PRIVATE=libgsl refuses "PARFOCAL_PRIVATE: libc.so exists once in the process, and no rank can have a copy" -np 2 --cfg=parfocal/private:libc.so ./handler
    PARFOCAL_PRIVATE=gsl refuses "PARFOCAL_PRIVATE: 'gsl' is no name of a library, such as libpython3.11" -np 2 ./handler
    PARFOCAL_PRIVATE=libgs run pfrun -np 2 ./handler
    [ "$(grep -c "parfocal: warning: PARFOCAL_PRIVATE: the program has used no library libgs" <<<"$output")" -eq 1 ]
    ! "$PF_BIN/pfcc" -private gsl handler.c -o private -lgsl 2>err
    grep "error: -private: 'gsl' is no name of a library" err
}

@test "a predefined handle that a program looks up by its name is the handle" {
    cat >looks.c <<'END'
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
void *look(const char *name);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    void *world = dlsym(dlopen(NULL, RTLD_NOW), "ompi_mpi_comm_world"), *real = dlsym(RTLD_DEFAULT, "ompi_mpi_double");
    printf("%d %d %d\n", world == (void *)MPI_COMM_WORLD, real == (void *)MPI_DOUBLE, look("ompi_mpi_int") == (void *)MPI_INT);
    MPI_Finalize();
    return 0;
}
END
    cc -shared -fPIC -o liblook.so -x c - <<<'#include <dlfcn.h>
        void *look(const char *name) { return dlsym(dlopen((void *)0, RTLD_NOW), name); }'
    mpicc looks.c -o looks -L. -llook -Wl,-rpath,"$PWD"
    for model in smpi portals analytic; do
        [ "$(pfrun -np 2 -quiet -model $model ./looks)" = $'1 1 1\n1 1 1' ]
    done
}

# A collector frees what it does not find: lists in the program's data and on the stack stay.
@test "each rank has a garbage collector of its own" {
    cat >collects.c <<'END'
#include <gc.h>
#include <mpi.h>
#include <stdio.h>
static struct node {
    struct node *next;
    long value;
} *list;
int main(int argc, char **argv)
{
    long sum = 0, rank, *waste;
    struct node *own = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, (int *)&rank);
    rank = *(int *)&rank;
    GC_INIT();
    for (int i = 0; i < 2000; i++) {
        struct node **to = i % 2 ? &own : &list, *one = GC_MALLOC(sizeof *one);
        *one = (struct node){*to, rank + 1};
        *to = one;
    }
    for (int i = 0; i < 100000; i++) {
        waste = GC_MALLOC(100);
        waste[0] = waste[1] = -1;
        if (i % 10000 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    for (; list; list = list->next)
        sum += list->value;
    for (; own; own = own->next)
        sum += own->value;
    printf("%ld\n", sum);
    MPI_Finalize();
    return 0;
}
END
    for compiler in "$PF_BIN/pfcc" mpicc; do
        "$compiler" -w collects.c -o collects -lgc
        for model in smpi portals; do
            [ "$(pfrun -np 3 -quiet -model $model ./collects | sort)" = $'2000\n4000\n6000' ]
        done
    done
}

# Modules of an interpreter are plug-ins, which find its names in the process.
@test "each rank has a Python of its own, and its modules" {
    cat >embedded.c <<'END'
#include <Python.h>
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    char text[50];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Py_Initialize();
    snprintf(text, sizeof text, "x = %d", rank);
    PyRun_SimpleString(text);
    MPI_Barrier(MPI_COMM_WORLD);
    PyRun_SimpleString("import ctypes, decimal, json, mmap, _queue\ndecimal.getcontext().prec = 5 + x");
    MPI_Barrier(MPI_COMM_WORLD);
    PyRun_SimpleString("print(x, decimal.Decimal(1) / 3, json.dumps([x]))");
    Py_Finalize();
    MPI_Finalize();
    return 0;
}
END
    library=$(pkg-config --libs-only-l python3-embed | tr -d ' ')
    "$PF_BIN/pfcc" -private "lib${library#-l}" $(pkg-config --cflags python3-embed) embedded.c -o embedded "$library"
    for model in smpi portals analytic; do
        [ "$(pfrun -np 3 -model $model ./embedded | sort)" = "0 0.33333 [0]
1 0.333333 [1]
2 0.3333333 [2]" ]
    done
}

@test "nothing is left of a run that is killed" {
    "$PF_BIN/pfrun" -np 5 -model portals "$DIR/loading" sleep >out 2>&1 &
    local run=$!
    for ((i = 0; i < 600; i++)); do
        ! grep -q good out || break
        sleep 0.1
    done
    kill -9 "$run"
    wait "$run" || true
    cat out
    grep -q "5 of 5 good" out
}

@test "gdb finds functions of the program, the middleware, Open MPI and Portals" {
    command -v gdb >/dev/null || skip "there is no gdb"
    printf '%s\n' "set breakpoint pending on" "set pagination off" "break PtlPut" run bt >commands
    mkdir clones
    PARFOCAL_CLONE_DIR=$PWD/clones PARFOCAL_OPENMPI_KEEP_CLONES=yes run pfrun -np 2 -model portals -quiet -keep-temps \
        -wrapper "gdb -batch -x commands --args" "$DIR/loading"
    echo "$output"
    rm -rf tmp/*
    grep -q "^#0 .*PtlPut" <<<"$output"
    grep -q "^#[0-9]* .* ompi_mtl_portals4_" <<<"$output"
    grep -q "^#[0-9]* .* PMPI_Barrier .*libmpi" <<<"$output"
    grep -q "^#[0-9]* .* pf_PMPI_Barrier " <<<"$output"
    grep -q "^#[0-9]* .* main .*loading.c:" <<<"$output"
}
