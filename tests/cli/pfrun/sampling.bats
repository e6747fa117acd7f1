# SPDX-License-Identifier: BSD-3-Clause
# What pfrun -sample asks of a run: its marks, and windows between them in a fine model.
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

# field FILE COMMENT: what the marks say of it
field() {
    sed -n "s/^# $2 //p" "$1"
}

@test "marks: iterations, dates and signatures, the same in each run and with the same simulated times" {
    app analytic 20 phases pcontrol >plain
    for file in once again; do
        PARFOCAL_MARKS=$file app analytic 20 phases pcontrol >told
        cmp plain told
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
assert [int(row["mark"]) for row in rows] == list(range(len(rows)))
assert dates == sorted(dates) and dates[-1] > dates[1]
steps = [row for row in rows if row["at"] == "pcontrol"]  # each with the messages of its iteration
kinds = [row["signature"] for row in steps]
assert len(set(kinds[:5])) == 5 and all(a == b for a, b in zip(kinds, kinds[5:]))
assert [int(row["calls"]) for row in steps] == [16] * 20
assert [int(row["bytes"]) for row in steps[:5]] == [4 * 4 * 8 * 64 << i for i in range(5)]
END
}

@test "marks: up to one of them, and windows beyond the end of the program" {
    PARFOCAL_MARKS=whole app analytic 20 pcontrol >/dev/null
    PARFOCAL_MARKS=begin PARFOCAL_MARKS_END=9 app analytic 20 pcontrol >said
    [ ! -s said ]
    cmp <(sed -n 's/^\([0-8],.*\)/\1/p' whole) <(sed -n 's/^\([0-8],.*\)/\1/p' begin)
    [ "$(tail -n 1 begin | cut -d, -f1,2,4)" = "9,end,$(sed -n 's/^9,.*,\(.*\),.*,.*,.*/\1/p' whole)" ]
    PARFOCAL_MARKS=uneven PARFOCAL_MARKS_END=9 app analytic 20 uneven >/dev/null
    [ "$(field uneven at)" = collective ]
    PARFOCAL_MARKS=again PARFOCAL_MARKS_END=900 app analytic 20 pcontrol >said # beyond the end
    grep -q result said
    cmp whole again
    printf '%s\n' '3 6' '30 33' '38 5000' '6000 6001' >windows
    PARFOCAL_WINDOWS_OPEN=yes windows 20 pcontrol >said
    grep -q result said
    [ "$(grep -c ^0, result)" -eq 4 ] && [ "$(grep -c ^1, result)" -eq 4 ] && [ "$(grep -c '^[23],' result)" -eq 0 ]
    [ "$(grep -c '^# failed' result)" -eq 0 ]
    [ "$(grep -c '^[0-9]' marks)" -eq "$(grep -c '^[0-9]' whole)" ]
    [ "$(grep -c '^# site' marks)" -eq 0 ]
    run windows 20 pcontrol
    [ "$status" -eq 1 ]
}

@test "marks: a run that may end early goes on where it is short, and where the application has its share" {
    PARFOCAL_MARKS=whole app analytic 20 pcontrol >said
    PARFOCAL_MARKS=short PARFOCAL_MARKS_END=9 PARFOCAL_MARKS_END_SHARE=1 app analytic 20 pcontrol >again
    cmp said again
    cmp whole short
    PARFOCAL_MARKS=busy PARFOCAL_MARKS_END=2 PARFOCAL_MARKS_END_SHARE=0.1 app analytic 12 pcontrol busy >again
    grep -q result again
    [ "$(head -n 1 busy)" = "# whole" ]
    PARFOCAL_MARKS=left PARFOCAL_MARKS_END=2 PARFOCAL_MARKS_END_SHARE=1 app portals 1000000 pcontrol >said
    [ ! -s said ]
    [ "$(head -n 1 left)" = "# left" ]
    [ "$(tail -n 1 left | cut -d, -f2)" = end ]
}

@test "marks: whatever the level of MPI_Pcontrol" {
    PARFOCAL_MARKS=marks app analytic 1 levels pcontrol >/dev/null
    [ "$(grep ',pcontrol,' marks | cut -d, -f3 | tr '\n' ' ')" = "0 -120 -2147483648 7 " ]
}

