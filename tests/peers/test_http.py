#!/usr/bin/env python3
"""The API over HTTP of a running service: routes, roles, tokens, pages, TLS, and what clients should not send."""
import http.client
import json
import os
import pathlib
import pwd
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading

import ports
from daemon import BALLAST, SIM, Daemon, main, wait_for

AT = "/api/v1/clusters/test"
HOST = "127.0.0.1"


class Api:
    """A service with the API on, and a token of each role."""

    def __init__(self, source=SIM, **settings):
        self.port = ports.take()
        self.tls = settings.pop("tls", None)
        http_settings = {"listen": f"{HOST}:{self.port}", **settings.pop("http", {})}
        self.d = Daemon(source, **{"interval_s": 60, "automation": "manual", "http": http_settings, **settings})
        self.tokens = {}

    def __enter__(self):
        self.d.__enter__()
        self.d.start()
        for role in ("viewer", "operator", "admin"):
            self.tokens[role] = self.d.cli("token", "create", f"a-{role}", "--role", role).strip()
        wait_for("an inventory", lambda: self.get("/readyz", None)[0] == 200)
        return self

    def __exit__(self, *exc):
        return self.d.__exit__(*exc)

    def connect(self):
        if self.tls:
            return http.client.HTTPSConnection(HOST, self.port, timeout=60, context=self.tls)
        return http.client.HTTPConnection(HOST, self.port, timeout=60)

    def ask(self, method, path, role="viewer", body=None, headers=None, connection=None):
        """Status, headers, body."""
        c = connection or self.connect()
        sent = dict(headers or {})
        if role:
            sent.setdefault("Authorization", "Bearer " + self.tokens.get(role, role))
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        c.request(method, path, body=body, headers=sent)
        reply = c.getresponse()
        data = reply.read()
        if not connection:
            c.close()
        return reply.status, dict(reply.getheaders()), data

    def get(self, path, role="viewer", **headers):
        return self.ask("GET", path, role, headers=headers)

    def json(self, path, role="viewer"):
        status, headers, data = self.get(path, role)
        assert status == 200, (path, status, data[:300])
        assert headers["Content-Type"] == "application/json", headers
        return json.loads(data)

    def problem(self, status, name, method, path, role="viewer", body=None, **headers):
        is_, got, data = self.ask(method, path, role, body, headers)
        document = json.loads(data)
        assert is_ == status and got["Content-Type"] == "application/problem+json", (path, is_, got, data[:300])
        assert document["type"] == f"/problems/{name}" and document["status"] == status, document
        assert document["title"] and document["detail"], document
        return got, document

    def raw(self, data, wait=10):
        """Bytes as they are; what comes back until the service closes the connection, or `wait` seconds."""
        with socket.create_connection((HOST, self.port), timeout=wait) as s:
            try:
                s.sendall(data)
                answer = b""
                while chunk := s.recv(65536):
                    answer += chunk
            except (ConnectionResetError, BrokenPipeError):
                return answer if "answer" in locals() else b""
            except TimeoutError:
                return answer + b"<open>"
            return answer


def same_as_the_command(api):
    for path in ("hosts", "vms", "pools"):
        listed = api.json(f"{AT}/{path}?limit=10000")[path]
        assert [x["id"] for x in listed] == [x["id"] for x in api.d.json(path)], path
        one = api.json(f"{AT}/{path}/{listed[0]['id']}") if listed else {}
        assert not listed or one["id"] == listed[0]["id"] and set(one) == set(listed[0]), one
    assert api.json(f"{AT}/status")["status"]["cluster"] == "test"
    assert api.json("/api/v1/clusters")["clusters"] == [{"name": "test"}]
    for path in ("recommendations", "history", "events", "energy", "schedule", "forecast", "samples", "maintenance/roll",
                 "summary?since=2026-01-01T00:00:00Z", "series", "series?step=300", "hosts/pretend-1/series", "history?limit=3&host=pretend-1", "events?kind=host&limit=2"):
        assert api.json(f"{AT}/{path}")["ok"], path
    description = api.json("/api/v1/openapi.json")
    assert "$ref" not in json.dumps(description).replace('"$ref": "#/components/', ""), "a part that is not in the document"
    whole = api.json(f"{AT}/recommendations")["recommendations"]
    for vm, host in [(whole[0]["vm"], ""), ("", whole[0]["from"]), ("", whole[0]["to"]), (whole[0]["vm"], whole[0]["to"])]:
        few = api.json(f"{AT}/recommendations?" + "&".join(f"{k}={v}" for k, v in (("vm", vm), ("host", host)) if v))["recommendations"]
        assert few and few == [a for a in whole if vm in ("", a["vm"]) and host in ("", a["from"], a["to"])], (vm, host)
    snapshot = api.json(f"{AT}/snapshot", "admin")
    assert snapshot["format"] == "ballast-snapshot/1"
    status, headers, text = api.get("/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4") and b"# TYPE ballast_" in text


