#!/usr/bin/env python3
"""Live migrations between real libvirtd with QEMU of guests whose disk no other host has: only where the settings allow it, with the
disk as it was, and never over the disk of another VM."""
import pathlib
import sys

from daemon import Daemon, wait_for
from lab import Lab
from probe import Probe, by_id
from test_libvirt_migrate import end_of, is_only_on, start, unbroken, uuid_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

IMAGES = "/var/lib/libvirt/images"
MIB = 1 << 20
CONTENT = bytes(range(256)) * (MIB // 256) * 8 + bytes(24 * MIB)
DISK = """<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='{images}/{guest}.img'/><target dev='vda' bus='virtio'/></disk>"""

VOLUME = """<disk type='volume' device='disk'><source pool='{pool}' volume='{volume}'/><target dev='vdb' bus='virtio'/></disk>"""


def image(lab, host, guest):
    return lab.files(host) / "lib/images" / f"{guest}.img"


def add_pool(lab, host):
    image(lab, host, "any").parent.mkdir(exist_ok=True)
    lab.virsh(host, f"pool-create-as local dir --target {IMAGES}")


def add_disk(lab, host, guest):
    """The guest is started again with it, and reports."""
    boot = lab.guests()[guest]["boot"]
    image(lab, host, guest).write_bytes(CONTENT)
    description = pathlib.Path(lab.dir.name) / "disk.xml"
    description.write_text(DISK.format(images=IMAGES, guest=guest))
    lab.virsh(host, f"attach-device {guest} {description} --config")
    lab.virsh(host, f"destroy {guest}")
    lab.virsh(host, f"start {guest}")
    wait_for("the guest runs with it", lambda: lab.guests()[guest]["load"] and lab.guests()[guest]["boot"] not in (None, boot))


def probe(lab, **migration):
    keys = {f"hosts.{host}.uri": lab.uri(host) for host in ("hv1", "hv2")}
    return Probe("libvirt", **keys, timeout_s=30, **{f"migration.{key}": value for key, value in migration.items()})


def check_who_may_move(lab, vm):
    """By default the VM stays; with the setting, it may go to hosts with the same pool."""
    with probe(lab) as p:
        assert "not known to be on shared storage" in by_id(p("collect")["vms"])[vm]["needs"]["immovable"]
    with probe(lab, copy_storage="full") as p:
        seen = p("collect")
        its = by_id(seen["vms"])[vm]["needs"]
        assert not its["immovable"] and its["datastores"] == [f"local ({IMAGES})"], its
        assert its["disks_copied_mb"] == len(CONTENT) / MIB, its
        assert its["datastores"][0] in by_id(seen["hosts"])["hv2"]["offers"]["datastores"]


def check_foreign_disk(lab, vm):
    """libvirt would write over it."""
    add_disk(lab, "hv2", "vm2")
    lab.virsh("hv2", "destroy vm2")
    lab.virsh("hv2", "detach-disk vm2 vda --config")
    description = pathlib.Path(lab.dir.name) / "disk.xml"
    description.write_text(DISK.format(images=IMAGES, guest="vm1"))
    lab.virsh("hv2", f"attach-device vm2 {description} --config")
    with probe(lab, copy_storage="full") as p:
        for verb in ("check", "start"):
            refused = p(verb, "migrate", "u1", vm, "hv1", "hv2")
            assert refused["error"] == "EPERM" and "VM vm2 there has a disk with the same path" in refused["text"], refused
    assert not image(lab, "hv2", "vm1").exists()
    lab.virsh("hv2", "detach-disk vm2 vda --config")
    # the same file as a volume of a pool; then a volume whose pool is not active, so that it may be any file
    for pool, words in (("local", "VM vm2 there has a disk with the same path"), ("other", "cannot be known")):
        image(lab, "hv2", "vm1").write_bytes(CONTENT)
        if pool == "other":
            lab.virsh("hv2", "pool-destroy local")
            lab.virsh("hv2", f"pool-create-as other dir --target {IMAGES}")
        lab.virsh("hv2", f"pool-refresh {pool}")
        description.write_text(VOLUME.format(pool=pool, volume="vm1.img"))
        lab.virsh("hv2", f"attach-device vm2 {description} --config")
        if pool == "other":
            lab.virsh("hv2", "pool-destroy other")
            add_pool(lab, "hv2")
        with probe(lab, copy_storage="full") as p:
            refused = p("start", "migrate", "u1", vm, "hv1", "hv2")
            assert refused["error"] == "EPERM" and words in refused["text"], refused
        lab.virsh("hv2", "detach-disk vm2 vdb --config")
    image(lab, "hv2", "vm1").unlink()
    lab.virsh("hv2", "pool-refresh local")


def check_copy(lab, vm):
    """In a pool of the destination libvirt makes the image; incremental, it must be there."""
    with unbroken(lab, "vm1"):
        with probe(lab, copy_storage="incremental") as p:
            answer, _ = end_of(p, start(p, vm, "hv1", "hv2"))
            assert answer["state"] == "failed" and is_only_on(lab, "vm1", "hv1", "hv2"), answer
        with probe(lab, copy_storage="full") as p:
            answer, _ = end_of(p, start(p, vm, "hv1", "hv2"))
            assert answer["state"] == "succeeded" and is_only_on(lab, "vm1", "hv2", "hv1"), answer
            assert image(lab, "hv2", "vm1").read_bytes() == CONTENT == image(lab, "hv1", "vm1").read_bytes()
            log = p.close()
        assert f"what is left of them on hv1 is never deleted: {IMAGES}/vm1.img" in log, log


def check_service(lab, vm):
    """The service moves the VM back, over the image that was left there."""
    image(lab, "hv1", "vm1").write_bytes(bytes(len(CONTENT)))
    source = {"kind": "libvirt", "migrations": {"one": {"vms": ["vm1"], "copy_storage": "full"}},
              "hosts": {host: {"uri": lab.uri(host), "cpu_mhz": 8000, "mem_mb": 4096} for host in ("hv1", "hv2")}}
    rules = {"vm1-there": {"kind": "host-affinity", "vms": "vm1", "hosts": ["hv1"]}}
    with unbroken(lab, "vm1"), Daemon(source, automation="full", interval_s=5, rules=rules).start() as d:
        wait_for("the VM is back", lambda: is_only_on(lab, "vm1", "hv1", "hv2"))
        wait_for("its action is done", lambda: [a["state"] for a in d.json("history", "--limit", 50) if a["vm"] == vm] == ["done"])
        assert image(lab, "hv1", "vm1").read_bytes() == CONTENT
        d.stop()


def make_small(lab, host, folder, mib):
    """What is in the folder stays; there is room for so much."""
    lab.inside(host, "sh", "-ec", f"mkdir -p {folder} /tmp/was; cp -a {folder}/. /tmp/was; mount -t tmpfs -o size={mib}m tmpfs {folder}; "
               f"cp -a /tmp/was/. {folder}; rm -r /tmp/was")


def check_full(lab, vm, expected, left):
    """The migration fails with that reason; on the destination is nothing of it but the image that was there."""
    with unbroken(lab, "vm1"), probe(lab, copy_storage="full") as p:
        answer, _ = end_of(p, start(p, vm, "hv1", "hv2"))
        assert answer["state"] == "failed" and answer["why"].startswith("hv1 to hv2: ") and expected in answer["why"], answer
        assert is_only_on(lab, "vm1", "hv1", "hv2")
    assert lab.inside("hv2", "ls", IMAGES).split() == left


def check_full_service(lab, vm):
    """The VM is wanted on the full host: one failed action with the reason, and no other while the host is avoided."""
    source = {"kind": "libvirt", "migration": {"copy_storage": "full"},
              "hosts": {host: {"uri": lab.uri(host), "cpu_mhz": 8000, "mem_mb": 4096} for host in ("hv1", "hv2")}}
    rules = {"vm1-there": {"kind": "host-affinity", "vms": "vm1", "hosts": ["hv2"]}}
    with unbroken(lab, "vm1"), Daemon(source, automation="full", interval_s=2, cool_down_s=1, rules=rules).start() as d:
        def tried():
            return [a for a in d.json("history", "--limit", 50) if a["vm"] == vm and a["started"]]

        wait_for("its action has failed", tried)
        seen = d.status()["pass"]["id"]
        wait_for("more passes", lambda: d.status()["pass"]["id"] >= seen + 6)
        assert [a["state"] for a in tried()] == ["failed"] and "No space left on device" in tried()[0]["why"], tried()
        assert not d.actions("approved", "starting", "running", "verifying")
        assert is_only_on(lab, "vm1", "hv1", "hv2")
        d.stop()


def test_full_destination():
    """No room for the image, or for the rest of it while it is copied, or for libvirt's own files."""
    with Lab(hosts=2, vms=1, options=["--no-service"]) as lab:
        make_small(lab, "hv2", IMAGES, 4)
        for host in ("hv1", "hv2"):
            add_pool(lab, host)
        add_disk(lab, "hv1", "vm1")
        vm = uuid_of(lab, "hv1", "vm1")
        check_full(lab, vm, "No space left on device", [])
        check_full_service(lab, vm)
        lab.inside("hv2", "truncate", "--size", len(CONTENT), f"{IMAGES}/vm1.img")
        check_full(lab, vm, "migration of disk vda failed: No space left on device", ["vm1.img"])
        lab.inside("hv2", "sh", "-c", f"umount {IMAGES}; mkdir -p {IMAGES}")
        lab.virsh("hv2", "pool-refresh local")
        make_small(lab, "hv2", "/var/lib/libvirt/qemu", 1)
        lab.inside("hv2", "sh", "-c", "cat /dev/zero > /var/lib/libvirt/qemu/full 2>/dev/null; true")
        with unbroken(lab, "vm1"), probe(lab, copy_storage="full") as p:
            image(lab, "hv2", "vm1").write_bytes(CONTENT)
            answer, _ = end_of(p, start(p, vm, "hv1", "hv2"))
            assert answer["state"] == "failed" and "hv1 to hv2: " in answer["why"], answer
            assert is_only_on(lab, "vm1", "hv1", "hv2")
            print(answer["why"], flush=True)
        lab.inside("hv2", "rm", "/var/lib/libvirt/qemu/full")
        with unbroken(lab, "vm1"), probe(lab, copy_storage="full") as p:
            assert end_of(p, start(p, vm, "hv1", "hv2"))[0]["state"] == "succeeded" and is_only_on(lab, "vm1", "hv2", "hv1")


def test_copy():
    with Lab(hosts=2, vms=2, options=["--no-service"]) as lab:
        for host in ("hv1", "hv2"):
            add_pool(lab, host)
        add_disk(lab, "hv1", "vm1")
        vm = uuid_of(lab, "hv1", "vm1")
        for check in (check_who_may_move, check_foreign_disk, check_copy, check_service):
            check(lab, vm)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
