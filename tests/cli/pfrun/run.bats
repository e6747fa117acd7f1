# SPDX-License-Identifier: BSD-3-Clause
# What an ordinary run does: the same as stock smpirun, and nothing left behind.
load common.bash

@test "arguments arrive unharmed" {
    run pfrun -np 2 "$APP" args 'two words' '"quoted"' "it's" '' -- --help --cfg=a:b --log=x '*' '\n'
    echo "$output"
    [ "$status" -eq 0 ]
    expected="<two words>
<\"quoted\">
<it's>
<>
<-->
<--help>
<--cfg=a:b>
<--log=x>
<*>
<\\n>"
    [ "$(grep '^<' <<<"$output")" = "$expected" ]
}

@test "each rank has its own globals" {
    run pfrun -np 5 "$APP"
    [ "$status" -eq 0 ]
    grep "ranks 5 sum 10" <<<"$output"
}

@test "an exit status of one rank is that of the run" {
    run pfrun -np 4 "$APP" status
    [ "$status" -eq 5 ]
}

@test "an application found in the current directory without a slash" {
    cp "$APP" app
    run pfrun -np 2 app
    [ "$status" -eq 0 ]
}

@test "spaces and commas in the names of all files" {
    mkdir 'tmp/of us, the users'
    cp "$APP" 'an application'
    printf 'node-1001:2\nnode-1000\n' >'the hosts'
    "$PF_BIN/pfinfo" --platform star:2 >'a platform, small'
    for model in smpi portals analytic; do
        TMPDIR="$PWD/tmp/of us, the users" run pfrun -hostfile 'the hosts' -platform 'a platform, small' -model $model './an application'
        echo "$output"
        [ "$status" -eq 0 ]
        grep "ranks 3 sum 3" <<<"$output"
    done
    rmdir 'tmp/of us, the users'
}

@test "hostfile with slots: number of ranks and place of each" {
    printf '# three on two hosts\nnode-1001:2\nnode-1000 slots=1\n' >hosts
    run timeout 60 "$PF_BIN/pfrun" -map -hostfile hosts -platform star:2 "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    grep "ranks 3 " <<<"$output"
    grep -F "[rank 0] -> node-1001" <<<"$output"
    grep -F "[rank 1] -> node-1001" <<<"$output"
    grep -F "[rank 2] -> node-1000" <<<"$output"
}

@test "a built-in platform is the one that pfinfo prints" {
    for name in fattree:16 star:5 torus:8 dragonfly:64 dragonflyplus:9 dragonflyplus:10,18,18,22,23,width=2; do
        "$PF_BIN/pfinfo" --platform "$name" >p.xml
        a=$(pfrun -np 5 --cfg=smpi/simulate-computation:no -platform p.xml "$APP")
        b=$(pfrun -np 5 --cfg=smpi/simulate-computation:no -platform "$name" "$APP")
        [ -n "$a" ] && [ "$a" = "$b" ]
    done
}

@test "a shape with more hosts than a file has routes: one route by arithmetic, and SimGrid's for the first 256 hosts" {
    local shape=dragonflyplus:2,4,4,60
    "$PF_BIN/pfcc" -O1 -o cells "$BATS_TEST_DIRNAME/../../../experiments/cells/cells.c"
    on() { pfrun -np 12 -quiet --cfg=smpi/simulate-computation:no -platform "$@" ./cells both 65536; }
    for model in smpi analytic portals; do # all groups have one link between each two
        [ "$(on $shape -model $model)" = "$(on dragonflyplus:2,4,4,1 -model $model)" ]
    done
    run pfrun -np 257 -platform $shape "$APP"
    [ "$status" -ne 0 ]
    [[ "$output" == *"error: model smpi has no routes on this platform"*"the first 256"* ]]
    pfrun -np 257 -platform $shape -model analytic "$APP"
    "$PF_BIN/pfinfo" --platform $shape >p.xml
    for wrong in "star:3/its property \"parfocal-topology\", 'star:3', 3 nodes" "stars:3/'stars:3' is no topology"; do
        sed "s/$shape/${wrong%%/*}/" p.xml >wrong.xml
        run pfrun -np 4 -platform wrong.xml -model analytic "$APP"
        [ "$status" -ne 0 ]
        [[ "$output" == *"error: the platform"*"${wrong#*/}"* ]]
    done
}