def changes(api):
    """What an operator does is recorded under the token's name."""
    pass_ = json.loads(api.ask("POST", f"{AT}/passes", "operator")[2])
    assert pass_["ok"] and pass_["pass"]["id"] >= 1
    found = [r for r in pass_["recommendations"] if r["state"] == "recommended" and not r["depends_on"]]
    status, _, data = api.ask("POST", f"{AT}/recommendations/{found[0]['id']}.{found[0]['version']}/apply", "operator")
    assert status == 200, data
    assert json.loads(data)["actions"][0]["approved_by"] == "a-operator (token)", data
    status, _, data = api.ask("POST", f"{AT}/recommendations/reject", "operator", {"ids": [found[-1]["id"]]})
    assert status in (200, 409), data
    assert json.loads(api.ask("POST", f"{AT}/pause", "operator")[2]) == {"ok": True}
    assert api.d.status()["frozen_by"] == "a-operator (token)"
    assert api.ask("POST", f"{AT}/resume", "operator", {})[0] == 200
    status, _, data = api.ask("POST", f"{AT}/maintenance", "operator", {"mode": "enter", "host": "pretend-4"})
    assert status == 200, data
    assert api.ask("POST", f"{AT}/maintenance", "operator", {"mode": "exit", "host": "pretend-4"})[0] == 200
    api.problem(400, "invalid-request", "POST", f"{AT}/maintenance", "operator", {"mode": "enter", "host": "no-such-host"})
    api.problem(400, "invalid-request", "POST", f"{AT}/recommendations/apply", "operator", {"ids": ["x"]})


def roles(api):
    for path in ("", "/pause", "/hosts"):
        api.problem(401, "unauthorized", "GET", AT + path, None)
    headers, _ = api.problem(401, "unauthorized", "GET", f"{AT}/hosts", "ballast_" + "0" * 64)
    assert headers["WWW-Authenticate"].startswith("Bearer"), headers
    api.problem(401, "unauthorized", "GET", f"{AT}/hosts", None, Authorization="Basic YTpi")
    for path in ("pause", "resume", "passes", "standby", "wake", "maintenance", "placements", "recommendations/1/apply",
                 "recommendations/apply", "maintenance/roll"):
        _, document = api.problem(403, "forbidden", "POST", f"{AT}/{path}", "viewer", {})
        assert "role viewer, this needs the role operator" in document["detail"], document
    for role in ("viewer", "operator"):
        api.problem(403, "forbidden", "GET", f"{AT}/snapshot", role)
        api.problem(403, "forbidden", "GET", "/api/v1/tokens", role)
        api.problem(403, "forbidden", "POST", f"{AT}/confirm-controller", role, {"host": "pretend-1"})
    assert api.d.status()["frozen_since"] is None, "a viewer paused"
    for path, word in (("/healthz", b"ok\n"), ("/readyz", b"ready\n")):
        assert api.get(path, None)[::2] == (200, word), path
    log = api.d.log.read_text()
    assert re.search(r"HTTP: POST \S+/pause refused for a-viewer \(token\) at 127\.0\.0\.1, which has the role viewer", log), log
    assert re.search(r"HTTP: GET \S+ refused for 127\.0\.0\.1: the request has no token", log), log


