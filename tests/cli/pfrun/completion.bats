#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Completion in shells: the options are those of --help, values are names that exist.

setup() {
    PATH=$PF_BIN:$PATH
    files=$BATS_TEST_DIRNAME/../../../tools/completion
}

# What bash offers for the last of these words.
in_bash() {
    . "$files/parfocal.bash"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _parfocal "$1"
    echo "${COMPREPLY[*]}"
}

# The same for zsh, whose own functions only print here.
in_zsh() {
    zsh -f -c 'compadd() { for word; do [[ $word == $PREFIX* ]] && echo -n "$word "; done }; _files() { echo -n files }
        words=("${@:2}") CURRENT=$(($# - 1)) PREFIX=${@[-1]}; . $1' zsh "$files/_parfocal" "$@"
}

@test "completion in bash" {
    [ "$(in_bash pfrun -np 4 -mod)" = "-model" ]
    [ "$(in_bash pfrun -np 4 -model port)" = "portals-ideal portals" ]
    [ "$(in_bash pfrun -np 4 -model ucx : pac)" = "packet" ]
    [ "$(in_bash pfrun -np 4 -model mpich :)" = "ideal packet external" ]
    [ "$(in_bash pfrun -load smpi,an)" = "smpi,analytic" ]
    [ "$(in_bash pfrun -gdb -np 4 -qui)" = "-quiet" ]
    [ "$(in_bash pfrun --cf)" = "--cfg" ]
    [ "$(in_bash pfrun -np 4 ./app -mod)" = "" ]
    [ "$(in_bash pfinfo --platform dragonflyp)" = "dragonflyplus" ]
    [ "$(in_bash pfinfo --units)" = "--units" ]
    [ "$(in_bash pfcurve --switch)" = "--switch-after" ]
    [ "$(in_bash pftune --nod)" = "--nodes" ]
    [ "$(in_bash pfnet --router)" = "--router-latency" ]
}

@test "completion in zsh" {
    [ "$(in_zsh pfrun -np 4 -mod)" = "-model " ]
    [ "$(in_zsh pfrun -np 4 -model port)" = "portals-ideal portals " ]
    [ "$(in_zsh pfrun -model ucx:pac)" = "ucx:packet " ]
    [ "$(in_zsh pfrun -platform tor)" = "torus files" ]
    [ "$(in_zsh pfnet --router)" = "--router-latency " ]
}
