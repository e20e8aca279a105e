"""service.py: the broker, and ballastd with its dashboard, configured for the lab.

The broker runs at the switch; ballastd runs on this machine, as it would in front of a real cluster: it sees the lab's network alone.
"""
import os
import pathlib
import re
import shutil
import subprocess
import time

from capacity import machine_mhz
from controllers import PORT, USERNAME, WORKAROUNDS
from hosts import end
from namespaces import end_with_parent, enter_network
from network import accepts

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILDS = ("build-demo", "build")
BROKER_PORT = 1883
START_S = 20
CALL_S = 60
HOST_MEM_FACTOR = 3  # a host has room for three times its share of the guests


class Broker:
    def __init__(self, folder, network):
        self.folder, self.network, self.process = folder, network, None

    @property
    def url(self):
        return f"mqtt://{self.network.switch}:{BROKER_PORT}"

    def start(self):
        configuration = self.folder / "mosquitto.conf"
        configuration.write_text(f"listener {BROKER_PORT} {self.network.switch}\nallow_anonymous true\npersistence false\nuser root\n")
        with open(self.folder / "mosquitto.log", "ab") as log:
            self.process = subprocess.Popen(["mosquitto", "-c", configuration], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=end_with_parent)
        until = time.monotonic() + START_S
        while not accepts(self.network.switch, BROKER_PORT):
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"mosquitto does not answer: {(self.folder / 'mosquitto.log').read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self):
        end(self.process)
        self.process = None


def find_programs(build):
    """(ballastd, ballast) of a build folder; default: of the newest that there is, else those that are installed; (None, None)."""
    folders = [pathlib.Path(build).absolute()] if build else [TREE / name for name in BUILDS]
    built = [(folder / "src/daemon/ballastd", folder / "src/cli/ballast") for folder in folders]
    built = [programs for programs in built if all(os.access(program, os.X_OK) for program in programs)]
    if built:
        return tuple(map(str, max(built, key=lambda programs: programs[0].stat().st_mtime)))
    found = (None, None) if build else (shutil.which("ballastd"), shutil.which("ballast"))
    return found if all(found) else (None, None)


class Service:
    """ballastd. Where it cannot run, `problem` says why; the lab is of use without it."""

    def __init__(self, folder, network, build):
        self.folder, self.network = folder, network
        self.ballastd, self.ballast = find_programs(build)
        self.configuration, self.socket = folder / "ballast.yaml", folder / "ballastd.sock"
        self.log = folder / "ballastd.log"
        self.process = self.port = self.token = self.problem = None

    def configure(self, hosts, controllers, broker, cpu_percent, guests_mem_mib):
        mem_mb = max(512, -(-guests_mem_mib // len(hosts)) * HOST_MEM_FACTOR)
        lines = ["# Made by the lab. Every host shows the whole machine, so the capacities stand here. A day of the lab lasts minutes,",
                 "# therefore the short times; the defaults suit days of 24 hours.",
                 "cluster: lab", f"state_dir: {self.folder}/state", f"socket: {self.socket}", "interval_s: 10", "automation: full",
                 "cool_down_s: 60", "source:", "  kind: libvirt", "  host_timeout_s: 5", "  hosts:"]
        for host in hosts:
            lines.append(f"    {host.name}: {{uri: \"{host.uri}\", cpu_mhz: {cpu_percent * machine_mhz() // 100}, mem_mb: {mem_mb}}}")
        lines += ["dpm:", "  enabled: true", "  automation: manual", "  hosts_min: 2", "  target: 50", "  tolerance: 15", "  low_s: 60", "  watch_s: 60", "  bursts: false",
                  "  off_min_s: 600", "  boot_s: 10", "  standby_s: 10", "  asked_on_s: 60", "power:", "  defaults:", "    ipmi:", f"      username: {USERNAME}",
                  f"      workarounds: [{', '.join(WORKAROUNDS)}]", "  hosts:"]
        for controller in controllers:
            lines.append(f"    {controller.host.name}: {{ipmi: {{address: \"{controller.address}:{PORT}\", "
                         f"password_file: {controller.password_file}}}}}")
        lines += ["mqtt:", f"  url: {broker.url}", "http:", "  listen: 127.0.0.1:0"]
        self.configuration.write_text("\n".join(lines) + "\n")

    def start(self):
        if not self.ballastd:
            self.problem = "no ballastd found: end this with `lab down`, build one by `./packaging/demo --no-wait --keep`, or name a build folder in `lab up --build FOLDER`"
            return
        check = self._command("check-config", self.configuration)
        if check.returncode != 0:
            self.problem = f"{self.ballastd} does not take the configuration: " + (check.stderr or check.stdout).strip().splitlines()[0]
            return

        def begin():
            end_with_parent()
            enter_network(self.network.outside)

        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.ballastd, "--config", self.configuration], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, preexec_fn=begin)
        until = time.monotonic() + START_S
        while not self.port:
            if self.process.poll() is not None or time.monotonic() > until:
                self.problem = f"ballastd did not start: {self.log.read_text(errors='replace')[-2000:]}"
                self.stop()
                return
            time.sleep(0.1)
            listens = re.search(r"HTTP: listens on .*, port (\d+)", self.log.read_text(errors="replace"))
            self.port = listens and int(listens[1])
        token = self._command("token", "create", "lab", "--role", "operator", "--socket", self.socket)
        self.token = token.stdout.strip() if token.returncode == 0 else None

    def _command(self, *words):
        return subprocess.run([self.ballast, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CALL_S)

    @property
    def runs(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        end(self.process, patience_s=10)
        self.process = None
