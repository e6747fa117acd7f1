# SPDX-License-Identifier: BSD-3-Clause
# What pfrun -sample asks of a run: its markers, and regions between them in a fine model.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/sampling
    "$PF_BIN/pfcc" -g -O1 -o "$APP" "$BATS_TEST_DIRNAME/sampling.c"
}

# app MODEL ITERATIONS OPTIONS...: 4 ranks, without computation
app() {
    local model=$1
    shift
    pfrun -np 4 -model "$model" --cfg=smpi/simulate-computation:no "$APP" "$@"
}

# field FILE COMMENT: what the markers say of it
field() {
    sed -n "s/^# $2 //p" "$1"
}

@test "markers: iterations, dates and signatures, the same in each run and with the same simulated times" {
    app analytic 20 phases pcontrol >plain
    for file in once again; do
        PARFOCAL_MARKERS=$file app analytic 20 phases pcontrol >output
        cmp plain output
    done
    cmp once again
    [ "$(field once ranks)" = 4 ]
    [ "$(field once at)" = auto ]
    [ "$(grep -c ',pcontrol,7,' once)" -eq 20 ]
    [ "$(grep -c ',collective,MPI_Allreduce,' once)" -eq 20 ]
    [ "$(grep -c ',collective,MPI_Reduce,' once)" -eq 5 ]
    grep -q '^0,start,,0,' once
    grep -q '^1,phase,"the, first",' once
    [ "$(tail -n 1 once | cut -d, -f2,4-)" = "end,$(field once end),0000000000000000,0,0" ]
    python3 - once <<'END'
import csv, sys
rows = list(csv.DictReader(line for line in open(sys.argv[1]) if line[0] != "#"))
dates = [float(row["date_s"]) for row in rows]
assert [int(row["marker"]) for row in rows] == list(range(len(rows)))
assert dates == sorted(dates) and dates[-1] > dates[1]
steps = [row for row in rows if row["at"] == "pcontrol"]  # each with the messages of its iteration
kinds = [row["signature"] for row in steps]
assert len(set(kinds[:5])) == 5 and all(a == b for a, b in zip(kinds, kinds[5:]))
assert [int(row["calls"]) for row in steps] == [16] * 20
assert [int(row["bytes"]) for row in steps[:5]] == [4 * 4 * 8 * 64 << i for i in range(5)]
END
}

@test "markers: up to one of them, and regions beyond the end of the program" {
    PARFOCAL_MARKERS=whole app analytic 20 pcontrol >/dev/null
    PARFOCAL_MARKERS=begin PARFOCAL_MARKERS_END=9 app analytic 20 pcontrol >said
    [ ! -s said ]
    cmp <(sed -n 's/^\([0-8],.*\)/\1/p' whole) <(sed -n 's/^\([0-8],.*\)/\1/p' begin)
    [ "$(tail -n 1 begin | cut -d, -f1,2,4)" = "9,end,$(sed -n 's/^9,.*,\(.*\),.*,.*,.*/\1/p' whole)" ]
    PARFOCAL_MARKERS=uneven PARFOCAL_MARKERS_END=9 app analytic 20 uneven >/dev/null
    [ "$(field uneven at)" = collective ]
    PARFOCAL_MARKERS=again PARFOCAL_MARKERS_END=900 app analytic 20 pcontrol >said # beyond the end
    grep -q result said
    cmp whole again
    printf '%s\n' '3 6' '30 33' '38 5000' '6000 6001' >regions
    regions 20 pcontrol >said
    grep -q result said
    [ "$(grep -c ^0, regions.dates)" -eq 4 ] && [ "$(grep -c ^1, regions.dates)" -eq 4 ] && [ "$(grep -c '^[23],' regions.dates)" -eq 0 ]
    [ "$(grep -c '^[0-9]' markers)" -eq "$(grep -c '^[0-9]' whole)" ]
    [ "$(grep -c '^# site' markers)" -eq 0 ]
}

