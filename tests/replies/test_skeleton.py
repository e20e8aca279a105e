#!/usr/bin/env python3
"""The skeletons that new plug-ins are copied from keep their contract."""
import http.server
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peers"))
from probe import Probe, by_id  # noqa: E402

CLUSTER = """host h1 on 8 2000 68719476736
host h2 standby 8 2000 68719476736

vm v1 h1 on 2 4294967296 700 1073741824 2147483648
vm v2 h1 on 1 1073741824 - - -
vm v3 h1 off 1 1073741824 0 0 0
"""


class Hypervisor(http.server.BaseHTTPRequestHandler):
    pages = {}  # path -> text; a path that is not there is a 404
    asked = []

    def answer(self):
        self.asked.append(f"{self.command} {self.path}")
        text = self.pages.get(f"{self.command} {self.path}")
        body = (text or "").encode()
        self.send_response(404 if text is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def equal(what, got, expected):
    assert got == expected, f"{what}: {got!r}, expected {expected!r}"


def test_collector(p, pages):
    pages["GET /"] = CLUSTER
    inv = p("collect")
    equal("freeze", inv["freeze"], "ok")
    equal("hosts", [(h["id"], h["state"], h["cpu_mhz"], h["mem_mb"]) for h in inv["hosts"]],
          [("h1", "on", 16000, 65536), ("h2", "standby", 16000, 65536)])
    vms = by_id(inv["vms"])
    equal("vm", (vms["v1"]["sample"]["cpu_used_mhz"], vms["v1"]["sample"]["mem_active_mb"]), (700, 1024))
    equal("unknown", [v["demand_unknown"] for v in inv["vms"]], [False, True, False])
    for line in ("host h1 on", "vm v1 h1 up 2 1 1 1 1", "vm v1 h1 on 2 -5 1 1 1", "<html>", "host h on 1e9 1 1"):
        pages["GET /"] = CLUSTER + line
        bad = p("collect")
        equal(line, bad.get("error"), "EPROTO")
        assert "line 7" in bad["text"], bad
    del pages["GET /"]
    equal("404", p("collect")["error"], "EPROTO")


def test_actuator(p, pages, asked):
    move = ("migrate", "u1", "v1", "h1", "h2")
    pages.update({"GET /vm/v1": "h1 -", "POST /vm/v1/h2": "task7\n"})
    assert p("check", *move)["ok"]
    assert "POST /vm/v1/h2" not in asked
    equal("nothing to follow", p("adopt", *move)["error"], "ESRCH")
    equal("task", p("start", *move)["task"], "task7")
    pages["GET /vm/v1"] = "h1 task7"
    equal("adopted", p("start", *move)["task"], "task7")
    equal("followed", p("adopt", *move)["task"], "task7")
    equal("once", asked.count("POST /vm/v1/h2"), 1)
    for text, state, percent in (("queued", "queued", -1), ("running 40", "running", 40), ("done 100", "succeeded", 100),
                                 ("failed 40 no memory there", "failed", 40)):
        pages["GET /task/task7"] = text
        answer = p("poll", "task7")
        equal(text, (answer["state"], answer["percent"], answer["gone"]), (state, percent, False))
    assert "no memory there" in answer["why"]
    del pages["GET /task/task7"]
    equal("forgotten", [p("poll", "task7")[k] for k in ("state", "gone")], ["failed", True])
    pages["POST /task/task7/stop"] = ""
    assert p("cancel", "task7")["ok"]
    for where, error in (("h2 -", "ESTALE"), ("h3 -", "ESTALE"), ("h1", "EPROTO")):
        pages["GET /vm/v1"] = where
        equal(where, p("start", *move).get("error"), error)
    del pages["GET /vm/v1"]
    equal("gone", p("start", *move)["error"], "ENOENT")
    equal("another operation", p("start", "standby", "u", "h1")["error"], "EOPNOTSUPP")
    equal("a path", p("start", "migrate", "u", "../x", "h1", "h2")["error"], "EINVAL")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hypervisor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with Probe("skeleton", url=url + "/", timeout_s=60) as p:
        test_collector(p, Hypervisor.pages)
    with Probe("skeleton", url=url, timeout_s=60) as p:
        test_actuator(p, Hypervisor.pages, Hypervisor.asked)
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
