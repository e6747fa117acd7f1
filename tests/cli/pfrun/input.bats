# SPDX-License-Identifier: BSD-3-Clause
# Bad input: one clear line, exit status 1, nothing left behind.
load common.bash

@test "unknown option, with a suggestion" { refuses "unknown option '-platfrom', maybe -platform?" -np 2 -platfrom x "$APP"; }
@test "option without its value" { refuses "-np needs a value" -np; }
@test "option with an empty value" {
    for option in -fail -background -schedule -platform; do
        refuses "$option: its value is empty" -np 2 $option "" "$APP"
    done
}
@test "-np that is no number" { refuses "'two'" -np two "$APP"; }
@test "-np of zero" { refuses "from 1 to 10000000, not '0'" -np 0 "$APP"; }
@test "no application" { refuses "no application given" -np 2; }
@test "application that does not exist" { refuses "'./nosuch' does not exist" -np 2 ./nosuch; }
@test "application that is a directory" { refuses "not a file" -np 2 /usr; }

@test "application that is not executable" {
    cp "$APP" app
    chmod -x app
    refuses "not readable and executable" -np 2 ./app
}

@test "application that is a script of nothing" {
    printf '#!./nosuch\n' >script
    refuses "not readable and executable" -np 2 ./script
    chmod +x script
    refuses "the application './nosuch' does not exist" -np 2 ./script
}

@test "application that is empty" {
    : >empty
    chmod +x empty
    refuses "it is empty" -np 2 ./empty
}

@test "application that is truncated" {
    head -c 2000 "$APP" >short
    chmod +x short
    refuses "short' was not built with pfcc" -np 2 ./short
}

@test "executable of one place" {
    echo 'int main(void) { return 0; }' >x.c
    cc -no-pie x.c -o x
    refuses "not built with pfcc or pfcxx (it is linked for one place in memory (-no-pie))" -np 2 ./x
}

@test "platform that does not exist" { refuses "neither a readable file nor a built-in platform" -np 2 -platform nosuch.xml "$APP"; }
@test "built-in platform with a bad size" { refuses "is no number of nodes of a star" -np 2 -platform star:x "$APP"; }
@test "neither -np nor hostfile" { refuses "-np is missing" "$APP"; }

@test "platform that is not XML" {
    echo hello >p.xml
    refuses "p.xml:1" -np 2 -platform p.xml "$APP"
}

@test "hostfile that does not exist" { refuses "cannot read the hostfile 'nosuch'" -np 2 -hostfile nosuch "$APP"; }

@test "-np larger than the hostfile allows" {
    printf 'node-1000:2\nnode-1001\n' >hosts
    refuses "-np 4 is more than the hostfile 'hosts' allows: 3" -np 4 -hostfile hosts -platform star:2 "$APP"
}

@test "host that the platform has not" {
    printf 'node-1000\n\nnode-1007\n' >hosts
    refuses "hosts: line 3: the platform 'star:2' has no host 'node-1007'" -hostfile hosts -platform star:2 "$APP"
}

@test "hosts by the names that they had when names depended on their number" {
    printf 'node-101:2\n' >hosts
    run timeout 60 "$PF_BIN/pfrun" -np 2 -map -hostfile hosts -platform star:16 "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
    grep -F "hosts: line 1: host 'node-101' is now called 'node-1001'" <<<"$output"
    grep -F "[rank 0] -> node-1001" <<<"$output"
}

@test "hostfile with a bad line" {
    printf 'node-1000 slots=many\n' >hosts
    refuses "hosts: line 1: " -hostfile hosts "$APP"
}

@test "empty hostfile" {
    : >hosts
    refuses "names no host" -hostfile hosts "$APP"
}

@test "unknown model" { refuses "-model: unknown model 'portal', maybe portals?" -np 2 -model portal "$APP"; }
@test "unknown model to load" { refuses "-load: unknown model 'smtp', maybe smpi?" -np 2 -load portals,smtp "$APP"; }
@test "model missing in -load" { refuses "a model is missing after the last comma" -np 2 -load smpi, "$APP"; }

@test "unknown model in the environment" {
    PARFOCAL_MODEL=fast refuses "PARFOCAL_MODEL: unknown model 'fast'" -np 2 "$APP"
}

@test "bad schedule: position and reason" {
    refuses "-schedule: line 1, column 14: unknown model 'portal', maybe portals?" -np 2 -schedule 'a=smpi,solve=portal' "$APP"
}

@test "bad schedule in a file: its name, position and reason" {
    printf '# phases\nsolve=portals\n@coll:x=smpi\n' >sched
    refuses "-schedule: sched: line 3, column 7: " -np 2 -schedule sched "$APP"
}

@test "schedule file that does not exist" { refuses "'sched' is neither a file nor a schedule" -np 2 -schedule sched "$APP"; }
@test "unknown agreement" { refuses "-agree: 'maybe' is not one of: follow, strict" -np 2 -agree maybe "$APP"; }
@test "unknown trace format" { refuses "trace: unknown format 'tau'; there are csv, paje, chrome, otf2, text, svg" -np 2 -trace tau:x "$APP"; }
@test "unknown setting of ours" { refuses "--cfg=parfocal/nosuch: there is no setting 'nosuch'" -np 2 --cfg=parfocal/nosuch:1 "$APP"; }
@test "setting without a value" { refuses "a setting is --cfg=KEY:VALUE" -np 2 --cfg=smpi/host-speed "$APP"; }

@test "unknown setting of SimGrid" { refuses "Bad config key: smpi/nosuch" -np 2 --cfg=smpi/nosuch:1 "$APP"; }
@test "malformed setting of SimGrid" { refuses "cannot parse number" -np 2 --cfg=smpi/host-speed:abc "$APP"; }

