#!/usr/bin/env python3
"""`ballast metrics` against Prometheus' own tools: the text is what promtool accepts, whatever hosts are called, and says what the other
commands say."""
import json
import re
import shutil
import subprocess
import sys
import time

from daemon import BALLAST, SIM, Daemon, main, wait_for

if not shutil.which("promtool"):
    print("skipped: promtool is missing (packaging/need peers)")
    sys.exit(77)

HOSTILE = ['esx"1', "esx\\2", "esx\n3", 'esx{4}="x",a="', "esx-ü-5", "# HELP esx6"]
SAMPLE = re.compile(r'^([a-z_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\} (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def parse(text):
    """{name: {frozenset of labels: value}}; each series stands once."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        assert match, f"no sample: {line}"
        unescape = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}
        labels = frozenset((k, re.sub(r"\\.", lambda m: unescape[m.group()], v)) for k, v in LABEL.findall(match[2]))
        series = found.setdefault(match[1], {})
        assert labels not in series, f"twice: {line}"
        series[labels] = float(match[3])
    return found


def promtool(*arguments, text=None):
    done = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and not done.stderr, f"promtool {arguments}: {done.stdout}{done.stderr}"


def of(series, **labels):
    """The sum of the series that have these labels."""
    return sum(value for have, value in series.items() if set(labels.items()) <= have)


def generated(d, hosts, vms, names=()):
    snapshot = json.loads(subprocess.run([BALLAST, "generate", "--hosts", str(hosts), "--vms", str(vms), "--shape", "skewed"], check=True,
                                         capture_output=True, text=True).stdout)
    for host, name in zip(snapshot["hosts"], names):
        host["name"] = name
    path = d.folder / "cluster.json"
    path.write_text(json.dumps(snapshot))
    d.write(source={**SIM, "file": str(path)})
    return snapshot


def test_names_and_figures():
    with Daemon(SIM, interval_s=5, automation="full", migration_threshold=5, cluster='a"b\\c') as d:
        snapshot = generated(d, len(HOSTILE), 60, HOSTILE)
        d.start()
        wait_for("a move is done", lambda: any(a["action"] == "migrate" and a["state"] == "done" for a in d.json("history")))
        d.cli("pause")
        wait_for("all actions have ended", lambda: not d.actions("starting", "running", "verifying"))
        used = [d.request({"command": "energy"})["energy"]["total"]["used_kwh"]]
        text = d.cli("metrics")
        used.append(d.request({"command": "energy"})["energy"]["total"]["used_kwh"])
        history = d.json("history", "--limit", "1000")
        promtool("check", "metrics", text=text)
        found = parse(text)
        assert all(("cluster", 'a"b\\c') in labels for series in found.values() for labels in series)
        assert not any(name == "vm" for series in found.values() for labels in series for name, _ in labels)
        hosts = {(h["id"], h["name"]) for h in snapshot["hosts"]}
        assert {(dict(s)["host_id"], dict(s)["host"]) for s in found["ballast_host_vms"]} == hosts
        assert of(found["ballast_host_vms"]) == of(found["ballast_vms"]) == 60
        assert of(found["ballast_hosts"], state="on") == of(found["ballast_hosts"]) == len(HOSTILE)
        for result in ("done", "failed", "cancelled"):
            ended = [a for a in history if a["state"] == result]
            moves = sum(a["action"] == "migrate" for a in ended)
            assert of(found["ballast_actions_total"], result=result) == len(ended), result
            assert of(found["ballast_moves_total"], result=result) == moves, result
        status = d.status()
        assert of(found["ballast_paused"]) == 1 and of(found["ballast_source_up"]) == 1
        assert of(found["ballast_imbalance_target"]) == status["pass"]["target"]
        assert of(found["ballast_pass_duration_seconds_count"]) >= 1
        assert of(found["ballast_pass_duration_seconds_bucket"], le="+Inf") == of(found["ballast_pass_duration_seconds_count"])
        assert abs(of(found["ballast_inventory_timestamp_seconds"]) - time.time()) < 300
        joules = of(found["ballast_energy_used_joules_total"])
        assert 0 < used[0] * 3.6e6 <= joules * 1.000001 and joules <= used[1] * 3.6000036e6, (used, joules)
        assert of(found["ballast_store_rows"], table="actions") > 0
        load = {dict(s)["host_id"]: v for s, v in found["ballast_host_normalized_entitlement_ratio"].items() if ("resource", "cpu") in s}
        assert set(load) == {h for h, _ in hosts} and all(0 <= v < 10 for v in load.values())


def test_before_the_first_inventory():
    """A service whose source cannot be read has metrics all the same."""
    with Daemon({"kind": "file", "file": "/no/such/inventory.json"}, interval_s=5) as d:
        d.start()
        wait_for("a collection fails", lambda: of(parse(d.cli("metrics"))["ballast_collections_failed_total"]) > 0)
        text = d.cli("metrics")
        promtool("check", "metrics", text=text)
        found = parse(text)
        assert of(found["ballast_source_up"]) == 0
        assert "ballast_imbalance" not in found and "ballast_inventory_timestamp_seconds" not in found


def test_own_use():
    """What a host uses itself and where it is degraded: in the metrics, and for h1, whose VM explains little of it, in the hosts' table."""
    with Daemon({"kind": "file"}, interval_s=3600, automation="manual") as d:
        vm = {"state": "on", "vcpus": 2, "mem_mb": 8192, "cpu": {"demand": 500}, "mem": {"demand": 8192, "consumed": 8192}}
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 120))
        host = {"state": "on", "cpu_mhz": 20000, "cores": 8, "mem_mb": 65536}
        snapshot = {"format": "ballast-snapshot/1", "cluster": "own", "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    "hosts": [{"id": "h1", **host, "mem_free_mb": 32768, "quarantine": True,
                               "own": {"at": at, "cpu_mhz": 3000, "mem_mb": 24576}},
                              {"id": "h2", **host, "mem_free_mb": 57344, "swap_in_mb_s": 0.05, "mem_pressure": 0.02}, {"id": "h3", **host, "state": "standby"}],
                    "vms": [{"id": "a", "host": "h1", **vm}, {"id": "b", "host": "h2", **vm, "ballooned_mb": 1024, "swapped_mb": 512}],
                    "migrations": [{"vm": "b", "from": "h2", "to": "h1", "started": at}]}
        path = d.folder / "cluster.json"
        path.write_text(json.dumps(snapshot))
        d.write(source={"kind": "file", "file": str(path)})
        d.start()
        wait_for("the first pass", lambda: d.request({"command": "status"})["status"]["pass"])
        text = d.cli("metrics")
        promtool("check", "metrics", text=text)
        found = parse(text)
        own = {dict(s)["host"]: value for s, value in found["ballast_host_memory_own_use_bytes"].items()}
        assert own == {"h1": 24576 * 2**20, "h2": 0}, own
        assert of(found["ballast_host_cpu_own_use_hertz"], host="h1") == 3e9, found
        on_the_way = [{dict(s)["host"]: value for s, value in found[f"ballast_host_{name}"].items()} for name in ("cpu_pending_hertz", "memory_pending_bytes")]
        assert on_the_way == [{"h1": 5e8, "h2": 0, "h3": 0}, {"h1": 8192 * 2**20, "h2": 0, "h3": 0}], on_the_way
        assert 110 <= of(found["ballast_host_own_use_age_seconds"], host="h1") <= 240, found
        assert of(found["ballast_host_own_use_age_seconds"], host="h2") == 0, found
        assert {dict(s)["host"]: v for s, v in found["ballast_host_quarantine"].items()} == {"h1": 1, "h2": 0, "h3": 0}
        assert of(found["ballast_host_memory_swap_in_bytes_per_second"], host="h2") == 0.05 * 2**20, found
        assert of(found["ballast_host_memory_pressure_ratio"], host="h2") == 0.02, found
        assert of(found["ballast_host_memory_squeezed_bytes"], host="h2") == 1536 * 2**20, found
        table = " ".join(d.cli("hosts").split())
        why = " ".join(d.cli("explain", "--host", "h1").split())
        assert "The host itself uses 3.0 GHz of CPU and 24.0 GiB of memory, as of 1" in why, why
        assert "on h2 all waited for memory in 2.0 % of the last five minutes" in table, table
        said = f"h1 has 32.0 GiB of memory in use, its VMs 8.0 GiB; own use of the host: 24.0 GiB, 3.0 GHz ({at})"
        assert said in table and table.count("memory in use") == 1, table


def test_large():
    with Daemon(SIM, interval_s=3600, automation="manual") as d:
        generated(d, 1000, 5000)
        d.start()
        wait_for("the first pass", lambda: d.request({"command": "status"})["status"]["pass"])
        times = []
        for _ in range(10):
            begin = time.monotonic()
            reply = d.request({"command": "metrics"})
            times.append(time.monotonic() - begin)
        promtool("check", "metrics", text=reply["metrics"])
        assert len(parse(reply["metrics"])["ballast_host_vms"]) == 1000
        print(f"1,000 hosts: {len(reply['metrics']) / 1e6:.1f} MB in {min(times) * 1000:.1f} ms, JSON and socket included")
        assert min(times) < 1


if __name__ == "__main__":
    main(test_names_and_figures, test_before_the_first_inventory, test_own_use, test_large)
