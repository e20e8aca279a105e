"""What classes for Nova's filter scheduler read: HostState and RequestSpec, made of a snapshot of Ballast, and stand-ins for the modules of
Nova and oslo that such classes import, where the real ones are not installed.

An attribute of a host, or of a VM's flavour, image or hints, that has the name of Nova's field is that field; where some begin with "nova:", as in
a cloud that `ballast fit compile` has made, only these are. What there is no attribute for is made of the snapshot's own facts; what these do not
know either is None."""
import collections
import importlib.util
import logging
import sys
import types

GB = 1024  # MB
NUMBERS = ("total_usable_ram_mb", "total_usable_disk_gb", "disk_mb_used", "free_ram_mb", "free_disk_mb", "vcpus_total", "vcpus_used",
           "num_instances", "num_io_ops", "failed_builds")
OTHERS = ("uuid", "nodename", "host_ip", "hypervisor_type", "hypervisor_version", "hypervisor_hostname", "cpu_info", "ram_allocation_ratio",
          "cpu_allocation_ratio", "disk_allocation_ratio", "cell_uuid", "pci_stats", "numa_topology", "updated")
ABSENT = ("numa_topology", "pci_requests", "requested_destination", "ignore_hosts", "force_hosts", "force_nodes", "retry", "limits",
          "security_groups", "network_metadata", "request_level_params", "requested_networks")
OF_FLAVOR = {"name": "", "flavorid": "", "vcpus": 0, "memory_mb": 0, "root_gb": 0, "ephemeral_gb": 0, "swap": 0, "rxtx_factor": 1.0, "is_public": True}
STATS, METRICS, SPECS, OWN = "stats:", "metrics:", "extra_specs:", "nova:"  # before names of attributes


class Fields(types.SimpleNamespace):
    """An object as Nova's objects are read: by attribute, and by get()."""

    def get(self, name, default=None):
        return getattr(self, name, default)

    def obj_attr_is_set(self, name):
        return hasattr(self, name)

    def __contains__(self, name):
        return hasattr(self, name)


def entries(of):
    """The attributes by the names that Nova has for them."""
    of = of or {}
    own = {k[len(OWN):]: v for k, v in of.items() if k.startswith(OWN)}
    return own or dict(of)


def below(prefix, of):
    return {k[len(prefix):]: v for k, v in of.items() if k.startswith(prefix)}


# ---- hosts ----

def numbers_of(host, vms):
    """The figures of a host by what Ballast knows: its size, and the VMs on it."""
    disk = host.get("quantities", {}).get("DISK_GB", {})
    used_gb = sum((vm.get("flavor") or {}).get("root_gb", 0) for vm in vms)
    return {"total_usable_ram_mb": host["mem_mb"], "free_ram_mb": host["mem_mb"] - sum(vm["mem_mb"] for vm in vms), "vcpus_total": host["cores"],
            "vcpus_used": sum(vm["vcpus"] for vm in vms), "num_instances": len(vms), "total_usable_disk_gb": disk.get("total", 0),
            "disk_mb_used": used_gb * GB, "free_disk_mb": (disk.get("total", 0) - used_gb) * GB, "num_io_ops": 0, "failed_builds": 0}


def host_state(host, vms, aggregates):
    attributes = entries(host.get("attributes"))
    numbers = numbers_of(host, vms)
    name = host.get("name") or host["id"]
    state = Fields(host=attributes.get("host", name), limits={}, aggregates=aggregates, instances={vm["id"]: Fields(uuid=vm["id"], **vm) for vm in vms},
                   stats=below(STATS, attributes), metrics=[Fields(name=k, value=v) for k, v in below(METRICS, attributes).items()],
                   supported_instances=[text.split(",") for text in attributes.get("supported_instances", [])],
                   service={"host": attributes.get("host", name), "disabled": attributes.get("service_status", "enabled") != "enabled",
                            "up": attributes.get("service_state", "up" if host["state"] == "on" else "down") == "up"},
                   ballast=host)
    for field in NUMBERS:
        setattr(state, field, attributes.get(field, numbers[field]))
    for field in OTHERS:
        setattr(state, field, attributes.get(field))
    state.uuid = state.uuid or host["id"]
    state.nodename = state.nodename or name
    state.hypervisor_hostname = state.hypervisor_hostname or state.nodename
    return state


