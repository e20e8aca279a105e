#!/usr/bin/env python3
"""Alert rules and dashboard of conf/ against Prometheus: its tools accept them, each rule is tested, and a real server that scrapes a
service has an answer to each query. What a server measured of VMs is a workload of the simulator."""
import contextlib
import csv
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import urllib.parse
import urllib.request

import ports
from daemon import BALLAST, SIM, Daemon, main, schemas, wait_for

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


def data_sources(part):
    """Each data source that a part of the dashboard names, at any depth."""
    if isinstance(part, dict):
        yield from [part["datasource"]] if "datasource" in part else []
        part = list(part.values())
    for inner in part if isinstance(part, list) else []:
        yield from data_sources(inner)


def test_dashboard():
    """It can be imported by a file and by hand: a data source or a variable that only one Grafana has would leave panels empty."""
    assert not [key for key in DASHBOARD if key.startswith("__")], "a file has no questions"
    variables = {v["name"]: v for v in DASHBOARD["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource" and variables["datasource"]["query"] == "prometheus"
    found = list(data_sources(DASHBOARD))
    assert len(found) > 2 * len(DASHBOARD["panels"]) and all(s == {"type": "prometheus", "uid": "${datasource}"} for s in found), found
    named = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD)))
    assert named == set(variables), named
    ids = [p["id"] for p in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids)) and all(p.get("targets") for p in DASHBOARD["panels"])


def test_installed():
    """The paths that the files and their README name are those where the files are installed, in a prefix /usr."""
    done = subprocess.run(["meson", "introspect", "--installed", os.environ["BALLAST_BUILD_DIR"]], capture_output=True, text=True, timeout=120, check=True)
    installed = {pathlib.Path(source).name: pathlib.PurePath(place) for source, place in json.loads(done.stdout).items()}
    for file, text in (("ballast.rules.yml", "conf/prometheus/README.md"), ("ballast.json", "conf/prometheus/README.md"), ("dashboards.yml", "conf/prometheus/README.md"),
                       ("ballast.json", "conf/grafana/dashboards.yml")):
        folder = installed[file].parent.relative_to(installed[file].parents[3])
        assert f"/usr/{folder}" in (TOP / text).read_text(encoding="utf-8"), (file, text, folder)


def test_names():
    """Each metric that rules and dashboard name is one that a service has."""
    with Daemon(SIM, interval_s=5, mqtt={"url": f"mqtt://127.0.0.1:{ports.take()}"}, alarms={"none": {"command": ["/bin/true"]}}) as d:
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        there = {line.split("{")[0] for line in d.cli("metrics").splitlines() if not line.startswith("#")}
    rules = RULES.read_text(encoding="utf-8")
    named = set(METRIC.findall(" ".join([e for _, e in expressions()] + re.findall(r"expr: (.*?)\n {8}\w+:", rules, re.S)))) | {"ballast_build_info"}
    assert len(named) > 30 and named <= there, f"there is no {sorted(named - there)}"