@test "report directory that cannot be made" {
    : >file
    refuses "-report: cannot write to the directory 'file/x'" -np 2 -report file/x "$APP"
}

@test "temporary directory that does not exist" { refuses "cannot make a temporary directory in 'nosuch'" -np 2 -tmpdir nosuch "$APP"; }

@test "limit of open files too low" {
    ulimit -n 40
    refuses "the limit of open files is 40" -np 2 "$APP"
}

@test "more ranks than memory maps allow" {
    [ "$(cat /proc/sys/vm/max_map_count)" -le 1000000 ] || skip "this system has a very high limit"
    refuses "memory maps, the limit is" -np 100000 -platform star:4 "$APP"
    grep -E ': at most [0-9]+ ranks here \(more with sysctl' <<<"$output"
}

@test "SimGrid gives up: its message, one line of ours, exit status 1" {
    run pfrun -np 2 --cfg=contexts/factory:nosuch "$APP"
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$(grep -c '^parfocal: error: ' <<<"$output")" -eq 1 ]
    grep "valid factory" <<<"$output"
}

@test "more than one thread of SimGrid" { refuses "all ranks share one thread" -np 2 --cfg=contexts/nthreads:2 "$APP"; }
@test "a thread for each rank" { refuses "all ranks share one thread" -np 2 --cfg=contexts/factory:thread "$APP"; }

@test "a library of the application is missing" {
    echo 'int helper(void) { return 0; }' >helper.c
    cc -shared -fPIC -o libhelper.so helper.c
    echo '#include <mpi.h>
int helper(void);
int main(int c, char **v) { MPI_Init(&c, &v); helper(); return MPI_Finalize(); }' >x.c
    "$PF_BIN/pfcc" -o x x.c -L. -lhelper
    rm libhelper.so
    run pfrun -np 2 ./x
    echo "$output"
    [ "$status" -eq 1 ]
    grep "libhelper.so" <<<"$output"
    [ "$(grep -c '^parfocal: error: ' <<<"$output")" -eq 1 ]
}

@test "-report that is a file" {
    : >file
    refuses "-report: 'file' is a file, and must be a directory" -np 2 -report file "$APP"
}

@test "platform that is a directory" { refuses "-platform: '/' is a directory" -np 2 -platform / "$APP"; }

@test "unknown platform in the environment" {
    PARFOCAL_PLATFORM=nosuch refuses "PARFOCAL_PLATFORM: 'nosuch' is neither a readable file" -np 2 "$APP"
}

@test "malformed logging" { refuses "'--log=x': a setting is --log=CATEGORY.KEY:VALUE" -np 2 --log=x "$APP"; }

@test "settings out of their range: the name as it was given" {
    PARFOCAL_NIC_PCIE_PACKET=0 refuses "PARFOCAL_NIC_PCIE_PACKET: '0' is not a whole number from 1" -np 2 "$APP"
    PARFOCAL_PLATFORM_CORES=0 refuses "PARFOCAL_PLATFORM_CORES: '0' is not a whole number from 1" -np 2 "$APP"
    refuses "--cfg=parfocal/net_loss: '2' is not a number from 0 to 1" -np 2 --cfg=parfocal/net_loss:2 "$APP"
    refuses "--cfg=parfocal/model: unknown model 'portl', maybe portals?" -np 2 --cfg=parfocal/model:portl "$APP"
}

@test "trace of SMPI in a directory that is not there" {
    refuses "trace: cannot write the file 'nosuch/x'" -np 2 -trace ti:nosuch/x "$APP"
    refuses "trace: cannot write the file 'nosuch/x'" -np 2 -trace smpi:nosuch/x "$APP"
}

@test "a pfcc program under another launcher" {
    for variable in OMPI_COMM_WORLD_SIZE=2 PMI_SIZE=4 PMIX_RANK=1; do
        run env "$variable" timeout 60 "$APP"
        echo "$output"
        [ "$status" -eq 1 ]
        grep -F "another launcher has started it ($variable); start it with pfrun -np N" <<<"$output"
    done
}

@test "a platform with a pair of hosts that no route joins" {
    cat >p.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/></zone></platform>
END
    echo '#include <mpi.h>
int main(int c, char **v) { MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }' >x.c
    "$PF_BIN/pfcc" -o x x.c
    refuses "the platform has no route from host" -np 2 -platform p.xml -model portals ./x
    refuses "the platform has no route from host" -np 2 -platform p.xml -model analytic ./x
    sed 's|</zone>|<host id="c" speed="1Gf"/><link id="l" bandwidth="1GBps" latency="1us"/><route src="a" dst="b"><link_ctn id="l"/></route></zone>|' p.xml >q.xml
    refuses "the platform has no route from host" -np 3 -platform q.xml -model analytic ./x # behind a pair that one joins
}

@test "dragonflies of any size" {
    for hosts in 1024 1025 5000; do
        run pfrun -np 2 -platform "dragonfly:$hosts" "$APP" ok
        echo "$output"
        [ "$status" -ne 134 ]
        ! grep "given up" <<<"$output"
    done
}

@test "more ranks than there can be: the largest number, in one line" {
    refuses "'fattree': 100000 hosts are too many, a fattree has at most 27648" -np 100000 "$APP"
}

@test "ranks that do not fit into memory are refused before they start" {
    ulimit -v 3000000
    refuses "300 ranks need 32.5 GiB of address space and what the program takes; the limit is 2.9 GiB (ulimit -v): at most 26 ranks" -np 300 -model portals "$APP"
    run pfrun -np 20 -model portals "$APP"
    echo "$output"
    [ "$status" -eq 0 ]
}
