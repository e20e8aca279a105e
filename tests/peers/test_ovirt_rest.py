#!/usr/bin/env python3
"""oVirt's REST API of a running service: what another client sends, replayed byte for byte (tests/ovirt/wire.txt); each method in XML and JSON, in versions 3
and 4; statuses, faults, roles, links and searches."""
import base64
import json
import pathlib
import re
import tempfile
import xml.etree.ElementTree as ET

from daemon import SIM, main, wait_for
from test_http import Api
from test_replies import cluster

WIRE = pathlib.Path(__file__).resolve().parents[1] / "ovirt/wire.txt"
ROOT = "/ovirt-engine/api"
NONE = "b4ed2332-a7ac-4d5f-9596-99a439cb2812"
MEMORY, CPU, GUESTS, BALANCE = ("c9ddbb34-0e1d-4061-a8d7-b0893fa80932", "6d636bf6-a35c-4f9d-b68d-0731f720cddc", "3ba8c988-f779-42c0-90ce-caa8243edee7",
                                "d58c8e32-44e1-418f-9222-52cd887bf9e0")
NOWHERE = "00000000-0000-4000-8000-000000000000"
CLIENTS_UNIT = {"balances": BALANCE, "filters": MEMORY, "weights": GUESTS}


def ask(api, method, path, body=None, role="operator", form="xml", version="4", **headers):
    kind = f"application/{form}"
    status, got, data = api.ask(method, path if path.startswith("/") else f"{ROOT}/{path}" if path else ROOT, role, body,
                                {"Accept": kind, "Content-Type": kind, "Version": version, **headers})
    if data:
        assert got["Content-Type"] == kind, (path, got, data[:200])
    return status, got, data.decode()


def fault(reply, status, words):
    assert reply[0] == status, reply
    root = ET.fromstring(reply[2])
    found = root if root.tag == "fault" else root.find("fault")
    assert found.findtext("reason") in ("Operation Failed", "Incomplete parameters"), reply[2]
    assert found.findtext("detail").startswith("[") and words in found.findtext("detail"), reply[2]


def replay(api):
    """The lines of another client, with ids that this service gave in place of its own."""
    ids = {}
    for line in WIRE.read_text(encoding="utf-8").splitlines():
        found = re.match(r"(\w+) (\S+) \[(\S+?)\|(\S+?)\|v(\w+)\] ?(.*)$", line)
        if not found:
            continue
        method, path, accept, content, version, body = found.groups()
        role = "operator"
        if "sso" in path:
            role = None
            body = body.replace("password=..", f"password={api.tokens['operator']}").replace("admin%40internal", "a-operator%40internal")
        part = next((p for p in CLIENTS_UNIT if p in path), None)
        unit = CLIENTS_UNIT.get(part, NOWHERE)
        if "sso" not in path:
            path, body = (text.replace("a1", ids.get("policy", NOWHERE)).replace("u8", unit) for text in (path, body))
        headers = {"Accept": accept, "Content-Type": content, **({} if version == "None" else {"Version": version})}
        status, got, data = api.ask(method, path, role, body or None, headers)
        wanted = 201 if (method, path) == ("POST", f"{ROOT}/schedulingpolicies") else 404 if "nope" in path or (unit == NOWHERE and NOWHERE in path) else 200
        if method == "GET" and part and path.endswith(unit):  # removed by the line before
            wanted = 404
        assert status == wanted, (line, status, data[:300])
        if wanted == 404:
            assert not data, (line, data)
        if wanted == 201:
            ids["policy"] = ET.fromstring(data).get("id")
            assert got["Location"].endswith(ids["policy"]), got
        if "sso/oauth" in path:
            assert json.loads(data)["access_token"] == api.tokens["operator"], data


def in_json(api, version):
    status, got, data = ask(api, "POST", "schedulingpolicies", json.dumps({"name": f"night {version}", "description": "d", "properties": {"property": []}}), form="json", version=version)
    policy = json.loads(data)
    path = f"schedulingpolicies/{policy['id']}"
    assert status == 201 and policy["locked"] == "false" and got["Location"] == f"{ROOT}/{path}" == policy["href"], (got, data)
    for kind, element, unit, more in (("filters", "filter", MEMORY, {"position": "1"}), ("weights", "weight", GUESTS, {"factor": "3"}), ("balances", "balance", BALANCE, {})):
        status, _, data = ask(api, "POST", f"{path}/{kind}", json.dumps({"scheduling_policy_unit": {"id": unit}, **more}), form="json", version=version)
        made = json.loads(data)
        assert status == 200 and made["id"] == unit and made["scheduling_policy_unit"]["id"] == unit and all(made[k] == v for k, v in more.items()), data
        listed = json.loads(ask(api, "GET", f"{path}/{kind}", form="json", version=version)[2])[element]
        assert [x["id"] for x in listed] == [unit], listed
        assert json.loads(ask(api, "GET", f"{path}/{kind}/{unit}", form="json", version=version)[2])["id"] == unit
    status, _, data = ask(api, "PUT", path, json.dumps({"name": f"late {version}", "properties": {"property": [{"name": "HighVmCount", "value": "4"}]}}), form="json", version=version)
    assert status == 200 and json.loads(data)["properties"]["property"] == [{"name": "HighVmCount", "value": "4"}], data
    for kind, unit in (("weights", GUESTS), ("filters", MEMORY)):
        for _ in range(2):  # also where it is not there
            status, _, data = ask(api, "DELETE", f"{path}/{kind}/{unit}", form="json", version=version)
            assert status == 200 and json.loads(data)["status"] == ("complete" if version == "4" else {"state": "complete"}), data
    units = json.loads(ask(api, "GET", "schedulingpolicyunits", form="json", version=version)[2])["scheduling_policy_unit"]
    assert {u["type"] for u in units} == {"filter", "weight", "load_balancing"} and len({u["id"] for u in units}) == len(units), units
    assert ask(api, "DELETE", path, form="json", version=version)[0] == 200
    assert ask(api, "GET", path, form="json", version=version)[::2] == (404, "")


