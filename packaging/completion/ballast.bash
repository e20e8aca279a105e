# Completes ballast(1) in bash. Commands, options and their values come from `ballast --help`, so this file names none of them; names
# and numbers come from the service, if it answers within two seconds.

# ---- the same in both shells -----------------------------------------------------------------------------------

_ballast_help() { ballast "$@" --help 2>/dev/null; }
_ballast_ask() { timeout 2 ballast "$@" 2>/dev/null; }
_ballast_commands() { _ballast_help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'; }

# $1: what of each row of a list in JSON; the rest: the command.
_ballast_list() {
    _ballast_ask "${@:2}" --format json | awk -v wanted="$1" '
        !/^    "/ { next }
        { key = value = $0; sub(/^ *"/, "", key); sub(/": .*/, "", key); sub(/^[^:]*": "?/, "", value); sub(/"?,?$/, "", value) }
        key == "id" { id = value }
        key == "name" && wanted == "name" { print value == "null" ? id : value }
        key == "version" && wanted == "number" { print id (value > 1 ? "." value : "") }
        key == "group" && wanted == "group" && value != "null" { print value }
        key == "console" && wanted == "console" && value == "true" { print id }' | sort -u
}

# The settings of a pass, which a plan of any cluster lists.
_ballast_settings() {
    ballast generate --hosts 1 --vms 1 2>/dev/null | ballast plan --snapshot - --format json 2>/dev/null | awk -F'"' '
        /^  "policy"/ { inside = 1; next }
        inside && /^  }/ { exit }
        inside && /^    "/ { section = /{$/ ? $2 "." : ""; if (section) next }
        inside && NF > 2 { print section $2 "=" }'
}

# What may stand where --help has the word $1, of the command $2; $3: its option.
_ballast_values() {
    case $1 in
    ACTION) _ballast_list console history ;;
    G) _ballast_list group recommendations --state recommended ;;
    HOST*) _ballast_list name hosts ;;
    ID) _ballast_list number recommendations --state recommended ;;
    KEY=VALUE) _ballast_settings ;;
    KIND | STATE) timeout 2 ballast "$2" "$3" '?' 2>&1 | sed -n '/, expected /{s/.*, expected //; s/^one of//; s/,\| or / /g; p;}' | tr -s ' ' '\n' ;;
    NAME) [[ $2 != token || -n $3 ]] || _ballast_list name token list ;;
    POOL) _ballast_list name pools ;;
    TARGET) _ballast_ask status --format json | sed -n 's/^ *"target": "\(.*\)",\{0,1\}$/\1/p' ;;
    VM | VM...) _ballast_list name vms ;;
    VM=MHZ) _ballast_list name vms | sed 's/$/=/' ;;
    [[:lower:]]*) tr '|' '\n' <<<"$1" ;;
    esac
}

# The words for the operands in the usage that is read, one a line.
_ballast_operands() {
    sed '/^$/,$d; s/^Usage: ballast [a-z-]*//' | tr -s '\n ' ' ' | sed 's/\[--[^]]*\]//g; s/--[a-z][a-z-]*\( [A-Z]*\)\{0,1\}//g' | tr -s '[]| ' '\n' | sort -u
}

# ---- bash --------------------------------------------------------------------------------------------------------

# Offers the lines that are read and begin as $1 does. Bash quotes them.
_ballast_offer() {
    local candidate
    while IFS= read -r candidate; do
        [[ -z $candidate || $candidate != "$1"* ]] || COMPREPLY+=("$candidate")
    done
    [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

_ballast_files() {
    compopt -o filenames 2>/dev/null # for these only: a host may be called as a folder is
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$1")
}

_ballast() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} usage operand

    if ((COMP_CWORD == 1)) || [[ $verb == help ]]; then
        _ballast_offer "$word" < <(_ballast_commands)
        ((COMP_CWORD > 1)) || _ballast_offer "$word" <<<$'--help\n--version'
        return
    fi
    usage=$(_ballast_help "$verb")
    # --format text|json: the values of the option before
    if [[ $before == --* && $usage =~ (^|[[:space:]\[])"$before "([A-Za-z_|=,.-]+) ]]; then
        case ${BASH_REMATCH[2]} in
        FILE | PATH | DIR) _ballast_files "$word" ;;
        *) _ballast_offer "$word" < <(_ballast_values "${BASH_REMATCH[2]}" "$verb" "$before") ;;
        esac
        return
    fi
    if [[ $word == -* ]]; then
        _ballast_offer "$word" < <(grep -oE '(^|[[ ])--[a-z][a-z-]*' <<<"$usage" | tr -d ' [' | sort -u)
        return
    fi
    for operand in $(_ballast_operands <<<"$usage"); do
        case $operand in
        FILE* | SCENARIO) _ballast_files "$word" ;;
        *) _ballast_offer "$word" < <(_ballast_values "$operand" "$verb") ;;
        esac
    done
}

complete -F _ballast ballast
