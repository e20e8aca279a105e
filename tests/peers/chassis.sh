#!/bin/sh
# chassis.sh FOLDER get|set|check WHAT [VALUE]...: ipmi_sim calls this to read and change a chassis (chassis_control in ipmi_lan(5)).
# The files of FOLDER are the chassis; ipmi_sim.py explains each. It must return at once: the controller answers no request until
# then.
folder=$1
verb=$2
shift 2

put() { # FILE VALUE: whoever reads sees the old value or the new one
    echo "$2" >"$folder/$1.$$" && mv "$folder/$1.$$" "$folder/$1"
}

note() {
    echo "$(date +%s.%N) $*" >>"$folder/commands"
}

read -r power <"$folder/power"
case $verb in
get)
    for what; do
        value=0
        [ "$what" = power ] && value=$power
        [ "$what" = power ] && [ -e "$folder/claims" ] && read -r value <"$folder/claims"
        echo "$what:$value"
    done
    ;;
set)
    note "$1" "$2"
    [ -e "$folder/busy" ] && [ "$1 $2" != "power $power" ] && read -r seconds <"$folder/busy" && sleep "$seconds"
    case $1 in
    power) [ -e "$folder/stuck" ] || put power "$2" ;;
    shutdown)
        read -r seconds <"$folder/soft"
        case $seconds in
        never) ;;
        0) put power 0 ;;
        *) (sleep "$seconds" && put power 0 && note done 0) </dev/null >/dev/null 2>&1 & ;;
        esac
        ;;
    esac
    ;;
esac
exit 0
