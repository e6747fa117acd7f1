#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures collectives on a cluster for pfinfo --fit=measured.tsv. Needs mpicc and mpirun of Open MPI, and Slurm:
#     sbatch --nodes=32 --ntasks-per-node=1 --exclusive --time=20 measure.sh cells.c
# (cells.c is tools/pffit/pffit/cells.c, or share/parfocal/pffit/cells.c of an installation). Writes measured.tsv. Without Slurm:
#     NODES=2 MPIRUN="mpirun --hostfile hosts --map-by node" ./measure.sh cells.c
set -eu
source=${1:?"usage: measure.sh cells.c [bytes...] (NODES, MPIRUN and OUTPUT are variables)"}
shift
[ $# -gt 0 ] || set -- 64 1024 16384 262144 4194304
nodes=${NODES:-${SLURM_JOB_NUM_NODES:?"how many nodes? sbatch --nodes=N, or the variable NODES"}}
mpirun=${MPIRUN:-mpirun --map-by ppr:1:node}
output=${OUTPUT:-measured.tsv}
work=$(mktemp -d ./measure.XXXXXX) # where all nodes see it
trap 'rm -rf "$work"' EXIT
mpicc -O2 "$source" -o "$work/cells"

# measure COLLECTIVE ALGORITHM NUMBER RANKS BYTES...: a number of coll/tuned, or 0 for the default
measure()
{
    collective=$1 algorithm=$2 number=$3 ranks=$4
    shift 4
    forced=''
    [ "$number" = 0 ] || forced="--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_${collective}_algorithm $number"
    # shellcheck disable=SC2086 # Options are several words; the algorithms of hcoll are not simulated.
    $mpirun --mca coll ^hcoll $forced -np "$ranks" "$work/cells" "$collective" "$@" >"$work/out"
    awk -v OFS='\t' -v n="$ranks" -v c="$collective" -v a="$algorithm" '$1 == "cell" { print n, c, a, $2, $3 }' "$work/out" >>"$work/table"
}

printf 'nodes\tcollective\talgorithm\tbytes\tmedian_us\n' >"$work/table"
measure pingpong default 0 2 0 "$@"
measure barrier default 0 "$nodes" 0
for choice in allreduce:recursive_doubling:3 allreduce:ring:4 allreduce:rabenseifner:6 bcast:binomial:6 bcast:scatter_allgather_ring:9 \
    alltoall:linear:1 alltoall:pairwise:2 gather:binomial:2 reduce:binomial:5; do
    collective=${choice%%:*} rest=${choice#*:}
    measure "$collective" "${rest%:*}" "${rest#*:}" "$nodes" "$@"
done
mv "$work/table" "$output"
echo "written: $output ($(($(wc -l <"$output") - 1)) cells)"
