#!/usr/bin/env python3
"""VMs that are off, by the vSphere actuator against govmomi's simulator: started on a host, or registered on another one."""
import pathlib
import sys

from probe import by_id
from test_vsphere_plugins import equal, probe, refused, wait_for
from vcsim import Vcsim, build, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402


def test_power_on():
    """A VM that is off, or suspended, starts at the host that is named; vcsim alone takes the host where it is registered."""
    with Vcsim(hosts=3, vms=6, slow_ms=100) as sim:
        api = sim.client()
        vms = sorted(api.vms().values())
        vm, source = vms[0], api.host_of(vms[0])
        target = next(h for h in sorted(api.hosts().values()) if h != source)
        on = ("power_on_vm", "action-1", vm, target)
        with probe(sim) as p:
            refused("it runs", p("check", *on), "ESTALE", "runs already, on")
            refused("it runs there", p("check", "power_on_vm", "u", vm, source), "ESTALE", f"runs on {source} already")
            api.power_off(vm)
            assert p("check", *on)["ok"]
            equal("check has no effect", by_id(p("collect")["vms"])[vm]["state"], "off")
            wait_for(p, p("start", *on)["task"], "succeeded")
            seen = by_id(p("collect")["vms"])[vm]
            equal("it runs there", (seen["state"], seen["host"], api.host_of(vm)), ("on", target, target))
            refused("again", p("start", *on), "ESTALE", "already")
            api.suspend(vms[1])
            there = api.host_of(vms[1])
            wait_for(p, p("start", "power_on_vm", "u", vms[1], there)["task"], "succeeded")
            equal("resumed", by_id(p("collect")["vms"])[vms[1]]["state"], "on")
            api.power_off(vm)
            # the simulator keeps no level of the cluster, only the VMs' own
            for n, (own, error) in enumerate((({"behavior": "fullyAutomated"}, "EPERM"), ({"behavior": "manual"}, None),
                                              ({"enabled": False, "behavior": "partiallyAutomated"}, None))):
                off = vms[2 + n]
                api.power_off(off)
                api.set_override(off, **own)
                answer = p("check", "power_on_vm", "u", off, target)
                equal(f"DRS {own}", answer.get("error"), error)
                if error:
                    assert "DRS of vCenter chooses the host of VM" in answer["text"], answer
            api.destroy_off(vm)
            refused("deleted", p("start", *on), "ENOENT", vm)
    with Vcsim(hosts=2, vms=2) as sim:
        api = sim.client()
        vm = sorted(api.vms().values())[0]
        source = api.host_of(vm)
        target = next(h for h in api.hosts().values() if h != source)
        api.power_off(vm)
        with probe(sim) as p:
            wait_for(p, p("start", "power_on_vm", "u", vm, target)["task"], "succeeded")
            equal("elsewhere", by_id(p("collect")["vms"])[vm]["host"], source)
            refused("it is said", p("start", "power_on_vm", "u", vm, target), "ESTALE", f"on {source} and not on {target}")


def test_off_moves():
    """A VM that is off is registered on the host that is named, and stays off; one that runs is not moved so, nor one that is off as if it ran."""
    with Vcsim(hosts=2, vms=2, slow_ms=100) as sim:
        api = sim.client()
        vm = sorted(api.vms().values())[0]
        source = api.host_of(vm)
        target = next(h for h in api.hosts().values() if h != source)
        with probe(sim) as p:
            refused("it runs", p("check", "migrate_off", "u", vm, source, target), "ESTALE", "is not off any more")
            api.power_off(vm)
            refused("it is off", p("check", "migrate", "u", vm, source, target), "ESTALE", "does not run any more")
            answer = p("check", "migrate_off", "u", vm, source, target)
            assert answer["ok"], answer
            wait_for(p, p("start", "migrate_off", "u", vm, source, target)["task"], "succeeded")
            seen = by_id(p("collect")["vms"])[vm]
            equal("it is there, and off", (seen["state"], seen["host"]), ("off", target))
            refused("again", p("start", "migrate_off", "u", vm, source, target), "ESTALE", "has arrived")


if __name__ == "__main__":
    main(lambda: build() and sys.exit(run_tests(globals())))
