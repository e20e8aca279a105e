#!/usr/bin/env python3
"""The service within the limits of its systemd unit (sandbox.py): it starts, answers over HTTP and at the socket, acts, reloads and stops.

A system call that the unit forbids ends the service here at once, so that none is tried which the unit would let fail unseen. Once more as the
unit is shipped, where it fails. Each kind of source begins: threads and libraries of all of them run.
"""
import json
import os
import pathlib
import shutil
import signal
import ssl
import sys
import tempfile

import ports
from daemon import BALLASTD, Daemon, main, wait_for
from at_once import Skip
from sandbox import NOBODY
from test_http import AT, Api, make_certificate

HERE = pathlib.Path(__file__).resolve().parent
UNIT = pathlib.Path(os.environ.get("BALLAST_BUILD_DIR", "build")) / "packaging/systemd/ballastd.service"
STRICT = ("--kill", "--fails", "set_mempolicy")  # of libnuma, when it is loaded
NICE = 10  # of the threads that give way to the pass


# An external unit to which all hosts are good.
UNIT_OF_USER = """import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "snapshot" in m:
        hosts = [h["id"] for h in m["snapshot"]["hosts"]]
    else:
        print(json.dumps({"id": m["id"], "answers": [{"vms": m["vms"], "hosts": hosts}]}), flush=True)
"""


def confine(d, *options):
    """The service is run as nobody, where a test is root, and may write to its own folder only."""
    if not shutil.which("systemd-analyze"):
        raise Skip("systemd-analyze is not installed")
    shutil.copy(BALLASTD, d.folder / "ballastd")  # nobody may not be let into the build
    if os.geteuid() == 0:
        for path in (d.folder, *d.folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    d.command = [sys.executable, str(HERE / "sandbox.py"), str(UNIT), "--writable", str(d.folder), *options, "--", str(d.folder / "ballastd")]


def niceness(pid):
    """{name: nice} of the threads."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name, fields = (task / "stat").read_text().split(" ", 1)[1].rsplit(") ", 1)
        found.setdefault(name.lstrip("("), set()).add(int(fields.split()[16]))
    return found


def works(api):
    """What the service does all day."""
    assert api.json(f"{AT}/hosts")["hosts"]
    answers = api.d.json("snapshot")["answers"]
    assert answers and all(a.get("hosts") for a in answers), ("an external unit", answers)
    vm = api.json(f"{AT}/vms")["vms"][0]["id"]
    assert api.json(f"{AT}/vms/{vm}/explain"), "a decision, by its thread"
    nice = niceness(api.d.process.pid)
    assert nice["MHD-worker"] == {NICE} and NICE in nice["ballastd"], nice
    assert api.ask("POST", f"{AT}/passes", "operator")[0] == 200
    api.d.decide("apply", lambda a: not a["depends_on"])
    wait_for("a move has ended", lambda: api.json(f"{AT}/history")["history"])
    status, _, body = api.ask("POST", f"{AT}/alarms/told/test", "admin")
    assert status == 200, body
    told = api.d.folder / "told"
    wait_for("the command ran", lambda: told.exists() and told.read_text())
    api.d.write(interval_s=45)
    api.d.process.send_signal(signal.SIGHUP)
    wait_for("the configuration is read again", lambda: api.json(f"{AT}/status")["status"]["interval_s"] == 45)
    api.d.stop()


def one_service(*options):
    with tempfile.TemporaryDirectory(prefix="ballast-sandbox-") as folder:
        cert, key, ca = make_certificate(pathlib.Path(folder), "api", 7)
        api = Api(tls=ssl.create_default_context(cafile=str(ca)), mqtt={"url": f"mqtt://127.0.0.1:{ports.take()}"})
        own = {f.name: str(shutil.copy(f, api.d.folder / f.name)) for f in (cert, key)}
        power = {"hosts": {"pretend-1": {"redfish": {"url": f"https://127.0.0.1:{ports.take()}", "username": "u", "password_file": str(api.d.folder / "password")}},
                           "pretend-2": {"ipmi": {"address": f"127.0.0.1:{ports.take()}", "username": "u", "password_file": str(api.d.folder / "password")}},
                           "pretend-3": {"wol": {"mac": "02:00:00:00:00:03", "broadcast": "127.255.255.255"}}}}
        (api.d.folder / "password").write_text("secret\n")
        (api.d.folder / "password").chmod(0o600)
        tell = api.d.folder / "tell"
        tell.write_text(f"#!/bin/sh\nexec cat >{api.d.folder}/told\n")
        tell.chmod(0o755)
        unit = api.d.folder / "unit.py"
        unit.write_text(UNIT_OF_USER)
        api.d.write(units={"own": {"command": ["/usr/bin/python3", str(unit)]}},
                    pipelines={"all": {"vms": "*", "stages": [{"name": "own", "external": "own", "filter": "$answer"}]}})
        api.d.write(http={**api.d.settings["http"], "cert_file": own[cert.name], "key_file": own[key.name]}, power=power,
                    alarms={"told": {"command": [str(tell)]}})
        confine(api.d, *options)
        with api:
            works(api)


def test_nothing_forbidden_is_tried():
    one_service(*STRICT)


def test_as_shipped():
    one_service()


def sources():
    """Each with a word of what is then wrong with it."""
    yield "refused", {"kind": "vsphere", "url": f"https://127.0.0.1:{ports.take()}/sdk", "username": "u", "password_file": "", "cluster": "c"}
    for uri in ("qemu+tcp://127.0.0.1:{}/system", "qemu+tls://127.0.0.1:{}/system", "qemu+ssh://nobody@127.0.0.1:{}/system"):
        yield "ssh: connect to host" if "ssh" in uri else "", {"kind": "libvirt", "hosts": {"h": {"uri": uri.format(ports.take())}}}


def begins(word, source):
    with Daemon(source, interval_s=5) as d:
        (d.folder / "password").write_text("secret\n")
        (d.folder / "password").chmod(0o600)
        if "password_file" in source:
            d.write(source={**source, "password_file": str(d.folder / "password")})
        confine(d, *STRICT)
        d.start()

        def names_it():  # a look may also find the pipe to the client closed, before the client has said why
            error = d.status()["source"]["error"]
            return error and word in error
        wait_for(f"its source does not answer: {word}", names_it)
        d.stop()


def test_every_source():
    for word, source in sources():
        begins(word, source)


if __name__ == "__main__":
    main(test_nothing_forbidden_is_tried, test_as_shipped, test_every_source)
