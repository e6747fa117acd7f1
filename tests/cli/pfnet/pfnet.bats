# SPDX-License-Identifier: BSD-3-Clause
# pfnet as a user types it.

setup() {
    cd "$BATS_TEST_TMPDIR"
}

pfnet() { timeout -k 5 300 "$PF_BIN/pfnet" "$@"; }

# refuses TEXT arguments...: exit status 1 and one line of error that holds TEXT
refuses() {
    local text=$1
    shift
    run pfnet "$@"
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$(wc -l <<<"$output")" -eq 1 ]
    grep "^parfocal: error: " <<<"$output"
    grep -F -- "$text" <<<"$output"
}

column() { # NAME FILE: its values
    awk -F, -v name="$1" '/^load/ { for (i = 1; i <= NF; i++) if ($i == name) c = i } /^[0-9]/ { print $c }' "$2"
}

@test "one line for each load, the same twice" {
    pfnet --topology torus:4x4 --load 0.1,0.2 >a
    pfnet --topology torus:4x4 --load 0.1:0.2:0.1 --output b
    cmp a b
    [ "$(column load a | xargs)" = "0.1 0.2" ]
    [ "$(column saturated a | xargs)" = "no no" ]
    pfnet --topology torus:4x4 --load 0.1,0.2 --seed 2 >c
    ! cmp a c
}

@test "without loads it stops at the first that the network does not take" {
    pfnet --topology dragonfly:2,4,2 --pattern adversarial >a
    [ "$(column saturated a | xargs)" = "no no yes" ]
}

@test "what theory says of the worst traffic of a dragonfly: 1 / (a p), and Valiant takes more" {
    pfnet --topology dragonfly:2,4,2 --pattern adversarial --load 1 >minimal
    awk '{ exit !($1 > 0.12 && $1 < 0.1251) }' <(column accepted minimal)
    pfnet --topology dragonfly:2,4,2 --pattern adversarial --routing valiant --intermediate group --load 0.3 >valiant
    [ "$(column saturated valiant)" = no ]
}

@test "the saturation of a slimmed tree under the worst permutation is its factor" {
    pfnet --topology "fattree:2;4,4;1,2;1,1" --pattern tornado --saturation --precision 0.01 >a
    found=$(sed -n 's/# saturation //p' a)
    awk -v found="$found" 'BEGIN { exit !(found > 0.46 && found <= 0.505) }'
}

@test "a built-in platform with its figures, over which options win" {
    pfnet --platform star:4 --load 0.01 --packet 1110 --pattern permutation >a
    # 1110 B at 11.1 GB/s and two links of 200 ns
    awk '{ exit !($1 > 4.99e-7 && $1 < 5.01e-7) }' <(column latency a)
    pfnet --platform star:4 --load 0.01 --packet 1110 --pattern permutation --link-latency 1u --router-latency 500n >b
    awk '{ exit !($1 > 2.599e-6 && $1 < 2.601e-6) }' <(column latency b)
    # the sum of SimGrid's links: four in the tree, six in the torus, whose hosts are joined directly
    echo "0 99" >far
    pfnet --platform fattree:100 --load 0.01 --packet 1110 --pattern file:far --arrivals bernoulli >a
    awk '{ exit !($1 > 8.99e-7 && $1 < 9.01e-7) }' <(column latency_max a)
    echo "0 42" >far
    pfnet --platform torus:64 --load 0.01 --packet 1110 --pattern file:far --arrivals bernoulli >a
    awk '{ exit !($1 > 1.299e-6 && $1 < 1.301e-6) }' <(column latency_max a)
    for name in fattree:100 torus:64 dragonfly:200; do
        pfnet --platform $name --load 0.1 --batches 2 >c
        [ "$(column saturated c)" = no ]
    done
}

@test "the old name of an option still works, with a line that names the new one" {
    pfnet --platform star:4 --load 0.01 --packet 1110 --pattern permutation --link-latency 1u >a
    run --separate-stderr pfnet --platform star:4 --load 0.01 --packet 1110 --pattern permutation --cable-latency 1u
    [ "$status" -eq 0 ]
    diff a - <<<"$output"
    [[ "$stderr" == *"--cable-latency is --link-latency now"* ]]
}

@test "every routing where it can run" {
    for topology in fattree:4,2 torus:4x4 mesh:4x4 hyperx:3x3,2 dragonfly:2,4,2 dragonflyplus:2,2,2,2 star:8; do
        for routing in minimal minimal-adaptive valiant ugal par; do
            pfnet --topology $topology --routing $routing --load 0.2 --batches 2 --batch 50 >a
            [ "$(column dropped a)" = 0 ]
        done
    done
}

