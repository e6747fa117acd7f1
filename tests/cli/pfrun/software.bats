# SPDX-License-Identifier: BSD-3-Clause
# What Open MPI's own work costs, and model analytic, which derives the same from the same rows. The times are calculated by hand.
load common.bash

setup_file() {
    export APP=$BATS_FILE_TMPDIR/software
    "$PF_BIN/pfcc" -O1 -o "$APP" "$BATS_TEST_DIRNAME/software.c" -lm
}

# costs EXPECTED ROW=VALUE...: EXPECTED in ms of: 1000 B, 1004 B, allreduce, bcast, barrier; then what sends of 1000 B and 1004 B do
costs() {
    local expected=$1 model
    shift
    for model in analytic portals-ideal portals packet; do
        run env "$@" OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=3 OMPI_MCA_coll_tuned_bcast_algorithm=6 \
            PARFOCAL_ANALYTIC_COLL=allreduce:recursive_doubling,bcast:binomial \
            "$PF_BIN/pfrun" -np 4 -model $model --cfg=smpi/simulate-computation:no "$APP" 1e-3
        echo "$model: $output"
        [ "$status" -eq 0 ]
        [ "$(sed 's/.* //' <<<"$output" | tr '\n' ' ')" = "$expected " ]
    done
}

@test "nothing costs anything unless it is configured" {
    costs "0 0 0 0 0 waits waits"
}

@test "a message costs its sender and its receiver, inside collectives too" {
    # Allreduce: two rounds, in each of which a rank sends and receives. Broadcast: rank 0 sends twice, rank 1 passes on.
    # Barrier: three sends at once to rank 0, which receives and then sends three times.
    costs "1 1 2 2 4 waits waits" PARFOCAL_OPENMPI_SEND_TIME=1e-3
    costs "1 1 2 2 4 waits waits" PARFOCAL_OPENMPI_RECEIVE_TIME=1e-3
    costs "3 3 6 6 12 waits waits" PARFOCAL_OPENMPI_SEND_TIME=2e-3 PARFOCAL_OPENMPI_RECEIVE_TIME=1e-3
}

@test "a reduction costs time for each byte that it combines" {
    # 4,000 B twice at 1 MB/s.
    costs "0 0 8 0 0 waits waits" PARFOCAL_OPENMPI_COMBINE_BW=1e6
}

# doubling EXPECTED MODELS ROW=VALUE...: EXPECTED in ms of MPI_Scan, MPI_Exscan (4,000 B), MPI_Reduce_scatter_block (1,000 B for each rank) by recursive doubling and
# MPI_Allgatherv (1,000 B of each rank) with neighbours
doubling() {
    local expected=$1 models=$2 model
    shift 2
    "$PF_BIN/pfcc" -O1 -o prefixes "$BATS_TEST_DIRNAME/prefixes.c"
    for model in $models; do
        run env "$@" OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_scan_algorithm=2 OMPI_MCA_coll_tuned_exscan_algorithm=2 \
            OMPI_MCA_coll_tuned_reduce_scatter_block_algorithm=2 OMPI_MCA_coll_tuned_allgatherv_algorithm=4 \
            PARFOCAL_ANALYTIC_COLL=scan:recursive_doubling,exscan:recursive_doubling,reduce_scatter_block:recursive_doubling,allgatherv:neighbor \
            "$PF_BIN/pfrun" -np 4 -model $model --cfg=smpi/simulate-computation:no ./prefixes scan exscan block allgatherv
        echo "$model: $output"
        [ "$status" -eq 0 ]
        [ "$(sed 's/.* //' <<<"$output" | tr '\n' ' ')" = "$expected " ]
    done
}

@test "scans combine what comes from lower ranks twice; copies, and types that collectives make, take their time" {
    # The last rank: four reductions of 4,000 B; a copy less, three. Reduce_scatter_block: 3,000 B and 2,000 B.
    doubling "16 12 5 0" "analytic portals-ideal portals packet" PARFOCAL_OPENMPI_COMBINE_BW=1e6
    # Two types in each of two steps; in the second of two rounds.
    doubling "0 0 4 2" "analytic portals-ideal portals packet ucx" PARFOCAL_OPENMPI_TYPE_TIME=1e-3
    # Two copies of 4,000 B; one and that of the first; 4,000 B and in the end 1,000 B; the own 1,000 B.
    doubling "8 8 5 1" "analytic portals" PARFOCAL_OPENMPI_COPY_BW=1e6
}

@test "over UCX long messages of types that do not begin where they are placed are copied at both ends" {
    # Allgatherv: in the second round 2,000 B, the upper two blocks. Reduce_scatter_block: all but the own half are in two parts but for
    # the last ranks: 3,000 B are packed, and unpacked after that; then 2,000 B, of which one side has no gaps.
    doubling "0 0 10 4" "analytic ucx" PARFOCAL_ANALYTIC_STACK=ucx PARFOCAL_UCX_BCOPY_BW=1e6 PARFOCAL_UCX_RNDV_THRESH=500 PARFOCAL_UCX_RNDV_NBR_THRESH=500 \
        PARFOCAL_UCX_ZCOPY_THRESH=200
}

@test "a message of more than nic_handshake_min is later, at no rank's cost" {
    # Allreduce and broadcast: 4,000 B twice, one after the other.
    costs "0 1 2 2 0 waits waits" PARFOCAL_NIC_HANDSHAKE_TIME=1e-3 PARFOCAL_NIC_HANDSHAKE_MIN=1000
}

@test "a send of which the sender keeps a copy ends with its call" {
    costs "0 0 0 0 0 returns waits" PARFOCAL_OPENMPI_BUFFERED_MAX=1000
    costs "1 1 2 2 4 waits waits" PARFOCAL_OPENMPI_BUFFERED_MAX=1000 PARFOCAL_OPENMPI_SEND_TIME=1e-3
}

@test "buffered sends and costs with the host's matching, offloaded collectives, and switches" {
    local pml=PARFOCAL_OPENMPI_PML=ob1
    case ${PF_OPENMPI:-4} in 4*) ;; *) pml= ;; esac # Open MPI 5 has no one-sided communication for it
    for settings in $pml PARFOCAL_OPENMPI_COLL=portals4; do
        run env $settings PARFOCAL_OPENMPI_SEND_TIME=1e-6 PARFOCAL_OPENMPI_RECEIVE_TIME=1e-6 PARFOCAL_OPENMPI_COMBINE_BW=1e9 \
            PARFOCAL_OPENMPI_BUFFERED_MAX=2048 "$PF_BIN/pfrun" -np 4 -model portals --cfg=smpi/simulate-computation:no "$APP" 1
        echo "$output"
        [ "$status" -eq 0 ]
    done
    run env PARFOCAL_OPENMPI_SEND_TIME=1e-6 PARFOCAL_OPENMPI_RECEIVE_TIME=1e-6 PARFOCAL_OPENMPI_BUFFERED_MAX=2048 \
        "$PF_BIN/pfrun" -np 4 -model portals -schedule 'every:3=smpi|portals' --cfg=smpi/simulate-computation:no "$APP" 1
    echo "$output"
    [ "$status" -eq 0 ]
}
