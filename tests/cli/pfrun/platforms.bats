# SPDX-License-Identifier: BSD-3-Clause
# Platforms in XML and C++: what works, and what is refused before SimGrid sees it, or when it gives up.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/pingpong
    "$PF_BIN/pfcc" -o "$APP" "$BATS_TEST_DIRNAME/../../../examples/pingpong/pingpong.c"
    cd "$BATS_FILE_TMPDIR"
    platform good 'zone->seal();'
}

xml() {
    printf '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">%s</platform>\n' "$1" >"$2"
}

# platform NAME END [BW]: NAME.so, two hosts in zones within each other and a link between them
platform() {
    local zones='auto *zone = sg::create_full_zone("zone"), *outer = sg::create_full_zone("outer")->set_parent(zone),
        *inner = sg::create_full_zone("inner")->set_parent(zone);' add=create
    local ends='outer->get_netpoint(), inner->get_netpoint(), a->get_netpoint(), b->get_netpoint()'
    case $("$PF_BIN/pfinfo" | head -n 1) in
    *"SimGrid 3"*) ;;
    *)
        zones='auto *zone = engine.get_netzone_root()->add_netzone_full("zone"), *outer = zone->add_netzone_full("outer"),
            *inner = zone->add_netzone_full("inner");' add=add
        ends='(outer->set_gateway(a->get_netpoint()), outer), (inner->set_gateway(b->get_netpoint()), inner)'
        ;;
    esac
    cat >"$1.cpp" <<END
#include <simgrid/s4u.hpp>
namespace sg = simgrid::s4u;
extern "C" void load_platform(const sg::Engine &);
void load_platform(const sg::Engine &engine)
{
    $zones
    auto *a = outer->${add}_host("a", 1e9), *b = inner->${add}_host("b", 1e9);
    auto *link = zone->${add}_split_duplex_link("l", LINK_BW)->set_latency(1e-6)->seal();
    zone->add_route($ends, {sg::LinkInRoute(link, sg::LinkInRoute::Direction::UP)}, true);
    $2
}
END
    c++ -shared -fPIC "-DLINK_BW=${3:-1e10}" "$1.cpp" -o "$1.so" -lsimgrid
}

times() {
    timeout -k 5 300 "$PF_BIN/pfrun" -np 2 --cfg=smpi/simulate-computation:no "$@" "$APP"
}

CLUSTER='<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="10GBps" lat="500ns"/>'

# bad TEXT OLD NEW: the cluster with NEW for OLD is refused so
bad() {
    xml "${CLUSTER/"$2"/"$3"}" p.xml
    refuses "$1" -np 2 -platform p.xml "$APP"
}

@test "a platform in C++ is that of the same values in XML, in all models, sealed or not" {
    cp "$BATS_FILE_TMPDIR/good.so" .
    sed 's/^    zone->seal();$//' "$BATS_FILE_TMPDIR/good.cpp" >open.cpp
    c++ -shared -fPIC -DLINK_BW=1e10 open.cpp -o open.so -lsimgrid
    xml '<zone id="zone" routing="Full"><zone id="inner" routing="Full"><host id="b" speed="1Gf"/></zone>
<zone id="outer" routing="Full"><host id="a" speed="1Gf"/></zone><link id="l" bandwidth="10GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>
<zoneRoute src="outer" dst="inner" gw_src="a" gw_dst="b"><link_ctn id="l" direction="UP"/></zoneRoute></zone>' p.xml
    for model in smpi analytic portals packet; do
        times -model $model -platform p.xml >xml.$model
        times -model $model -platform good.so >sealed.$model
        times -model $model -platform ./open.so >open.$model
        cmp xml.$model sealed.$model
        cmp xml.$model open.$model
    done
}

