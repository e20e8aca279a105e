#!/usr/bin/env python3
"""External units in the service: asked with each inventory and before a move begins; one that hangs or writes without end holds up no client, is
started again, and ends with the service. Classes of Nova and oVirt in units/python."""
import json
import os
import pathlib
import signal
import time

from daemon import SIM, Daemon, main, wait_for

TOP = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
PYTHON = "/usr/bin/python3"
UNIT = '''
import json, os, sys, time
open(sys.argv[1] + ".pid", "w").write(str(os.getpid()))
for line in sys.stdin:
    m = json.loads(line)
    if "snapshot" in m:
        hosts = [h["id"] for h in m["snapshot"]["hosts"]]
        continue
    does = json.load(open(sys.argv[1]))
    if does.get("hangs"):
        time.sleep(600)
    while does.get("floods"):
        print("{}" * 1000)
    kept = [h for h in hosts if h not in does["refuses"]]
    print(json.dumps({"id": m["id"], "answers": [{"vms": m["vms"], "hosts": kept, "words": does.get("words")}]}), flush=True)
'''


def service(**settings):
    d = Daemon(SIM, interval_s=5, automation="manual", **settings)
    d.script, d.does = d.folder / "unit.py", d.folder / "does.json"
    d.script.write_text(UNIT, encoding="utf-8")
    tell(d, refuses=[])
    d.write(units={"quiet": {"command": [PYTHON, "-S", str(d.script), str(d.does)], "timeout_s": 3}},
            pipelines={"all": {"vms": "*", "stages": [{"name": "quiet", "external": "quiet", "filter": "$answer"}]}})
    return d


def tell(d, **does):
    temporary = d.does.with_suffix(".new")
    temporary.write_text(json.dumps(does), encoding="utf-8")
    temporary.rename(d.does)


def pid_of(d):
    return int(wait_for("the unit begins", lambda: pathlib.Path(f"{d.does}.pid").exists() and pathlib.Path(f"{d.does}.pid").read_text()))


def runs(pid):
    try:
        return ") Z " not in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def answers(d):
    done = d.run("snapshot", "--format", "json")  # before the first inventory there is none
    return json.loads(done.stdout).get("answers") if done.returncode == 0 else None


def move(d):
    """A recommended migration that needs no other one."""
    return wait_for("a move is recommended", lambda: next((a for a in d.actions("recommended") if a["action"] == "migrate" and not a["depends_on"]), None))


def test_answers_bind():
    with service().start() as d:
        x = move(d)
        assert answers(d)[0]["unit"] == "quiet" and x["to"] in answers(d)[0]["hosts"]
        tell(d, refuses=[x["to"]], words="quiet until six")
        wait_for("another destination", lambda: d.cli("run") and not any(a["to"] == x["to"] for a in d.actions("recommended")))
        text = " ".join(d.cli("explain", "--vm", x["vm"], "--host", x["to"]).split())
        assert 'the unit "quiet" answered' in text and "quiet until six" in text, text
        d.stop()


def test_asked_about_new_vms():
    """`ballast place --vms` asks the units of --config about VMs that no snapshot has."""
    with service().start() as d:
        x = move(d)
        new = d.folder / "new.json"
        new.write_text(json.dumps([{"id": "new", "vcpus": 1, "mem_mb": 256, "pipeline": "all"}]))
        hosts = [h["id"] for h in json.loads(d.cli("snapshot"))["hosts"]]
        tell(d, refuses=[h for h in hosts if h != x["to"]], words="only there")
        place = ("place", "--vms", new, "--format", "json")
        [placed] = json.loads(d.cli(*place, "--config", d.config))["recommendations"]
        assert (placed["vm"], placed["to"]) == ("new", x["to"]), placed
        assert d.run(*place).returncode == 1, "without the configuration no unit answers about it"
        d.stop()


def test_asked_before_it_begins():
    with service().start() as d:
        x = move(d)
        tell(d, refuses=[x["to"]], words="not now")
        d.cli("apply", f"{x['id']}.{x.get('version', 1)}")
        ended = wait_for("it is cancelled", lambda: next((a for a in d.json("history") if a["id"] == x["id"] and a["state"] == "cancelled"), None))
        assert "the external unit quiet refuses host" in ended["why"] and "not now" in ended["why"], ended
        d.stop()