@test "routers in stages, counted in cycles: two of them take four each, three links and a flit one each" {
    local stages=(--rate 1 --packet 1 --arrivals bernoulli:1 --link-latency 1 --stages 1,1,1,1
                  --credit-delay 2 --rounds 1 --channel-choice turn --new-packets any
                  --sees credits --channels 2 --buffer 8)
    run pfnet "${stages[@]}" --topology mesh:2 --load 0.02 --batch 500
    [ "$status" -eq 0 ]
    tail -1 <<<"$output" | awk -F, '{exit !($5 >= 12 && $5 < 12.05)}'
    for routing in minimal minimal-adaptive valiant ugal par; do
        run pfnet "${stages[@]}" --topology dragonfly:1,2,1 --routing "$routing" --load 1 --batch 100 --batches 4
        [ "$status" -eq 0 ] # it must run empty
        run pfnet "${stages[@]}" --packet 20 --flit 1 --topology dragonfly:1,2,1 --routing "$routing" --load 1 --batch 20 --batches 4
        [ "$status" -eq 0 ]
    done
    # 19 more flits of a packet that no buffer holds
    run pfnet "${stages[@]}" --packet 20 --flit 1 --topology mesh:2 --load 0.02 --batch 500
    [ "$status" -eq 0 ]
    tail -1 <<<"$output" | awk -F, '{exit !($5 >= 31 && $5 < 31.5)}'
    refuses "--flit needs --channel-choice turn" --topology star:4 --flit 1
    run pfnet "${stages[@]}" --topology star:4 --flit 2
    [ "$status" -eq 1 ] && [ "${lines[-1]}" = "parfocal: error: a flit has at most the bytes of a packet" ]
    run pfnet "${stages[@]}" --topology star:4 --packet 20 --flit 10
    [ "$status" -eq 1 ] && [[ "${lines[-1]}" = *" must hold a flit (10)" ]]
    refuses "--channel-choice turn and --stages need --rounds" --topology star:4 --channel-choice turn
    refuses "'1,0,1,1' are not four numbers" --topology star:4 --stages 1,0,1,1
    refuses "neither all nor credits" --topology star:4 --sees nothing
    refuses "neither room nor turn" --topology star:4 --channel-choice age
}

@test "a pattern of one's own" {
    printf '# from to\n0 1\n2 3 1\n' >own
    pfnet --topology star:4 --pattern file:own --load 1 --arrivals bernoulli >a
    awk '{ exit !($1 > 0.99) }' <(column accepted a)
    echo "0 4" >own
    refuses "'own', line 1 names a node that there is not" --topology star:4 --pattern file:own
}

@test "a picture" {
    /usr/bin/python3 -c 'import matplotlib' 2>/dev/null || skip "python3-matplotlib is not installed"
    pfnet --topology star:4 --load 0.2,0.4 --output a.csv --picture a.svg
    grep -q "<svg" a.svg
    cp a.svg b.svg
    pfnet --topology star:4 --load 0.2,0.4 --output a.csv --picture a.svg
    cmp a.svg b.svg
    run pfnet --topology star:4 --load 0.2 --output a.csv --picture a.nothing
    [ "$status" -ne 0 ]
}

@test "bad input: one line" {
    refuses "which network?" --load 0.5
    refuses "either --topology or --platform" --topology star:4 --platform star:4
    refuses "'wheel:4' is no topology; there are fattree, star, tree, twolevels, torus, mesh, ring, twisted, hyperx, dragonfly, cascade, dragonflyplus" --topology wheel:4
    refuses "are no dimensions of a torus" --topology torus:4y4
    refuses "'wheel' is no topology" --platform wheel
    refuses "number of hosts must be from 1" --platform star
    refuses "'shortest' is no routing; there are minimal, minimal-adaptive, valiant, ugal, par" --topology star:4 --routing shortest
    refuses "this topology has no groups" --topology ring:4 --routing ugal --intermediate group
    refuses "is neither node nor group" --topology ring:4 --intermediate router
    refuses "'bit' is no pattern; there are uniform" --topology star:4 --pattern bit
    refuses "this pattern needs 2, 4, 8, ... nodes" --topology star:5 --pattern complement
    refuses "there is one group only" --topology "hyperx:1,4" --pattern adversarial
    refuses "a load is a part of a node's rate" --topology star:4 --load 1.5
    refuses "a load is a part of a node's rate" --topology star:4 --load 0
    refuses "neither A,B,... nor FROM:TO:STEP" --topology star:4 --load 0.1-0.5
    refuses "the step must be" --topology star:4 --load 0.1:0.5:0
    refuses "is no load" --topology star:4 --load 0.5:0.1:0.1
    refuses "--packet: '0' is no number from 1" --topology star:4 --packet 0
    refuses "--packet: '2x' is no number" --topology star:4 --packet 2x
    refuses "--speedup: '0.5'" --topology star:4 --speedup 0.5
    refuses "--batches: '1'" --topology star:4 --batches 1
    refuses "is neither poisson nor bernoulli" --topology star:4 --arrivals often
    refuses "is longer than a packet" --topology star:4 --arrivals bernoulli:4096
    refuses "neither round-robin nor age" --topology star:4 --arbitration random
    refuses "add --output FILE" --topology star:4 --picture a.svg
    refuses "cannot write 'nowhere/a'" --topology star:4 --output nowhere/a
    refuses "is no option" torus:4
}

@test "--help names every topology, pattern and routing" {
    run pfnet --help
    [ "$status" -eq 0 ]
    for word in star: torus: mesh: ring: twisted: fattree: tree: twolevels: hyperx: dragonfly: cascade: dragonflyplus: uniform complement tornado adversarial hotspot file: minimal-adaptive par; do
        grep -qF -- "$word" <<<"$output"
    done
    run pfnet --version
    grep "^pfnet (Parfocal)" <<<"$output"
}