@test "what is no platform in C++" {
    echo 'int other;' >x.c
    cc -shared -fPIC x.c -o none.so
    refuses "the platform 'none.so': it has no function load_platform" -np 2 -platform none.so "$APP"
    echo text >text.so
    refuses "the platform 'text.so': " -np 2 -platform text.so "$APP"
    platform bw '' -1
    refuses "the bandwidth of link l_" -np 2 -platform bw.so "$APP"
    echo '#include <stdexcept>
extern "C" void load_platform(const void *) { throw std::runtime_error("no license\nat all"); }' >throws.cpp
    c++ -shared -fPIC throws.cpp -o throws.so
    refuses "the platform 'throws.so': no license" -np 2 -platform throws.so "$APP"
    printf '#include <cstdlib>\nextern "C" void load_platform(const void *) { }' >empty.cpp
    c++ -shared -fPIC empty.cpp -o empty.so
    refuses "the platform 'empty.so': it" -np 2 -platform empty.so "$APP" # its load_platform() makes no zone; with SimGrid 4: it has no host
}

@test "numbers that are none" {
    bad 'p.xml:3: <cluster lat="nan">: this must be a number from 0' 500ns nan
    bad 'p.xml:3: <cluster lat="-1ns">' 500ns -1ns
    bad 'p.xml:3: <cluster bw="0">: this must be a number above 0' 10GBps 0
    bad 'p.xml:3: <cluster bw="inf">' 10GBps inf
    bad 'p.xml:3: <cluster bw="">' 10GBps ''
    bad 'p.xml:3: <cluster speed="1Gf,-2Gf">' 1Gf 1Gf,-2Gf
    bad 'p.xml:3: <cluster core="1e9">' 'speed="1Gf"' 'speed="1Gf" core="1e9"'
    bad "the platform 'p.xml': Parse error at p.xml:3: unknown unit: nsX" 500ns 500nsX
}

@test "too many, too deep, none at all" {
    bad 'p.xml:3: <cluster radical="0-2000000000">: 2000000001 hosts; a platform may have 10000000' 0-3 0-2000000000
    bad 'p.xml:3: <cluster radical="3-0">: this must be numbers and ranges' 0-3 3-0
    bad 'topo_parameters="0,4">: whole numbers above 0' 'speed=' 'topology="TORUS" topo_parameters="0,4" speed='
    bad 'topo_parameters="1e6,1e6">: too large' 'speed=' 'topology="TORUS" topo_parameters="1e6,1e6" speed='
    bad '<zone>: more than 64 elements within each other' "$CLUSTER" "$(printf '<zone id="z" routing="Full">%.0s' {1..100})"
    bad "the platform 'p.xml': it has no host" "$CLUSTER" '<zone id="z" routing="Full"/>'
    printf '<?xml version="1.0"?><!DOCTYPE p [<!ENTITY a "&b;&b;"><!ENTITY b "%0999d">]><platform version="4.1">&a;</platform>' 0 >p.xml
    refuses "the platform 'p.xml': Parse error" -np 2 -platform p.xml "$APP"
}

@test "what SimGrid cannot do without is named, without a backtrace" {
    xml '<zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/></zone>' p.xml
    run pfrun -np 2 -platform p.xml "$APP"
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$(grep -c '^parfocal: error: .*no connecting path between' <<<"$output")" -eq 1 ]
    [[ ! "$output" =~ acktrace|CRITICAL ]]
    xml '<zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="a" speed="1Gf"/></zone>' p.xml
    refuses "the platform 'p.xml': Refusing to create a second host named 'a'" -np 2 -platform p.xml "$APP"
}

@test "a platform sets nothing that names files, and no list that SimGrid cannot read" {
    bad '<prop id="tracing/filename" value="x">: a platform may not set this' "$CLUSTER" '<config><prop id="tracing/filename" value="x"/></config>'
    bad "smpi/os: '1' is no list" "$CLUSTER" '<config><prop id="smpi/os" value="1"/></config>'
    refuses "--cfg=smpi/bw-factor: '0.2' is no list such as" -np 2 --cfg=smpi/bw-factor:0.2 "$APP"
    refuses "--cfg=network/latency-factor: 'nan' is no finite number" -np 2 --cfg=network/latency-factor:nan "$APP"
    refuses "--cfg=surf/precision: '0' is too small: it must be more than 0" -np 2 --cfg=surf/precision:0 "$APP"
    refuses "--cfg=contexts/stack-size: '-1' is too small: it must be at least 16" -np 2 --cfg=contexts/stack-size:-1 "$APP"
    refuses "SimGrid: Invalid value (0) for 'smpi/host-speed': it must be positive." -np 2 --cfg=smpi/host-speed:0 "$APP"
    refuses "SimGrid: Option '2' badly formatted" -np 2 --cfg=smpi/wtime:1,2 "$APP"
}

