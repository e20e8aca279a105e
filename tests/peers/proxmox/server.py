"""server.py: HTTPS on loopback in front of a Cluster: logins, forwarding between nodes, parameters, privileges, faults.

    with Server(cluster, nodes=["n1", "n2"]) as s:      # one address for each of these nodes
        s.urls, s.ca_file, s.token_file, s.password_file
        s.requests                                       # ["GET /cluster/resources", ...]
        s.changes                                        # [(method, path, parameters), ...] of all requests but GET
        s.faults.append(Fault("/cluster/status", code=500, reason="got timeout", times=1))
        s.twists.append(("/cluster/resources", lambda rows: rows[:1]))       # another answer than the cluster's
        s.cluster.nodes["n1"].online = False             # its address answers nobody any more
        s.problems                                       # what the published description does not have

Where the description is on the machine, each answer is compared with it.
"""
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import re
import socket
import ssl
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import ports  # noqa: E402
from vcsim import make_certificates  # noqa: E402

from . import errors, routes, schema, tasks  # noqa: E402

BASE = "/api2/json"
JSON = "application/json;charset=UTF-8"
TICKET_S = 7200


class Fault:
    """What happens instead of an answer to this number of requests for a path (a regular expression for the whole path).

    arrives: the requests are carried out, and only their answers are lost; method: only requests of this method."""

    def __init__(self, path, code=None, reason="", body=None, hang_s=0, drop=False, times=1 << 30, after=0, arrives=False, method=None):
        self.path, self.code, self.reason, self.body = re.compile(path + "$"), code, reason, body
        self.hang_s, self.drop, self.times, self.after, self.arrives, self.method = hang_s, drop, times, after, arrives, method

    def strikes(self, method, path):
        if not self.path.match(path) or self.method not in (None, method):
            return False
        if self.after > 0:
            self.after -= 1
            return False
        self.times -= 1
        return self.times >= 0


