# Completes ballast(1) in bash. Commands, options and their values come from `ballast --help`, so this file names none of them;
# hosts and recommendations come from the service, if it answers within two seconds.

_ballast_help() { ballast "$@" --help 2>/dev/null; }

_ballast() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} usage candidates

    if ((COMP_CWORD == 1)); then
        candidates=$(_ballast_help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$candidates --help --version" -- "$word")
        return
    fi
    usage=$(_ballast_help "$verb")
    # --format text|json: the values of the option before
    if [[ $before == --* && $usage =~ (^|[[:space:]\[])"$before "([A-Za-z_|-]+) ]]; then
        case ${BASH_REMATCH[2]} in
        *\|*) mapfile -t COMPREPLY < <(compgen -W "${BASH_REMATCH[2]//|/ }" -- "$word") ;;
        HOST | HOST-ID) mapfile -t COMPREPLY < <(compgen -W "$(_ballast_names hosts)" -- "$word") ;;
        FILE | PATH) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        esac
        return
    fi
    if [[ $word == -* ]]; then
        candidates=$(grep -oE '(^|[[ ])--[a-z][a-z-]*' <<<"$usage" | tr -d ' [' | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")
        return
    fi
    # the operands: the usage without its options
    usage=$(sed '/^$/,$d; s/^Usage: ballast [a-z-]*//' <<<"$usage" | tr -s '\n ' ' ' | sed 's/\[--[^]]*\]//g')
    candidates=$(grep -oE '[a-z]+(\|[a-z]+)+' <<<"$usage" | tr '|' ' ')
    case $usage in
    *HOST*) candidates+=" $(_ballast_names hosts)" ;;
    *ID*) candidates+=" $(_ballast_names recommendations)" ;;
    *FILE* | *SCENARIO*)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")
}

# Hosts by name, recommendations by number: the first words of a list's rows.
_ballast_names() {
    timeout 2 ballast "$1" 2>/dev/null | awk -v ids="$1" 'NR > 1 && (ids == "hosts" ? /^[^ ]/ : $1 ~ /^[0-9.]+$/ && NF > 4) { print $1 }'
}

complete -o filenames -F _ballast ballast
