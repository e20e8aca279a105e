#!/usr/bin/env python3
"""The OpenAPI document against the service that gives it, on the fake cluster: each operation with values that exist, with each role and none;
then with values made from the schemas, right and wrong. Every answer has a documented status, headers and body; a viewer changes nothing, nor
does a request that the document does not allow.

    tests/peers/test_openapi.py         # BALLAST_TEST_SEED=N: the requests of that run; BALLAST_TEST_LONG=1: twenty times as many
"""
import json
import os
import random
import re

import ports
from daemon import SIM, main, wait_for
from test_daemon_controllers import Lab, identity
from test_http import HOST, Api
from test_replies import cluster
import debian_python

debian_python.need("jsonschema", "hypothesis")
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(os.environ.get("BALLAST_BUILD_DIR", "build"), "hypothesis"))
import hypothesis  # noqa: E402

import api_requests  # noqa: E402

SEED = int(os.environ.get("BALLAST_TEST_SEED", random.randrange(1 << 32)))
REQUESTS = 600 if os.environ.get("BALLAST_TEST_LONG") else 30  # of an operation and a role
ROLES = ("", "viewer", "operator", "admin")  # each may do what those before it may
CLUSTER = "/api/v1/clusters/{cluster}"
OF_CONTROLLERS = {f"GET {CLUSTER}/console/{{id}}", f"POST {CLUSTER}/confirm-controller"}  # test_of_controllers()
ELSEWHERE = {"GET /", "GET /assets/{name}",  # built pages: test_dashboard.py
             "DELETE /api/v1/session",  # a cookie: test_http_sessions.py
             f"POST {CLUSTER}/trust",  # after two losses of a host: tests/unit/engine_host_losses.c
             f"POST {CLUSTER}/confirm-setting",  # after an upgrade: test_daemon_store.py
             *OF_CONTROLLERS}
# Of operations that cannot be carried out without fields: the body, or the parameters.
BODIES = {"POST /api/v1/tokens": {"name": "a-spare", "role": "viewer"}, f"POST {CLUSTER}/maintenance": {"mode": "enter", "host": "esx3"},
          f"POST {CLUSTER}/maintenance/roll": {"hosts": ["esx5"]}, f"POST {CLUSTER}/standby": {"host": "esx4"}, f"POST {CLUSTER}/wake": {"host": "esx4"},
          f"POST {CLUSTER}/placements": {"vms": ["spare"]}, f"POST {CLUSTER}/migrations": {"vm": "web1"}, f"POST {CLUSTER}/explain": {"vm": "web1"},
          f"POST {CLUSTER}/policies": {"verb": "POST", "path": "schedulingpolicies", "is": {"name": "night"}}, f"POST {CLUSTER}/what-if": {"host_off": ["esx1"]}}
QUERIES = {f"GET {CLUSTER}/summary": "?since=2026-01-01T00:00:00Z"}


class Described(Api):
    """A service, its document, and values that exist in it."""

    def __init__(self, **settings):
        super().__init__(migration_threshold=5, **settings)
        path = self.d.folder / "cluster.json"
        path.write_text(json.dumps(cluster()))
        self.d.write(source={**SIM, "file": str(path)}, alarms={"spare": {"command": ["/bin/true"], "to": ["ops@example.com"]}})

    def __enter__(self):
        super().__enter__()
        self.document = api_requests.Document(self.json("/api/v1/openapi.json"))
        return self

    def send(self, operation, request, role, method=None):
        """Status, headers, body; of a stream its first line. The service may answer before it has read a body, and end the connection."""
        c = self.connect()
        headers = dict(request.headers)
        if role:
            headers.setdefault("Authorization", f"Bearer {self.tokens[role]}")
        try:
            c.request(method or operation.method, request.target, body=request.body, headers=headers)
        except BrokenPipeError:
            pass
        reply = c.getresponse()
        stream = reply.getheader("Content-Type", "").startswith("text/event-stream")
        data = reply.readline() if stream and method != "HEAD" else reply.read()
        c.close()
        return reply.status, dict(reply.getheaders()), data

    def real(self, operation):
        ask = self.d.request
        hosts = [h[k] for h in ask({"command": "hosts"})["hosts"][:4] for k in ("id", "name")]
        vms = [v[k] for v in ask({"command": "vms"})["vms"][:4] for k in ("id", "name")]
        actions = ask({"command": "recommendations"})["recommendations"][:8]
        of = {"hosts": hosts, "vms": vms, "pools": [p["id"] for p in ask({"command": "pools"})["pools"][:4]],
              "recommendations": [str(a["id"]) for a in actions]}
        ids = [a["id"] for a in actions] + [f'{a["id"]}.{a["version"]}' for a in actions]
        return {"cluster": ["test"], "host": hosts, "hosts": hosts, "vm": vms, "vms": vms, "id": ids, "ids": ids, "name": ["a-spare", "x"],
                "item": of.get(operation.path.split("/")[-2], []), "after": [0, 1, 5], "text": ["", "cluster: test\n", self.d.config.read_text()],
                "Last-Event-ID": [0, 3], "set": ["migration_threshold", "dpm.enabled", "x"], "demand": vms,
                "token": list(self.tokens.values()), "host_off": hosts, "host_on": hosts, "maintenance": hosts, "pool": of["pools"],
                "target": ["spare"]}

    def state(self):
        """What a request can change."""
        ask = self.d.request
        status = ask({"command": "status"})["status"]
        return {"paused": status["frozen_since"], "pass": status["pass"] and status["pass"]["id"],
                "tokens": [(t["name"], t["role"]) for t in ask({"command": "tokens"})["tokens"]],
                "actions": [(a["id"], a["version"], a["state"]) for a in ask({"command": "recommendations"})["recommendations"]],
                "hosts": [(h["id"], h["state"]) for h in ask({"command": "hosts"})["hosts"]],
                "roll": ask({"command": "roll"})["roll"], "event": ask({"command": "events", "limit": 1})["events"][-1:]}


