#!/usr/bin/env python3
"""The tests' Proxmox VE server keeps to the published description of the API, in three versions, and independent clients read it."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import debian_python  # noqa: E402

debian_python.need("proxmoxer")

import proxmoxer  # noqa: E402

from at_once import Skip, run_tests  # noqa: E402
from proxmox import Cluster, Fault, Server, schema  # noqa: E402
from proxmox.routes import ROUTES  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSIONS = ("8.4", "9.1", "9.2")
CLIENT = pathlib.Path(__file__).parent / "proxmox/client.cjs"


def lab(version, **more):
    """Something of everything."""
    c = Cluster(version, **more).fill(2, ("qemu", "lxc"))
    c.pools["prod"] = {}
    c.guests[100].pool, c.guests[100].tags = "prod", "web;plb_pin_n1"
    c.manage(c.guests[102], group="near") if version == "8.4" else c.manage(c.guests[102])
    c.ha.groups["near"] = {"nodes": "n1:2,n2", "restricted": 0, "nofailback": 0}
    c.add_rule("near", resources="vm:102", nodes="n1:2,n2", strict=1)
    c.add_rule("apart", type="resource-affinity", resources="vm:100,vm:102", affinity="negative")
    c.replication.append({"id": "101-0", "type": "local", "guest": 101, "target": "n2", "jobnum": 0})
    c.ceph = {"mon": ["n1"], "osd": ["n1", "n2"]}
    c.mappings["pci"]["gpu"] = ["node=n1,path=0000:01:00.0,id=10de:1eb8"]
    return c


def client(server, **more):
    user, _, name = server.token.partition("!")
    host = server.urls[0].rpartition("/")[2]
    return proxmoxer.ProxmoxAPI(host, user=user, token_name=name, token_value=server.cluster.accounts[server.token].secret,
                                verify_ssl=server.ca_file, **more)


def test_routes():
    """Each route and each parameter of the table is in the description, with the same ones required, the same privilege, forwarded alike."""
    if schema.folder() is None:
        print("routes not compared: BALLAST_DATA names the folder with proxmox-api-9.1.json.xz")  # data, which is no peer: the rest is a test
        return
    wrong = []
    for version in ("8.4", "9.1"):
        described = schema.load(version)
        for r in ROUTES:
            it = described.method(r.method, r.path)
            if (it is not None) != (int(version[0]) >= r.since):
                wrong.append(f"{version} {r.method} {r.path}: exists only on one side")
            if it is None:
                continue
            known = it["parameters"].get("properties", {})
            wrong += [f"{version} {r.method} {r.path}: no parameter {p}" for p in r.known(int(version[0])) - set(known)]
            if r.required != {p for p, d in known.items() if not d.get("optional")}:
                wrong.append(f"{version} {r.method} {r.path}: required {r.required}")
            if it.get("proxyto") == "node" and not r.on_node:
                wrong.append(f"{version} {r.method} {r.path}: is forwarded to the node")
            check = it.get("permissions", {}).get("check")
            if (r.needs is not None) != (check is not None) and it.get("permissions", {}).get("user") != "all":
                wrong.append(f"{version} {r.method} {r.path}: needs {check}")
            enough = check[1:] if check and check[0] == "or" else [check]
            if r.needs and check and not any(e[1] == r.needs[0] and r.needs[1] in e[2] for e in enough):
                wrong.append(f"{version} {r.method} {r.path}: needs {check}")
    assert not wrong, "\n".join(wrong)


def every_get(api, c, version):
    """Asks every route that reads, with a guest and a task that exist."""
    upid = api.nodes("n1").qemu(100).migrate.post(target="n2", online=1)
    guest = {"qemu": 104, "lxc": 101}
    node = {k: c.guests[v].node for k, v in guest.items()}
    for r in ROUTES:
        if r.method != "GET" or int(version[0]) < r.since:
            continue
        kind = "lxc" if "/lxc/" in r.path else "qemu"
        path = r.path.format(node="n1" if "{upid}" in r.path or "{vmid}" not in r.path else node[kind], vmid=guest[kind], upid=upid)
        if r.path == "/cluster/ha/groups" and version != "8.4":
            continue
        yield r.path, api(path).get(**({"timeframe": "hour"} if "timeframe" in r.required else {}))
    for _ in range(300):
        if api.nodes("n1").tasks(upid).status.get()["status"] == "stopped":
            return
        time.sleep(0.1)


def test_answers():
    """Every answer of every version, read by proxmoxer, has only what is declared."""
    for version in VERSIONS:
        c = lab(version)
        c.migration_rate = 1 << 40
        with Server(c) as s:
            answers = dict(every_get(client(s), c, version))
            assert not s.problems, "\n".join(sorted(set(s.problems)))
        assert len(answers) > 30 and answers["/version"]["release"] == version
        rows = answers["/cluster/resources"]
        assert {r["type"] for r in rows} == {"node", "qemu", "lxc", "storage", "pool"}
        assert ("memhost" in next(r for r in rows if r["type"] == "qemu")) == (version != "8.4")
        assert c.guests[100].node == "n2"  # migrated
    print("every route of", ", ".join(VERSIONS), "was read")


def refused(code, text, ask, *arguments, **parameters):
    try:
        ask(*arguments, **parameters)
    except proxmoxer.core.ResourceException as e:
        assert e.status_code == code and text in f"{e.content} {e.errors}", vars(e)
        return e
    raise AssertionError(f"{code} {text}: not refused")


def test_refusals():
    c = lab("9.1")
    with Server(c) as s:
        api = client(s)
        refused(400, "Parameter verification failed.", api.nodes("n1").qemu(100).migrate.post, target="n2", speed=1)
        refused(400, "Parameter verification failed.", api.nodes("n1").qemu(100).migrate.post)
        refused(500, "without --online", api.nodes("n1").qemu(100).migrate.post, target="n2")
        refused(500, "does not exist", api.nodes("n2").qemu(100).config.get)
        refused(501, "not implemented", api.nodes("n2").nothing.get)
        c.guests[100].lock = "backup"
        refused(500, "VM is locked (backup)", api.nodes("n1").qemu(100).migrate.post, target="n2", online=1)
        s.tells_message = False  # the reason stands on the status line in any case
        refused(500, "VM is locked (backup)", api.nodes("n1").qemu(100).migrate.post, target="n2", online=1)
        c.nodes["n2"].online = False
        refused(595, "No route", api.nodes("n2").status.get)
        c.accounts[s.token].acl = {}
        refused(403, "Permission check failed", api.nodes("n1").status.get)
        assert [r["type"] for r in api.cluster.resources.get()] == ["node"] * 3
        s.faults.append(Fault("/version", code=599, reason="Too many redirections"))
        refused(599, "redirections", api.version.get)
    with Server(lab("8.4")) as s:
        refused(400, "Parameter verification failed.", client(s).nodes("n1").qemu(100).migrate.post, **{"target": "n2", "online": 1, "with-conntrack-state": 1})
        refused(501, "not implemented", client(s).cluster.ha.rules.get)


def test_ha_queue():
    """OK of the queue's task is no move: it comes later, as another task of root@pam, or never."""
    c = lab("9.1")
    now = [1790000000.0]
    c.clock = lambda: now[0]
    with Server(c) as s:
        api = client(s)
        upid = api.nodes("n2").qemu(102).migrate.post(target="n3", online=1)
        now[0] += 2
        done = api.nodes("n2").tasks(upid).status.get()
        assert (done["type"], done["exitstatus"], c.guests[102].node) == ("hamigrate", "OK", "n2"), done
        now[0] += 10
        api.version.get()
        assert c.guests[102].lock == "migrate"
        late = api.nodes("n2").tasks.get(typefilter="qmigrate", source="all")[0]
        assert (late["user"], late["id"]) == ("root@pam", "102"), late
        log = api.nodes("n2").tasks(late["upid"]).log.get()
        assert "starting migration of VM 102" in log[0]["t"], log
        now[0] += 60
        api.version.get()
        assert (c.guests[102].node, c.guests[102].lock) == ("n3", "")
        c.ha.drop = 1
        api.nodes("n3").qemu(102).migrate.post(target="n1", online=1)
        now[0] += 600
        api.version.get()
        assert c.guests[102].node == "n3"