def test_hangs_and_comes_back():
    for harm in ("hangs", "floods"):
        with service().start() as d:
            move(d)
            first = pid_of(d)
            tell(d, refuses=[], **{harm: True})
            failed = wait_for("it has failed", lambda: next((a.get("error") for a in answers(d) if a.get("error")), None))
            assert ("no answer within 3 s" in failed) if harm == "hangs" else ("is wrong" in failed or "MiB" in failed), failed
            assert not runs(first)
            for _ in range(20):  # no client waits for it
                begun = time.monotonic()
                d.status()
                assert time.monotonic() - begun < 2
                time.sleep(0.1)
            assert "external unit quiet failed" in d.log.read_text()
            wait_for("more passes", lambda: d.cli("run") and d.status()["failing_units"])
            [failing] = d.status()["failing_units"]
            assert failing["unit"] == "quiet" and failing["error"] and failing["vms"] == d.status()["vms"], failing
            assert "quiet: NO ANSWER since" in " ".join(d.cli("status").split())
            tell(d, refuses=[])
            wait_for("it answers again", lambda: all("hosts" in a for a in answers(d)))
            assert pid_of(d) != first and "external unit quiet answers again" in d.log.read_text()
            [begun], [ended] = (wait_for(kind, lambda kind=kind: d.json("events", "--kind", kind)) for kind in ("unit_failed", "unit_back"))
            assert begun["data"]["unit"] == ended["data"]["unit"] == "quiet" and begun["data"]["severity"] == "warning", (begun, ended)
            assert not d.status()["failing_units"]
            d.stop()


def test_killed_from_outside_and_stop():
    with service().start() as d:
        move(d)
        first = pid_of(d)
        os.kill(first, signal.SIGKILL)
        wait_for("another one", lambda: pid_of(d) != first and all("hosts" in a for a in answers(d)))
        last = pid_of(d)
        d.stop()
        wait_for("it is gone", lambda: not runs(last))


def test_reload():
    with service().start() as d:
        move(d)
        first = pid_of(d)
        d.write(units={"quiet": {"command": ["/nonexistent"], "timeout_s": 3}})
        d.process.send_signal(signal.SIGHUP)
        wait_for("the other command", lambda: any("cannot be started" in (a.get("error") or "") for a in answers(d)))
        assert not runs(first)
        d.stop()


CLASSES = '''
from nova.scheduler import filters
from nova.scheduler import weights

class Half(filters.BaseHostFilter):
    def host_passes(self, host_state, spec_obj):
        print("asked")
        return host_state.total_usable_ram_mb >= spec_obj.memory_mb and spec_obj.flavor.vcpus > 0 and host_state.host[-1] in "13579"

class Few(weights.BaseHostWeigher):
    def weight_multiplier(self, host_state):
        return -2.0
    def _weigh_object(self, host_state, weight_properties):
        return host_state.num_instances

class Ovirt:
    def do_filter(self, hosts, vm, args):
        print([h for h in hosts if h[-1] in args["last"]])
'''


def test_python_classes():
    with service() as d:
        (d.folder / "own.py").write_text(CLASSES, encoding="utf-8")
        host = [PYTHON, "-S", str(TOP / "units/python")]
        d.write(units={"half": {"command": [*host, "nova-filter", f"{d.folder}/own.py:Half"]}, "few": {"command": [*host, "nova-weigher", f"{d.folder}/own.py:Few"]},
                       "ovirt": {"command": [*host, "ovirt-filter", f"{d.folder}/own.py:Ovirt", "last=1357"]}},
                pipelines={"all": {"vms": "*", "stages": [{"name": "h", "external": "half", "filter": "$answer"}, {"name": "o", "external": "ovirt", "filter": "$answer"},
                                                          {"name": "f", "external": "few", "score": "$answer", "multiplier": "$answer.multiplier"}]}})
        d.start()
        found = wait_for("the answers", lambda: answers(d))
        by_unit = {a["unit"]: a for a in found}
        assert set(by_unit) == {"half", "few", "ovirt"} and not any(a.get("error") for a in found), found
        names = {h["id"]: h.get("name", h["id"]) for h in d.json("snapshot")["hosts"]}
        assert by_unit["half"]["hosts"] and all(names[h][-1] in "13579" for h in by_unit["half"]["hosts"])
        assert by_unit["ovirt"]["hosts"] == [h for h in names if h[-1] in "1357"]
        assert set(by_unit["few"]["multipliers"]) == {-2} and len(by_unit["few"]["scores"]) == len(names)
        d.stop()


main(test_answers_bind, test_asked_about_new_vms, test_asked_before_it_begins, test_hangs_and_comes_back, test_killed_from_outside_and_stop, test_reload, test_python_classes)
