# SPDX-License-Identifier: BSD-3-Clause
# SimGrid's plugin for energy, with the example.
load common.bash

EXAMPLE=$BATS_TEST_DIRNAME/../../../examples/energy

setup_file() {
    export DIR=$BATS_FILE_TMPDIR
    "$PF_BIN/pfcc" -O2 -o "$DIR/energy" "$BATS_TEST_DIRNAME/../../../examples/energy/energy.c"
}

# joules MODEL: a line "node joules" for each node
joules() {
    timeout -k 5 300 "$PF_BIN/pfrun" -np 2 -quiet -model "$1" -platform "$EXAMPLE/pair.xml" \
        --cfg=smpi/simulate-computation:no --cfg=plugin:host_energy "$DIR/energy" >output 2>&1
    cat output
    sed -n 's/^\[\([0-9.]*\)\].*Energy consumption of host \(.*\): \([0-9.]*\) Joules$/\1 \2 \3/p' output >joules
    [ "$(wc -l <joules)" -eq 2 ]
}

@test "in every model, joules are watts times simulated time" {
    for model in analytic smpi portals portals-ideal packet; do
        joules $model
        # 95 W all the time, and 65 W more while one of two cores works: 1 s on node-0, 2 s on node-1
        awk '{ expected = 95 * $1 + 65 * (1 + ($2 == "node-1")); if ($3 < expected - .01 || $3 > expected + .01) exit 1 }' joules
    done
}

@test "in smpi, joules are those of stock smpirun" {
    [[ $PWD != *' '* ]] || skip "stock smpirun does not work in a folder with a space in its name"
    joules smpi
    smpicc -O2 -o "$DIR/stock" "$EXAMPLE/energy.c"
    printf 'node-0\nnode-1\n' >"$DIR/hosts"
    smpirun -np 2 -platform "$EXAMPLE/pair.xml" -hostfile "$DIR/hosts" --cfg=smpi/simulate-computation:no \
        --cfg=plugin:host_energy "$DIR/stock" >stock 2>&1
    cat stock
    diff <(grep -o "Energy consumption of host.*" output) <(grep -o "Energy consumption of host.*" stock)
}