def tokens(api):
    made = json.loads(api.ask("POST", "/api/v1/tokens", "admin", {"name": "soon", "role": "viewer"})[2])
    assert api.get(f"{AT}/hosts", made["token"])[0] == 200
    listed = {t["name"]: t for t in api.d.json("token", "list")}
    assert listed["soon"]["created_by"] == "a-admin (token)" and listed["soon"]["used"], listed
    assert made["token"] not in api.d.cli("token", "list"), "a token is listed"
    api.problem(409, "conflict", "POST", "/api/v1/tokens", "admin", {"name": "soon", "role": "viewer"})
    api.problem(400, "invalid-request", "POST", "/api/v1/tokens", "admin", {"name": "a b", "role": "viewer"})
    assert api.ask("DELETE", "/api/v1/tokens/soon", "admin")[0] == 200
    api.problem(401, "unauthorized", "GET", f"{AT}/hosts", made["token"])
    api.problem(404, "not-found", "DELETE", "/api/v1/tokens/soon", "admin")
    short = api.d.cli("token", "create", "short", "--role", "viewer", "--expires", "2s").strip()
    wait_for("it expires", lambda: (said := api.get(f"{AT}/hosts", short))[0] == 401 and b'the token \\"short\\" has expired' in said[2], 20, 1)
    wait_for("who, whence and why in the log", lambda: f'HTTP: GET {AT}/hosts refused for {HOST}: the token "short" has expired' in api.d.log.read_text(), 5)
    for file in api.d.folder.glob("state/*"):
        assert short.encode() not in file.read_bytes(), f"{file} has a token"
    api.d.cli("token", "create", "x", code=2)
    api.d.cli("token", "create", "x", "--role", "boss", code=2)
    api.d.cli("token", "revoke", "nothing", code=1)


def survives_a_restart(api):
    api.d.stop()
    api.d.start()
    wait_for("an inventory", lambda: api.get("/readyz", None)[0] == 200)
    assert api.json(f"{AT}/hosts")["hosts"]
    assert {t["name"] for t in api.d.json("token", "list")} >= {"a-viewer", "a-operator", "a-admin"}


def pages(api):
    seen, path = [], f"{AT}/vms?limit=7"
    while path:
        status, headers, data = api.get(path)
        assert status == 200, data
        seen += [v["id"] for v in json.loads(data)["vms"]]
        link = re.fullmatch(r'<([^>]+)>; rel="next"', headers.get("Link", ""))
        path = link and link[1]
    assert seen == [v["id"] for v in api.d.json("vms")] and len(seen) == int(headers["X-Total-Count"])
    for wrong in ("limit=0", "limit=x", "limit=10001", "cursor=x", "limit=1&limit=2", "name=x"):
        api.problem(400, "invalid-request", "GET", f"{AT}/vms?{wrong}")
    api.problem(404, "not-found", "GET", f"{AT}/vms/no-such-vm")
    # the same text as long as nothing changes: a strong ETag
    for _ in range(20):
        _, first, _ = api.get(f"{AT}/pools")
        status, again, data = api.get(f"{AT}/pools", **{"If-None-Match": first["ETag"]})
        if status == 304:
            break
    assert status == 304 and data == b"" and again["ETag"] == first["ETag"], (status, again)
    assert api.get(f"{AT}/pools", **{"If-None-Match": '"other"'})[0] == 200
    for path, expected in (("pools", 304), ("pools?limit=1", 304), ("pools?limit=0", 400), ("pools?cursor=x", 400), ("vms/no-such-vm", 404)):
        assert api.get(f"{AT}/{path}", **{"If-None-Match": "*"})[0] == expected, path


def methods(api):
    for path in (f"{AT}/hosts", "/healthz"):
        status, headers, data = api.ask("HEAD", path)
        assert status == 200 and data == b"" and int(headers["Content-Length"]) > 0, headers
    status, headers, _ = api.ask("OPTIONS", f"{AT}/maintenance/roll")
    assert status == 204 and headers["Allow"] == "OPTIONS, HEAD, GET, POST", headers
    assert "Access-Control-Allow-Origin" not in headers
    headers, _ = api.problem(405, "method-not-allowed", "POST", f"{AT}/hosts", "admin", {})
    assert headers["Allow"] == "OPTIONS, HEAD, GET", headers
    api.problem(405, "method-not-allowed", "PUT", f"{AT}/pause", "admin")
    api.problem(405, "method-not-allowed", "GET", f"{AT}/pause", "admin")


