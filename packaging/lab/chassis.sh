#!/bin/sh
# chassis.sh FOLDER HOST get|set|check WHAT [VALUE]...: ipmi_sim calls this to read and to switch the chassis of a host (chassis_control in
# ipmi_lan(5)). The file power says whether it is on; the supervisor hears of commands by the pipe ../chassis. It returns at once:
# the controller answers no request until then.
folder=$1 host=$2 verb=$3
shift 3

read -r power <"$folder/power"
case $verb in
get)
    for what; do
        if [ "$what" = power ]; then echo "power:$power"; else echo "$what:0"; fi
    done
    ;;
set)
    case "$1 $2" in
    "power $power") exit 0 ;;
    "power "*) echo "$2" >"$folder/power.$$" && mv "$folder/power.$$" "$folder/power" ;;
    esac
    echo "$host $1 $2" >>"$folder/../chassis"
    ;;
esac
exit 0