@test "markers: a run that may end early goes on where it is short, and where the application has its share" {
    PARFOCAL_MARKERS=whole app analytic 20 pcontrol >said
    PARFOCAL_MARKERS=short PARFOCAL_MARKERS_END=9 PARFOCAL_MARKERS_END_SHARE=1 app analytic 20 pcontrol >again
    cmp said again
    cmp whole <(grep -v '^# early' short)
    PARFOCAL_MARKERS=busy PARFOCAL_MARKERS_END=2 PARFOCAL_MARKERS_END_SHARE=0.1 app analytic 60 pcontrol busy >again
    grep -q result again
    grep -q '^# whole' busy
    PARFOCAL_MARKERS=left PARFOCAL_MARKERS_END=2 PARFOCAL_MARKERS_END_SHARE=1 app portals 1000000 pcontrol >said
    [ ! -s said ]
    [ "$(head -n 2 left | cut -d' ' -f2 | tr '\n' ' ')" = "early left " ]
    [ "$(tail -n 1 left | cut -d, -f2)" = end ]
}

@test "markers: a run that is held goes on with a byte, and ends without one" {
    export PARFOCAL_MARKERS_END=9 PARFOCAL_MARKERS_HOLD=8:5
    PARFOCAL_MARKERS=on app analytic 20 pcontrol 8< <(printf g) >said
    [ "$(head -n 1 on | cut -d' ' -f2,3)" = "held 5" ]
    [ "$(tail -n 1 on | cut -d, -f1,2)" = "9,end" ]
    PARFOCAL_MARKERS=off app analytic 20 pcontrol 8</dev/null >said
    [ "$(tail -n 1 off | cut -d, -f1,2)" = "5,end" ]
}

@test "markers: whatever the level of MPI_Pcontrol" {
    PARFOCAL_MARKERS=markers app analytic 1 levels pcontrol >/dev/null
    [ "$(grep ',pcontrol,' markers | cut -d, -f3 | tr '\n' ' ')" = "0 -120 -2147483648 7 " ]
}

@test "markers: the end is that of the run, in every model" {
    for model in smpi analytic portals; do
        PARFOCAL_SUMMARY=summary.json PARFOCAL_MARKERS=markers app $model 3 >/dev/null
        python3 -c 'import json, sys
assert abs(json.load(open("summary.json"))["simulated_s"] - float(sys.argv[1])) < 1e-12' "$(field markers end)"
    done
}

@test "markers: what not all ranks pass is left out, and one kind alone" {
    PARFOCAL_MARKERS=markers app analytic 5 uneven >/dev/null
    [ "$(field markers unequal)" = phase ]
    [ "$(field markers at)" = collective ]
    PARFOCAL_MARKERS=alone PARFOCAL_MARKERS_AT=collective app analytic 5 uneven >/dev/null
    cmp <(grep '^[0-9]' markers) <(grep '^[0-9]' alone)
    PARFOCAL_MARKERS=alone PARFOCAL_MARKERS_AT=phase app analytic 5 phases >/dev/null
    [ "$(grep -c '^[0-9]' alone)" -eq 4 ]
}

@test "markers: places of the program" {
    PARFOCAL_MARKERS=markers app analytic 20 dup >/dev/null
    [ "$(grep -c '^[0-9]*,collective,MPI_Allreduce' markers)" -eq 20 ] # although on another communicator
    site=$(sed -n 's/^# site \([0-9a-f]*\) MPI_Allreduce 20 20$/\1/p' markers)
    PARFOCAL_MARKERS=at_site PARFOCAL_MARKERS_AT=site:$site app analytic 20 dup >/dev/null
    [ "$(grep -c '^[0-9]*,site,MPI_Allreduce' at_site)" -eq 20 ]
    [ "$(field at_site at)" = "site:$site" ]
    addr2line -s -e "$APP" "$(printf %x $((0x$site - 1)))" | grep "^sampling.c:$(grep -n MPI_Allreduce "$BATS_TEST_DIRNAME/sampling.c" | cut -d: -f1)"
}

