# SPDX-License-Identifier: BSD-3-Clause
# Completion in bash for pfrun, pfinfo, pfcurve, pftune, pfnet and pfnetd. A tool's options are those of its --help, so that there is one list;
# names of models, platforms and machines are those that pfinfo prints.

# Names that pfinfo prints: the first words of its indented lines.
_parfocal_names()
{
    pfinfo "$@" 2>/dev/null | sed -nE 's/^  ([a-z][a-z0-9:-]*) .*/\1/p'
}

# Whether the words before the current one name the application already: then its arguments are files, as for any command.
_parfocal_has_application()
{
    local i
    [ "$1" = pfrun ] || [ "$1" = pfcurve ] || return 1
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) return 0 ;;
        :) ((i++)) ;; # of STACK:NETWORK
        -*) # its value, if --help shows one
            grep -qE -- "(^ {2,6}|, )-?${COMP_WORDS[i]}( |=)[A-Za-z]" <<<"$2" && ((i++)) ;;
        *) return 0 ;;
        esac
    done
    return 1
}

_parfocal()
{
    local tool=${1##*/} current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} help words='' stem=''
    help=$("$1" --help 2>/dev/null)
    COMPREPLY=()
    _parfocal_has_application "$tool" "$help" && return
    # Bash splits a model's STACK:NETWORK at the colon, and takes what comes behind it only.
    if [ "$current" = : ] && ((COMP_CWORD > 2)); then
        stem=$before: current='' before=${COMP_WORDS[COMP_CWORD - 2]}
    elif [ "$before" = : ] && ((COMP_CWORD > 3)); then
        stem=${COMP_WORDS[COMP_CWORD - 2]}: before=${COMP_WORDS[COMP_CWORD - 3]}
    fi
    case $before in
    -model | --model | -fine | --fine | -cheap | --cheap | --fit) words=$(_parfocal_names) ;;
    -load | --load)
        local first=''
        [[ $current == *,* ]] && first=${current%,*},
        words=$(_parfocal_names | sed "s/^/$first/")
        ;;
    -platform | --platform) words=$(_parfocal_names --platform) ;;
    -machine | --machine) words=$(_parfocal_names --machine) ;;
    -agree | --agree) words='follow strict' ;;
    -by | --by) words='run fork again' ;;
    esac
    [[ -z $words && $current == -* ]] && words=$(grep -oE '^ {2,6}-.*' <<<"$help" | grep -oE '(^ +|, )--?[a-z][a-z-]*' | tr -d ' ,')
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$stem$current")
    COMPREPLY=("${COMPREPLY[@]#"$stem"}")
}

complete -o default -F _parfocal pfrun pfinfo pfcurve pftune pfnet pfnetd
