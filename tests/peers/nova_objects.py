"""nova_objects.py: the objects of real Nova (package python3-nova) for a cloud of nova_clouds.py, for the tests that ask Nova's filters
and weighers without any service. debian_python.need("nova") comes before it."""
import copy
import itertools
import json
import types
import unittest.mock

import nova.conf
from nova import exception, objects
from nova.pci import request as pci_request
from nova.scheduler import host_manager, utils, weights
from nova.virt import hardware
from oslo_config import cfg

CONF = nova.conf.CONF
NEW = "ffffffff-0000-4000-8000-000000000000"  # the instance of a request
LISTS = ("isolated_hosts", "isolated_images", "weight_setting", "weight_classes", "enabled_filters")
overridden = []  # (option, group)


def begin():
    CONF([], project="nova", default_config_files=[])
    CONF.register_opts([cfg.FloatOpt("hypervisor_version_weight_multiplier", default=1.0), cfg.FloatOpt("num_instances_weight_multiplier", default=0.0)],
                       group="filter_scheduler")
    objects.register_all()


# ---- weighers newer than the package, as Nova documents them ----

class HypervisorVersionWeigher(weights.BaseHostWeigher):
    """Hosts of a newer version are preferred."""
    def weight_multiplier(self, host_state):
        return utils.get_weight_multiplier(host_state, "hypervisor_version_weight_multiplier", CONF.filter_scheduler.hypervisor_version_weight_multiplier)

    def _weigh_object(self, obj, weight_properties):
        return obj.hypervisor_version or 0


class NumInstancesWeigher(weights.BaseHostWeigher):
    """By a positive multiplier hosts of more instances are preferred."""
    def weight_multiplier(self, host_state):
        return utils.get_weight_multiplier(host_state, "num_instances_weight_multiplier", CONF.filter_scheduler.num_instances_weight_multiplier)

    def _weigh_object(self, obj, weight_properties):
        return obj.num_instances


def weigher_classes():
    return {w.__name__: w for w in weights.all_weighers() + [HypervisorVersionWeigher, NumInstancesWeigher]}


# ---- the objects of a cloud ----


class ServiceGroup:
    """In place of servicegroup.API, which asks a database."""
    def service_is_up(self, service):
        return service["up"]


class Arrangements:
    """In place of hardware.numa_fit_instance_to_host(): fits where Nova's own function accepts an arrangement of cells, each asked by itself. Over
    several arrangements the function goes by cells that it has changed while it tried earlier ones: the size of pages that one cell of the host has
    got it, and its id, by which it remembers which cells fit."""
    def __init__(self):
        self.fit = hardware.numa_fit_instance_to_host
        self.asked = self.otherwise = 0

    def __call__(self, host, instance, limits=None, pci_requests=None, pci_stats=None):
        found = plain = self.fit(host, copy.deepcopy(instance), limits, pci_requests, pci_stats)
        if not plain or len(instance) > 1:
            found = next(filter(None, (self.alone(cells, instance, limits, pci_requests, pci_stats)
                                       for cells in itertools.permutations(host.cells, len(instance)))), None)
        self.asked += 1
        self.otherwise += bool(found) != bool(plain)
        return plain if plain and found else found

    def alone(self, cells, instance, *rest):
        once = types.SimpleNamespace(permutations=lambda of, n: [tuple(of)], chain=itertools.chain)
        with unittest.mock.patch.object(hardware, "itertools", once):
            return self.fit(objects.NUMATopology(cells=list(cells)), copy.deepcopy(instance), *rest)


def pools(h):
    return objects.PciDevicePoolList(objects=[objects.PciDevicePool.from_dict(dict(p)) for p in h["pci_device_pools"]]) if "pci_device_pools" in h else None


def compute_node(h):
    cpu_info = h["cpu_info"]
    return objects.ComputeNode(
        uuid=h["id"], host=h["service"]["host"], hypervisor_hostname=h["hypervisor_hostname"], memory_mb=h["memory_mb"], free_ram_mb=h["free_ram_mb"],
        local_gb=h["local_gb"], local_gb_used=h["local_gb_used"], free_disk_gb=h["free_disk_gb"], disk_available_least=h["disk_available_least"],
        vcpus=h["vcpus"], vcpus_used=h["vcpus_used"], host_ip=h["host_ip"], hypervisor_type=h["hypervisor_type"], hypervisor_version=h["hypervisor_version"],
        cpu_info=cpu_info if isinstance(cpu_info, str) else json.dumps(cpu_info), stats=dict(h["stats"]), metrics=json.dumps(h["metrics"]),
        supported_hv_specs=[objects.HVSpec.from_list(s) for s in h["supported_instances"]], pci_device_pools=pools(h), numa_topology=h.get("numa_topology"), updated_at=None,
        cpu_allocation_ratio=h["cpu_allocation_ratio"], ram_allocation_ratio=h["ram_allocation_ratio"], disk_allocation_ratio=h["disk_allocation_ratio"])