@test "-fail: a split-duplex link by its name is both directions, with its suffix one" {
    xml '<zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="10GBps" latency="1us" sharing_policy="SPLITDUPLEX"/><route src="a" dst="b"><link_ctn id="l" direction="UP"/></route></zone>' p.xml
    echo '#include <mpi.h>
#include <stdio.h>
int main(int c, char **v)
{
    int r;
    MPI_Init(&c, &v);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    if (r == 0) MPI_Ssend(&c, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(&c, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (r == 0) printf("%.9f\n", MPI_Wtime());
    return MPI_Finalize();
}' >one.c
    "$PF_BIN/pfcc" one.c -o one
    APP=./one
    times -model packet -platform p.xml -fail l_UP@1:2 >whole
    times -model packet -platform p.xml -fail l@0:1e-3 >both
    times -model packet -platform p.xml -fail l_UP@0:1e-3,l_DOWN@0:1e-3 >each
    cmp both each
    run cmp whole both
    [ "$status" -eq 1 ]
    refuses "no route of the platform has a link of this name" -np 2 -model packet -platform p.xml -fail l_U@0 "$APP"
}

# two LINK-ATTRIBUTES HOST-ATTRIBUTES DIRECTION: p.xml, two hosts and a link; to.c sends 1 MB twice and prints the date in ms
two() {
    xml "<zone id=\"z\" routing=\"Full\"><host id=\"a\" speed=\"1Gf\" $2/><host id=\"b\" speed=\"1Gf\"/>
<link id=\"l\" bandwidth=\"100MBps\" latency=\"1us\" $1/><route src=\"a\" dst=\"b\"><link_ctn id=\"l\" $3/></route></zone>" p.xml
    [ -e to ] || {
        echo '#include <mpi.h>
#include <stdio.h>
static char b[1000000];
int main(int c, char **v)
{
    int r;
    MPI_Init(&c, &v);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    for (int i = 0; i < 2; i++)
        if (r == 0) MPI_Ssend(b, 1000000, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        else MPI_Recv(b, 1000000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (r == 0) printf("%.0f\n", 1e3 * MPI_Wtime());
    return MPI_Finalize();
}' >to.c
        "$PF_BIN/pfcc" to.c -o to
    }
    APP=./to
}

@test "profiles of links: each model follows them, or names the link" {
    echo '0.001 1e6' >bw
    echo '0.001 0
5 1' >down
    echo '0.001 2' >lat
    two 'bandwidth_file="bw"'
    for model in portals-ideal portals packet; do
        [ "$(times -model $model -platform p.xml)" -gt 1000 ] # 20 at the first rate
    done
    refuses "link l changes at 0.001 s" -np 2 --cfg=smpi/simulate-computation:no -model analytic -platform p.xml "$APP"
    two 'latency_file="lat"'
    for model in analytic portals-ideal portals packet; do
        refuses "link l has a profile of its latency, which only model smpi follows" -np 2 -model $model -platform p.xml "$APP"
    done
    times -model smpi -platform p.xml
    two 'state_file="down"'
    for model in portals-ideal portals packet; do
        [ "$(times -model $model -platform p.xml)" -gt 5000 ]
    done
    refuses "link l changes at 0.001 s" -np 2 --cfg=smpi/simulate-computation:no -model analytic -platform p.xml "$APP"
}

@test "a host that is switched off is named, in every model" {
    echo '0.001 0' >off
    two '' 'state_file="off"'
    for model in analytic smpi portals packet; do
        refuses "host a is switched off at 0.001 s" -np 2 --cfg=smpi/simulate-computation:no -model $model -platform p.xml "$APP"
    done
}

@test "coordinates: the latency counts, with and without links, or is refused" {
    for peers in 'bw_in="1GBps" bw_out="1GBps"' ''; do
        tag=$([ -n "$peers" ] && echo peer || echo host)
        xml "<zone id=\"z\" routing=\"Vivaldi\"><$tag id=\"a\" coordinates=\"20.0 0.0 1.0\" speed=\"1Gf\" $peers/>
<$tag id=\"b\" coordinates=\"-10.0 0.0 2.0\" speed=\"1Gf\" $peers/></zone>" p.xml
        for model in analytic portals-ideal portals; do
            times -model $model -platform p.xml | grep -E '^pingpong: +1 bytes +3300[01][.]'
        done
        refuses "takes 0.033 s by its coordinates (Vivaldi)" -np 2 -model packet -platform p.xml "$APP"
    done
}

@test "wireless links are for smpi alone" {
    xml '<zone id="w" routing="Wifi"><prop id="access_point" value="ap"/><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<router id="ap"/><link id="air" sharing_policy="WIFI" bandwidth="54Mbps,36Mbps" latency="0ms"/></zone>' p.xml
    for model in analytic portals-ideal portals packet; do
        refuses "link " -np 2 -model $model -platform p.xml "$APP"
        grep -q "wireless (WIFI), which only model smpi can simulate" <<<"$output"
    done
}

@test "-fail for ever: which host has given up, when, and which link it was" {
    two 'sharing_policy="SPLITDUPLEX"' '' 'direction="UP"'
    run pfrun -np 2 --cfg=smpi/simulate-computation:no --cfg=parfocal/nic_retry_timeout:0.01 -model packet -platform p.xml -fail l_UP@1e-3 "$APP"
    echo "$output"
    [ "$status" -ne 0 ]
    grep -E '^parfocal: warning: host a has stopped sending to host b at 0\.0[67][0-9]* s, after 5 repetitions .*this link is down: l_UP$' <<<"$output"
}

@test "a slow link: what finds its receive crosses it once, what comes before its receive twice, in all models" {
    xml '<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1MBps" lat="1us"/>' p.xml
    echo '#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static char a[1000000], b[1000000];
int main(int c, char **v)
{
    int r, n;
    MPI_Request s;
    MPI_Init(&c, &v);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Request q = MPI_REQUEST_NULL;
    int late = c > 1, left = (r + n - 1) % n;
    if (!late) MPI_Irecv(b, 1000000, MPI_CHAR, left, 0, MPI_COMM_WORLD, &q);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    MPI_Isend(a, 1000000, MPI_CHAR, (r + 1) % n, 0, MPI_COMM_WORLD, &s);
    if (late) usleep(100000);
    if (late) MPI_Irecv(b, 1000000, MPI_CHAR, left, 0, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    if (r == 0) printf("%.0f\n", 1e3 * (MPI_Wtime() - begin));
    return MPI_Finalize();
}' >shift.c
    "$PF_BIN/pfcc" shift.c -o shift
    APP=./shift
    for model in analytic portals-ideal portals packet; do
        early=$(times -np 4 -model $model -platform p.xml)
        late=$(timeout 300 "$PF_BIN/pfrun" -np 4 --cfg=smpi/simulate-computation:no -model $model -platform p.xml ./shift late)
        echo "$model $early $late"
        [ "$early" -ge 1023 ] && [ "$early" -le 1025 ]
        [ "$late" -ge 2040 ] && [ "$late" -le 2150 ]
    done
}

@test "a trace or summary is not written through another user's symbolic link" {
    [ "$(id -u)" -eq 0 ] || skip "only root makes links of others"
    echo kept >victim
    ln -s victim trace.csv
    times -platform star:2 -trace csv:trace.csv >/dev/null # one's own link is followed
    run grep -q kept victim
    [ "$status" -eq 1 ]
    echo kept >victim
    chown -h 12345 trace.csv
    refuses "'trace.csv' is a symbolic link that another user has made" -np 2 -platform star:2 -trace csv:trace.csv "$APP"
    PARFOCAL_MARKERS=trace.csv refuses "'trace.csv' is a symbolic link that another user has made" -np 2 -platform star:2 "$APP"
    [ "$(cat victim)" = kept ]
}