@test "markers: what cannot be" {
    PARFOCAL_MARKERS=no/such/markers refuses "cannot write the markers 'no/such/markers': No such file" -np 2 "$APP"
    PARFOCAL_MARKERS=markers PARFOCAL_MARKERS_AT=site:xyz refuses "must be followed by a hexadecimal number" -np 2 "$APP"
    PARFOCAL_MARKERS=markers PARFOCAL_MARKERS_AT=everywhere refuses "PARFOCAL_MARKERS_AT" -np 2 "$APP"
    PARFOCAL_MARKERS=markers run pfrun -np 2 "$APP" 1 dup uneven
    [ "$status" -eq 0 ]
    PARFOCAL_MARKERS=none PARFOCAL_MARKERS_AT=phase run pfrun -np 2 "$APP" 1 uneven
    [ "$status" -eq 1 ]
    [[ $output == *"no markers are written to 'none': not all ranks have passed the same ones"* ]]
    [ ! -e none ]
}

# regions ITERATIONS OPTIONS...: regions of the file `regions` in portals; dates in `regions.dates`, markers in `markers`
regions() {
    PARFOCAL_REGIONS=regions PARFOCAL_REGIONS_MODEL=portals PARFOCAL_MARKERS=markers \
        app analytic "$@"
}

dates() { # of the result, without what it cost
    grep -v '^# cost' regions.dates
}

@test "regions: one over the whole program is the run in that model" {
    PARFOCAL_MARKERS=fine app portals 10 >plain
    echo "0 $(sed -n '$s/,.*//p' fine)" >regions
    regions 10 >output
    cmp <(grep '^[0-9]' fine | cut -d, -f4) <(grep '^0,' regions.dates | cut -d, -f3)
    cmp plain output
}

@test "regions: one from the begin holds for the first thing that the program does" {
    PARFOCAL_MARKERS=fine app portals 10 mpifile >plain
    echo "0 $(sed -n '$s/,.*//p' fine)" >regions
    regions 10 mpifile >output # a file is opened
    cmp <(grep '^[0-9]' fine | cut -d, -f4) <(grep '^0,' regions.dates | cut -d, -f3)
}

@test "regions: the ranks switch at their markers and back, in the same way each time" {
    printf '# a comment\n4 6 # one\n\n8 12\n12 16\n' >regions
    PARFOCAL_MARKERS=cheap app analytic 20 pcontrol >/dev/null
    regions 20 pcontrol >output
    dates >once
    regions 20 pcontrol >again
    cmp output again
    cmp once <(dates)
    [ "$(tail -n +2 once | cut -d, -f1,2 | tr '\n' ' ')" = "0,4 0,5 0,6 1,8 1,9 1,10 1,11 1,12 2,12 2,13 2,14 2,15 2,16 " ]
    [ "$(grep -c '^# cost [0-2] [0-9.]*$' regions.dates)" -eq 3 ]
    cmp <(tail -n +2 once | cut -d, -f2,3 | uniq) <(grep '^[0-9]' markers | cut -d, -f1,4 | grep -E '^(4|5|6|8|9|1[0-6]),')
    cmp <(grep '^[0-4],' cheap | cut -d, -f4) <(grep '^[0-4],' markers | cut -d, -f4) # the same before, and other times in it
    ! cmp -s <(grep '^6,' cheap) <(grep '^6,' markers)
}

