"""redfish_service.py: a Redfish service (DSP0266) for a test: one management controller with its systems, over TLS, on loopback.

    with RedfishService(systems=["1"], hook=switched) as bmc:
        bmc.url, bmc.username, bmc.password, bmc.password_file, bmc.ca_file     # for `power: hosts:`; an administrator
        bmc.users["reader"]                                # (name, password) of the role: admin, operator, reader
        bmc["1"].is_on()                                   # the true state of the system, not the service's answer
        bmc.resets                                         # [(seconds since the epoch, system, ResetType), ...]
        bmc.requests                                       # [(method, path, "token" | "basic" | ""), ...]
        bmc.stop(), bmc.start()                            # a controller that fails and returns

hook(bmc, system, reset_type) is called, in a thread of the service, after each accepted reset, and at the end of a soft shutdown
("done"): there a test turns its simulated host on or off. Files in bmc["1"].folder hold the state of a system; a test may write them
too: bmc["1"].put("power", 0).

    power    0 or 1: the true state
    claims   On, Off, PoweringOn, ...: a false state that the service reports instead
    stuck    resets are accepted without effect
    soft     seconds that a soft shutdown takes, or "never": the operating system ignores it

A system can be a host of the simulated cluster instead (`source.folder`, src/sim/fake_cluster/README.md): after
bmc["1"].be(folder, "esx1") its power and its watts are the files that the cluster keeps there.

The attributes that __init__ lists inject faults at any time. The service holds no other project's code; test_redfish.py checks it
with the clients redfishtool and python3-sushy.
"""
import base64
import contextlib
import http.server
import json
import pathlib
import re
import secrets
import shutil
import socket
import socketserver
import ssl
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

import ports
import redfish_meters
from redfish_meters import links
from machine import hardware_uuid
from vcsim import make_certificates

V1 = "/redfish/v1"
ROLES = {"admin": "Administrator", "operator": "Operator", "reader": "ReadOnly"}
MAY_RESET = ("admin", "operator")  # ConfigureComponents, in the privilege registry
RESET_TYPES = ["On", "ForceOff", "GracefulShutdown", "PushPowerButton"]
REGISTRY = "Base.1.8"


class System:
    """One computer: files in a folder."""

    def __init__(self, name, folder, on):
        self.name = name
        self.folder = pathlib.Path(folder) / name
        self.folder.mkdir()
        self.files = {}  # what: where it is, if not in the folder
        self.put("power", int(on))
        self.put("soft", 0)
        self.watts = 180.0  # None: the meter has no reading just now
        self.uuid = hardware_uuid(name)  # of the machine; None: the firmware has none
        self.uuids = None  # or an iterator: another one with each answer
        self.serial = f"SN-{name}"

    def be(self, folder, host):
        """A host of the simulated cluster in that folder."""
        self.files = {what: pathlib.Path(folder) / what / host for what in ("power", "watts")}
        self.uuid = hardware_uuid(host)

    def file(self, what):
        return self.files.get(what, self.folder / what)

    def put(self, what, value):
        to = self.file(what)
        fresh = to.with_name(f".{to.name}.{threading.get_ident()}")
        fresh.write_text(f"{value}\n")
        fresh.replace(to)

    def get(self, what):
        """None: there is no such file."""
        try:
            return self.file(what).read_text().strip()
        except FileNotFoundError:
            return None

    def draws(self):
        """Watts."""
        if not self.files:
            return self.watts
        watts = self.get("watts")
        return float(watts) if watts else None

    def drop(self, what):
        self.file(what).unlink(missing_ok=True)

    def is_on(self):
        return self.get("power") == "1"

    def power_state(self):
        return self.get("claims") or ("On" if self.is_on() else "Off")