@test "marks: the end is that of the run, in every model" {
    for model in smpi analytic portals; do
        PARFOCAL_SUMMARY=summary.json PARFOCAL_MARKS=marks app $model 3 >/dev/null
        python3 -c 'import json, sys
assert abs(json.load(open("summary.json"))["simulated_s"] - float(sys.argv[1])) < 1e-12' "$(field marks end)"
    done
}

@test "marks: what not all ranks pass is left out, and one kind alone" {
    PARFOCAL_MARKS=marks app analytic 5 uneven >/dev/null
    [ "$(field marks unequal)" = phase ]
    [ "$(field marks at)" = collective ]
    PARFOCAL_MARKS=alone PARFOCAL_MARKS_AT=collective app analytic 5 uneven >/dev/null
    cmp <(grep '^[0-9]' marks) <(grep '^[0-9]' alone)
    PARFOCAL_MARKS=alone PARFOCAL_MARKS_AT=phase app analytic 5 phases >/dev/null
    [ "$(grep -c '^[0-9]' alone)" -eq 4 ]
}

@test "marks: places of the program" {
    PARFOCAL_MARKS=marks app analytic 20 dup >/dev/null
    [ "$(grep -c '^[0-9]*,collective,MPI_Allreduce' marks)" -eq 20 ] # although on another communicator
    site=$(sed -n 's/^# site \([0-9a-f]*\) MPI_Allreduce 20 20$/\1/p' marks)
    PARFOCAL_MARKS=at_site PARFOCAL_MARKS_AT=site:$site app analytic 20 dup >/dev/null
    [ "$(grep -c '^[0-9]*,site,MPI_Allreduce' at_site)" -eq 20 ]
    [ "$(field at_site at)" = "site:$site" ]
    addr2line -s -e "$APP" "$(printf %x $((0x$site - 1)))" | grep "^sampling.c:$(grep -n MPI_Allreduce "$BATS_TEST_DIRNAME/sampling.c" | cut -d: -f1)"
}

@test "marks: slices, whose ends are the same points in each model" {
    PARFOCAL_MARKS=marks app analytic 40 uneven >plain
    python3 - marks 3 <<'END' >slices
import sys
rows = [line.split()[2:] for line in open(sys.argv[1]) if line.startswith("# slice ")]
calls, dates = [int(row[0]) for row in rows], [float(row[2]) for row in rows]
assert len(rows) > 100 and calls == sorted(set(calls)) and dates == sorted(dates)
for i in range(0, len(rows) - 1, int(sys.argv[2])):
    print(calls[i])
END
    for model in analytic portals; do
        PARFOCAL_MARKS=$model PARFOCAL_MARKS_AT=slices:slices app $model 40 uneven >said
        grep result said >/dev/null
        [ "$(grep -c '^[0-9]*,slice,' $model)" -eq "$(wc -l <slices)" ]
        [ "$(field $model at)" = slices:slices ]
        [ "$(field $model calls)" = "$(sed -n 's/^# slice \([0-9]*\) .*/\1/p' marks | tail -n 1)" ]
        [ "$(tail -n 1 $model | cut -d, -f2)" = end ]
    done
    [ "$(tail -n 1 analytic)" != "$(tail -n 1 portals)" ]
    # What all ranks have done between two ends is counted where each passes them: in all, nothing is lost.
    [ "$(awk -F, '/^[0-9]/ { calls += $6 } END { print calls }' portals)" = "$(field portals calls)" ]
    printf '3 6\n10 14\n' >windows
    PARFOCAL_MARKS_AT=slices:slices windows 40 uneven >/dev/null
    grep -v '^#' result >dated
    python3 - dated <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
dates = [float(row["date_s"]) for row in rows]
assert [int(row["mark"]) for row in rows] == [3, 4, 5, 6, 10, 11, 12, 13, 14] and dates == sorted(set(dates))
END
    echo "3 $(($(grep -c ^ portals) - 7))" >windows
    PARFOCAL_MARKS_AT=slices:slices windows 40 uneven >/dev/null
    [ "$(field result calls)" = "$(field portals calls)" ]
}

