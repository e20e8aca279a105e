#!/usr/bin/env python3
"""Alert rules and dashboard of conf/ against Prometheus: its tools accept them, each rule is tested, and a real server that scrapes a
service has an answer to each query."""
import contextlib
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request

import ports
from daemon import SIM, Daemon, main, schemas, wait_for

if not shutil.which("promtool") or not shutil.which("prometheus"):
    print("skipped: prometheus is missing (packaging/need peers)")
    sys.exit(77)

TOP = schemas.TOP
RULES = TOP / "conf/prometheus/ballast.rules.yml"
RULES_TEST = TOP / "tests/peers/prometheus.rules.test.yml"
DASHBOARD = json.loads((TOP / "conf/grafana/ballast.json").read_text(encoding="utf-8"))
METRIC = re.compile(r"\bballast_[a-z_]+")
# what has no sample on a cluster that is well, and is left out of a query's result on purpose
MAY_BE_EMPTY = ("> 0", "topk")


def expressions():
    """Each query of the dashboard, for all clusters."""
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield f'{panel["title"]}: {target["legendFormat"]}', target["expr"].replace("$cluster", ".*")


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"promtool {arguments}: {done.stdout}{done.stderr}"
    return done.stdout


def test_rules():
    alerts = re.findall(r"- alert: (\w+)", RULES.read_text(encoding="utf-8"))
    assert f"{len(alerts)} rules found" in promtool("check", "rules", RULES)
    assert "SUCCESS" in promtool("test", "rules", RULES_TEST)
    tested = set(re.findall(r"alertname: (\w+)\n *exp_alerts:", RULES_TEST.read_text(encoding="utf-8")))
    assert set(alerts) == tested, f"never raised by {RULES_TEST.name}: {set(alerts) - tested}"


def test_names():
    """Each metric that rules and dashboard name is one that a service has."""
    with Daemon(SIM, interval_s=5, mqtt={"url": f"mqtt://127.0.0.1:{ports.take()}"}) as d:
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        there = {line.split("{")[0] for line in d.cli("metrics").splitlines() if not line.startswith("#")}
    rules = RULES.read_text(encoding="utf-8")
    named = set(METRIC.findall(" ".join([e for _, e in expressions()] + re.findall(r"expr: (.*?)\n {8}\w+:", rules, re.S)))) | {"ballast_build_info"}
    assert len(named) > 30 and named <= there, f"there is no {sorted(named - there)}"


class Bridge(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = self.server.service.cli("metrics").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(d):
    """The metrics of the service at an address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
    server.service = d
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


@contextlib.contextmanager
def prometheus(target):
    """A server that scrapes the target each second, with the rules; gives a function that asks it."""
    port = ports.take()
    with tempfile.TemporaryDirectory(prefix="ballast-prometheus-") as folder:
        config = pathlib.Path(folder) / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(RULES)],
            "scrape_configs": [{"job_name": "ballast", "static_configs": [{"targets": [target]}]}]}))
        promtool("check", "config", config)
        with open(pathlib.Path(folder) / "log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                        f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"], stdout=log, stderr=log)

        def ask(path, **query):
            url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
            with urllib.request.urlopen(url, timeout=30) as reply:
                return json.load(reply)["data"]

        try:
            yield ask
        except BaseException:
            print((pathlib.Path(folder) / "log").read_text(encoding="utf-8"), file=sys.stderr)
            raise
        finally:
            process.kill()
            process.wait()


def answered(ask, expression):
    try:
        return ask("query", query=expression)["result"]
    except OSError:  # it does not listen yet
        return []


def test_server():
    with Daemon(SIM, interval_s=5, automation="full", mqtt={"url": f"mqtt://127.0.0.1:{ports.take()}"}) as d:
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        with served(d) as target, prometheus(target) as ask:
            wait_for("a scrape", lambda: answered(ask, "ballast_imbalance"))
            assert [r["value"][1] for r in answered(ask, 'up{job="ballast"}')] == ["1"]
            wait_for("a rate", lambda: answered(ask, "rate(ballast_energy_used_joules_total[1m]) > 0"))
            for name, expression in expressions():
                result = ask("query", query=expression)["result"]
                assert result or any(word in expression for word in MAY_BE_EMPTY), f"{name} shows nothing: {expression}"
            groups = wait_for("the rules are evaluated", lambda: [g for g in ask("rules")["groups"]
                                                                  if all(r["health"] == "ok" for r in g["rules"])])
            assert [r["state"] for r in groups[0]["rules"] if r["name"] == "BallastPaused"] == ["inactive"]
            d.cli("pause")
            wait_for("the alert is pending", lambda: [r for g in ask("rules")["groups"] for r in g["rules"]
                                                      if r["name"] == "BallastPaused" and r["state"] == "pending"])


if __name__ == "__main__":
    main(test_rules, test_names, test_server)