class Refusal(Exception):
    """An answer that is an error, with a message of the standard registry."""

    def __init__(self, status, key, message, **headers):
        super().__init__(message)
        self.status, self.headers = status, headers
        self.body = {"error": {"code": f"{REGISTRY}.GeneralError", "message": "See @Message.ExtendedInfo.",
                               "@Message.ExtendedInfo": [{"@odata.type": "#Message.v1_1_1.Message",
                                                          "MessageId": key if "." in key else f"{REGISTRY}.{key}",
                                                          "Message": message, "Severity": "Critical",
                                                          "Resolution": "None."}]}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "redfish_service"
    timeout = 60

    def setup(self):
        self.server.bmc.connections += 1
        self.server.bmc.open.add(self.request)
        self.request.settimeout(self.timeout)
        self.request.do_handshake()  # here, and not where the next connection waits
        super().setup()

    def finish(self):
        self.server.bmc.open.discard(self.request)
        super().finish()

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(timestamp or self.server.bmc.clock())

    def send_header(self, keyword, value):
        if keyword != "Date" or self.server.bmc.tells_date:
            super().send_header(keyword, value)

    def handle_any(self):
        bmc = self.server.bmc
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urllib.parse.urlsplit(self.path)
        place = path.path.rstrip("/") or "/"
        basic = "basic" if self.headers.get("Authorization") else ""
        bmc.requests.append((self.command, place, "token" if self.headers.get("X-Auth-Token") else basic))
        if bmc.before:
            bmc.before(self.command, place)
        for pattern in [p for p in bmc.events if re.fullmatch(p, f"{self.command} {place}")]:
            bmc.events.pop(pattern)()
        if bmc.delay_s:
            bmc.over.wait(bmc.delay_s)
        bmc.over.wait(sum(s for p, s in bmc.late.items() if re.fullmatch(p, f"{self.command} {place}")))
        if any(re.fullmatch(p, f"{self.command} {place}") for p in bmc.hang):
            bmc.over.wait(60)
            self.close_connection = True
            return
        if bmc.redirect and place != "/" and not path.path.endswith("/"):
            self.reply(bmc.redirect, {"Location": (bmc.absolute or "") + path.path + "/" + ("?" + path.query if path.query else "")}, b"")
            return
        for pattern, left in list(bmc.busy.items()):
            if left > 0 and re.fullmatch(pattern, f"{self.command} {place}"):
                bmc.busy[pattern] -= 1
                self.reply(bmc.busy_status, bmc.busy_headers, Refusal(503, "ServiceTemporarilyUnavailable", "Busy.").body)
                return
        for pattern, (status, headers, text) in list(bmc.instead.items()):
            if re.fullmatch(pattern, f"{self.command} {place}"):
                self.reply(status, headers, text)
                return
        try:
            status, headers, answer = bmc.answer(self.command, place, path.query, self.headers, body)
        except Refusal as e:
            status, headers, answer = e.status, e.headers, e.body
        if any(re.fullmatch(p, f"{self.command} {place}") for p in bmc.lost):
            self.close_connection = True
            self.connection.close()
            return
        self.reply(status, headers, answer)

    do_GET = do_POST = do_DELETE = do_PATCH = handle_any

    def reply(self, status, headers, answer):
        text = answer if isinstance(answer, bytes) else self.server.bmc.write(answer)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
        self.send_header("OData-Version", "4.0")
        if self.close_connection:  # as the client wished: it must not wait for more on it (RFC 9112, 9.6)
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"" if status == 204 else text)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def handle_error(self, *_):
        if not isinstance(sys.exc_info()[1], OSError):  # clients that hang up, or that do not like the certificate
            traceback.print_exc()