@test "marks: what cannot be" {
    printf '3\n2\n' >falling
    PARFOCAL_MARKS=marks PARFOCAL_MARKS_AT=slices:falling refuses "falling: line 2: numbers of calls are wanted, one in a line, which grow" -np 2 "$APP"
    PARFOCAL_MARKS=marks PARFOCAL_MARKS_AT=slices:nowhere refuses "cannot read 'nowhere': No such file" -np 2 "$APP"
    PARFOCAL_MARKS=no/such/marks refuses "cannot write the marks 'no/such/marks': No such file" -np 2 "$APP"
    PARFOCAL_MARKS=marks PARFOCAL_MARKS_AT=site:xyz refuses "must be followed by a hexadecimal number" -np 2 "$APP"
    PARFOCAL_MARKS=marks PARFOCAL_MARKS_AT=everywhere refuses "PARFOCAL_MARKS_AT" -np 2 "$APP"
    PARFOCAL_MARKS=marks run pfrun -np 2 "$APP" 1 dup uneven
    [ "$status" -eq 0 ]
    PARFOCAL_MARKS=none PARFOCAL_MARKS_AT=phase run pfrun -np 2 "$APP" 1 uneven
    [ "$status" -eq 1 ]
    [[ $output == *"no marks are written to 'none': not all ranks have passed the same ones"* ]]
    [ ! -e none ]
}

# windows ITERATIONS OPTIONS...: windows of the file `windows` in portals; dates in `result`, marks in `marks`
windows() {
    PARFOCAL_WINDOWS=windows PARFOCAL_WINDOWS_MODEL=portals PARFOCAL_WINDOWS_RESULT=result PARFOCAL_MARKS=marks \
        app analytic "$@"
}

dates() { # of a result, without what it cost
    grep -v '^# cost' result
}

@test "windows: one over the whole program is the run in that model" {
    PARFOCAL_MARKS=fine app portals 10 >plain
    echo "0 $(sed -n '$s/,.*//p' fine)" >windows
    windows 10 >told
    cmp <(grep '^[0-9]' fine | cut -d, -f4) <(grep '^0,' result | cut -d, -f3)
    cmp plain told
}

@test "windows: one from the begin holds for the first thing that the program does" {
    PARFOCAL_MARKS=fine app portals 10 mpifile >plain
    echo "0 $(sed -n '$s/,.*//p' fine)" >windows
    windows 10 mpifile >told # a file is opened
    cmp <(grep '^[0-9]' fine | cut -d, -f4) <(grep '^0,' result | cut -d, -f3)
}

@test "windows: the ranks switch at their marks and back, in the same way each time" {
    printf '# a comment\n4 6 # one\n\n8 12\n12 16\n' >windows
    PARFOCAL_MARKS=cheap app analytic 20 pcontrol >/dev/null
    windows 20 pcontrol >told
    dates >once
    windows 20 pcontrol >again
    cmp told again
    cmp once <(dates)
    [ "$(tail -n +2 once | cut -d, -f1,2 | tr '\n' ' ')" = "0,4 0,5 0,6 1,8 1,9 1,10 1,11 1,12 2,12 2,13 2,14 2,15 2,16 " ]
    [ "$(grep -c '^# cost [0-2] [0-9.]*$' result)" -eq 3 ]
    cmp <(tail -n +2 once | cut -d, -f2,3 | uniq) <(grep '^[0-9]' marks | cut -d, -f1,4 | grep -E '^(4|5|6|8|9|1[0-6]),')
    cmp <(grep '^[0-4],' cheap | cut -d, -f4) <(grep '^[0-4],' marks | cut -d, -f4) # the same before, and other times in it
    ! cmp -s <(grep '^6,' cheap) <(grep '^6,' marks)
}

