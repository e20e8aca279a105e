"""server.py: a small local vCenter that answers from files, with faults on demand.

    with Server() as s:
        s.url                                  # http://127.0.0.1:PORT/sdk
        s.on["QueryPerf"] = s.hang             # the answer to further calls of a method, until it is set again
        s.expire()                             # forgets its session
        s.calls                                # names of the called methods, in order

The answers in vsphere/ follow the real schema (vSphere Web Services API 7.0) and are made by hand. The server covers features
that govmomi's simulator does not implement (pages, standby, CSV), and faults that no real peer shows on demand. Loopback only, one
thread for each connection; the server ends with the test.
"""
import functools
import gzip
import http.server
import pathlib
import re
import socket
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ENVELOPE = ('<?xml version="1.0" encoding="UTF-8"?>\n<soapenv:Envelope xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/" '
            'xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" '
            'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n<soapenv:Body>\n%s\n</soapenv:Body>\n</soapenv:Envelope>')
PASSWORD = "s3cret & <of> the \"test\""
USERNAME = "ballast@vsphere.local"


def envelope(payload):
    return (ENVELOPE % payload).encode()


def file(name):
    return (HERE / "vsphere" / f"{name}.xml").read_text()


def fault(kind, text="", inside=""):
    return envelope(f'<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>{text}</faultstring><detail>'
                    f'<{kind}Fault xmlns="urn:vim25" xsi:type="{kind}">{inside}</{kind}Fault></detail></soapenv:Fault>')


def properties(kind, moref, pairs):
    """One object, as RetrievePropertiesEx gives it; pairs: (path, xsi:type, text)."""
    sets = "".join(f'<propSet><name>{p}</name><val xsi:type="{t}">{v}</val></propSet>' for p, t, v in pairs)
    return f'<objects><obj type="{kind}">{moref}</obj>{sets}</objects>'


def retrieved(*objects, token=""):
    tail = f"<token>{token}</token>" if token else ""
    return envelope(f'<RetrievePropertiesExResponse xmlns="urn:vim25"><returnval>{tail}{"".join(objects)}</returnval>'
                    f'</RetrievePropertiesExResponse>')


def task_info(state="running", what="VirtualMachine.relocate", entity="vm-1", kind="VirtualMachine", progress=30,
              cancelable="true", error="", chain=0):
    return (f"<key>task-1</key><name>x</name><descriptionId>{what}</descriptionId>"
            f'<entity type="{kind}">{entity}</entity><state>{state}</state><cancelled>false</cancelled>'
            f"<cancelable>{cancelable}</cancelable>{error}<progress>{progress}</progress>"
            f"<eventChainId>{chain}</eventChainId>")


@functools.cache
def spaces():
    return gzip.compress(b" " * (200 << 20), 6)


class Call:
    """One request: .method, .text (the envelope), .handler (the raw connection)."""

    def __init__(self, handler, text):
        self.handler, self.text = handler, text
        found = re.search(r"<soapenv:Body>\s*<([A-Za-z_]+)", text)
        self.method = found.group(1) if found else "?"

    def about(self):
        """The moref that a RetrievePropertiesEx begins at."""
        found = re.search(r'<obj type="\w+">([^<]*)</obj>', self.text)
        return found.group(1) if found else ""

    def reply(self, body, status=200, headers=()):
        h = self.handler
        h.send_response(status)
        h.send_header("Content-Type", "text/xml; charset=utf-8")
        h.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            h.send_header(name, value)
        h.end_headers()
        h.wfile.write(body)

    def drop(self):
        """Ends the connection without an answer."""
        self.handler.close_connection = True
        self.handler.connection.shutdown(socket.SHUT_RDWR)