class Request:
    """What the functions of reading and writing are given."""

    def __init__(self, server, local, user, account):
        self.server, self.cluster, self.local, self.user, self.account = server, server.cluster, local, user, account
        self.node, self.guest, self.path, self.params, self.total = local, None, {}, {}, None

    def may(self, privilege, path):
        return self.account is not None and self.account.may(privilege, path)

    def fingerprint(self, node):
        return self.server.fingerprint

    def task(self):
        task = self.cluster.tasks.get(self.path["upid"])
        if task is None or task.node != self.node.name:
            raise errors.Failure("no such task")
        return task

    def aim(self, route):
        """At the node and the guest that the path names."""
        c = self.cluster
        if route.on_node:
            self.node = self.local if self.path["node"] == "localhost" else c.nodes.get(self.path["node"])
            if self.node is None:
                raise errors.Failure(f"no such cluster node '{self.path['node']}'")
            if not self.node.online:
                raise errors.NoAnswer("No route to host")
        if route.needs and not self.may(route.needs[1], route.needs[0].format(**self.path)):
            raise errors.Forbidden(f"Permission check failed ({route.needs[0].format(**self.path)}, {route.needs[1]})")
        if "vmid" in self.path:
            self.guest = c.guests.get(int(self.path["vmid"])) if self.path["vmid"].isdigit() else None
            kind = "qemu" if "/qemu/" in route.path else "lxc"
            if self.guest is None or self.guest.kind != kind or self.guest.node != self.node.name:
                folder = "qemu-server" if kind == "qemu" else "lxc"
                raise errors.Failure(f"Configuration file 'nodes/{self.node.name}/{folder}/{self.path['vmid']}.conf' does not exist")

    def check_parameters(self, route):
        given = {**self.params, **self.path}
        wrong = {name: "property is not defined in schema and the schema does not allow additional properties"
                 for name in given if name not in route.known(self.node.major())}
        wrong.update({name: "property is missing and it is not optional" for name in route.required if name not in given})
        if wrong:
            raise errors.Parameter(**wrong)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "pve-api-daemon/3.0"
    timeout = 60
    wbufsize = 1 << 16  # headers and body in one piece, lest each answer waits for an acknowledgement

    def setup(self):
        self.request.settimeout(self.timeout)
        self.request.do_handshake()
        self.server.owner.open.add(self.request)
        super().setup()

    def finish(self):
        self.server.owner.open.discard(self.request)
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, *_):
        pass

    def send_body(self, code, reason, body, content=JSON):
        self.send_response(code, reason)
        if body:
            self.send_header("Content-Type", content)
            self.send_header("Content-Length", str(len(body)))
        if code >= 400 or not body:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, e):
        if e.code >= 590:
            return self.send_body(e.code, e.reason, b"")
        told = {"data": None}
        if e.errors:
            told["errors"] = e.errors
        if self.server.owner.tells_message:
            told["message"] = e.reason + "\n"
        return self.send_body(e.code, e.reason, json.dumps(told).encode())

    def struck(self, path, arrive):
        """Whether a fault has answered."""
        fault = next((f for f in self.server.owner.faults if f.strikes(self.command, path)), None)
        if fault is None:
            return False
        if fault.arrives:
            arrive()
        if fault.hang_s:
            self.server.owner.wake.wait(fault.hang_s)
            if fault.code is None and fault.body is None and not fault.drop:
                return False
        if fault.drop:
            self.hang_up()
        elif fault.body is not None:
            self.send_body(fault.code or 200, fault.reason or "OK", fault.body)
        else:
            self.refuse(type("Fault", (errors.Refusal,), {"code": fault.code})(fault.reason))
        return True

    def hang_up(self):
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def parameters(self, query):
        given = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        size = int(self.headers.get("Content-Length") or 0)
        if self.command in ("GET", "DELETE") and size or "chunked" in self.headers.get("Transfer-Encoding", ""):
            raise errors.NotThere("Unexpected content for method '%s'" % self.command)
        body = self.rfile.read(size).decode() if size else ""
        if body and "json" in self.headers.get("Content-Type", ""):
            given.update({k: v for k, v in json.loads(body).items()})
        else:
            given.update(urllib.parse.parse_qsl(body, keep_blank_values=True))
        return given

    def answer(self):
        own = self.server.owner
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path[len(BASE):]) if url.path.startswith(BASE) else ""
        own.requests.append(f"{self.command} {path}" + (f"?{url.query}" if url.query else ""))
        local = own.cluster.nodes[self.server.node]
        if not local.online:
            return self.hang_up()
        try:
            given = self.parameters(url.query)  # read in any case, so that the connection can go on
            if own.before:
                own.before(len(own.requests) - 1)
            if self.command != "GET":
                own.changes.append((self.command, path, given))
            if self.struck(path, lambda: self.find(own, local, path, given)):
                return None
            return self.send_body(200, "OK", self.find(own, local, path, given))
        except errors.Refusal as e:
            if e.code == 401:
                own.wake.wait(own.refusal_s)
            return self.refuse(e)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def find(self, own, local, path, given):
        with own.cluster.lock:
            tasks.advance(own.cluster)
            user, account = own.who(self.command, path, self.headers)
            q = Request(own, local, user, account)
            asked = re.match(r"/nodes/([^/]+)", path)
            at = own.cluster.nodes.get(asked.group(1)) if asked else None
            found = routes.find(self.command, path, (at or local).major())
            if found is None:
                raise errors.NotThere(f"Method '{self.command} {path}' not implemented")
            route, q.path = found
            q.params = given
            q.aim(route)
            q.check_parameters(route)
            data = route.answer(q)
            own.compare(route, q, data)
            for pattern, twist in own.twists:
                if re.match(pattern + "$", path):
                    data = twist(data)
        told = {"data": data}
        if q.total is not None:
            told["total"] = q.total
        return json.dumps(told).encode()


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # a client that hangs up