def tricks(api):
    for path in ("//", "/api//v1/clusters", "/api/v1/clusters/test/../test/hosts", "/api/v1/clusters/test/%2e%2e/hosts", "/%00",
                 f"{AT}/hosts/%00", f"{AT}/hosts/", f"{AT}/hosts/%ff", f"{AT}/hosts/%0d%0aX:1", f"{AT}/hosts?limit", "/%"):
        api.problem(400, "invalid-request", "GET", path)
    for path in ("/api", "/api/v1", f"{AT}/hosts/a%2Fb", f"{AT}/hosts/%E2%80%AE", "/api/v1/clusters/other/hosts",
                 f"{AT}/HOSTS", "/etc/passwd"):
        api.problem(404, "not-found", "GET", path)
    for body, status, name in (("{", 400, "invalid-request"), ("[]", 400, "invalid-request"), ("7", 400, "invalid-request"),
                               ('{"command": "status"}', 400, "invalid-request"), ('{"a": 1, "a": 2}', 400, "invalid-request"),
                               ("\0", 400, "invalid-request"), ("[" * 60000, 400, "invalid-request")):
        api.problem(status, name, "POST", f"{AT}/pause", "operator", body, **{"Content-Type": "application/json"})
    api.problem(415, "unsupported-media-type", "POST", f"{AT}/pause", "operator", "{}", **{"Content-Type": "text/plain"})
    api.problem(413, "too-large", "POST", f"{AT}/pause", "operator", " " * 70000, **{"Content-Type": "application/json"})
    api.problem(421, "misdirected", "GET", f"{AT}/hosts", "viewer", Host="evil.example")
    api.problem(403, "forbidden", "POST", f"{AT}/pause", "operator", {}, Origin="http://evil.example")
    assert api.ask("POST", f"{AT}/resume", "operator", {}, {"Origin": f"http://{HOST}:{api.port}"})[0] == 200
    assert api.d.status()["frozen_since"] is None
    for fields in ("hosts=pretend-1", "stop=", "at_once=2"):  # a GET changes nothing
        api.problem(400, "invalid-request", "GET", f"{AT}/maintenance/roll?{fields}", "operator")


def bad_bytes(api):
    """Each is answered with an error or dropped, and the service goes on."""
    token = api.tokens["operator"].encode()
    chunked = b"POST %s/pause HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n" % (
        AT.encode(), token) + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/9.9\r\n\r\n", b"A" * 100000,
                 b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(20000)) + b"\r\n",
                 b"GET / HTTP/1.1\r\n\r\n", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                 chunked + b"zz\r\n", chunked + b"11170\r\n" + b" " * 70000 + b"\r\n0\r\n\r\n"):
        answer = api.raw(data, 5)
        assert not re.match(rb"HTTP/1\.[01] 2", answer), (data[:60], answer[:200])
    assert api.raw(chunked + b"2\r\n{}\r\n0\r\n\r\n").startswith(b"HTTP/1.1 200"), "a chunked body"
    assert api.ask("POST", f"{AT}/resume", "operator")[0] == 200
    # a body that is cut off is not carried out
    api.raw(b"POST %s/pause HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
            b"Content-Length: 10\r\n\r\n{}" % (AT.encode(), token), 1)
    assert api.d.status()["frozen_since"] is None
    assert api.json(f"{AT}/hosts")["hosts"]


def events_of(reply, n):
    """The next n events of a stream: (number, event)."""
    found, number = [], None
    while len(found) < n:
        line = reply.readline().decode()
        assert line, f"the stream ended after {len(found)} events"
        if line.startswith("id: "):
            number = int(line[4:])
        elif line.startswith("data: "):
            event = json.loads(line[6:])
            assert event["id"] == number, (number, event)
            found.append((number, event))
    return found


def open_stream(api, **headers):
    c = api.connect()
    c.request("GET", f"{AT}/events/stream", headers={"Authorization": "Bearer " + api.tokens["viewer"], **headers})
    reply = c.getresponse()
    assert reply.status == 200 and reply.getheader("Content-Type") == "text/event-stream", reply.status
    return c, reply


