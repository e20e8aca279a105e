#!/bin/bash
# host.sh NAME ADDRESS CONTROLLERS...: what runs as pid 1 of a host of the lab, in namespaces of its own: makes the host's files and network, and starts
# libvirtd. Starts in the host's folder, and goes on when its standard input says that the network cable is plugged in.
set -eu
name=$1 address=$2
shift 2

hostname "$name"
echo ready
read -r _

ip link set lo up
ip addr add "$address/24" dev eth0
ip link set eth0 up
ip link add vmbr0 type bridge
ip link set vmbr0 up
mount -t sysfs sysfs /sys # with this host's interfaces
if [ $# -gt 0 ]; then # libvirt's own groups, below those of this host
    mount -t tmpfs cgroup /sys/fs/cgroup
    for controllers; do
        mkdir "/sys/fs/cgroup/$controllers"
        mount -t cgroup -o "$controllers" cgroup "/sys/fs/cgroup/$controllers"
    done
fi

# The paths below are relative: this folder may be below /run, which goes out of sight here.
mount -t tmpfs run /run
mkdir /run/libvirt
mount --bind run /run/libvirt
mount --bind lib /var/lib/libvirt
mount --bind etc /etc/libvirt
mount --bind log /var/log/libvirt
mount --bind cache /var/cache/libvirt
mount --bind ../hosts /etc/hosts

# All hosts are on one machine: other load of the machine is no use of a host. libvirt sees what the processes of this host have used, those that
# have ended included, and of the memory what they have for themselves. In one piece: no reader finds half of a line.
show_use() {
    awk -v total="$1" '
        FILENAME ~ /stat$/ { sub(/.*\) /, ""); ticks += $12 + $13 + $14 + $15 }
        /^Rss(Anon|Shmem):/ { used += $2 }
        END {
            printf "cpu  %20d 0 0 0 0 0 0 0 0 0\n", ticks > "/run/stat"
            printf "MemTotal: %20d kB\nMemFree: %20d kB\nBuffers: 0 kB\nCached: 0 kB\n", total, total - used > "/run/meminfo"
        }' /proc/[0-9]*/stat /proc/[0-9]*/status 2> /dev/null || true # a process may end meanwhile
    dd if=/run/stat of=run/stat conv=notrunc status=none
    dd if=/run/meminfo of=run/meminfo conv=notrunc status=none
}
total=$(awk '/^MemTotal:/ { print $2 }' /proc/meminfo)
show_use "$total"
mount --bind run/stat /proc/stat
mount --bind run/meminfo /proc/meminfo
while sleep 2; do show_use "$total"; done &

/usr/sbin/libvirtd --listen --pid-file /run/libvirt/libvirtd.pid &

# Orphaned QEMU processes are reaped at once: libvirt waits for them at each end of a guest.
while :; do
    wait || true
    sleep 3600 &
done