@contextlib.contextmanager
def served(handler):
    """An exporter at an address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.began = time.time()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def scrape_config(target, token_file):
    """What conf/prometheus/README.md tells to write, with this address and this token."""
    text = (TOP / "conf/prometheus/README.md").read_text(encoding="utf-8")
    job = textwrap.dedent(re.search(r"\n\n((?:    .*\n)*    scrape_configs:\n(?:    .*\n)+)", text)[1])
    for there, here in (("/usr/share/ballast/prometheus/ballast.rules.yml", str(RULES)), ("ballast.example:8443", target), ("/etc/prometheus/ballast.token", str(token_file)), ("scheme: https", "scheme: http")):
        assert there in job, (there, job)
        job = job.replace(there, here)
    assert "ca_file" in job, job  # there is no TLS here
    return re.sub(r" *tls_config: .*\n", "", job)


@contextlib.contextmanager
def prometheus(target, token):
    """A server that scrapes the target each second with the token, and has the rules; gives a function that asks it."""
    port = ports.take()
    with tempfile.TemporaryDirectory(prefix="ballast-prometheus-") as folder:
        config = pathlib.Path(folder) / "prometheus.yml"
        token_file = pathlib.Path(folder) / "token"
        token_file.write_text(token, encoding="utf-8")
        config.write_text("global: {scrape_interval: 1s, evaluation_interval: 1s}\n" + scrape_config(target, token_file),
                          encoding="utf-8")
        promtool("check", "config", config)
        with open(pathlib.Path(folder) / "log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                        f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"], stdout=log, stderr=log)

        def ask(path, **query):
            url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
            with urllib.request.urlopen(url, timeout=30) as reply:
                return json.load(reply)["data"]

        ask.url = f"http://127.0.0.1:{port}/api/v1/"
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
    port = ports.take()
    with Daemon(SIM, interval_s=5, automation="full", mqtt={"url": f"mqtt://127.0.0.1:{ports.take()}"}, http={"listen": f"127.0.0.1:{port}"}) as d:
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        token = d.cli("token", "create", "prometheus", "--role", "viewer").strip()
        text = subprocess.run(["curl", "-sSf", "-H", f"Authorization: Bearer {token}", f"http://127.0.0.1:{port}/metrics"],
                              capture_output=True, text=True, timeout=60, check=True).stdout
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0 and not done.stderr, done
        with prometheus(f"127.0.0.1:{port}", token) as ask:
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
            d.cli("token", "revoke", "prometheus")
            wait_for("a scrape is refused", lambda: [r for r in answered(ask, 'up{job="ballast"}') if r["value"][1] == "0"])
            wait_for("the alert is pending", lambda: [r for g in ask("rules")["groups"] for r in g["rules"]
                                                      if r["name"] == "BallastDown" and r["state"] == "pending"])
            target = ask("targets")["activeTargets"][0]
            assert "401" in target["lastError"], target


class Exporter(http.server.BaseHTTPRequestHandler):
    """VMs as an exporter of libvirt's shows them: counters of CPU seconds, by vCPU, and bytes of memory."""
    CORES = {"web": 1.5, "db": 0.25}

    def do_GET(self):
        lines = []
        for vm, cores in self.CORES.items():
            for vcpu in (0, 1):
                lines.append(f'vm_cpu_seconds_total{{domain="{vm}",vcpu="{vcpu}"}} {cores / 2 * (time.time() - self.server.began):.6f}')
            lines.append(f'vm_memory_bytes{{domain="{vm}"}} {3 * 2**30}')
        text = ("\n".join(lines) + "\n").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


IMPORT = """
duration_s: 20
hosts:
  - {name: esx, count: 2, cores: 8, core_mhz: 2000, mem_mb: 65536}
workload:
  format: prometheus
  vm: domain
  cpu: {file: cpu.json, unit: cores}
  mem: {file: mem.json, unit: bytes}
sample_s: 1
vms:
  - {name: vm, count: traces, names: traces, vcpus: 2, mem_mb: 8192, workload: trace}
"""


def simulated(folder, *arguments, code=0):
    done = subprocess.run([BALLAST, "simulate", folder / "s.yaml", *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def last_wanted(series):
    """The CPU and memory that all VMs want at the last point."""
    last = list(csv.DictReader(series.splitlines()))[-1]
    return float(last["wanted_cpu_mhz"]), float(last["wanted_mem_mb"])


def test_import():
    """Answers of a real server, as curl gives them."""
    with served(Exporter) as target, prometheus(target, "of no use") as ask, tempfile.TemporaryDirectory(prefix="ballast-import-") as name:
        folder = pathlib.Path(name)
        (folder / "s.yaml").write_text(IMPORT, encoding="utf-8")
        wait_for("samples of half a minute", lambda: len([v for r in answered(ask, "vm_memory_bytes[35s]") for v in r["values"]]) >= 2 * 30, 120)
        end = int(time.time())

        def keep(file, query):
            arguments = ["-s", "--get", ask.url + "query_range", "-d", f"start={end - 20}", "-d", f"end={end}", "-d", "step=1",
                         "--data-urlencode", f"query={query}", "-o", folder / file]
            subprocess.run(["curl", *map(str, arguments)], check=True, timeout=60)

        keep("cpu.json", "sum by (domain) (rate(vm_cpu_seconds_total[10s]))")
        keep("mem.json", "vm_memory_bytes")
        cpu, mem = last_wanted(simulated(folder, "--series", "-"))
        assert abs(cpu - 1.75 * 2000) < 0.05 * 3500 and mem == 2 * 3 * 1024, (cpu, mem)
        keep("cpu.json", "sum by (domain) (vm_cpu_seconds_total)")
        cpu, _ = last_wanted(simulated(folder, "--series", "-", "--set", "workload.cpu.unit=seconds"))
        assert abs(cpu - 1.75 * 2000) < 0.25 * 3500, cpu  # from one second to the next
        keep("cpu.json", "vm_cpu_seconds_total")
        said = simulated(folder, "--set", "workload.cpu.unit=seconds", code=2)
        assert "several series have a value of VM" in said and "sum by (domain)" in said, said
        keep("cpu.json", "sum by (")
        assert "Prometheus answered with an error: " in simulated(folder, code=2)


if __name__ == "__main__":
    main(test_rules, test_dashboard, test_installed, test_names, test_server, test_import)
