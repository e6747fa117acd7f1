#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What fresh_machine.sh asks of a machine, in the checkout there: README's commands, from the first to the tests. Prints a line for
# each, and the end of its output if it fails. Usage: fresh_steps.sh RELEASE-USER
set -eu
name=$1
log=$PWD/fresh.log
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo

# step SECONDS COMMAND...
step()
{
    limit=$1
    shift
    start=$(date +%s)
    status=0
    timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null || status=$?
    if [ "$status" -eq 0 ]; then
        echo "ok   $name: $* ($(($(date +%s) - start)) s)"
    else
        echo "FAIL $name: $*: status $status after $(($(date +%s) - start)) s"
        tail -n 80 "$log" | sed 's/^/    /' # no line of it may look like one of ours
    fi
}

own=$HOME/own
case $name in
*-symbolic | *-crossed) # Before run-demo, which would configure another build.
    release=${name%-*} built="openmpi simgrid"
    case $name in *-crossed) release=bookworm built=openmpi ;; esac
    # shellcheck disable=SC2086
    step 14400 tests/install/rebuilt.sh "$release" "$own" $built
    sed -n 's/^rebuilt.sh: /     /p' "$log"
    step 3600 sh -c "apt-get -q install -y --no-install-recommends $(awk '$2 == "build" { printf "%s ", $1 }' scripts/packages.txt)"
    set -- -Dtests=false
    [ ! -d "$own/openmpi" ] || set -- "$@" -Dopenmpi="$own/openmpi"
    [ ! -d "$own/simgrid" ] || set -- "$@" -Dsimgrid="$own/simgrid"
    step 600 env OPENMPI_TARBALL="$(find "$own/source" -name 'openmpi_*.orig.tar.*')" meson setup build "$@"
    export PATH="$own/openmpi/bin:$own/simgrid/bin:$PATH" # its smpirun and mpirun are what Parfocal is compared with
    ;;
esac
step 7200 ./run-demo
case $name in
*-symbolic) # What was not built is as if it had been.
    step 3600 scripts/setup.sh build test # brings MPICH
    [ -d "$own/openmpi" ] || plugins=$(find /usr/lib -type f \( -name 'mca_*.so' -path '*openmpi*' -o -name 'libmca_common_*.so.*' \))
    libraries=$(for one in simgrid mpi open-pal open-rte mpich ucp uct ucs; do
        [ -n "$(find "$own" -name "lib$one.so")" ] || ldconfig -p | awk -v one="lib$one.so" 'index($1, one ".") == 1 { print $NF }'
    done | xargs realpath | sort -u)
    # shellcheck disable=SC2086
    step 600 tests/install/symbolic.py $libraries ${plugins:-}
    sed -n '/mca_/!s/^\([^ ]*\): .*/     converted: \1/p' "$log"
    ;;
esac
case $name in
forky-*) # Its Open MPI has no models yet.
    step 600 build/bin/pfinfo --check
    for model in analytic smpi; do
        step 600 build/bin/pfrun -np 4 -model $model build/examples/cg -n 8
    done
    step 7200 ./run-tests --suite unit --no-suite comparison
    step 7200 ./run-tests cli-pfrun-stock cli-pfrun-collectives cli-pfrun-live cli-pfrun-long cli-pfrun-probes cli-pfrun-windows symbolic
    exit
    ;;
esac
case $name in
*-crossed) # Another Open MPI than the one that Parfocal was built for.
    step 60 sh -c '! PARFOCAL_OPENMPI_LIBDIR=$1 build/bin/pfrun -np 2 -model portals build/examples/cg -n 8 2>other.txt &&
        grep "Open MPI.*, but Parfocal was built for" other.txt' sh "$(dirname "$(ldconfig -p | awk '/libmpi\.so\./ { print $NF; exit }')")"
    ;;
esac
case $name in
*-symbolic | *-crossed) # What differs with the libraries.
    step 3600 build/bin/pfinfo --check
    step 7200 ./run-tests --suite unit --suite cli --no-suite comparison
    exit
    ;;
esac
# With what run-demo has installed, and no package for tests.
step 3600 tests/docs/run_blocks.py build README.md
case $name in
bookworm-* | noble-* | resolute-*)
    step 3600 $as_root meson install -C build
    ;;
*)
    # The Debian package, in a folder whose name has no space: dpkg-buildpackage is a makefile.
    step 600 sh -c 'mkdir "$HOME/package" && tar --exclude=./build -cf - . | tar -C "$HOME/package" -xf -'
    step 3600 $as_root packaging/container/stages.sh build "$HOME/package"
    step 3600 $as_root apt-get -q install -y --no-install-recommends /parfocal.deb
    step 600 pfcc -O2 examples/cg/cg.c -o cg -lm
    for model in analytic smpi portals packet; do
        step 600 pfrun -np 4 -model $model ./cg -n 8
    done
    ;;
esac
step 3600 pfinfo --check
# What needs more says what.
step 3600 sh -c "! build/bin/pfcurve -np 4 --switch-after build/examples/cg 2>missing.txt && grep 'apt-get install --no-install-recommends python3-matplotlib' missing.txt"
case $name in
trixie-*) # 64 MB; scipy would be 16 more.
    # shellcheck disable=SC2016
    step 600 sh -c 'mkdir -p "$1/partial" && $(sed -n "s/.*(Debian: \(.*\))/\1/p" missing.txt) -y --print-uris -o "Dir::Cache::archives=$1" |
        awk "/^.http/ { bytes += \$3 } END { print bytes; exit !(bytes > 1e6 && bytes < 70e6) }"' sh "$(mktemp -d)"
    ;;
esac
step 3600 sh -c "! experiments/apps/run_apps.py 2>missing.txt && grep 'apt-get install .*libblas-dev' missing.txt"
# The machine that runs all tests is Debian 12 and root. Another user's folders have spaces in their names, which concerns what writes
# files. Comparisons with a second simulator are the same everywhere.
case $name in
bookworm-*)
    step 7200 ./run-tests pfcc-pfcc cli-pfrun-run cli-pfrun-input cli-pfrun-setup cli-pfrun-environment cli-pfrun-ends cli-pfrun-children \
        cli-pfrun-loading cli-pfrun-sanitizers cli-pfrun-platforms pfcurve-resuming pfsample-refusals cli-pfnet checkout
    ;;
noble-* | resolute-*)
    # What differs with how libraries are linked. Not those that need a browser, which is no package there, or SimGrid 3.32's costs.
    step 7200 ./run-tests --suite unit
    step 7200 ./run-tests cli-pfrun-run cli-pfrun-switches cli-pfrun-networks cli-pfrun-ucx cli-pfrun-path cli-pfrun-packet cli-pfrun-software \
        cli-pfrun-loading cli-pfrun-platforms cli-pfrun-workload pfcc-simulated pfsample-refusals checkout mixed coll icoll rma winmoves 'objects predefined'
    ;;
*)
    # Of studies, which are many runs each, and of whole programs a sample: these run in every model, and under schedules.
    step 7200 ./run-tests --suite unit --suite cli --no-suite comparison --no-suite studies
    step 7200 ./run-tests pfcurve-rule pftune-runs pfsample-units mixed coll icoll persistent progress rma winmoves 'windows by osc-ucx' 'objects predefined' 'fortran f08' abi 'abi fortran' check-faults 'topology mprobe' 'traffic live'
    ;;
esac