def streams(api):
    """New events come at once; who comes back gets what was missed, from memory or from the store; none twice."""
    api.problem(401, "unauthorized", "GET", f"{AT}/events/stream", None)
    api.problem(400, "invalid-request", "GET", f"{AT}/events/stream?kind=host")
    c, reply = open_stream(api)
    api.d.cli("pause")
    api.d.cli("resume")
    first = events_of(reply, 2)
    assert [e["kind"] for _, e in first] == [e["kind"] for e in api.d.json("events", "--limit", "2")], first
    c.close()
    api.d.cli("pause")
    api.d.cli("resume")
    c, reply = open_stream(api, **{"Last-Event-ID": str(first[-1][0])})
    missed = events_of(reply, 2)
    assert [n for n, _ in missed] == [first[-1][0] + 1, first[-1][0] + 2], (first, missed)
    c.close()
    c, reply = open_stream(api, **{"Last-Event-ID": "0"})
    assert [n for n, _ in events_of(reply, missed[-1][0])] == list(range(1, missed[-1][0] + 1))
    c.close()
    many = [open_stream(api) for _ in range(100)]  # and the others go on
    api.d.cli("pause")
    api.d.cli("resume")
    for _, reply in many:
        assert [n for n, _ in events_of(reply, 2)] == [missed[-1][0] + 1, missed[-1][0] + 2]
    assert api.json(f"{AT}/hosts")["hosts"]
    for c, _ in many[:50]:
        c.close()
    api.d.stop()  # with fifty open
    for c, _ in many[50:]:
        c.close()
    api.d.start()
    c, reply = open_stream(api, **{"Last-Event-ID": "0"})
    assert events_of(reply, 5)[-1][0] == 5, "after a restart"
    c.close()
    wait_for("an inventory", lambda: api.get("/readyz", None)[0] == 200)


def guesses(api):
    """Ten at once; then one a second is answered, and a valid token works all the while."""
    statuses = [api.get(f"{AT}/hosts", "ballast_guess")[0] for _ in range(40)]
    assert 429 in statuses and statuses.count(401) <= 30, statuses
    assert api.get(f"{AT}/hosts")[0] == 200


def crowd(api):
    """64 clients at once, with and without the main thread."""
    wrong = []

    def one(i):
        c = api.connect()
        for k in range(10):
            path = ("hosts", "status", "recommendations", "vms")[(i + k) % 4]
            status, _, data = api.ask("GET", f"{AT}/{path}", connection=c)
            if status != 200 or not json.loads(data)["ok"]:
                wrong.append((path, status, data[:100]))
        c.close()

    threads = [threading.Thread(target=one, args=(i,)) for i in range(64)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong[:3]


def stop_while_asked(api):
    """A client that waits for a placement does not hold up the stop."""
    done = []

    def wait():
        try:
            done.append(api.ask("POST", f"{AT}/passes", "operator")[0])
        except (OSError, http.client.HTTPException) as e:
            done.append(e)

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for t in threads:
        t.start()
    api.d.stop()
    for t in threads:
        t.join()
    assert len(done) == 8, done
    api.d.start()


def test_all_of_one_service():
    with Api() as api:
        for part in (same_as_the_command, changes, roles, tokens, pages, methods, tricks, bad_bytes, crowd, streams, guesses,
                     survives_a_restart, stop_while_asked):
            part(api)
            print(f"ok {part.__name__}", flush=True)


def test_status_page_of_many_hosts():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "cluster.json")
        path.write_bytes(subprocess.run([BALLAST, "generate", "--hosts", "1007", "--vms", "2000"], check=True, capture_output=True).stdout)
        with Api({"kind": "file", "file": str(path)}, interval_s=3600) as api:
            status, headers, data = api.get("/status")
            assert status == 200 and headers["Content-Type"].startswith("text/html") and b"host-0999" in data and b"host-1000" not in data
            assert b"<p>And 7 more.</p>" in data and len(data) < 400_000, len(data)


# ---- TLS ------------------------------------------------------------------------------------------------------------------------