class Server:
    def __init__(self):
        self.on = {}
        self.calls = []
        self.rest = {}       # (method, path without query) of the API of tags: the answer to it; none: HTTP 404
        self.rest_calls = []
        self.session = None
        self.n_sessions = 0
        self.bodies = []
        self.stopping = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else the body waits for the ACK of the head, which the other side delays

            def do_POST(self):
                text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                try:
                    (outer.answer if self.path == "/sdk" else outer.answer_rest)(Call(self, text))
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_GET = do_DELETE = do_POST

            def log_message(self, *_):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.httpd = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.httpd.server_port}/sdk"
        self.thread = threading.Thread(target=self.httpd.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.httpd.shutdown()
        self.httpd.server_close()
        self.thread.join(timeout=10)

    def expire(self):
        self.session = None

    # -- the well-behaved vCenter

    def answer(self, call):
        self.calls.append(call.method)
        self.bodies.append(call.text)
        special = self.on.get(call.method)
        if special:
            return special(call)
        if call.method == "RetrieveServiceContent":
            return call.reply(envelope(file(call.method)))
        if call.method == "Login":
            return self.login(call)
        cookie = re.search(r'vmware_soap_session="?([\w-]+)', call.handler.headers.get("Cookie", ""))
        if not cookie or cookie.group(1) != self.session:
            return call.reply(fault("NotAuthenticated", "The session is not authenticated."), 500)
        if call.method == "Logout":
            self.session = None
            return call.reply(envelope(file("Logout")))
        if call.method == "RetrievePropertiesEx":
            return self.retrieve(call)
        if call.method == "ContinueRetrievePropertiesEx":
            page = re.search(r"<token>page-(\d)-of-the-answer</token>", call.text)
            if not page:
                return call.reply(fault("InvalidProperty", "A specified parameter was not correct: token"), 500)
            return call.reply(envelope(file(f"cluster.{page.group(1)}")))
        if call.method == "QueryPerf":
            return call.reply(envelope(file("QueryPerf.csv")))
        return call.reply(fault("NotSupported", "The operation is not supported on the object."), 500)

    def answer_rest(self, call):
        key = (call.handler.command, call.handler.path.partition("?")[0])
        self.rest_calls.append(key)
        special = self.rest.get(key)
        return special(call) if special else call.reply(b"", 404)

    def login(self, call):
        from xml.sax.saxutils import unescape
        password = unescape(re.search("<password>(.*)</password>", call.text, re.S).group(1),
                            {"&quot;": '"', "&apos;": "'", "&#13;": "\r"})
        if password != PASSWORD or f"<userName>{USERNAME}</userName>" not in call.text:
            return call.reply(fault("InvalidLogin", "Cannot complete login due to an incorrect user name or password."), 500)
        self.n_sessions += 1
        self.session = f"session-{self.n_sessions}"
        return call.reply(envelope(file("Login")),
                          headers=[("Set-Cookie", f'vmware_soap_session="{self.session}"; Path=/; HttpOnly')])

    def retrieve(self, call):
        about = call.about()
        name = {"group-d1": "clusters", "domain-c8": "cluster.1", "PerfMgr": "perfCounter"}.get(about)
        if name:
            return call.reply(envelope(file(name)))
        return call.reply(fault("ManagedObjectNotFound", "The object has already been deleted or has not been completely created",
                                f'<obj type="?">{about}</obj>'), 500)

    # -- what it does instead, on demand

    def gives(self, body, status=200, headers=()):
        return lambda call: call.reply(body, status, headers)

    def hang(self, call):
        self.stopping.wait(60)

    def drip(self, call):
        """An answer that arrives a byte at a time, and never ends."""
        call.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not self.stopping.wait(0.05):
            call.handler.wfile.write(b"<")

    def flood(self, call):
        """200 MB of answer that is well-formed as far as it goes."""
        piece = b"<objects>" + b"x" * (1 << 20)
        call.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nConnection: close\r\n\r\n")
        call.handler.wfile.write(envelope("")[:200])
        for _ in range(200):
            call.handler.wfile.write(piece)
        call.handler.close_connection = True

    def bomb(self, call):
        """200 MB of spaces that are 200 kB on the way."""
        call.reply(spaces(), headers=[("Content-Encoding", "gzip")])

    def half(self, call):
        """A complete HTTP answer with half an XML document in it."""
        whole = envelope(file("cluster.1"))
        call.reply(whole[:len(whole) // 2])

    def cut(self, call):
        """Says how long it is, and is shorter."""
        whole = envelope(file("cluster.1"))
        call.handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(whole) + whole[:1000])
        call.drop()

    def vanish(self, call):
        call.drop()

    def once(self, what):
        """Does it once, and behaves again afterwards."""
        def do(call):
            del self.on[call.method]
            what(call)
        return do

    def expire_then(self, call):
        """The session is gone at this very moment."""
        del self.on[call.method]
        self.expire()
        self.calls.pop()
        self.bodies.pop()
        self.answer(call)

    def slow_pages(self, call):
        """Pages that never end."""
        time.sleep(0.02)
        call.reply(envelope('<ContinueRetrievePropertiesExResponse xmlns="urn:vim25"><returnval>'
                            '<token>page-2-of-the-answer</token></returnval></ContinueRetrievePropertiesExResponse>'))
