"""schema.py: Proxmox VE's published description of its API, for comparing the test server with it.

    schema = load("9.1")                          # None: the data is not on this machine
    schema.method("GET", "/nodes/{node}/qemu")    # its description, or None
    undeclared(description["returns"], data)      # what an answer has that the description does not

The files (proxmox-api-VERSION.json.xz) are part of the benchmark data (BALLAST_DATA, or ../shared/data beside the checkout), not of the tree.
"""
import json
import lzma
import os
import pathlib

TOP = pathlib.Path(__file__).resolve().parents[3]
DESCRIBED = {"8.4": "8.4", "9.1": "9.1", "9.2": "9.1"}  # 9.2 has no description of its own here

# What answers hold without being declared: the description of returns is thin. By the source of Proxmox VE.
TASK = {"upid", "node", "pid", "pstart", "starttime", "endtime", "type", "id", "user", "tokenid", "status"}
BEYOND = {
    "/access/ticket": {"cap"},
    "/cluster/config/nodes": {"name", "nodeid", "quorum_votes", "ring0_addr"},
    "/cluster/ha/groups": {"digest", "nodes", "nofailback", "restricted", "type"},
    "/cluster/ha/resources": {"digest", "group", "max_relocate", "max_restart", "state", "type", "failback", "auto-rebalance"},
    "/cluster/ha/rules": {"type", "resources", "nodes", "strict", "affinity", "disable", "order", "digest", "errors"},
    "/cluster/resources": {"shared", "cgroup-mode", "hastate", "host-arch"},
    "/cluster/tasks": TASK,
    "/cluster/mapping/pci": {"checks"},
    "/nodes": {"disk", "id", "maxdisk", "type"},
    "/nodes/{node}/status": {"flags", "hvm", "mhz", "user_hz", "available", "uptime", "wait", "kversion", "swap", "ksm"},
    "/nodes/{node}/qemu": {"disk"},
    "/nodes/{node}/lxc": {"pid", "type", "memhost"},
    "/nodes/{node}/lxc/{vmid}/status/current": {"type", "pid", "memhost"},
    "/nodes/{node}/qemu/{vmid}/status/current": {"balloon", "ballooninfo", "freemem", "disk"},
    "/nodes/{node}/tasks": TASK,
    "/nodes/{node}/tasks/{upid}/status": {"tokenid"},
}


class Schema:
    def __init__(self, trees):
        self.paths = {}
        for tree in trees:
            self._walk(tree)

    def _walk(self, node):
        if "info" in node:
            self.paths[node["path"]] = node["info"]
        for child in node.get("children", []):
            self._walk(child)

    def method(self, method, path):
        return self.paths.get(path, {}).get(method)


def folder():
    for place in (os.environ.get("BALLAST_DATA"), TOP.parent / "shared/data"):
        if place and (pathlib.Path(place) / "proxmox-api-9.1.json.xz").exists():
            return pathlib.Path(place)
    return None


def load(version):
    where = folder()
    if where is None:
        return None
    return Schema(json.loads(lzma.open(where / f"proxmox-api-{DESCRIBED[version]}.json.xz").read()))


def _find(properties, key):
    """The description of a key: its own, that of a family ("net[n]"), or that of any ("{id}")."""
    if key in properties:
        return properties[key]
    family = properties.get(key.rstrip("0123456789") + "[n]")
    if family:
        return family
    return next((p for name, p in properties.items() if name.startswith("{")), None)


def is_number(data):
    """Also as a text: what stands in a configuration is told as it was written."""
    return isinstance(data, (int, float)) or (isinstance(data, str) and data.replace(".", "", 1).isdigit())


def undeclared(described, data, beyond=(), where="data"):
    """Sentences on what the description does not declare: keys, unless they are in beyond, and values of another kind."""
    if not isinstance(described, dict) or data is None:
        return []
    kind = described.get("type")
    if kind == "array" and isinstance(data, list):
        return sorted({s for x in data for s in undeclared(described.get("items"), x, beyond, where + "[]")})
    if kind in ("object", "array") and isinstance(data, dict):  # some objects of the description are called arrays
        properties = described.get("properties") or (described.get("items") or {}).get("properties") or {}
        found = []
        for key, value in data.items():
            it = _find(properties, key)
            if it is None and properties and key not in beyond and not described.get("additionalProperties"):
                found.append(f"{where}.{key} is not declared")
            elif it is not None:
                found += undeclared(it, value, beyond, f"{where}.{key}")
        return found
    if kind in ("integer", "number") and not is_number(data) or \
            kind == "string" and not isinstance(data, (str, int, float)) or \
            kind == "boolean" and data not in (0, 1):
        return [f"{where} is {data!r}, declared as {kind}"]
    if "enum" in described and kind == "string" and data not in described["enum"]:
        return [f"{where} is {data!r}, which is not in {described['enum']}"]
    return []
