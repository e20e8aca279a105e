"""nova_placement.py: the real placement service (package python3-placement) in process, on SQLite, for a cloud whose hosts are its
resource providers; and what nova-compute reports to it."""
import io
import json
import os
import tempfile

import nova_objects
from nova.virt import driver

BASES = {"VCPU": ("vcpus", "cpu"), "MEMORY_MB": ("memory_mb", "ram"), "DISK_GB": ("local_gb", "disk")}
DISABLED = "COMPUTE_STATUS_DISABLED"


class Placement:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ballast-placement.")
        os.environ.update({"OS_PLACEMENT_CONFIG_DIR": self.folder.name, "OS_PLACEMENT_DATABASE__CONNECTION": f"sqlite:///{self.folder.name}/placement.db",
                           "OS_PLACEMENT_DATABASE__SYNC_ON_STARTUP": "true", "OS_API__AUTH_STRATEGY": "noauth2"})
        with open(f"{self.folder.name}/placement.conf", "w", encoding="utf-8"):
            pass
        from placement import wsgi  # pylint: disable=import-outside-toplevel
        self.app = wsgi.init_application()
        self.made = []  # paths to delete, the last first

    def call(self, method, path, body=None):
        """(status, JSON)"""
        data = json.dumps(body).encode() if body is not None else b""
        path, _, query = path.partition("?")
        status = []
        environ = {"REQUEST_METHOD": method, "SCRIPT_NAME": "", "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": "placement", "SERVER_PORT": "80",
                   "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(data), "wsgi.errors": io.StringIO(),
                   "wsgi.multithread": False, "wsgi.multiprocess": False, "wsgi.run_once": False, "CONTENT_LENGTH": str(len(data)),
                   "CONTENT_TYPE": "application/json" if data else "", "HTTP_ACCEPT": "application/json", "HTTP_X_AUTH_TOKEN": "admin:admin:admin",
                   "HTTP_OPENSTACK_API_VERSION": "placement 1.36"}
        answer = b"".join(self.app(environ, lambda s, headers, exc_info=None: status.append(int(s.split()[0]))))
        return status[0], json.loads(answer) if answer else None

    def must(self, method, path, body=None):
        status, answer = self.call(method, path, body)
        assert status < 300, f"{method} {path}: {status} {answer}"
        return answer

    def load(self, c):
        """The providers of the cloud's hosts, instead of those before."""
        while self.made:
            self.must("DELETE", self.made.pop())
        consumer = 0
        for h in c["hypervisors"]:
            path = f"/resource_providers/{h['id']}"
            self.must("POST", "/resource_providers", {"name": h["hypervisor_hostname"], "uuid": h["id"]})
            self.made.append(path)
            inventories = inventories_of(h)
            self.must("PUT", f"{path}/inventories", {"resource_provider_generation": 0, "inventories": inventories})
            traits = traits_of(h)
            for trait in traits:
                if trait.startswith("CUSTOM_"):
                    self.must("PUT", f"/traits/{trait}")
            generation = self.must("GET", path)["generation"]
            generation = self.must("PUT", f"{path}/traits", {"resource_provider_generation": generation, "traits": traits})["resource_provider_generation"]
            mine = [a["uuid"] for a in c["aggregates"] if h["service"]["host"] in a["hosts"]]
            self.must("PUT", f"{path}/aggregates", {"resource_provider_generation": generation, "aggregates": mine})
            for resources in allocations_of(c, h, inventories):
                consumer += 1
                of = f"/allocations/cccccccc-0000-4000-8000-{consumer:012}"
                self.must("PUT", of, {"allocations": {h["id"]: {"resources": resources}}, "project_id": "p", "user_id": "u", "consumer_generation": None})
                self.made.append(of)

    def candidates(self, query):
        """The providers that can take the request; None: the service refuses the request itself."""
        status, answer = self.call("GET", f"/allocation_candidates?{query}")
        return set(answer["provider_summaries"]) if status == 200 else None


# ---- what nova-compute reports ----

def inventories_of(h):
    """As the driver of libvirt sets them: its totals, the ratios by nova.conf or those that are there, the reserved amounts of nova.conf."""
    conf = nova_objects.CONF
    there = h.get("inventories")
    ratios = driver.ComputeDriver._get_allocation_ratios(there or {})  # pylint: disable=protected-access
    if there is not None:
        return {name: {**i, **({"allocation_ratio": ratios[name]} if name in BASES else {})} for name, i in there.items()}
    reserved = {"VCPU": conf.reserved_host_cpus, "MEMORY_MB": conf.reserved_host_memory_mb,
                "DISK_GB": driver.ComputeDriver._get_reserved_host_disk_gb_from_config()}  # pylint: disable=protected-access
    return {name: {"total": h[total], "min_unit": 1, "max_unit": h[total], "step_size": 1, "allocation_ratio": ratios[name], "reserved": reserved[name]}
            for name, (total, _) in BASES.items()}


def traits_of(h):
    """The service owns COMPUTE_STATUS_DISABLED while it is up."""
    traits = set(h["traits"])
    if h["state"] == "up":
        traits = traits - {DISABLED} | ({DISABLED} if h["status"] == "disabled" else set())
    return sorted(traits)


def allocations_of(c, h, inventories):
    """Of the servers there, and of what the provider's usages have beyond them: in parts that its units allow."""
    ret = []
    rest = dict(h.get("usages", {}))
    for s in c["servers"]:
        if s["OS-EXT-SRV-ATTR:host"] == h["service"]["host"]:
            takes = {"VCPU": s["flavor"]["vcpus"], "MEMORY_MB": s["flavor"]["ram"]}
            ret.append(takes)
            rest = {name: n - takes.get(name, 0) for name, n in rest.items()}
    for name, n in rest.items():
        most = inventories[name].get("max_unit", n)
        while n > 0:
            ret.append({name: min(n, most)})
            n -= most
    return ret