@test "a built-in cluster has the same routes by its topology as by SimGrid, and a wrong name for it is refused" {
    "$PF_BIN/pfcc" -O1 -o cells "$BATS_TEST_DIRNAME/../../../experiments/cells/cells.c"
    for shape in star:17 fattree:4x2x2 'fattree:3;3,3,2;1,2,2;1,1,1' torus:3x2x3; do
        "$PF_BIN/pfinfo" --platform "$shape" >by_topology.xml
        grep -v parfocal-cluster by_topology.xml >by_simgrid.xml
        ! cmp by_topology.xml by_simgrid.xml
        for model in analytic portals; do
            for platform in by_topology by_simgrid; do
                PARFOCAL_ANALYTIC_SET='contention = link' pfrun -np 16 -quiet --cfg=smpi/simulate-computation:no -platform $platform.xml \
                    -model $model ./cells alltoall 4096 >$platform.$model
            done
            cmp by_topology.$model by_simgrid.$model
            [ -s by_simgrid.$model ]
        done
    done
    "$PF_BIN/pfinfo" --platform fattree:4x4 | sed 's/fattree:4x4/star:16/' >wrong.xml
    run pfrun -np 16 -platform wrong.xml -model analytic "$APP"
    [ "$status" -ne 0 ]
    [[ "$output" == *'error: the platform'*'"parfocal-cluster" and its cluster have different routes from host'* ]]
}

@test "report: JSON with the command, and a table" {
    run pfrun -np 2 -report out/deep "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    grep "overhead" <<<"$output"
    python3 - <<'PY'
import json
s = json.load(open("out/deep/summary.json"))
assert s["ranks"] == 2 and s["exit_status"] == 0, s
assert "-report" in s["command"], s
assert s["versions"]["simgrid"].startswith(("3.", "4.")), s
assert s["configuration"]["agree"] == "follow", s
assert s["simulated_s"] > 0 and s["wall_clock_s"] > 0, s
assert s["phases"][0]["model"] == "smpi" and s["phases"][0]["calls"] > 0, s
PY
}

@test "report: the version of Open MPI, where it was used" {
    pfrun -np 2 -report first "$APP"
    pfrun -np 2 -model portals -report second "$APP"
    python3 - <<'PY'
import json
assert "openmpi" not in json.load(open("first/summary.json"))["versions"]
assert json.load(open("second/summary.json"))["versions"]["openmpi"].count(".") == 2
PY
}

@test "-wrapper runs pfrun under a command" {
    cat >wrap <<'W'
#!/bin/sh
echo wrapped
exec "$@"
W
    chmod +x wrap
    run pfrun -wrapper ./wrap -np 3 "$APP" args 'a b'
    echo "$output"
    [ "$status" -eq 0 ]
    grep -x wrapped <<<"$output"
    grep "<a b>" <<<"$output"
    grep "ranks 3" <<<"$output"
}

@test "-keep-temps keeps and says where" {
    run pfrun -keep-temps -np 2 "$APP"
    dir=$(sed -n 's/.*temporary files are kept in //p' <<<"$output")
    [ -d "$dir" ]
    [ -f "$dir/platform.xml" ]
    [ "$(ls "$dir"/faults_*.so | wc -l)" -eq 2 ]
    rm -r "$dir"
}

@test "-version and -help" {
    run pfrun -version
    [ "$status" -eq 0 ]
    grep "Parfocal" <<<"$output"
    run pfrun --help
    [ "$status" -eq 0 ]
    grep -- "-schedule" <<<"$output"
}

@test "started directly, an application is one rank" {
    run timeout 60 "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    grep "ranks 1 sum 0" <<<"$output"
}

