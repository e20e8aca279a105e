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

# All hosts are on one machine: other load of the machine is no use of a host. libvirt sees none.
cp /proc/stat run/stat
mount --bind run/stat /proc/stat

/usr/sbin/libvirtd --listen --pid-file /run/libvirt/libvirtd.pid &

# Orphaned QEMU processes are reaped at once: libvirt waits for them at each end of a guest.
while :; do
    wait || true
    sleep 3600 &
done
