#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What files cost: rows file_... and shared_file_... of base/config.def.
load common

setup_file() {
    export DIR=$BATS_FILE_TMPDIR
    "$PF_BIN/pfcc" -g -o "$DIR/files" "$BATS_TEST_DIRNAME/files.c"
}

# files NP WAY... -- setting...: what each rank says, without costs of the clock; files in the folder "here"
files() {
    local np=$1 ways=()
    shift
    while [ "${1:---}" != -- ]; do ways+=("$1"); shift; done
    shift
    mkdir -p here
    pfrun -np "$np" -quiet -platform star:4 -model "${model:-portals}" --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 "$@" \
        "$DIR/files" here "${ways[@]}" | sort
}

# takes MS LINE...: each line says so many milliseconds, to 2 us (ranks leave a barrier one after the other)
takes() {
    python3 -c 'import sys
for line in sys.argv[2:]: assert abs(float(line.split()[2]) - float(sys.argv[1])) < 2e-3, (line, sys.argv[1])' "$@"
}

shared=(--cfg=parfocal/file_local: --cfg=parfocal/shared_file_bw:1e9 --cfg=parfocal/shared_file_latency:1e-3)
own=(--cfg=parfocal/file_local:/ --cfg=parfocal/file_bw:1e9 --cfg=parfocal/file_latency:1e-3)

@test "MPI-IO in each model: latency, and bytes by the share of the bandwidth" {
    for model in smpi analytic portals packet; do
        mapfile -t lines < <(files 1 write read iwrite -- "${shared[@]}")
        [ "${#lines[@]}" -eq 3 ]
        takes 2 "${lines[@]}"
        mapfile -t lines < <(files 2 write -- "${shared[@]}")
        takes 3 "${lines[@]}"
        mapfile -t lines < <(files 2 write -- "${shared[@]}" --cfg=parfocal/shared_file_host_bw:0.25e9)
        takes 5 "${lines[@]}"
        mapfile -t lines < <(files 2 write read -- "${own[@]}")
        takes 2 "${lines[@]}"
        mapfile -t lines < <(files 8 write -- "${own[@]}") # two on each host
        [ "${#lines[@]}" -eq 8 ]
        takes 3 "${lines[@]}"
    done
    mapfile -t lines < <(files 4 write_all -- "${shared[@]}" -report report) # aggregators write
    python3 -c 'import json; files = json.load(open("report/summary.json"))["files"]
assert files["shared"]["bytes_written"] == 4000000 and files["own"]["writes"] == 0, files'
}

@test "by default files take no time" {
    mapfile -t lines < <(files 2 write read posix stream --)
    takes 0 "${lines[@]}"
    mapfile -t lines < <(files 2 posix stream -- "${shared[@]}")
    takes 0 "${lines[@]}"
}

@test "calls of the program on request" {
    for model in smpi portals; do
        mapfile -t lines < <(files 1 posix -- "${shared[@]}" --cfg=parfocal/file_posix:yes)
        takes 4 "${lines[@]}"
        # 1,000,100 bytes in buffers of 4,096
        mapfile -t lines < <(files 1 stream -- "${shared[@]}" --cfg=parfocal/shared_file_latency:0 --cfg=parfocal/file_posix:yes)
        [ "${#lines[@]}" -eq 2 ]
        takes 1.0001 "${lines[@]}"
    done
    # Not what the launcher has as output.
    mapfile -t lines < <(files 1 write -- "${shared[@]}" --cfg=parfocal/file_posix:yes)
    takes 2 "${lines[@]}"
}

@test "two jobs share the file system; the critical path has it" {
    mkdir here there
    printf '%s\n' "-name a -np 1 $DIR/files here write" "-name b -np 1 -model analytic $DIR/files there write" >jobs
    mapfile -t lines < <(pfrun -workload jobs -quiet -platform star:4 --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 "${shared[@]}")
    [ "${#lines[@]}" -eq 2 ]
    takes 3 "${lines[@]}"
    files 2 write -- "${shared[@]}" -explain -report report
    python3 -c 'import json; path = json.load(open("report/summary.json"))["critical_path"]
assert abs(path["spent_s"]["files"] - 3e-3) < 2e-6 and abs(sum(path["spent_s"].values()) - path["end_s"]) < 1e-12, path["spent_s"]'
}

@test "disks of the platform file" {
    cat >disks.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"><disk id="d" read_bw="2GBps" write_bw="500MBps"/></host>
    <host id="b" speed="1Gf"/>
    <link id="l" bandwidth="1GBps" latency="1us"/>
    <route src="a" dst="b"><link_ctn id="l"/></route>
  </zone>
</platform>
END
    mkdir here
    disks=(-quiet -platform disks.xml --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 --cfg=parfocal/file_local:/ --cfg=parfocal/file_disks:yes)
    takes 2 "$(pfrun -np 1 "${disks[@]}" "$DIR/files" here write)"
    takes 0.5 "$(pfrun -np 1 "${disks[@]}" "$DIR/files" here read)"
    refuses "PARFOCAL_FILE_BW and PARFOCAL_FILE_DISKS exclude each other" -np 1 "${disks[@]}" --cfg=parfocal/file_bw:1e9 "$DIR/files" here write
    refuses "host 'b' has no disk in the platform file" -np 2 "${disks[@]}" "$DIR/files" here write
}