def states_of(world):
    """{host's id: its state}, made once for each snapshot."""
    made = world["made"]
    if "states" not in made:
        on = collections.defaultdict(list)
        of = collections.defaultdict(list)
        for vm in world.get("vms", ()):
            on[vm.get("host")].append(vm)
        for group in world.get("groups", ()):
            if group["kind"] == "aggregate":
                for host in group["hosts"]:
                    of[host].append(Fields(id=group["id"], uuid=group["id"], name=group.get("name") or group["id"], metadata=dict(group.get("meta") or {}),
                                           hosts=list(group["hosts"])))
        made["states"] = {h["id"]: host_state(h, on[h["id"]], of[h["id"]]) for h in world["hosts"]}
        made["vms"] = {vm["id"]: vm for vm in world.get("vms", ())}
    return made["states"]


# ---- requests ----

def as_text(value):
    return value if isinstance(value, str) else str(value)


def flavor_of(vm):
    given = entries(vm.get("flavor"))
    specs = below(SPECS, given)
    fields = {name: given.pop(name, default) for name, default in OF_FLAVOR.items()}
    fields["vcpus"] = fields["vcpus"] or vm["vcpus"]
    fields["memory_mb"] = fields["memory_mb"] or int(vm["mem_mb"])
    return Fields(extra_specs={k: as_text(v) for k, v in (specs or {k: v for k, v in given.items() if not k.startswith(SPECS)}).items()}, **fields)


def image_of(vm):
    given = entries(vm.get("image"))
    if not given:
        return None
    return Fields(id=given.pop("id", None), name=given.pop("name", None), properties=Fields(**given))


def group_of(world, vm):
    """The server group of its hints, or the first group of VMs that it is in."""
    hints = entries(vm.get("hints"))
    own = hints.get("server_group:id")
    name = own or next(iter(vm.get("groups") or ()), None)
    if not name:
        return None
    members = [v for v in world["vms"] if (entries(v.get("hints")).get("server_group:id") == own if own else name in (v.get("groups") or ()))]
    states = states_of(world)
    policy = hints.get("server_group:policy")
    return Fields(uuid=name, name=name, members=[v["id"] for v in members], policy=policy, policies=[policy] if policy else [], rules={},
                  hosts=sorted({states[v["host"]].host for v in members if v.get("host") in states}))


def request_spec(world, vm):
    hints = {k: v for k, v in entries(vm.get("hints")).items() if not k.startswith("server_group:")}
    zone, project = hints.pop("availability_zone", None), hints.pop("project_id", None)
    flavor = flavor_of(vm)
    spec = Fields(flavor=flavor, image=image_of(vm), project_id=project or vm.get("owner"), user_id=None, instance_uuid=vm["id"], availability_zone=zone,
                  scheduler_hints={k: v if isinstance(v, list) else [as_text(v)] for k, v in hints.items()}, num_instances=1,
                  instance_group=group_of(world, vm), ballast=vm, vcpus=flavor.vcpus, memory_mb=flavor.memory_mb, root_gb=flavor.root_gb,
                  ephemeral_gb=flavor.ephemeral_gb, swap=flavor.swap, is_bfv=False, requested_resources=[],
                  get_scheduler_hint=lambda name, default=None: first(hints.get(name), default))
    for field in ABSENT:
        setattr(spec, field, None)
    return spec


def first(value, default):
    """As RequestSpec.get_scheduler_hint(): a list of one is its entry."""
    if value is None:
        return default
    return value[0] if isinstance(value, list) and len(value) == 1 else value


# ---- questions ----