@test "each rank has its own copy of the application's shared libraries" {
    mkdir lib
    echo 'static int calls; int count(int n) { return calls += n; }' >count.c
    cat >main.c <<'C'
#include <mpi.h>
#include <stdio.h>
int count(int n);
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    count(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (count(0) != rank)
        printf("wrong %d\n", count(0));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("done %d\n", size);
    return MPI_Finalize();
}
C
    "$PF_BIN/pfcc" -shared -fPIC -Wl,-soname,libcount.so.1 -o lib/libcount.so.1.2 count.c
    ln -s libcount.so.1.2 lib/libcount.so.1
    ln -s libcount.so.1 lib/libcount.so
    "$PF_BIN/pfcc" -o app main.c -Llib -lcount '-Wl,-rpath,$ORIGIN/lib'
    run pfrun -np 12 ./app
    echo "$output"
    [ "$status" -eq 0 ]
    grep -x "done 12" <<<"$output"
    [ "$(grep -c wrong <<<"$output")" -eq 0 ]
}

@test "-trace writes SMPI's traces" {
    run pfrun -np 2 -trace smpi:run.trace "$APP"
    [ "$status" -eq 0 ]
    grep -q "PajeSetState" run.trace
    run pfrun -np 2 -trace ti:run.ti "$APP"
    [ "$status" -eq 0 ]
    [ -s run.ti ]
}

@test "a library that was not linked by pfcc is shared by all ranks, and one line says so" {
    echo 'int counter; int count(void) { return ++counter; }' >counter.c
    cat >main.c <<'END'
#include <mpi.h>
#include <stdio.h>
int count(void);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    printf("counted %d\n", count());
    MPI_Finalize();
    return 0;
}
END
    cc -shared -fPIC counter.c -o libcounter.so
    "$PF_BIN/pfcc" main.c -o main -L. -lcounter -Wl,-rpath,"$PWD"
    run pfrun -np 2 ./main
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c "parfocal: warning: all ranks share the globals of the library '.*/libcounter.so'.*link it with pfcc" <<<"$output")" -eq 1 ]
    "$PF_BIN/pfcc" -shared counter.c -o libcounter.so
    run pfrun -np 2 ./main
    echo "$output"
    [ "$(grep -c "^counted 1" <<<"$output")" -eq 2 ]
    [[ "$output" != *"all ranks share"* ]]
}

@test "exit handlers and destructors may ask whether MPI has ended" {
    "$PF_BIN/pfcc" -o atend "$BATS_TEST_DIRNAME/atend.c"
    for model in smpi portals analytic; do
        run pfrun -np 3 -model $model ./atend
        echo "$output"
        [ "$status" -eq 0 ]
        [ "$(sort <<<"$output" | uniq -c | tr -s ' ' | tr '\n' ';')" = \
            " 3 constructor: 0 0; 3 destructor: 1 1; 3 exit handler: 1 1; 3 main: 1 0;" ]
    done
    refuses "called MPI_Comm_rank after MPI_Finalize" -np 3 ./atend refused
}

# Of what a rank waits for together, all but the last changes nothing: it sleeps through that, and no date is another.
@test "a rank is woken when all is there that it waits for" {
    only_openmpi_4 # osc/portals4, which 5 has alone, polls queues of its own
    "$PF_BIN/pfcc" -O1 -o waits "$BATS_TEST_DIRNAME/waits.c"
    for how in all one sends; do
        pfrun -np 8 -model portals -quiet -report "$how" --cfg=smpi/simulate-computation:no ./waits "$how" | tee "$how.out"
        parks=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["portals"]["parks"])' "$how/summary.json")
        echo "$how: $parks"
        case $how in
        all) [ "$parks" -le 408 ] ;;    # 50 rounds of 8 ranks, and a few at the end; 5,600 events
        one) [ "$parks" -gt 5000 ] ;;   # any of them may be the one
        sends) [ "$parks" -lt 4500 ] ;; # 5,600, less those of receives that complete before the send
        esac
    done
    cmp all.out one.out
    [ "$(cat sends.out)" = 0.001064945900 ] # as when every event wakes
}
