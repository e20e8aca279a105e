#!/usr/bin/env python3
"""A scheduling policy of oVirt on plain libvirt hosts, in the lab: it moves a guest, and when another policy is configured the next pass decides
otherwise, and so does the best host of a guest."""
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from lab import Lab  # noqa: E402

GUESTS = {"clone_of": "vm_evenly_distributed", "properties": {"HighVmCount": 3, "MigrationThreshold": 2, "SpmVmGrace": 0}}


def pipelines(policy):
    return {"all": {"vms": {"name": "*"}, "scheduling_policy": policy}}


def test_policy():
    with Lab(hosts=2, vms=4, options=("--no-service",)) as lab:
        lab.load("vms 1-4: cpu 5 mem 8")
        for vm in [name for name in lab.virsh("hv2", "list --name").split()]:
            lab.virsh("hv2", f"migrate --live --p2p --persistent --undefinesource {vm} {lab.uri('hv1')}")
        source = {"kind": "libvirt", "hosts": {host: {"uri": lab.uri(host)} for host in ("hv1", "hv2")}, "host_timeout_s": 60, "timeout_s": 90}
        with Daemon(source, interval_s=5, automation="manual", cool_down_s=1, balance={"by": "policy"}, pipelines=pipelines(GUESTS)) as d:
            d.start()

            def moves():
                return [(a["from"], a["to"], a["reason"]) for a in d.actions() if a["state"] == "recommended"]

            def best(vm):
                told = d.json("migrate", "--best", vm)
                return {r["to"] for r in told["recommendations"]} or {"stays"}

            def policy_is(policy):
                done = d.status()["pass"]["id"]
                d.write(pipelines=pipelines(policy))
                d.process.send_signal(signal.SIGHUP)
                wait_for("two more passes", lambda: d.status()["pass"]["id"] > done + 1, 60)

            assert wait_for("a guest is to leave", moves, 90) == [("hv1", "hv2", "policy")]
            assert best("vm1") == {"hv2"}, best("vm1")
            policy_is("none")
            wait_for("it is withdrawn", lambda: not moves(), 30)
            policy_is({"clone_of": "power_saving", "filters": [], "properties": {"LowUtilization": 0, "HighUtilization": 99}})
            assert moves() == [] and best("vm1") == {"stays"}, (moves(), best("vm1"))
            policy_is(GUESTS)
            assert moves() == [("hv1", "hv2", "policy")], moves()
            (number,) = [str(a["id"]) for a in d.actions() if a["state"] == "recommended"]
            d.cli("apply", number)
            wait_for("the guest has moved", lambda: len(lab.virsh("hv2", "list --name").split()) == 1, 120)
            d.stop()


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