# ends_early MARKER: the run ends with its last region, at this marker, and its output is the same as when it goes on
ends_early() {
    local settings=(PARFOCAL_REGIONS=regions PARFOCAL_REGIONS_MODEL=portals PARFOCAL_SUMMARY=summary.json)
    env "${settings[@]}" PARFOCAL_MARKERS=markers "$PF_BIN/pfrun" -np 4 -model analytic --cfg=smpi/simulate-computation:no "$APP" 20 pcontrol >output
    grep '^result ' output
    dates >whole
    ! grep ended whole
    env "${settings[@]}" "$PF_BIN/pfrun" -np 4 -model analytic --cfg=smpi/simulate-computation:no "$APP" 20 pcontrol >output
    [ ! -s output ]
    [ "$(field regions.dates ended)" = $1 ]
    cmp whole <(dates | grep -v '^# ended')
    python3 -c 'import json; summary = json.load(open("summary.json")); assert 0 < summary["simulated_s"] < float(open("whole").read().split(",")[-1]) * 1.01'
    [ -z "$(ls -A tmp)" ]
}

# The cost of a region is the simulation's: some iterations in which four ranks compute for a second and more.
@test "regions: what the application computes is no part of what they cost" {
    echo '3 19' >regions
    regions 12 pcontrol busy >/dev/null
    grep "^# cost" regions.dates
    python3 -c 'import sys; sys.exit(not 0 < float(sys.argv[1]) < 0.5)' "$(sed -n 's/^# cost 0 //p' regions.dates)"
}

@test "regions: the run ends after the last one, if nothing else is asked of it" {
    printf '4 6\n8 12\n' >regions
    ends_early 12
    regions 20 pcontrol | grep '^result ' # the markers are wanted
    echo "0 $(sed -n '$s/,.*//p' markers)" >regions
    PARFOCAL_REGIONS=regions PARFOCAL_REGIONS_MODEL=portals app analytic 20 pcontrol | grep '^result ' # it is the end
}

@test "regions: files that cannot be" {
    bad() { # TEXT CONTENTS
        printf -- "$2" >regions
        PARFOCAL_REGIONS=regions refuses "regions: $1" -np 2 "$APP"
    }
    bad "line 2: expected two numbers of markers" '1 2\n3\n'
    bad "line 1: expected two numbers of markers" '1 2 3\n'
    bad "line 1: expected two numbers of markers" '-1 2\n'
    bad "line 1: the last marker must come after the first" '2 2\n'
    bad "line 2: a region must not begin before the one above ends" '2 5\n4 6\n'
    echo "1 2" >regions
    PARFOCAL_REGIONS=nosuch refuses "cannot read 'nosuch'" -np 2 "$APP"
    PARFOCAL_REGIONS=/ refuses "cannot read '/'" -np 2 "$APP"
    mkdir regions.dates
    PARFOCAL_REGIONS=regions refuses "cannot write 'regions.dates': Is a directory" -np 2 "$APP"
    rmdir regions.dates
    PARFOCAL_REGIONS=regions PARFOCAL_REGIONS_MODEL=portal \
        refuses "unknown model 'portal', maybe portals?" -np 2 "$APP"
    echo "1 1000" >regions
    regions 3 >/dev/null
    [ "$(grep -v '^#' regions.dates)" = region,marker,date_s ]
}

@test "a sample that is stopped prints one line, and leaves nothing behind where no run was finished" {
    printf '#include <mpi.h>\nint main(void) { MPI_Init(0, 0); for (;;) MPI_Barrier(MPI_COMM_WORLD); }\n' >spin.c
    "$PF_BIN/pfcc" -o spin spin.c
    PARFOCAL_MARKERS_AT=phase "$PF_BIN/pfrun" -sample 1% -np 2 "$PWD/spin" >said 2>&1 3>&- &
    local run=$! i
    for i in $(seq 600); do
        [ -e .parfocal-sample-*/runs/1/output.txt ] && break
        sleep 0.1
    done
    kill -TERM $run
    local status=0
    wait $run || status=$?
    cat said
    [ "$status" -eq 143 ]
    [ "$(cat said)" = "parfocal: error: -sample: stopped by SIGTERM; nothing of it is kept" ]
    [ ! -e .parfocal-sample-* ]
}
