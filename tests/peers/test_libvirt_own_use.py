#!/usr/bin/env python3
"""A process of a host itself, beside its guests, in the lab: what it takes of CPU and memory is the host's own use, the guests make room for it, and
it is forgotten when it ends."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from lab import Lab  # noqa: E402

EATS_MB = 300
EATS = f"# bytes-of-the-host\nx = b'x' * ({EATS_MB} << 20)\nwhile True: pass"


def test_own_use():
    with Lab(hosts=2, vms=2, options=("--no-service",)) as lab:
        lab.load("vms 1-2: cpu 20 mem 8")
        source = {"kind": "libvirt", "hosts": {host: {"uri": lab.uri(host)} for host in ("hv1", "hv2")}, "host_timeout_s": 60, "timeout_s": 90}
        with Daemon(source, interval_s=5, automation="manual", migration_threshold=5) as d:
            d.start()

            def own(host):
                is_ = {h["id"]: h for h in d.json("hosts")}[host]
                return is_["own_cpu_mhz"], is_["own_mem_mb"]

            wait_for("the first pass", lambda: d.status()["pass"], 60)
            before = own("hv1")
            lab.start_inside("hv1", sys.executable, "-c", EATS)

            def seen():
                cpu, mem = own("hv1")
                return cpu >= before[0] + 300 and mem >= before[1] + 0.8 * EATS_MB and (cpu, mem, *own("hv2"))

            cpu, mem, cpu2, mem2 = wait_for("the process is seen", seen, 120)
            assert mem <= before[1] + 1.2 * EATS_MB and mem2 <= before[1] + 0.2 * EATS_MB, (before, mem, mem2)
            assert cpu2 < cpu / 2, (cpu, cpu2)
            moves = lambda: [a for a in d.actions() if a["state"] == "recommended"]  # noqa: E731
            wait_for("a guest makes room", moves, 60)
            assert {(a["from"], a["to"]) for a in moves()} == {("hv1", "hv2")}, moves()
            print(f"the process takes {cpu - before[0]:.0f} MHz and {mem - before[1]:.0f} MiB")
            lab.inside("hv1", "pkill", "-KILL", "-f", "bytes-of-the-host")
            wait_for("it is over", lambda: own("hv1")[1] < before[1] + 0.2 * EATS_MB, 120)
            wait_for("the recommendation is withdrawn", lambda: not moves(), 60)
            d.stop()


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
