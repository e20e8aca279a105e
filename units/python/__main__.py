"""Hosts a class written for Nova's scheduler or for oVirt's as an external unit of Ballast: JSON lines on standard input and output
(src/units/README.md).

    python3 units/python KIND MODULE:CLASS [PROPERTY=VALUE...]

KIND is nova-filter, nova-weigher, ovirt-filter, ovirt-score or ovirt-balance; MODULE the path of a file (filters/quiet.py) or the name of a
module. Properties are those of an oVirt policy unit. What the class prints goes to standard error.
"""
import importlib
import importlib.util
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import nova_host  # pylint: disable=wrong-import-position
import ovirt_host  # pylint: disable=wrong-import-position

KINDS = {"nova-filter": nova_host.filter_hosts, "nova-weigher": nova_host.weigh_hosts,
         "ovirt-filter": ovirt_host.filter_hosts, "ovirt-score": ovirt_host.score_hosts, "ovirt-balance": ovirt_host.balance_hosts}


def load(name):
    """The class of MODULE:CLASS."""
    module, _, cls = name.rpartition(":")
    path = pathlib.Path(module)
    if not module:
        raise SystemExit(f"{name} is no MODULE:CLASS")
    if path.suffix != ".py":
        return getattr(importlib.import_module(module), cls)
    sys.path.append(str(path.resolve().parent))  # what stands beside it can be imported
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    return getattr(loaded, cls)


def merged(answers):
    """[{vms, ...}]: VMs with one answer together. answers: (VM's id, answer)."""
    ret = {}
    for vm, answer in answers:
        ret.setdefault(json.dumps(answer), (answer, []))[1].append(vm)
    return [{"vms": vms, **answer} for answer, vms in ret.values()]


def one(ask, unit, properties, world, vm):
    """The answer about a VM. What the class raises is its error: others may still be answered."""
    try:
        return ask(unit, properties, world, vm)
    except Exception as e:  # pylint: disable=broad-except
        return {"error": f"{type(e).__name__}: {e}"}


def serve(ask, unit, properties, lines, out):
    world = None
    for line in lines:
        message = json.loads(line)
        if "snapshot" in message:
            world = message["snapshot"]
            world["made"] = {}  # what a host of classes makes of it, once
            continue
        answers = merged((vm, one(ask, unit, properties, world, vm)) for vm in message["vms"])
        out.write(json.dumps({"id": message["id"], "answers": answers}) + "\n")
        out.flush()


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in KINDS:
        raise SystemExit(__doc__)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the class prints is no answer
    nova_host.offer_modules()
    unit = load(sys.argv[2])()
    properties = dict(p.split("=", 1) for p in sys.argv[3:])
    serve(KINDS[sys.argv[1]], unit, properties, sys.stdin, out)


if __name__ == "__main__":
    main()