class Server:
    def __init__(self, cluster, nodes=None):
        self.cluster = cluster
        self.requests, self.changes, self.faults, self.twists, self.problems = [], [], [], [], []
        self.before = None  # called before each request is carried out, with the number of those so far
        self.tells_message = True
        self.refusal_s = 0.05  # 3 s in earnest
        self.open, self.wake, self.tickets = set(), threading.Event(), {}
        self.schemas = {v: schema.load(v) for v in {n.version for n in cluster.nodes.values()}}
        self.folder = tempfile.TemporaryDirectory(prefix="ballast-proxmox-")
        where = pathlib.Path(self.folder.name)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.renew_certificate()
        self.token = next(name for name in cluster.accounts if "!" in name)
        self.token_file = self.put_secret("token", cluster.accounts[self.token].secret)
        self.user = next(name for name in cluster.accounts if "!" not in name)
        self.password_file = self.put_secret("password", cluster.accounts[self.user].secret)
        self.listeners = {name: self.listen(name) for name in nodes or list(cluster.nodes)[:1]}
        self.urls = [f"https://127.0.0.1:{s.server_port}" for s in self.listeners.values()]
        self.where = where

    def put_secret(self, name, secret):
        path = pathlib.Path(self.folder.name) / name
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
            f.write(secret + "\n")
        return str(path)

    def renew_certificate(self, same_authority=False):
        """New connections see the new one, of another authority unless said otherwise."""
        where = pathlib.Path(self.folder.name) / f"tls{len(list(pathlib.Path(self.folder.name).glob('tls*')))}"
        where.mkdir()
        ca, cert, key = make_certificates(where)
        if not same_authority or not hasattr(self, "ca_file"):
            self.ca_file = str(ca)
        self.context.load_cert_chain(cert, key)
        der = ssl.PEM_cert_to_DER_cert(cert.read_text())
        digest = hashlib.sha256(der).hexdigest().upper()
        self.fingerprint = ":".join(digest[i:i + 2] for i in range(0, len(digest), 2))

    def listen(self, node):
        port = ports.take()
        listener = Listener(("127.0.0.1", port), Handler)
        listener.owner, listener.node = self, node
        listener.socket = self.context.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return listener

    # ---- who asks ----

    def log_in(self, given):
        name, secret = given["username"], given["password"]
        if "realm" in given:
            name += "@" + given["realm"]
        account = self.cluster.accounts.get(name)
        if account is None or "!" in name or (secret != account.secret and self.tickets.get(secret, ("", 0))[0] != name):
            raise errors.NoLogin("authentication failure")
        ticket = f"PVE:{name}:{int(time.time()):08X}::{uuid.uuid4().hex}+/=="
        self.tickets[ticket] = (name, self.cluster.clock() + TICKET_S)
        return {"username": name, "ticket": ticket, "CSRFPreventionToken": self.csrf(ticket), "clustername": self.cluster.name, "cap": {}}

    @staticmethod
    def csrf(ticket):
        return "6AB13B80:" + hashlib.sha256(ticket.encode()).hexdigest()[:32]

    def expire_tickets(self):
        self.tickets.clear()

    def who(self, method, path, headers):
        if path == "/access/ticket":
            return None, None
        token = headers.get("Authorization", "")
        if token.startswith("PVEAPIToken="):
            name, _, secret = token[len("PVEAPIToken="):].partition("=")
            account = self.cluster.accounts.get(name)
            if account is None or "!" not in name or secret != account.secret:
                raise errors.NoLogin("invalid token value!")
            return name, account
        cookie = re.search(r"PVEAuthCookie=([^;]+)", headers.get("Cookie", ""))
        if not cookie:
            raise errors.NoLogin("No ticket")
        ticket = urllib.parse.unquote(cookie.group(1))
        name, until = self.tickets.get(ticket, (None, 0))
        if name is None or self.cluster.clock() > until:
            raise errors.NoLogin("invalid PVE ticket")
        if method != "GET" and headers.get("CSRFPreventionToken") != self.csrf(ticket):
            raise errors.NoLogin("Permission denied - invalid csrf token")
        return name, self.cluster.accounts[name]

    # ---- the description ----

    def compare(self, route, q, data):
        described = self.schemas.get(q.node.version)
        if described is None:
            return
        it = described.method(route.method, route.path)
        if it is None:
            self.problems.append(f"{route.method} {route.path} does not exist in {q.node.version}")
            return
        self.problems += [f"{q.node.version} {route.method} {route.path}: {p}"
                          for p in schema.undeclared(it.get("returns"), data, schema.BEYOND.get(route.path, ()))]

    def close_connections(self):
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def stop(self):
        self.wake.set()
        for listener in self.listeners.values():
            listener.shutdown()
            listener.server_close()
        self.close_connections()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