def filter_hosts(unit, _properties, world, vm):
    states = states_of(world)
    passed = {id(s) for s in unit.filter_all(list(states.values()), request_spec(world, world["made"]["vms"][vm]))}
    return {"hosts": [host for host, state in states.items() if id(state) in passed]}


def weigh_hosts(unit, properties, world, vm):
    states = states_of(world)
    weights = list(unit.weigh_objects([Fields(obj=s, weight=0.0) for s in states.values()], request_spec(world, world["made"]["vms"][vm])))
    return {"hosts": list(states), "scores": [float(w) for w in weights], "multipliers": [float(unit.weight_multiplier(s)) for s in states.values()]}


# ---- modules that classes import ----

class BaseHostFilter:
    """nova.scheduler.filters.BaseHostFilter."""
    RUN_ON_REBUILD = False
    run_filter_once_per_request = False

    def host_passes(self, host_state, filter_properties):
        raise NotImplementedError()

    def _filter_one(self, obj, spec):
        return self.host_passes(obj, spec)

    def filter_all(self, filter_obj_list, spec_obj):
        for obj in filter_obj_list:
            if self._filter_one(obj, spec_obj):
                yield obj

    def run_filter_for_index(self, index):
        return not (self.run_filter_once_per_request and index > 0)


class BaseHostWeigher:
    """nova.scheduler.weights.BaseHostWeigher."""
    minval = None
    maxval = None

    def weight_multiplier(self, host_state):
        return 1.0

    def _weigh_object(self, obj, weight_properties):
        raise NotImplementedError()

    def weigh_objects(self, weighed_obj_list, weight_properties):
        ret = []
        for weighed in weighed_obj_list:
            weight = self._weigh_object(weighed.obj, weight_properties)
            weight = weight if self.minval is None else max(weight, self.minval)
            ret.append(weight if self.maxval is None else min(weight, self.maxval))
        return ret


def aggregate_values_from_key(state, key):
    return {a.metadata[key] for a in state.aggregates if key in a.metadata}


def aggregate_metadata_get_by_host(state, key=None):
    ret = collections.defaultdict(set)
    for a in state.aggregates:
        if key is None or key in a.metadata:
            for k, v in a.metadata.items():
                ret[k].update(x.strip() for x in v.split(","))
    return ret


def validate_num_values(vals, default=None, cast_to=int, based_on=min):
    return based_on([cast_to(v) for v in vals]) if vals else default


def instance_uuids_overlap(state, uuids):
    return bool(set([uuids] if isinstance(uuids, str) else uuids) & set(state.instances))


def get_weight_multiplier(state, key, default):
    """nova.scheduler.utils: the least of the host's aggregates, else the default."""
    try:
        value = validate_num_values(aggregate_values_from_key(state, key), default, cast_to=float)
    except ValueError:
        value = default
    return value


STAND_INS = {
    "oslo_log.log": {"getLogger": logging.getLogger},
    "nova.scheduler.filters": {"BaseHostFilter": BaseHostFilter},
    "nova.scheduler.filters.utils": {f.__name__: f for f in (aggregate_values_from_key, aggregate_metadata_get_by_host, validate_num_values,
                                                            instance_uuids_overlap)},
    "nova.scheduler.weights": {"BaseHostWeigher": BaseHostWeigher},
    "nova.scheduler.utils": {"get_weight_multiplier": get_weight_multiplier},
    "nova.i18n": {"_": lambda text: text},
}


def is_installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def offer_modules():
    """Where a package is not installed, its stand-ins."""
    missing = {p for p in ("oslo_log", "nova") if not is_installed(p)}
    for name, members in STAND_INS.items():
        parts = name.split(".")
        if parts[0] not in missing:
            continue
        for n in range(1, len(parts) + 1):
            path = ".".join(parts[:n])
            if path not in sys.modules:
                sys.modules[path] = types.ModuleType(path)
                sys.modules[path].__path__ = []
            if n > 1:
                setattr(sys.modules[".".join(parts[:n - 1])], parts[n - 1], sys.modules[path])
        vars(sys.modules[name]).update(members)
