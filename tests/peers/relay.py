"""relay.py: relays between ballastd and an HTTP server, counts requests, and injects faults on demand."""
import collections
import http.client
import http.server
import re
import threading
import urllib.parse


class Relay:
    """POSTs go to the url; counts[METHOD] lists the SOAP methods that passed. forget_sessions() makes the server see
    cookies that it never gave, until the client logs in again; the next answer to a method in `lose` gets lost; nothing is
    passed on while `gate` is clear, and nothing at paths in `refused`."""

    def __init__(self, url):
        self.target = urllib.parse.urlsplit(url)
        self.counts = collections.Counter()
        self.relocations = collections.Counter()  # by VM; without those that a forgotten session asked for, which the server refuses
        self.asked = []  # (VM, host) of every relocation, in order
        self.lock = threading.Lock()
        self.forgotten = set()  # session cookies that are not passed on
        self.seen = set()
        self.lose = set()
        self.refused = ()  # the beginnings of paths that are answered with 503
        self.gate = threading.Event()
        self.gate.set()
        relay = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                relay.gate.wait()
                if relay.refused and self.path.startswith(relay.refused):
                    self.send_response(503)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                method = relay.note(body, self.headers.get("Cookie"))
                try:
                    status, headers, text = relay.forward(self.path, dict(self.headers), body, self.command)
                except OSError:
                    self.close_connection = True
                    return
                if method in relay.lose:
                    relay.lose.discard(method)
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in headers:
                    if name.lower() not in ("content-length", "transfer-encoding", "connection", "date"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_DELETE = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}{self.target.path}"

    def note(self, body, cookie=None):
        method = re.search(rb"Body>\s*<(?:\w+:)?(\w+)", body)
        name = method.group(1).decode() if method else "?"
        with self.lock:
            self.counts[name] += 1
            vm = re.search(rb"RelocateVM_Task.*?<(?:\w+:)?_this[^>]*>([^<]+)<", body, re.S)
            if vm and cookie not in self.forgotten:
                self.relocations[vm.group(1).decode()] += 1
                host = re.search(rb'<(?:\w+:)?host type="HostSystem">([^<]+)<', body)
                self.asked.append((vm.group(1).decode(), host.group(1).decode() if host else None))
        return name

    def forward(self, path, headers, body, command="POST"):
        cookie = headers.get("Cookie")
        with self.lock:
            if cookie:
                self.seen.add(cookie)
            if cookie in self.forgotten:
                headers["Cookie"] = re.sub(r"(vmware_soap_session=\"?)[^;\"]+", r"\1expired", cookie)
        connection = http.client.HTTPConnection(self.target.hostname, self.target.port, timeout=60)
        try:
            connection.request(command, path, body, {k: v for k, v in headers.items() if k.lower() not in
                                                    ("host", "connection", "content-length", "expect")})
            reply = connection.getresponse()
            return reply.status, reply.getheaders(), reply.read()
        finally:
            connection.close()

    def forget_sessions(self):
        with self.lock:
            self.forgotten |= self.seen

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
