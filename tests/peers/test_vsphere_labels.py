#!/usr/bin/env python3
"""Labels and folders that the vSphere collector reads of govmomi's simulator: custom attributes, tags, paths."""
import pathlib
import sys

from probe import Probe, by_id
from vcsim import Vcsim, build, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402


def probe(sim):
    return Probe(url=sim.url, username=sim.username, password_file=sim.password_file, ca_file=sim.ca_file, stats="quick",
                 timeout_s=60)


def equal(what, got, expected):
    assert got == expected, f"{what}: {got!r}, expected {expected!r}"


def test_labels():
    """Custom attributes of VMs and hosts are labels, and a VM has the path of its folder."""
    with Vcsim(hosts=2, vms=4) as sim, probe(sim) as p:
        api = sim.client()
        vms, hosts = sorted(api.vms().values()), sorted(api.hosts().values())
        api.set_field(vms[0], api.add_field("tier", "VirtualMachine"), "gold")
        api.set_field(vms[0], (everywhere := api.add_field("owner")), "db & web")
        api.set_field(hosts[1], everywhere, "facilities")
        root = api.get("VirtualMachine", vms[0], "parent")["parent"].text
        inner = api.create_folder(api.create_folder(root, "prod"), "db/main")
        api.wait(api.move_into_folder(inner, vms[1]))
        inv = p("collect")
        of = {o["id"]: o for kind in ("vms", "hosts") for o in inv[kind]}
        equal("labels of a VM", of[vms[0]]["labels"], {"tier": "gold", "owner": "db & web"})
        equal("labels of a host", of[hosts[1]]["labels"], {"owner": "facilities"})
        equal("without", (of[vms[1]]["labels"], of[hosts[0]]["labels"]), ({}, {}))
        equal("the datacenter's own folder", of[vms[0]]["folder"], "/")
        equal("a folder in a folder", of[vms[1]]["folder"], "/prod/db/main")


def test_tags():
    """Tags of VMs and hosts are labels by their categories, also those of a VM that is new. Attributes stay beside them."""
    with Vcsim(hosts=2, vms=600) as sim, probe(sim) as p:  # more than one request asks for
        api = sim.client()
        vms, hosts = sorted(api.vms().values()), sorted(api.hosts().values())
        equal("none", [o["labels"] for o in p("collect")["vms"] if o["labels"]], [])
        tier, role = api.add_category("tier & more"), api.add_category("role")
        gold, db, web = api.add_tag(tier, "gold"), api.add_tag(role, "db"), api.add_tag(role, "web")
        api.add_tag(role, "of nothing")
        api.attach_tag(gold, vms[0], vms[-1], hosts[1])
        api.attach_tag(web, vms[0])
        api.attach_tag(db, vms[0], vms[1])
        api.set_field(vms[1], api.add_field("role"), "cache")
        api.set_field(vms[0], api.add_field("owner"), "ops")
        with probe(sim) as fresh:
            inv = fresh("collect")
            of = {o["id"]: o["labels"] for kind in ("vms", "hosts") for o in inv[kind]}
            equal("a VM", of[vms[0]], {"tier & more": "gold", "role": "db;web", "owner": "ops"})
            equal("an attribute of this name", of[vms[1]], {"role": "cache;db"})
            equal("the last VM, a host", (of[vms[-1]], of[hosts[1]]), ({"tier & more": "gold"},) * 2)
            equal("without", (of[vms[2]], of[hosts[0]]), ({}, {}))
            again = fresh("collect")
            equal("again", [o["labels"] for o in again["vms"]], [o["labels"] for o in inv["vms"]])
            new = api.clone_vm(vms[2], "new")
            api.attach_tag(web, new)
            equal("a new VM", by_id(fresh("collect")["vms"])[new]["labels"], {"role": "web"})
            log = fresh.close()
            assert "tags of vSphere" not in log, log


if __name__ == "__main__":
    main(lambda: build() and sys.exit(run_tests(globals())))