def host_state(c, h):
    host = h["service"]["host"]
    state = host_manager.HostState(host, h["hypervisor_hostname"], h.get("cell_uuid"))
    state._update_from_compute_node(compute_node(h))  # pylint: disable=protected-access
    state.service = {"disabled": h["status"] == "disabled", "up": h["state"] == "up", "host": host}
    state.aggregates = [objects.Aggregate(id=a["id"], name=a["name"], hosts=a["hosts"], metadata=a["metadata"]) for a in c["aggregates"] if host in a["hosts"]]
    state.instances = {s["id"]: None for s in c["servers"] if s["OS-EXT-SRV-ATTR:host"] == host}
    return state


def instance_group(c, group_id):
    """Of the hint, or that has the server that moves as a member."""
    for g in c["server_groups"]:
        if g["id"] == group_id or c.get("moved") in g["members"]:
            hosts = sorted({s["OS-EXT-SRV-ATTR:host"] for s in c["servers"] if s["id"] in g["members"] and s["OS-EXT-SRV-ATTR:host"]})
            group = objects.InstanceGroup(uuid=g["id"], members=list(g["members"]), hosts=hosts, policy=g["policy"], policies=[g["policy"]])
            group._rules = dict(g["rules"])  # pylint: disable=protected-access
            return group
    return None


def pci_requests(flavor, made, image):
    if CONF.pci.alias:
        return pci_request.get_pci_requests_from_flavor(made, affinity_policy=hardware.get_pci_numa_policy_constraint(made, image))
    alias = flavor["extra_specs"].get("pci_passthrough:alias")
    return objects.InstancePCIRequests(requests=[objects.InstancePCIRequest(count=int(one.split(":")[1]), spec=[{"vendor_id": "8086"}])
                                                 for one in alias.split(",")]) if alias else None


def destination(c):
    asked = c.get("requested_destination")
    return objects.Destination(cell=objects.CellMapping(uuid=asked["cell"]), allow_cross_cell_move=asked["allow_cross_cell_move"]) if asked else None


def numa_topology(made, meta):
    """None where Nova's API refuses the flavour: the prefilters, which do not look at cells, are compared with such ones, too."""
    try:
        return hardware.numa_get_constraints(made, meta)
    except exception.NovaException:
        return None


def request_spec(c):
    server, flavor = c["server"], c["flavors"][0]
    hints = {k: v if isinstance(v, list) else [v] for k, v in c["os:scheduler_hints"].items()}
    image = next((i for i in c["images"] if i["id"] == server.get("imageRef")), None)
    made = objects.Flavor(name=flavor["name"], vcpus=flavor["vcpus"], memory_mb=flavor["ram"], root_gb=flavor["disk"],
                          ephemeral_gb=flavor.get("OS-FLV-EXT-DATA:ephemeral", 0), extra_specs=dict(flavor["extra_specs"]))
    meta = objects.ImageMeta.from_dict({"id": image["id"], "properties": dict(image["properties"])}) if image else objects.ImageMeta.from_dict({})
    return objects.RequestSpec(
        flavor=made, image=meta if image else None,
        project_id=server["tenant_id"], availability_zone=server.get("availability_zone"), scheduler_hints=hints, num_instances=server.get("max_count", 1),
        instance_uuid=server.get("id", NEW), instance_group=instance_group(c, hints.get("group", [None])[0]), numa_topology=numa_topology(made, meta),
        pci_requests=pci_requests(flavor, made, meta), requested_destination=destination(c))


def configure(conf):
    """As nova.conf has it; the options of the cloud before have their defaults again."""
    while overridden:
        CONF.clear_override(*overridden.pop())
    for section, options in conf.items():
        for key, value in options.items():
            group = None if section == "DEFAULT" else section
            CONF.set_override(key, value if isinstance(value, list) else [v.strip() for v in value.split(",") if v.strip()] if key in LISTS else value, group=group)
            overridden.append((key, group))
