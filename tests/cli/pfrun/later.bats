# SPDX-License-Identifier: BSD-3-Clause
# Windows that are asked for when the run is over (windows_by later).
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/sampling
    "$PF_BIN/pfcc" -g -O1 -o "$APP" "$BATS_TEST_DIRNAME/sampling.c"
    export PARFOCAL_WINDOWS=windows PARFOCAL_WINDOWS_RESULT=result PARFOCAL_WINDOWS_MODEL=portals PARFOCAL_WINDOWS_BY=later
}

# app ITERATIONS OPTIONS...: 4 ranks in model analytic, without computation
app() {
    pfrun -np 4 -model analytic --cfg=smpi/simulate-computation:no "$APP" "$@"
}

# rows FILE: marks and dates of all windows
rows() {
    grep '^[0-9]' "$1" | cut -d, -f2,3 | sort -u
}

@test "later: the windows are those of copies made on the way, and the run is as it was" {
    PARFOCAL_WINDOWS= PARFOCAL_WINDOWS_RESULT= PARFOCAL_MARKS=cheap app 2000 pcontrol >plain
    printf '0 4\n2 6\n\n# a comment\n1000 1004\n2000 2002\n2001 2004\n4000 4401\n\n\n4400 9999\n' >windows
    PARFOCAL_SUMMARY=summary.json PARFOCAL_MARKS=marks app 2000 pcontrol >told 2>warnings || status=$?
    [ "$status" -eq 1 ] # for the last one
    cmp plain told
    cmp cheap marks
    cat result
    [ "$(head -n 2 result | tr '\n' ' ')" = "window,mark,date_s # kept 0 " ]
    [ "$(grep -v '^[0-9]' result | grep -Ev '^# (kept|cost) [0-9]' | sed 's/[0-9.]*$//' | tr '\n' ';')" = \
        "window,mark,date_s;# marks written;# done;# done;# done;# failed 6 the run has not come to its marks;# done;# kept cost ;" ]
    [ "$(grep -c '^# kept [0-9]' result)" -ge 2 ]
    python3 -m json.tool summary.json >/dev/null
    [ -z "$(ls -A tmp)" ]
    mv result later
    grep -E '^[0-9]+ ' windows | head -n 6 >some
    mv some windows
    PARFOCAL_WINDOWS_BY=fork app 2000 pcontrol >/dev/null
    cmp <(rows later) <(rows result)
}

@test "later: where copies wait is a matter of the seed, and how many of the limit; the dates are not" {
    printf '500 502\n3000 3004\n6300 6302\n' >windows
    for settings in "PARFOCAL_WINDOWS_SEED=7" "PARFOCAL_WINDOWS_SEED=7 PARFOCAL_WINDOWS_JOBS=2" "PARFOCAL_WINDOWS_KEPT=3" "PARFOCAL_WINDOWS_SEED=8"; do
        env $settings "$PF_BIN/pfrun" -np 4 -model analytic --cfg=smpi/simulate-computation:no "$APP" 3000 pcontrol >/dev/null
        grep '^[0-9]' result >dates
        [ ! -e dates.before ] || cmp dates dates.before
        mv dates dates.before
        grep '^# kept [0-9]' result >"kept.$settings"
    done
    cmp "kept.PARFOCAL_WINDOWS_SEED=7" "kept.PARFOCAL_WINDOWS_SEED=7 PARFOCAL_WINDOWS_JOBS=2"
    ! cmp -s "kept.PARFOCAL_WINDOWS_SEED=7" "kept.PARFOCAL_WINDOWS_SEED=8"
    [ "$(wc -l <kept.PARFOCAL_WINDOWS_KEPT=3)" -le 3 ]
    [ "$(wc -l <kept.PARFOCAL_WINDOWS_SEED=8)" -gt 3 ]
}

@test "later: a copy computes what the run has recorded" {
    printf '0 400\n5000 5400\n6400 6600\n' >windows
    # In the run's own model, the windows are the run.
    PARFOCAL_WINDOWS_MODEL=analytic PARFOCAL_COMPUTATION_RECORD=computation PARFOCAL_MARKS=marks \
        pfrun -np 4 -model analytic --cfg=smpi/cpu-threshold:0 "$APP" 3000 pcontrol >/dev/null
    tail -n 1 computation | grep '[1-9]'
    [ "$(grep -c '^[012],' result)" -eq 1003 ]
    cmp <(grep '^[0-9]' result | cut -d, -f2,3) <(grep '^[0-9]' marks | cut -d, -f1,4 | awk -F, '$1 <= 400 || ($1 >= 5000 && $1 <= 5400) || ($1 >= 6400 && $1 <= 6600)')
}

@test "later: orders and answers through pipes" {
    mkfifo windows result
    PARFOCAL_MARKS=marks timeout 300 python3 - "$PF_BIN/pfrun" -np 4 -model analytic --cfg=smpi/simulate-computation:no "$APP" 200 pcontrol <<'END'
import os, subprocess, sys
orders, answers = os.open("windows", os.O_RDWR), os.open("result", os.O_RDWR)
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
lines = os.fdopen(answers, buffering=1)
def until(end):
    seen = []
    while not seen or seen[-1] != end:
        seen.append(next(lines).strip())
    return seen
until("# marks written")
assert open("marks").read().count("\n") > 400
for first in (10, 300):  # the second is asked for when the first has been answered
    os.write(orders, f"{first} {first + 3}\n\n".encode())
    assert [line.split(",")[1] for line in until("# done") if line[0] != "#"] == [str(first + i) for i in range(4)]
os.close(orders)
until_end = next(lines)
assert until_end.startswith("# kept cost "), until_end
assert run.wait() == 0
END
}

@test "later: what a copy does is told in one line, and others go on" {
    fails() { # OPTION TEXT
        printf '3 4\n\n0 2\n' >windows
        run app 10 $1
        echo "$output"
        grep -F "# failed 0 its copy $2" result
        [ "$(grep -c '^# done' result)" -eq 2 ]
        grep '^result ' <<<"$output"
    }
    fails crash "was ended by signal 11"
    fails deadlock "has come to a deadlock"
    PARFOCAL_WINDOWS_LIMIT=0.5 fails loop "has not ended after 0.5 s (windows_limit)"
}

@test "later: what cannot be" {
    echo "4 6" >windows
    run app 10 mpifile
    [ "$status" -eq 1 ]
    [[ $output == *"PARFOCAL_WINDOWS_BY later: the program has had files of MPI open; windows_by run would do"* ]]
    printf '4 6\n3 5\n' >windows
    run app 10
    [ "$status" -eq 1 ]
    [[ $output == *"windows: line 2: windows must stand in the order of their first marks"* ]]
    [ ! -e result ]
}

@test "later: copies that wait end with the run" {
    mkfifo windows result
    exec 4<>windows 5<>result
    "$PF_BIN/pfrun" -np 2 -model analytic "$APP" 10 >/dev/null 2>&1 3>&- 4>&- 5>&- &
    local run=$! line copies i
    while [ "$line" != "# marks written" ]; do
        read -r -t 300 line <&5
    done
    copies=$(pgrep -P $run)
    [ -n "$copies" ]
    kill -KILL $run
    wait $run || true
    for i in $(seq 600); do
        kill -0 $copies 2>/dev/null || break
        sleep 0.1
    done
    ! kill -0 $copies 2>/dev/null
    rm -rf tmp/* # who is killed so cannot
}