def is_low(operation, role):
    return ROLES.index(role) < ROLES.index(operation.role)


def check_answer(api, operation, request, role, answer):
    status, headers, body = answer
    wrong = api.document.wrong_in(operation, status, headers, body)
    assert not wrong, f"{operation} as {role or 'nobody'}: {wrong}\n  {request}"
    if status >= 400 and "problem" in headers["Content-Type"]:
        document = json.loads(body)
        assert document["detail"], f"{operation}: {document}"
    if request.trick:
        assert 400 <= status < 500, f"{operation}: a path that is none has {status}\n  {request}"
    elif is_low(operation, role):
        right = {401, 429} if not role else {403} if request.valid else {403, 400}  # a target that is none comes before the role
        assert status in right, f"{operation}: {role or 'nobody'} has {status}\n  {request}"
    elif not request.valid:
        assert status >= 400, f"{operation}: {status}, not documented to be right\n  {request}"


# ---- values that exist ----------------------------------------------------------------------------------------------------------------

def methods(api):
    """A path has the methods that the document says, and no others."""
    patterns = [(re.sub(r"\{\w+\}", "[^/]+", o.path), o.method) for o in api.document.operations]
    for path in {o.path for o in api.document.operations}:
        target = re.sub(r"\{\w+\}", "x", path.replace("{cluster}", "test"))
        documented = {method for pattern, method in patterns if re.fullmatch(pattern, target)}
        status, headers, _ = api.ask("PATCH", target, "admin")
        expected = documented | {"OPTIONS"} | ({"HEAD"} if "GET" in documented else set())
        assert status == 405 and set(headers["Allow"].split(", ")) == expected, (path, status, headers, expected)


def roles(api):
    for o in api.document.operations:
        target = re.sub(r"\{\w+\}", "1", o.path.replace("{cluster}", "test"))
        request = api_requests.Request(target, None, {}, False, False)
        for role in ROLES[:ROLES.index(o.role)]:
            before = api.state() if role else None
            check_answer(api, o, request, role, api.send(o, request, role))
            assert not role or api.state() == before, f"{o}: {role} changed something"


def ask_each(api):
    """One answer of 200 of each operation, from the values that exist."""
    answered = set()
    order = sorted(api.document.operations, key=lambda o: (o.method == "DELETE", o.path.endswith("/wake"), "reject" in o.path))
    for o in order:
        if str(o) in ELSEWHERE:
            continue
        answered.add(str(o))
        said = []
        try:
            wait_for(f"{o} is carried out", lambda o=o, said=said: answer_to(api, o, said), 15, 0.5)
        except AssertionError as e:
            raise AssertionError(f"{e}; the last answer: {said[-1:]}; does it need a line in BODIES or QUERIES?") from e
    missing = {str(o) for o in api.document.operations} - answered - ELSEWHERE
    assert not missing, missing


def answer_to(api, o, said):
    real, body = api.real(o), BODIES.get(str(o))
    chosen = [a for a in api.d.request({"command": "recommendations"})["recommendations"] if a["state"] == "recommended" and not a["depends_on"]]
    if "/recommendations/" in o.path and o.method == "POST":
        if not chosen:
            api.ask("POST", "/api/v1/clusters/test/passes", "operator")
            return False
        body = {"ids": [chosen[0]["id"]]} if "{id}" not in o.path else None
        real["id"] = [f'{chosen[0]["id"]}.{chosen[0]["version"]}']
    if str(o) == "POST /api/v1/session":
        body = {"token": api.tokens["viewer"]}
    target = o.path
    for p in o.parameters:
        if p["in"] == "path":
            target = target.replace("{%s}" % p["name"], str(real[p["name"]][0]))
    data = None if body is None else json.dumps(body).encode()
    request = api_requests.Request(target + QUERIES.get(str(o), ""), data, {"Content-Type": "application/json"} if data else {}, True, False)
    answer = api.send(o, request, o.role or "")
    check_answer(api, o, request, o.role, answer)
    if answer[0] != 200:
        said.append(answer[2])
        return False
    if o.method == "GET" and "ETag" in answer[1]:
        head = api.send(o, request, o.role, "HEAD")
        assert head[0] == 200 and head[2] == b"", (str(o), head)
        lasts = "X-Total-Count" in answer[1]  # other texts hold times
        for _ in range(50 if lasts else 1):  # the text may change between the two
            request.headers = {"If-None-Match": answer[1]["ETag"]}
            answer = api.send(o, request, o.role)
            check_answer(api, o, request, o.role, answer)
            if answer[0] == 304:
                break
        assert answer[0] == 304 or not lasts, f"{o}: never 304"
    return True