def refusals(api):
    def post(path, body, **more):
        return ask(api, "POST", path, body, **more)
    own = ET.fromstring(post("schedulingpolicies", "<scheduling_policy><name>mine</name></scheduling_policy>")[2]).get("id")
    path = f"schedulingpolicies/{own}"
    fault(post("schedulingpolicies", "<scheduling_policy/>"), 400, "SchedulingPolicy [name] required for add")
    fault(post("schedulingpolicies", "<scheduling_policy><name>none</name></scheduling_policy>"), 400, "Cannot add Scheduling Policy. Name is in use.")
    fault(post("schedulingpolicies", "<scheduling_policy><name>x</name>"), 400, "")
    fault(post("schedulingpolicies", "<host/>"), 400, "")
    fault(ask(api, "PUT", path, f'<scheduling_policy id="{NONE}"/>'), 409, "id")
    fault(ask(api, "PUT", f"schedulingpolicies/{NONE}", "<scheduling_policy><name>x</name></scheduling_policy>"), 400, "locked")
    fault(ask(api, "DELETE", f"schedulingpolicies/{NONE}"), 400, "locked")
    fault(post(f"{path}/filters", f'<filter><scheduling_policy_unit id="{NOWHERE}"/></filter>'), 400, "unit")
    fault(post(f"{path}/weights", f'<weight><factor>-1</factor><scheduling_policy_unit id="{GUESTS}"/></weight>'), 400, "factor")
    assert post(f"{path}/filters", f'<filter><position>-1</position><scheduling_policy_unit id="{CPU}"/></filter>')[0] == 200
    fault(post(f"{path}/filters", f'<filter><position>-1</position><scheduling_policy_unit id="{MEMORY}"/></filter>'), 400, "taken")
    fault(post(f"{path}/filters", f'<filter><scheduling_policy_unit id="{CPU}"/></filter>'), 400, "twice")
    fault(ask(api, "DELETE", f"schedulingpolicyunits/{CPU}"), 409, "internal")
    fault(ask(api, "GET", "hosts?search=colour%3Dred"), 400, "colour")
    fault(ask(api, "GET", "hosts", version="5"), 400, "version")
    for method, where in (("GET", "schedulingpolicies/nope"), ("GET", "nothing"), ("PUT", f"schedulingpolicies/{NOWHERE}"), ("PUT", f"clusters/{NOWHERE}"), ("GET", f"{path}/filters/{NOWHERE}")):
        body = None if method == "GET" else f"<{'cluster' if 'clusters' in where else 'scheduling_policy'}/>"
        assert ask(api, method, where, body)[::2] == (404, ""), where
    fault(ask(api, "PATCH", "hosts"), 405, "")
    # who may
    fault(post("schedulingpolicies", "<scheduling_policy><name>x</name></scheduling_policy>", role="viewer"), 403, "operator")
    reply = ask(api, "GET", "hosts", role=None)
    fault(reply, 401, "")
    assert "Basic realm=\"ovirt\"" in reply[1]["WWW-Authenticate"], reply[1]
    for password, wanted in ((api.tokens["viewer"], 200), ("wrong", 401), ("", 401)):
        basic = base64.b64encode(f"x@internal:{password}".encode()).decode()
        assert ask(api, "GET", "hosts/", role=None, Authorization=f"Basic {basic}")[0] == wanted, password
        assert api.ask("GET", "/api/v1/clusters", None, headers={"Authorization": f"Basic {basic}"})[0] == 401, "nowhere else"
    for form, status in (("grant_type=password&username=a-viewer%40internal&password={}", 400), ("scope=ovirt-app-api&username=another%40internal&password={}", 401)):
        got = api.ask("POST", "/ovirt-engine/sso/oauth/token", None, form.format(api.tokens["viewer"]), {"Content-Type": "application/x-www-form-urlencoded"})
        assert got[0] == status and b"error" in got[2], got
    # attached
    cluster = ET.fromstring(ask(api, "GET", "clusters")[2]).find("cluster")
    where = f"clusters/{cluster.get('id')}"
    assert cluster.findtext("name") == "test" and cluster.find("scheduling_policy") is None
    status, _, data = ask(api, "PUT", where, f'<cluster><scheduling_policy id="{own}"/></cluster>')
    assert status == 200 and ET.fromstring(ask(api, "GET", where)[2]).find("scheduling_policy").get("id") == own, data
    fault(ask(api, "DELETE", path), 400, "attached")
    assert ask(api, "PUT", f"{where}?async=true", '<cluster><scheduling_policy id=""/></cluster>')[0] == 202
    assert ask(api, "DELETE", path)[0] == 200