def test_tickets():
    with Server(lab("9.1"), nodes=["n1", "n2"]) as s:
        host = s.urls[1].rpartition("/")[2]
        api = proxmoxer.ProxmoxAPI(host, user=s.user, password=s.cluster.accounts[s.user].secret, verify_ssl=s.ca_file)
        assert [r["local"] for r in api.cluster.status.get() if r["type"] == "node"] == [0, 1, 0]
        api.nodes("n1").qemu(100).migrate.post(target="n2", online=1)  # with the token against forged requests
        s.expire_tickets()
        refused(401, "ticket", api.version.get)
    try:
        with Server(lab("9.1")) as s:
            proxmoxer.ProxmoxAPI(s.urls[0].rpartition("/")[2], user=s.user, password="wrong", verify_ssl=s.ca_file)
    except proxmoxer.backends.https.AuthenticationError:
        return
    raise AssertionError("a wrong password was taken")


def test_node_client():
    """npm's proxmox-api, which was written apart from proxmoxer."""
    modules = ROOT / "dashboard/node_modules"
    if not shutil.which("node") or not (modules / "proxmox-api").exists():
        raise Skip("no proxmox-api of npm (dashboard/build)")
    for version in VERSIONS:
        c = lab(version)
        c.migration_rate = 1 << 40
        with Server(c) as s:
            given = {"host": s.urls[0].rpartition("/")[2], "token": s.token, "secret": c.accounts[s.token].secret}
            began = time.monotonic()
            ended = subprocess.run(["node", CLIENT], input=json.dumps(given), capture_output=True, text=True, timeout=120, check=False,
                                   env={**os.environ, "NODE_PATH": str(modules), "NODE_EXTRA_CA_CERTS": s.ca_file})
            assert ended.returncode == 0, ended.stderr
            told = json.loads(ended.stdout)
            assert not s.problems, s.problems
        assert (told["release"], told["nodes"], told["guests"], told["net0"]) == (version, 3, 6, "virtio=BC:24:11:00:00:64,bridge=vmbr0"), told
        assert told["exit"] == "OK" and c.guests[100].node == "n2", told
        print(f"proxmox-api read {version} in {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