# ends_early MARK: the run ends with its last window, at this mark, and what it tells is the same as when it goes on
ends_early() {
    local settings=(PARFOCAL_WINDOWS=windows PARFOCAL_WINDOWS_MODEL=portals PARFOCAL_WINDOWS_RESULT=result PARFOCAL_SUMMARY=summary.json)
    env "${settings[@]}" PARFOCAL_WINDOWS_WHOLE=yes "$PF_BIN/pfrun" -np 4 -model analytic --cfg=smpi/simulate-computation:no "$APP" 20 pcontrol >told
    grep '^result ' told
    dates >whole
    ! grep ended whole
    env "${settings[@]}" "$PF_BIN/pfrun" -np 4 -model analytic --cfg=smpi/simulate-computation:no "$APP" 20 pcontrol >told
    [ ! -s told ]
    [ "$(field result ended)" = $1 ]
    cmp whole <(dates | grep -v '^# ended')
    python3 -c 'import json; summary = json.load(open("summary.json")); assert 0 < summary["simulated_s"] < float(open("whole").read().split(",")[-2]) * 1.01'
    [ -z "$(ls -A tmp)" ]
}

# The cost of a window is the simulation's: some iterations in which four ranks compute for a second and more.
@test "windows: what the application computes is no part of what they cost" {
    echo '3 19' >windows
    windows 12 pcontrol busy >/dev/null
    grep "^# cost" result
    python3 -c 'import sys; sys.exit(not 0 < float(sys.argv[1]) < 0.5)' "$(sed -n 's/^# cost 0 //p' result)"
}

@test "windows: the run ends after the last one, if nothing else is asked of it" {
    printf '4 6\n8 12\n' >windows
    ends_early 12
    windows 20 pcontrol | grep '^result ' # the marks are wanted
    echo "0 $(sed -n '$s/,.*//p' marks)" >windows
    PARFOCAL_WINDOWS=windows PARFOCAL_WINDOWS_MODEL=portals PARFOCAL_WINDOWS_RESULT=result app analytic 20 pcontrol | grep '^result ' # it is the end
}

@test "windows: files that cannot be" {
    bad() { # TEXT CONTENTS
        printf -- "$2" >windows
        PARFOCAL_WINDOWS=windows PARFOCAL_WINDOWS_RESULT=result refuses "windows: $1" -np 2 "$APP"
    }
    bad "line 2: two numbers of marks are wanted" '1 2\n3\n'
    bad "line 1: two numbers of marks are wanted" '1 2 3\n'
    bad "line 1: two numbers of marks are wanted" '-1 2\n'
    bad "line 1: the last mark must come after the first" '2 2\n'
    bad "line 2: a window must not begin before the one above ends" '2 5\n4 6\n'
    echo "1 2" >windows
    PARFOCAL_WINDOWS=windows refuses "PARFOCAL_WINDOWS_RESULT must name a file" -np 2 "$APP"
    PARFOCAL_WINDOWS=nosuch PARFOCAL_WINDOWS_RESULT=result refuses "cannot read 'nosuch'" -np 2 "$APP"
    PARFOCAL_WINDOWS=/ PARFOCAL_WINDOWS_RESULT=result refuses "cannot read '/'" -np 2 "$APP"
    PARFOCAL_WINDOWS=windows PARFOCAL_WINDOWS_RESULT=no/result refuses "cannot write 'no/result'" -np 2 "$APP"
    PARFOCAL_WINDOWS=windows PARFOCAL_WINDOWS_RESULT=result PARFOCAL_WINDOWS_MODEL=portal \
        refuses "unknown model 'portal', maybe portals?" -np 2 "$APP"
    echo "1 1000" >windows
    run windows 3
    [ "$status" -eq 1 ]
    [[ $output == *"window 0 (marks 1 to 1000): the run has not come to its marks"* ]]
}

@test "a sample that is stopped prints one line, and leaves nothing behind where no run was finished" {
    printf '#include <mpi.h>\nint main(void) { MPI_Init(0, 0); for (;;) MPI_Barrier(MPI_COMM_WORLD); }\n' >spin.c
    "$PF_BIN/pfcc" -o spin spin.c
    PARFOCAL_MARKS_AT=phase "$PF_BIN/pfrun" -sample 1% -np 2 "$PWD/spin" >said 2>&1 3>&- &
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
