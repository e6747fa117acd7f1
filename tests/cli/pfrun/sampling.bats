# SPDX-License-Identifier: BSD-3-Clause
# What pfrun -sample asks of a run: its marks.
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
    [ "$(grep -c '^[0-9]*,collective,MPI_Allreduce' marks)" -eq 0 ]
    site=$(sed -n 's/^# site \([0-9a-f]*\) MPI_Allreduce 20 20$/\1/p' marks)
    PARFOCAL_MARKS=at_site PARFOCAL_MARKS_AT=site:$site app analytic 20 dup >/dev/null
    [ "$(grep -c '^[0-9]*,site,MPI_Allreduce' at_site)" -eq 20 ]
    [ "$(field at_site at)" = "site:$site" ]
    addr2line -s -e "$APP" "$(printf %x $((0x$site - 1)))" | grep "^sampling.c:$(grep -n MPI_Allreduce "$BATS_TEST_DIRNAME/sampling.c" | cut -d: -f1)"
}

@test "marks: what cannot be" {
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