def make_certificate(folder, name, serial):
    """By an authority of its own."""
    key, cert, ca, ca_key = (folder / f for f in (f"{name}.key", f"{name}.pem", "ca.pem", "ca.key"))
    run = lambda *a: subprocess.run(["openssl", *map(str, a)], check=True, capture_output=True)  # noqa: E731
    if not ca.exists():
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", ca_key, "-out", ca, "-days", "2",
            "-subj", "/CN=test authority")
    run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", folder / "csr", "-subj",
        "/CN=ballast", "-addext", "subjectAltName=IP:127.0.0.1")
    run("x509", "-req", "-in", folder / "csr", "-CA", ca, "-CAkey", ca_key, "-out", cert, "-days", "2", "-set_serial", serial,
        "-copy_extensions", "copy")
    return cert, key, ca


def serial_of(api):
    with socket.create_connection((HOST, api.port), timeout=30) as s, api.tls.wrap_socket(s, server_hostname=HOST) as t:
        return int(t.getpeercert()["serialNumber"], 16)


def test_tls():
    with tempfile.TemporaryDirectory(prefix="ballast-tls-") as folder:
        folder = pathlib.Path(folder)
        cert, key, ca = make_certificate(folder, "first", 1001)
        context = ssl.create_default_context(cafile=str(ca))
        with Api(tls=context, http={"cert_file": str(cert), "key_file": str(key)}) as api:
            assert api.json(f"{AT}/hosts")["hosts"]
            assert "Strict-Transport-Security" in api.get("/healthz", None)[1]
            assert serial_of(api) == 1001
            assert not api.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 5).startswith(b"HTTP/1.1 200"), "without TLS"
            old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            old.check_hostname, old.verify_mode, old.maximum_version = False, ssl.CERT_NONE, ssl.TLSVersion.TLSv1_1
            try:
                with socket.create_connection((HOST, api.port), timeout=30) as s, old.wrap_socket(s):
                    raise AssertionError("TLS 1.1 is accepted")
            except (ssl.SSLError, ValueError, ConnectionResetError):
                pass
            kept = api.connect()  # outlives its certificate
            assert api.ask("GET", "/healthz", None, connection=kept)[0] == 200
            new_cert, new_key, _ = make_certificate(folder, "second", 1002)
            os.replace(new_cert, cert)
            os.replace(new_key, key)
            api.d.process.send_signal(signal.SIGHUP)
            wait_for("the new certificate", lambda: serial_of(api) == 1002)
            assert api.ask("GET", "/healthz", None, connection=kept)[0] == 200
            kept.close()
            cert.write_text("nonsense")
            api.d.process.send_signal(signal.SIGHUP)
            wait_for("the log", lambda: "the certificate stays as it was" in api.d.log.read_text())
            assert serial_of(api) == 1002 and api.json(f"{AT}/hosts")["hosts"]


# ---- configuration and the socket -----------------------------------------------------------------------------------------------

def test_configuration():
    for settings, says in (({"listen": "0.0.0.0:8480"}, "an address that other machines reach"),
                           ({"listen": "[::]:8480"}, "an address that other machines reach"),
                           ({"listen": "localhost"}, "expected a numeric address and a port"),
                           ({"listen": "127.0.0.1:99999"}, "expected a numeric address and a port"),
                           ({"listen": "127.0.0.1:8480", "cert_file": "/etc/hostname"}, "http.key_file")):
        with Daemon(SIM, http=settings) as d:
            done = subprocess.run([BALLAST, "check-config", d.config], capture_output=True, text=True, timeout=60)
            assert done.returncode == 2 and says in done.stderr, (settings, done)


def test_roles_at_the_socket():
    me = pwd.getpwuid(os.getuid()).pw_name
    with Daemon(SIM, roles={"users": {me: "viewer"}}) as d:
        d.start()
        assert d.json("status")
        assert "needs the role operator" in d.cli("pause", code=1)
        assert "needs the role admin" in d.cli("token", "list", code=1)
        d.write(roles={"users": {me: "operator"}})
        d.process.send_signal(signal.SIGHUP)
        wait_for("the new role", lambda: d.run("pause").returncode == 0)
        assert "needs the role admin" in d.cli("snapshot", code=1)


if __name__ == "__main__":
    main(test_status_page_of_many_hosts, test_all_of_one_service, test_tls, test_configuration, test_roles_at_the_socket)