# ---- values that are made -------------------------------------------------------------------------------------------------------------

def made(api, operation, number, check):
    """Calls check with requests of the seed. After a failure hypothesis looks for a shorter one, which the error then names."""
    settings = hypothesis.settings(max_examples=REQUESTS, database=None, deadline=None, print_blob=False,
                                   suppress_health_check=list(hypothesis.HealthCheck))

    @hypothesis.seed(SEED + number)
    @settings
    @hypothesis.given(api_requests.requests(api.document, operation, api.real(operation)))
    def one(request):
        check(request)

    try:
        one()
    except BaseException:
        print(f"BALLAST_TEST_SEED={SEED}", flush=True)
        raise


def nothing_changes(api, operation, number, role):
    """What a viewer sends, right or wrong, and what is wrong from those who may do everything."""
    state = api.state()

    def check(request):
        if operation.method != "GET" and request.valid and not is_low(operation, role):
            return
        check_answer(api, operation, request, role, api.send(operation, request, role))
        if operation.method != "GET":
            assert api.state() == state, f"{operation}: {role} changed something\n  {request}"

    made(api, operation, number, check)
    assert api.state() == state, f"{operation}: {role} changed something"


def anything(api, operation, number):
    made(api, operation, number, lambda request: check_answer(api, operation, request, "admin", api.send(operation, request, "admin")))


def test_described():
    with Described() as api:
        for part in (methods, roles, ask_each):
            part(api)
            print(f"ok {part.__name__}", flush=True)


class OfControllers(Described):
    """A service whose hosts have real controllers, one of which cannot tell which machine it belongs to."""

    def __init__(self):
        self.lab = Lab()
        self.d, self.port, self.tls, self.tokens = self.lab.d, ports.take(), None, {}
        self.d.write(http={"listen": f"{HOST}:{self.port}"})
        c = self.lab.controllers["esx2"]
        c.stop()
        c.guid = "03000200040005000006000700080009"
        c.start()

    def __exit__(self, *exc):
        self.lab.ended.set()
        self.lab.controllers.close()
        return super().__exit__(*exc)

    def real(self, operation):
        wakes = [a["id"] for a in self.d.json("recommendations") if a["action"] == "power_on"]
        return {"cluster": ["test"], "host": ["esx2"], "id": wakes}


def test_of_controllers():
    with OfControllers() as api:
        operations = {str(o): o for o in api.document.operations if str(o) in OF_CONTROLLERS}
        console, confirm = (operations[name] for name in sorted(OF_CONTROLLERS))
        wait_for("what the controller says", lambda: identity(api.d, "esx2")["state"] == "unknown", 90)
        BODIES[str(confirm)] = {"host": "esx2"}
        said = []
        wait_for(f"{confirm}: 200, not {said}", lambda: answer_to(api, confirm, said), 30, 1)
        assert identity(api.d, "esx2")["confirmed_by"] == "a-admin (token)"
        api.d.cli("wake", "esx2", "--verify")
        wait_for("asked to wake", lambda: ("esx2", "power", 1) in api.lab.asked, 120)
        wait_for(f"{console}: 200, not {said}", lambda: answer_to(api, console, said), 60, 1)
        target = f"/api/v1/clusters/test/console/{api.real(console)['id'][0]}"
        assert "esx2 boots" in json.dumps(api.json(target, "operator")), api.get(target, "operator")


def test_nothing_changes():
    with Described(interval_s=3600) as api:  # no pass of its own
        wait_for("a pass", lambda: api.d.status()["pass"])
        for number, operation in enumerate(api.document.operations):
            for role in ("viewer", "admin"):
                nothing_changes(api, operation, number, role)


def test_anything():
    with Described() as api:
        for number, operation in enumerate(api.document.operations):
            anything(api, operation, 1000 + number)
        assert api.json("/api/v1/clusters/test/hosts")["hosts"]


if __name__ == "__main__":
    print(f"BALLAST_TEST_SEED={SEED}", flush=True)
    main(test_described, test_of_controllers, test_nothing_changes, test_anything)