class RedfishService:
    def __init__(self, systems=("1",), on=True, hook=None):
        self.dir = tempfile.TemporaryDirectory(prefix="ballast-redfish-")
        folder = pathlib.Path(self.dir.name)
        self.hook = hook
        self.systems = {name: System(name, folder, on) for name in systems}
        self.users = {role: (role, secrets.token_hex(8)) for role in ROLES}
        self.username, self.password = self.users["admin"]
        self.files = {}
        for role, (_, password) in self.users.items():
            self.files[role] = str(folder / f"{role}.password")
            pathlib.Path(self.files[role]).write_text(password + "\n")
        self.password_file = self.files["admin"]
        ca, self.cert, self.key = make_certificates(folder)
        self.ca_file = str(ca)

        # What it offers.
        self.sessions_offered = True   # else Basic only
        self.sessions_max = 16
        self.full = (503, "SessionLimitExceeded", "The session establishment failed due to the number of simultaneous "
                     "sessions exceeding the limit.")  # the answer to a login beyond that
        self.basic_offered = True
        self.login_tells = "location"  # or "body", "id", or None: where the new session is
        self.root_locked = False       # the service root needs a login
        self.if_match = None           # or 428, 412: the answer to a reset without the system's ETag
        self.redirect = None           # or 301, 308: to the same path with a slash at its end
        self.untidy = None             # or "bom", "nul", "u0000", "latin1": how its JSON is written
        self.page = 0                  # members of a collection in one answer; 0: all
        self.next_link = f"{V1}/Systems?$skip={{}}"  # to the next page, with the number of members before it
        self.values = RESET_TYPES      # of ResetType
        self.values_in = "action"      # or "info": @Redfish.ActionInfo; or None: not told
        self.meters = ["environment"]  # the sources of redfish_meters.py
        self.readings = {}             # by source: another reading
        self.related = self.parts = False  # PowerControl has RelatedItem; some entries are of parts of the system
        self.report_age_s = 10         # of the newest figure of telemetry
        self.clock_wrong_s = 0         # how far its clock is ahead
        self.tells_date = True         # Date headers; else only its manager's DateTime
        self.enclosure = None          # the id of a chassis that all systems share
        self.chassis_ids = {}          # by system, where they differ
        self.slashes = False           # each link ends with one
        self.message_id = "MessageId"  # in errors
        self.strict = None             # or the Refusal of switching on what is on, or off what is off
        self.says_success = False      # a reset is answered 200 and a message, not 204
        self.absolute = None           # "https://elsewhere": put before Location headers and links

        # How it misbehaves. Patterns are of "METHOD /path", without a slash at the end.
        self.delay_s = 0.0             # each answer comes that late
        self.late = {}                 # "METHOD path" by regular expression: those answers come so many seconds late
        self.hang = set()              # patterns of what is never answered
        self.lost = set()              # patterns of what is carried out, and whose answer never comes
        self.busy = {}                 # pattern: how often it is answered "busy" from now on
        self.busy_status, self.busy_headers = 503, {"Retry-After": "1"}
        self.instead = {}              # pattern: (status, headers, bytes or what becomes JSON) is answered instead
        self.tasks = None              # resets are 202: "done", "failed", "critical", "forever", "forgotten", "resource"
        self.token_uses = 0            # a token is forgotten after so many requests; 0: never
        self.events = {}               # pattern: what is called, once, when such a request comes

        self.before = None             # called with each request's method and path

        self.requests, self.resets = [], []
        self.connections = 0           # that were ever opened
        self.open = set()              # the connections that are open now
        self.tokens, self.task_polls = {}, {}
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.port, self.server = ports.take(), None
        self.start()

    # -- its life

    def start(self):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.cert, self.key)
        self.over.clear()
        self.server = self.listen()
        self.server.bmc = self
        self.server.socket = self.context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def listen(self):
        """On the same port as before, once the connections of before have gone."""
        until = time.monotonic() + 20
        while True:
            try:
                return Server(("127.0.0.1", self.port), Handler)
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def stop(self):
        if self.server:
            self.over.set()
            self.server.shutdown()
            self.server.server_close()
            self.server = None
            for connection in list(self.open):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.stop()
        shutil.rmtree(self.dir.name, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getitem__(self, name):
        return self.systems[name]

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def clock(self):
        return time.time() + self.clock_wrong_s

    def sessions(self):
        """The sessions that are open."""
        with self.lock:
            return len(self.tokens)

    def logins(self):
        """How many logins were tried so far, refused ones included."""
        return sum(method == "POST" and path.endswith("/Sessions") for method, path, _ in self.requests)

    def renew_certificate(self):
        """Another certificate, of another authority; the clients still have the old one's. For new connections."""
        _, self.cert, self.key = make_certificates(tempfile.mkdtemp(dir=self.dir.name))
        self.context.load_cert_chain(self.cert, self.key)

    def in_its_words(self, o):
        """Links with a slash at the end, and the name of a message's id, as this firmware writes them."""
        if isinstance(o, list):
            return [self.in_its_words(x) for x in o]
        if not isinstance(o, dict):
            return o
        r = {self.message_id if k == "MessageId" else k: self.in_its_words(v) for k, v in o.items()}
        for k in ("@odata.id", "target"):
            if self.slashes and isinstance(r.get(k), str) and not re.search(r"[#?]|/$", r[k]):
                r[k] += "/"
        return r

    def write(self, answer):
        """An answer as bytes, in the way of this firmware."""
        if answer is None:
            return b""
        if self.untidy in ("u0000", "latin1") and isinstance(answer, dict):
            answer = {**answer, "AssetTag": "rack 7\0\0" if self.untidy == "u0000" else "Geh\xe4use 7"}
        answer = self.in_its_words(answer)
        text = json.dumps(answer, ensure_ascii=self.untidy != "latin1")
        raw = text.encode("latin-1" if self.untidy == "latin1" else "utf-8")
        return b"\xef\xbb\xbf" + raw if self.untidy == "bom" else raw + b"\0" if self.untidy == "nul" else raw

    # -- who asks

    def login(self, body):
        try:
            given = json.loads(body)
            name, password = given["UserName"], given["Password"]
        except (ValueError, KeyError, TypeError):
            raise Refusal(400, "MalformedJSON", "The request body could not be parsed.") from None
        role = next((r for r, u in self.users.items() if u == (name, password)), None)
        if not role:
            raise Refusal(401, "ResourceAtUriUnauthorized", "The authentication credentials were not accepted.")
        with self.lock:
            if len(self.tokens) >= self.sessions_max:
                raise Refusal(*self.full)
            token, number = secrets.token_hex(16), str(secrets.randbelow(10**9))
            self.tokens[token] = {"role": role, "id": number, "uses": 0}
        where = f"{V1}/SessionService/Sessions/{number}"
        session = self.session(number, name)
        if self.login_tells != "body":
            del session["@odata.id"]
        if self.login_tells is None:
            del session["Id"]
        location = {"Location": (self.absolute or "") + where} if self.login_tells == "location" else {}
        return 201, {"X-Auth-Token": token, **location}, session

    def role_of(self, headers):
        token, basic = headers.get("X-Auth-Token"), headers.get("Authorization")
        if token:
            with self.lock:
                session = self.tokens.get(token)
                if session:
                    session["uses"] += 1
                    if self.token_uses and session["uses"] > self.token_uses:
                        del self.tokens[token]
                        session = None
            if session:
                return session["role"]
        elif basic and basic.startswith("Basic ") and self.basic_offered:
            name, _, password = base64.b64decode(basic[6:]).decode().partition(":")
            role = next((r for r, u in self.users.items() if u == (name, password)), None)
            if role:
                return role
        raise Refusal(401, "NoValidSession", "There is no valid session established with the implementation.",
                      WWW_Authenticate='Basic realm="redfish"')

    # -- what is asked

    def answer(self, method, path, query, headers, body):
        sessions = f"{V1}/SessionService/Sessions"
        if path == "/redfish":
            return 200, {}, {"v1": V1 + "/"}
        if path == V1 and method == "GET" and not self.root_locked:
            return 200, {}, self.root()
        if path == sessions and method == "POST" and self.sessions_offered:
            return self.login(body)
        role = self.role_of(headers)
        match = re.fullmatch(f"{V1}/Systems/([^/]+)/Actions/ComputerSystem.Reset", path)
        if match and match.group(1) in self.systems:
            if method != "POST":
                raise Refusal(405, "OperationNotAllowed", "The HTTP method is not allowed on this resource.")
            if self.if_match and headers.get("If-Match") != self.etag(self.systems[match.group(1)]):
                raise Refusal(self.if_match, "PreconditionRequired" if self.if_match == 428 else "PreconditionFailed",
                              "A precondition header or annotation is required to change this resource.")
            return self.reset(role, self.systems[match.group(1)], body)
        match = re.fullmatch(f"{sessions}/([^/]+)", path)
        if match and method == "DELETE":
            return self.logout(match.group(1))
        match = re.fullmatch(f"{V1}/TaskService/(Tasks|Monitors)/([^/]+)", path)
        if match and match.group(2) in self.task_polls:
            return self.task(match.group(1), match.group(2))
        if method != "GET":
            raise Refusal(405, "OperationNotAllowed", "The HTTP method is not allowed on this resource.")
        resource = self.resource(path, urllib.parse.parse_qs(query))
        if resource is None:
            raise Refusal(404, "ResourceMissingAtURI", f"The resource at the URI {path} was not found.")
        match = re.fullmatch(f"{V1}/Systems/([^/]+)", path)
        return 200, {"ETag": self.etag(self.systems[match.group(1)])} if match and self.if_match else {}, resource

    def etag(self, s):
        return f'W/"{s.name}-{s.power_state()}"'

    def logout(self, number):
        with self.lock:
            for token, session in list(self.tokens.items()):
                if session["id"] == number:
                    del self.tokens[token]
                    return 204, {}, None
        raise Refusal(404, "ResourceMissingAtURI", "There is no such session.")

    # -- resources

    def root(self):
        r = {"@odata.id": V1 + "/", "@odata.type": "#ServiceRoot.v1_5_0.ServiceRoot", "Id": "RootService",
             "Name": "Root Service", "RedfishVersion": "1.8.0", "UUID": "92384634-2938-2342-8820-489239905423",
             "Systems": {"@odata.id": f"{V1}/Systems"}, "Chassis": {"@odata.id": f"{V1}/Chassis"},
             "Tasks": {"@odata.id": f"{V1}/TaskService"}, "Links": {}}
        if "telemetry" in self.meters:
            r["TelemetryService"] = {"@odata.id": f"{V1}/TelemetryService"}
        if self.sessions_offered:
            r["SessionService"] = {"@odata.id": f"{V1}/SessionService"}
            r["Links"] = {"Sessions": {"@odata.id": f"{V1}/SessionService/Sessions"}}
        return r

    def session(self, number, name):
        return {"@odata.id": f"{V1}/SessionService/Sessions/{number}", "@odata.type": "#Session.v1_2_1.Session",
                "Id": number, "Name": "User Session", "UserName": name}

    def collection(self, path, kind, query, names):
        begin = int(query.get("$skip", ["0"])[0])
        shown = names[begin:begin + self.page] if self.page else names
        r = {"@odata.id": path, "@odata.type": f"#{kind}.{kind}", "Name": kind, "Members@odata.count": len(names),
             "Members": links(*((self.absolute or "") + f"{path}/{n}" for n in shown))}
        if self.page and begin + self.page < len(names):
            next_link = self.next_link.format(begin + self.page) if isinstance(self.next_link, str) else self.next_link
            r["Members@odata.nextLink"] = next_link
        return r

    def resource(self, path, query):
        if path == V1:
            return self.root()
        if path == f"{V1}/SessionService/Sessions":
            with self.lock:
                return {"@odata.id": path, "Members": links(*(f"{path}/{t['id']}" for t in self.tokens.values()))}
        if path == f"{V1}/Systems":
            return self.collection(path, "ComputerSystemCollection", query, list(self.systems))
        if path == f"{V1}/Chassis":
            return self.collection(path, "ChassisCollection", query, list({self.chassis_of(s): s for s in self.systems.values()}))
        if path == f"{V1}/SessionService" and self.sessions_offered:
            return {"@odata.id": path, "@odata.type": "#SessionService.v1_1_6.SessionService", "Id": "SessionService",
                    "Name": "Session Service", "ServiceEnabled": True, "Sessions": {"@odata.id": path + "/Sessions"}}
        kind, name, *rest = path[len(V1) + 1:].split("/") + [""]
        rest = [r for r in rest if r]
        if kind == "Managers" and name == "1":
            return {"@odata.id": path, "Id": "1", "DateTime": redfish_meters.timestamp(self, 0)["Timestamp"]}
        if kind == "TelemetryService":
            return redfish_meters.telemetry(self, path, [r for r in (name, *rest) if r])
        if kind == "Chassis":
            systems = [s for s in self.systems.values() if self.chassis_of(s) == name]
            if not systems:
                return None
            return redfish_meters.of_chassis(self, path, rest, systems) if rest else self.chassis(path, name, systems)
        if kind != "Systems" or name not in self.systems or rest not in ([], ["ResetActionInfo"]):
            return None
        return (self.action_info if rest else self.system)(path, self.systems[name])

    def system(self, path, s):
        action = {"target": f"{path}/Actions/ComputerSystem.Reset"}
        if self.values_in == "action":
            action["ResetType@Redfish.AllowableValues"] = self.values
        elif self.values_in == "info":
            action["@Redfish.ActionInfo"] = f"{path}/ResetActionInfo"
        return {"@odata.id": path, "@odata.type": "#ComputerSystem.v1_10_0.ComputerSystem", "Id": s.name,
                "Name": f"System {s.name}", "SystemType": "Physical", "PowerState": s.power_state(),
                "Status": {"State": "Enabled", "Health": "OK"}, "UUID": next(s.uuids) if s.uuids else s.uuid, "SerialNumber": s.serial,
                "Boot": {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None",
                         "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Hdd"]},
                "Links": {"Chassis": links(f"{V1}/Chassis/{self.chassis_of(s)}"), "ManagedBy": links(f"{V1}/Managers/1")}, "Actions": {"#ComputerSystem.Reset": action}}

    def action_info(self, path, s):
        if self.values_in != "info":
            return None
        return {"@odata.id": path, "@odata.type": "#ActionInfo.v1_1_2.ActionInfo", "Id": "ResetActionInfo",
                "Name": f"Reset Action Info of {s.name}",
                "Parameters": [{"Name": "ResetType", "Required": True, "DataType": "String",
                                "AllowableValues": self.values}]}

    def chassis_of(self, s):
        return self.enclosure or self.chassis_ids.get(s.name, s.name)

    def chassis(self, path, name, systems):
        return {"@odata.id": path, "@odata.type": "#Chassis.v1_15_0.Chassis", "Id": name, "Name": f"Chassis {name}",
                "ChassisType": "Enclosure" if self.enclosure else "RackMount", "Status": {"State": "Enabled", "Health": "OK"},
                "Links": {"ComputerSystems": links(*(f"{V1}/Systems/{s.name}" for s in systems))},
                **redfish_meters.chassis_links(self, path)}

    # -- reset

    def reset(self, role, s, body):
        if role not in MAY_RESET:
            raise Refusal(403, "InsufficientPrivilege", "There are insufficient privileges for the account or "
                                                        "credentials associated with the current session to perform "
                                                        "the requested operation.")
        try:
            kind = json.loads(body)["ResetType"]
        except (ValueError, KeyError, TypeError):
            raise Refusal(400, "ActionParameterMissing", "The action Reset requires the parameter ResetType.") from None
        if kind not in self.values:
            raise Refusal(400, "ActionParameterNotSupported", f"The parameter ResetType with the value {kind} is not "
                                                              "supported on the target resource.")
        if self.strict and kind in (("On", "ForceOn") if s.is_on() else ("ForceOff", "GracefulShutdown")):
            raise Refusal(*self.strict)
        self.resets.append((time.time(), s.name, kind))
        self.act(s, kind)
        if not self.tasks and self.says_success:
            return 200, {}, {"@Message.ExtendedInfo": [{"MessageId": f"{REGISTRY}.Success", "Severity": "OK",
                                                        "Message": "Successfully Completed Request"}]}
        if not self.tasks:
            return 204, {}, None
        number = str(len(self.task_polls) + 1)
        self.task_polls[number] = 0
        place = "Tasks" if self.tasks == "resource" else "Monitors"
        return (202, {"Location": (self.absolute or "") + f"{V1}/TaskService/{place}/{number}", "Retry-After": "1"},
                self.task_resource(number, "New"))

    def act(self, s, kind):
        if kind == "PushPowerButton":
            kind = "GracefulShutdown" if s.is_on() else "On"
        soft = s.get("soft")
        if s.get("stuck") is None:
            if kind in ("On", "ForceOn"):
                s.put("power", 1)
            elif kind == "ForceOff" or (kind == "GracefulShutdown" and soft in (None, "0")):
                s.put("power", 0)
            elif kind == "GracefulShutdown" and soft != "never":
                threading.Thread(target=self.shut_down, args=(s, float(soft)), daemon=True).start()
        if self.hook:
            self.hook(self, s, kind)

    def shut_down(self, s, seconds):
        if not self.over.wait(seconds) and s.get("stuck") is None:
            s.put("power", 0)
            if self.hook:
                self.hook(self, s, "done")

    def task_resource(self, number, state):
        failed = state == "Exception" or (state == "Completed" and self.tasks == "critical")
        return {"@odata.id": f"{V1}/TaskService/Tasks/{number}", "@odata.type": "#Task.v1_4_3.Task", "Id": number,
                "Name": "Reset", "TaskState": state, "TaskStatus": "Critical" if failed else "OK",
                "Messages": [{"MessageId": f"{REGISTRY}.InternalError", "Message": "The power supply did not answer."}]
                if failed else []}

    def task(self, place, number):
        self.task_polls[number] += 1
        goes_on = self.tasks == "forever" or self.task_polls[number] < 2
        state = "Running" if goes_on else "Exception" if self.tasks == "failed" else "Completed"
        if not goes_on and self.tasks == "forgotten":
            raise Refusal(404, "ResourceMissingAtURI", "There is no such task.")
        if place == "Tasks" or goes_on or state == "Exception" or self.tasks == "critical":
            status = 202 if place == "Monitors" and goes_on else 200
            return status, {}, self.task_resource(number, state)
        return 204, {}, None