def elements(api):
    root = ET.fromstring(ask(api, "GET", "", role="viewer")[2])
    assert root.tag == "api" and root.find("product_info") is not None
    for link in root.findall("link"):  # each resolves
        assert ask(api, "GET", link.get("href").split("?")[0], role="viewer")[0] == 200, link.attrib
    known = {h["id"]: h for h in api.d.json("hosts")}
    hosts = ET.fromstring(ask(api, "GET", "hosts", role="viewer")[2]).findall("host")
    assert sorted(h.findtext("name") for h in hosts) == sorted(h["name"] for h in known.values())
    vms = ET.fromstring(ask(api, "GET", "vms", role="viewer")[2]).findall("vm")
    own = {v["name"]: v for v in api.d.json("vms")}
    names = {h.get("id"): h.findtext("name") for h in hosts}
    assert len(vms) == len(own)
    for vm in vms:
        mine = own[vm.findtext("name")]
        assert vm.findtext("status") == {"on": "up", "off": "down"}[mine["state"]]
        assert (names[vm.find("host").get("id")] if vm.find("host") is not None else None) == (mine["host_name"] if mine["state"] == "on" else None)
        assert int(vm.findtext("memory")) == mine["mem_mb"] * 2 ** 20
    one = vms[0]
    assert ask(api, "GET", f"vms/{own[one.findtext('name')]['id']}")[2] == ask(api, "GET", f"vms/{one.get('id')}")[2]
    for link in one.findall("link"):
        assert ask(api, "GET", link.get("href"))[0] == 200, link.attrib
    statistics = {s.findtext("name") for s in ET.fromstring(ask(api, "GET", f"hosts/{hosts[0].get('id')}/statistics")[2])}
    assert {"memory.total", "cpu.current.user"} <= statistics, statistics
    followed = ET.fromstring(ask(api, "GET", f"hosts/{hosts[0].get('id')}?follow=statistics")[2])
    assert {s.findtext("name") for s in followed.iter("statistic")} == statistics
    name = one.findtext("name")
    for query in (f"name%3D{name}", f"id%3D{one.get('id')}", f"name={name[:-1]}*%20and%20id%3D{one.get('id')}"):
        assert [v.get("id") for v in ET.fromstring(ask(api, "GET", f"vms/?search={query}")[2])] == [one.get("id")], query
    assert len(ET.fromstring(ask(api, "GET", "vms?max=3&search=page%202")[2])) == 3
    # all lines of one element only: fence_rhevm reads line by line
    assert all(line.count("<") <= 2 for line in ask(api, "GET", "vms")[2].splitlines() if "<vm " in line)
    # a body with a GET, as libgovirt sends it
    assert ask(api, "GET", "vms", "<action></action>", Filter="false", **{"All-Content": "true"})[0] == 200


def actions(api):
    vm = next(v for v in api.d.json("vms") if v["state"] == "off")
    running = next(v for v in api.d.json("vms") if v["state"] == "on")
    for what in ("stop", "shutdown", "ticket"):
        reply = ask(api, "POST", f"vms/{running['id']}/{what}", "<action/>")
        fault(reply, 400, f"Cannot {what}.")
        assert ET.fromstring(reply[2]).findtext("status") == "failed", reply
    fault(ask(api, "POST", f"vms/{vm['id']}/start", "<action/>", role="viewer"), 403, "operator")
    assert ask(api, "POST", f"vms/{NOWHERE}/start", "<action/>")[::2] == (404, "")
    status, _, data = ask(api, "POST", f"vms/{vm['id']}/start", "<action><async>false</async></action>")
    assert status == 200 and ET.fromstring(data).findtext("status") == "complete", data
    wait_for("the VM runs", lambda: ET.fromstring(ask(api, "GET", f"vms/{vm['id']}")[2]).findtext("status") == "up", 60)


def test_rest():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cluster.json"
        path.write_text(json.dumps(cluster()), encoding="utf-8")
        with Api(source={**SIM, "file": str(path)}) as api:
            elements(api)
            actions(api)
    with Api() as api:
        replay(api)
        for version in ("4", "3"):
            in_json(api, version)
        refusals(api)
        elements(api)


if __name__ == "__main__":
    main(test_rest)
