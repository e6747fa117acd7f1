# SPDX-License-Identifier: BSD-3-Clause
# Programs in Python, with the distribution's own interpreter and its mpi4py, which was built for Open MPI.
load common.bash

PYTHON=/usr/bin/python3
WAYS=("-model smpi" "-model analytic" "-model portals" "-model packet" "-schedule every:5=smpi|portals|analytic")

setup_file() {
    [ -x "$PYTHON" ]
}

# quietly WAY arguments...: without measured computation
quietly() {
    local way=$1
    shift
    # shellcheck disable=SC2086
    pfrun -quiet $way --cfg=smpi/simulate-computation:no "$@"
}

@test "an interpreter with its arguments, or an executable script" {
    cat >show.py <<'END'
#!/usr/bin/env -S /usr/bin/python3 -E
import os, sys
print(sys.executable, sys.prefix, sys.argv, sys.flags.ignore_environment, os.environ["PMI_RANK"])
sys.exit(3 if len(sys.argv) > 2 else 0)
END
    chmod +x show.py
    [ "$(quietly "" -np 2 $PYTHON -B show.py a | sort)" = "$PYTHON /usr ['show.py', 'a'] 0 0
$PYTHON /usr ['show.py', 'a'] 0 1" ]
    [ "$(quietly "" -np 2 ./show.py a | sort)" = "$PYTHON /usr ['./show.py', 'a'] 1 0
$PYTHON /usr ['./show.py', 'a'] 1 1" ]
    run quietly "" -np 2 ./show.py a b
    [ "$status" -eq 3 ]
    echo 'print("from a pipe")' >short.py
    [ "$(quietly "" -np 1 python3 short.py)" = "from a pipe" ]
    $PYTHON -m venv --without-pip here
    [ "$(quietly "" -np 1 here/bin/python -c 'import sys; print(sys.prefix)')" = "$PWD/here" ]
}

# The thread lives in real time: on a busy machine the interpreter waits for it for 5 ms, and again.
@test "a process of Python for each rank" {
    cat >process.py <<'END'
import asyncio, ctypes, decimal, os, random, sqlite3, subprocess, sys, threading, time
rank = int(os.environ["PMI_RANK"])
os.environ["OWN"] = str(rank)
decimal.getcontext().prec = 5 + rank
random.seed(rank)
os.mkdir(f"folder{rank}")
os.chdir(f"folder{rank}")
begin = time.time()
async def wait():
    await asyncio.sleep(0.5)
asyncio.run(wait())
time.sleep(0.5)
seen = []
thread = threading.Thread(target=seen.append, args=(rank,))
thread.start()
thread.join()
child = subprocess.run("echo $OWN; basename $PWD", shell=True, capture_output=True, text=True).stdout.split()
print(rank, round(time.time() - begin, 1), decimal.Decimal(1) / 3, random.random() == random.Random(rank).random(), seen, child,
      sqlite3.connect(":memory:").execute("select 2 + 3").fetchone(), ctypes.CDLL("libm.so.6").abs(-rank))
END
    quietly "" -np 3 $PYTHON process.py >out 2>err
    cat out err
    [ "$(sort out)" = "0 1.0 0.33333 True [0] ['0', 'folder0'] (5,) 0
1 1.0 0.333333 True [1] ['1', 'folder1'] (5,) 1
2 1.0 0.3333333 True [2] ['2', 'folder2'] (5,) 2" ]
    ! grep "share the variables" err
}

# The other ranks run while a thread does.
@test "a thread and its children belong to their rank" {
    cat >threads.py <<'END'
import os, threading
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank = comm.rank
number = os.getpid()
os.mkdir(f"of{rank}")
os.chdir(f"of{rank}")
open(f"file{rank}", "w").close()
seen = set()
def look():
    for _ in range(500):
        seen.add((os.getpid() == number, *os.listdir(".")))
threads = [threading.Thread(target=look) for _ in range(2)]
for thread in threads:
    thread.start()
while comm.allreduce(any(thread.is_alive() for thread in threads), MPI.LOR):
    os.listdir(".")
print(rank, seen == {(True, f"file{rank}")})
END
    quietly "" -np 3 $PYTHON threads.py >out
    cat out
    [ "$(sort out)" = "0 True
1 True
2 True" ]
    cat >tasks.py <<'END'
import importlib, os, subprocess
from concurrent.futures import ThreadPoolExecutor
from mpi4py import MPI
comm = MPI.COMM_WORLD
own = f"of{comm.rank}"
os.chdir(own)
os.environ["OWN"] = own
def task(name):
    importlib.import_module(name)
    with open(name, "w") as f:
        f.write(own)
    child = subprocess.run(["sh", "-c", f"echo $OWN && cat {name}"], capture_output=True, text=True).stdout.split()
    return child + [os.popen("echo $OWN").read().strip(), os.path.basename(os.getcwd())] == [own] * 4
with ThreadPoolExecutor(3) as pool:
    tasks = [pool.submit(task, name) for name in ("numpy", "decimal", "sqlite3", "ctypes", "lzma", "bz2", "zoneinfo", "ssl")]
    while not comm.allreduce(all(t.done() for t in tasks), MPI.LAND):
        pass
print(comm.rank, all(t.result() for t in tasks))
END
    quietly "" -np 3 $PYTHON tasks.py >out
    cat out
    [ "$(sort out)" = "0 True
1 True
2 True" ]
    cat >pool.py <<'END'
import concurrent.futures
from mpi4py import MPI
with concurrent.futures.ProcessPoolExecutor(2) as pool:
    print(MPI.COMM_WORLD.rank, list(pool.map(abs, range(-3, 0))))
END
    quietly "" -np 2 $PYTHON pool.py >out
    [ "$(sort out)" = "0 [3, 2, 1]
1 [3, 2, 1]" ]
}

@test "mpi4py for Open MPI" {
    for way in "${WAYS[@]}"; do
        run quietly "$way" -np 3 $PYTHON "$BATS_TEST_DIRNAME/mpi4py_calls.py"
        echo "$way: $output"
        [ "$status" -eq 0 ]
        grep -q "^PASS" <<<"$output"
    done
}

@test "the examples, also with measured computation" {
    local examples=$BATS_TEST_DIRNAME/../../../examples/python
    for way in "${WAYS[@]}"; do
        quietly "$way" -np 4 $PYTHON "$examples/cg.py" 32 | grep "^cg: 32^2 points on 4 ranks, 101 iterations"
    done
    pfrun -quiet -np 4 --cfg=smpi/host-speed:1Gf $PYTHON "$examples/train.py" | grep "^train: 1959 of 2048 right"
    pfrun -quiet -np 2 -schedule solve=portals,report=smpi -report report --cfg=smpi/host-speed:1Gf $PYTHON "$examples/cg.py" 32
    $PYTHON - <<'END'
import json
rows = [(row["phase"], row["model"]) for row in json.load(open("report/summary.json"))["phases"]]
assert rows == [("start", "smpi"), ("setup", "smpi"), ("solve", "portals"), ("report", "smpi")], rows
END
}

@test "a diagnosis names the line of Python" {
    cat >wait.py <<'END'
from mpi4py import MPI
def wait(comm):
    comm.Barrier() if comm.rank else comm.Recv(bytearray(1))
if MPI.COMM_WORLD.size > 2:
    MPI.COMM_WORLD.Abort(4)
wait(MPI.COMM_WORLD)
END
    run quietly "-model portals" -np 2 $PYTHON wait.py
    echo "$output"
    [ "$status" -eq 1 ]
    grep "rank 0 is blocked in MPI_Recv (peer any, tag any), model portals, at $PWD/wait.py:3 (wait)" <<<"$output"
    grep "rank 1 is blocked in MPI_Barrier, model portals, at $PWD/wait.py:3 (wait)" <<<"$output"
    run quietly "" -np 3 $PYTHON wait.py
    [ "$status" -eq 4 ]
    grep "called MPI_Abort with code 4 at $PWD/wait.py:5 (<module>)" <<<"$output"
}

# One thread holds the interpreter when the run ends; in the other case the interpreter is about to end.
@test "a diagnosis does not wait for the interpreter" {
    cat >thread.py <<'END'
import threading
from mpi4py import MPI
thread = threading.Thread(target=MPI.COMM_WORLD.Barrier)
thread.start()
thread.join()
END
    run timeout 60 "$PF_BIN/pfrun" -quiet -np 2 $PYTHON thread.py
    echo "$output"
    [ "$status" -eq 1 ]
    grep "MPI_Barrier was called from a thread that is no rank" <<<"$output"
    echo 'from mpi4py import MPI; MPI.COMM_WORLD.rank and 1 / 0; MPI.COMM_WORLD.Barrier()' >late.py
    run quietly "" -np 2 $PYTHON -m mpi4py late.py
    echo "$output"
    [ "$status" -eq 1 ]
    grep "rank 1 called MPI_Abort with code 1" <<<"$output"
    grep "rank 0 is blocked in MPI_Barrier, model smpi, at .*late.py:1 (<module>)" <<<"$output"
}

# A thread in C keeps the interpreter for itself; the rank has let it go for its call. MPI_Comm_create_from_group is of MPI 4.
@test "a call that is refused while threads live" {
    cat >refused.c <<'END'
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
typedef struct { long count; void *type, *init; long index; void *copy; const char *name, *doc; long size; void *rest[5]; } module;
typedef struct { const char *name; void *function; int flags; const char *doc; } method;
void *PyModule_Create2(module *, int), *PyLong_FromLong(long), *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *);
int MPI_Comm_create_from_group(void);
static volatile int called, kept;
static void await(volatile int *what) { while (!*what) syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 10000000}, NULL); }
static void *keep(void)
{
    void *state = PyEval_SaveThread();
    await(&called);
    PyEval_RestoreThread(state);
    kept = 1;
    for (;;)
        pause();
}
static void *call(void)
{
    PyEval_SaveThread();
    called = 1;
    await(&kept);
    MPI_Comm_create_from_group();
    return NULL;
}
static method methods[] = {{"keep", keep, 4, 0}, {"call", call, 4, 0}, {0}};
static module refused = {1, 0, 0, 0, 0, "refused", 0, -1, {methods}};
void *PyInit_refused(void) { return PyModule_Create2(&refused, 1013); }
END
    gcc -shared -fPIC refused.c -o refused.so -Wl,--no-as-needed -l:libmpi.so.40
    cat >refuse.py <<'END'
import threading
from mpi4py import MPI
import refused
MPI.COMM_WORLD.Barrier()
threading.Thread(target=refused.keep).start()
refused.call()
END
    run timeout -k 5 60 "$PF_BIN/pfrun" -quiet -np 2 $PYTHON refuse.py
    echo "$output"
    [ "$status" -eq 1 ]
    grep "^parfocal: error: MPI_Comm_create_from_group: a program that was built for Open MPI calls it" <<<"$output"
    grep "^parfocal: rank [01] is not in an MPI call; the last one was MPI_Barrier at " <<<"$output"
    run timeout -k 5 60 "$PF_BIN/pfrun" -quiet -np 1 $PYTHON -c 'from mpi4py import MPI; import os; os.abort()'
    [ "$status" -eq 134 ]
    grep "^parfocal: error: rank 0: abort (SIGABRT)" <<<"$output"
}

# In percent; 200: none is reported.
share() {
    pfrun -quiet -np 2 -model "$1" -report report --cfg=smpi/host-speed:1Gf "${@:2}" >out
    $PYTHON -c 'import json; print(int(100 * json.load(open("report/summary.json")).get("interpreter", {"share": 2})["share"]))'
}

@test "the interpreter's share of the computation" {
    cat >loop.py <<'END'
import signal
from mpi4py import MPI
rung = []
signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
signal.setitimer(signal.ITIMER_REAL, 1e-3)
total = 0
for i in range(1500000):
    total += i * i % 7
MPI.COMM_WORLD.Barrier()
MPI.COMM_WORLD.Barrier()
print(rung)
END
    for model in smpi analytic; do
        [ "$(share $model $PYTHON loop.py)" -gt 80 ]
        [ "$(cat out)" = "[1]
[1]" ]
    done
    [ "$(share smpi --cfg=smpi/simulate-computation:no $PYTHON loop.py)" -eq 200 ]
    cat >product.py <<'END'
import numpy
from mpi4py import MPI
matrix = numpy.ones((700, 700))
for _ in range(2):
    matrix = matrix @ matrix / 700
MPI.COMM_WORLD.Barrier()
END
    [ "$(share smpi $PYTHON product.py)" -lt 20 ]
    pfrun -np 2 -report report --cfg=smpi/host-speed:1Gf $PYTHON product.py |&
        grep "^of the measured computation .* % is the interpreter's"
}

# A copy of a library maps the library itself where nobody writes.
@test "ranks share the code of an interpreter" {
    cat >maps.py <<'END'
from mpi4py import MPI
MPI.COMM_WORLD.Barrier()
lines = [line.split() for line in open("/proc/self/maps")]
print(sum(line[1] == "r-xp" and line[-1].startswith("/usr/") and "libpython" in line[-1] for line in lines), flush=True)
MPI.COMM_WORLD.Barrier()
END
    [ "$(quietly "" -np 3 $PYTHON maps.py | sort -u)" = 3 ]
}

# write_module DECLARATIONS EXPRESSION: the module `counts` in counts.c, whose function next() returns that
write_module()
{
    cat >counts.c <<END
typedef struct { long count; void *type, *init; long index; void *copy; const char *name, *doc; long size; void *rest[5]; } module;
typedef struct { const char *name; void *function; int flags; const char *doc; } method;
void *PyModule_Create2(module *, int), *PyLong_FromLong(long);
$1
static void *call(void) { return $2; }
static method methods[] = {{"next", call, 4, 0}, {0}};
static module counts = {1, 0, 0, 0, 0, "counts", 0, -1, {methods}};
void *PyInit_counts(void) { return PyModule_Create2(&counts, 1013); }
END
}

# As packages of pip bring them; a folder with their headers is not there.
@test "a library beside a module" {
    mkdir -p modules module.libs
    echo 'static int count; int next(void) { return ++count; }' >next.c
    gcc -shared -fPIC next.c -o module.libs/libnext-1a2b.so -Wl,-soname,libnext-1a2b.so
    write_module "int next(void);" "PyLong_FromLong(next())"
    gcc -shared -fPIC counts.c -o modules/counts.so -Lmodule.libs -l:libnext-1a2b.so -Wl,-rpath,'$ORIGIN/../module.libs'
    echo 'from mpi4py import MPI; import counts; MPI.COMM_WORLD.Barrier(); print(counts.next())' >count.py
    export PYTHONPATH=modules
    quietly "" -np 3 $PYTHON count.py >out 2>err
    [ "$(sort out | xargs)" = "1 1 1" ]
    [ ! -s err ]
    cat >history.py <<'END'
import readline
from mpi4py import MPI
readline.add_history("line")
MPI.COMM_WORLD.Barrier()
print(readline.get_current_history_length())
END
    [ "$(PARFOCAL_PRIVATE=libreadline quietly "" -np 3 $PYTHON history.py | xargs)" = "1 1 1" ]
    echo "#" >bad.so
    [ "$(quietly "" -np 1 $PYTHON -c 'import ctypes
try: ctypes.CDLL("./bad.so")
except OSError as error: print(error)')" = "./bad.so: file too short" ]
}

# mpi4py 3 does not call it.
@test "a text of an info as MPI 4 has it" {
    cat >text.py <<'END'
import ctypes
from mpi4py import MPI
info = MPI.Info.Create()
info.Set("key", "a value")
mpi = ctypes.CDLL("libmpi.so.40")
length, text, flag = ctypes.c_int(4), ctypes.create_string_buffer(20), ctypes.c_int()
assert mpi.MPI_Info_get_string(ctypes.c_void_p(MPI._handleof(info)), b"key", ctypes.byref(length), text, ctypes.byref(flag)) == 0
print(length.value, text.value, flag.value)
END
    [ "$(quietly "" -np 1 $PYTHON text.py)" = "8 b'a v' 1" ]
}

# As mpi4py 4 calls them where it was built for MPI 4.
@test "large counts of MPI 4" {
    cat >large.py <<'END'
import ctypes, sys
from mpi4py import MPI
mpi = ctypes.CDLL("libmpi.so.40")
world, rank, size = MPI.COMM_WORLD, MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size

def of(thing):
    return ctypes.c_void_p(MPI._handleof(thing))

def counts(*values):
    return (ctypes.c_longlong * len(values))(*values)

def ints(*values):
    return (ctypes.c_int * len(values))(*values)

def call(name, *arguments):
    assert getattr(mpi, f"MPI_{name}_c")(*(ctypes.c_longlong(a) if isinstance(a, int) else a for a in arguments)) == 0, name

if len(sys.argv) > 1:
    call("Send", None, 1 << 31, of(MPI.INT), ctypes.c_int(0), ctypes.c_int(0), of(world))
got, status, number = ints(0, 0, 0), MPI.Status(), counts(0)
status_at = ctypes.c_void_p(MPI._addressof(status))
call("Sendrecv", ints(rank, rank), 2, of(MPI.INT), ctypes.c_int((rank + 1) % size), ctypes.c_int(0), got, 3, of(MPI.INT),
     ctypes.c_int((rank - 1) % size), ctypes.c_int(0), of(world), status_at)
call("Get_count", status_at, of(MPI.INT), number)
assert (number[0], got[0], got[1]) == (2, (rank - 1) % size, (rank - 1) % size)
# Rank i has i + 1 elements. Counts matter at the root alone, and not of what is sent in place.
all_of = [i for i in range(size) for _ in range(i + 1)]
lengths, places = counts(*(i + 1 for i in range(size))), counts(*(i * (i + 1) // 2 for i in range(size)))
mine, got = ints(*[rank] * (rank + 1)), ints(*[-1] * len(all_of))
call("Allgatherv", mine, rank + 1, of(MPI.INT), got, lengths, places, of(MPI.INT), of(world))
assert list(got) == all_of
got = ints(*[-1] * len(all_of))
nowhere = ctypes.c_void_p(8)
call("Gatherv", mine, rank + 1, of(MPI.INT), got, *((lengths, places) if rank == 1 else (nowhere, nowhere)), of(MPI.INT), ctypes.c_int(1), of(world))
assert list(got) == (all_of if rank == 1 else [-1] * len(all_of))
got = ints(*[rank] * size)
call("Alltoallv", ctypes.c_void_p(1), nowhere, nowhere, of(MPI.INT), got, counts(*[1] * size), counts(*range(size)), of(MPI.INT), of(world))
assert list(got) == list(range(size))
got, request = ints(-1), MPI.Request()
call("Ireduce_scatter", ints(*range(size)), got, counts(*[1] * size), of(MPI.INT), of(MPI.SUM), of(world), ctypes.c_void_p(MPI._addressof(request)))
request.Wait()
assert got[0] == rank * size
made, extents = MPI.Datatype(), (counts(0), counts(0))
call("Type_create_struct", 2, counts(1, 2), counts(0, 8), (ctypes.c_void_p * 2)(MPI._handleof(MPI.INT), MPI._handleof(MPI.DOUBLE)),
     ctypes.c_void_p(MPI._addressof(made)))
call("Type_size", of(made), number)
call("Type_get_extent", of(made), *extents)
assert (number[0], extents[0][0], extents[1][0]) == (20, 0, 24)
packed, place = ctypes.create_string_buffer(100), counts(4)
call("Pack", mine, 1, of(MPI.INT), packed, 100, place, of(world))
assert place[0] == 8 and packed.raw[4] == rank
print("well")
END
    for way in "-model smpi" "-model analytic" "-model portals"; do
        [ "$(quietly "$way" -np 3 $PYTHON large.py | xargs)" = "well well well" ]
    done
    refuses "MPI_Send_c: a count of 2147483648 is more than an int" -np 2 $PYTHON large.py x
}

# Such as those of HDF5, PETSc, Boost or NEURON: one calls MPI, one for Fortran, another one these two; and one uses the interpreter, another
# library and the module itself without naming them.
@test "libraries of a module that call MPI or the interpreter" {
    mkdir -p modules
    cat >calls.c <<'END'
#include <mpi.h>
int level, bias;
static int sum;
int calls(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    bias = rank;
    return sum += rank + level;
}
END
    cat >total.f90 <<'END'
integer function total(value)
    use mpi
    integer :: value, error
    call MPI_Allreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
end function
END
    cat >between.c <<'END'
extern int level;
int calls(void), total_(int *);
int between(void)
{
    int one = calls();
    level += 10;
    return 100 * one + total_(&one);
}
END
    cat >number.c <<'END'
extern int bias, *used;
int *used = &bias, twice(int);
void *PyLong_FromLong(long);
void *number(long value) { return PyLong_FromLong(twice(value) + *used); }
END
    write_module "int between(void); int twice(int value) { return 2 * value; } void *number(long);" "number(between())"
    mpicc -shared -fPIC calls.c -o modules/libcalls.so
    mpif90 -shared -fPIC total.f90 -o modules/libtotal.so
    gcc -shared -fPIC between.c -o modules/libbetween.so -Lmodules -lcalls -ltotal -Wl,-rpath,'$ORIGIN'
    gcc -shared -fPIC number.c -o modules/libnumber.so
    gcc -shared -fPIC counts.c -o modules/counts.so -Lmodules -lnumber -lbetween -lcalls -Wl,-rpath,'$ORIGIN'
    echo 'from mpi4py import MPI; import counts; counts.next(); print(counts.next())' >count.py
    export PYTHONPATH=modules
    for way in "${WAYS[@]}"; do
        quietly "${way/every:5/every:1}" -np 3 $PYTHON count.py >out 2>err
        [ "$(sort -n out | xargs)" = "2072 2473 2874" ]
        [ ! -s err ]
    done
    [ "$(quietly "" -np 3 $PYTHON -c 'import ctypes; ctypes.CDLL("libmpi.so.40").MPI_Init(0, 0); print(ctypes.CDLL("modules/libbetween.so").between())' | sort -n | xargs)" = "3 103 203" ]
}

@test "what is no interpreter" {
    refuses "the application 'python4' does not exist" -np 2 python4 x.py
    printf '#!/bin/sh\necho hello\n' >python9
    chmod +x python9
    refuses "'./python9' does not print what Python it is" -np 2 ./python9 x.py
    printf '#!/bin/sh\nprintf "/usr/bin/python9\\nlibpython9.9.so.1.0\\n"\n' >python9
    refuses "'/usr/bin/python9': its library libpython9.9.so.1.0 is missing (apt-get install libpython9.9)" -np 2 ./python9 x.py
    printf '#!/bin/sh\nprintf "/opt/python9\\nlibpython9.9.a\\n"\n' >python9
    refuses "'/opt/python9' was built without a shared library" -np 2 ./python9 x.py
}
