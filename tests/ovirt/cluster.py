"""A cluster as oVirt's scheduler sees it: hosts, VMs, pending resources, affinity groups. README.md gives each field its meaning and unit."""
import dataclasses
from dataclasses import dataclass, field


@dataclass
class Settings:
    """Values of the engine's configuration, for all clusters."""
    high_utilization: int = 75
    low_utilization: int = 0
    duration_min: int = 2
    vcpu_percent: int = 10
    margin_percent: int = 80
    spm_percent: int = 10
    swap_check: bool = True
    overhead_mb: int = None  # instead of the formulas, for results that were made without them


@dataclass
class Host:
    id: str
    name: str = None
    address: str = None
    status: str = 'up'
    sockets: int = None
    cores: int = None
    threads: int = None
    cpu_percent: float = None
    cpus: list = None
    online_cpus: list = None
    exclusive_cpus: list = field(default_factory=list)
    over_s: float = None
    active_vms: int = None
    physical_mb: int = None
    committed_mb: int = 0
    reserved_mb: int = 0
    mem_free_mb: int = None
    swap_total_mb: int = None
    swap_free_mb: int = None
    huge_free: dict = field(default_factory=dict)
    numa: list = field(default_factory=list)
    networks: dict = field(default_factory=dict)
    free_vfs: dict = field(default_factory=dict)
    emulated_machines: list = None
    he_score: int = None
    he_local_maintenance: bool = False
    spm: bool = False
    tsc_hz: int = None
    tsc_scaling: bool = False
    hooks: list = field(default_factory=list)
    os: str = None
    cpu_maker: str = None
    cpu_level: int = None
    cpu_flags: list = field(default_factory=list)
    compatibility_versions: list = field(default_factory=list)
    device_passthrough: bool = False
    free_devices: list = field(default_factory=list)
    vgpus: dict = field(default_factory=dict)
    lease_domains: dict = None
    power_management: bool = False
    automatic_power: bool = False
    external_status: str = 'ok'
    parked_by_policy: bool = False

    @property
    def label(self):
        return self.name or self.id


@dataclass
class Vm:
    id: str
    status: str = 'down'
    host: str = None
    migrating_to: str = None
    mem_mb: int = 0
    video_mb: int = 0
    io_threads: int = 0
    sockets: int = 1
    cores: int = 1
    threads: int = 1
    cpu_percent: float = None
    type: str = 'server'
    ha: bool = False
    engine: bool = False
    affinity: str = 'migratable'
    hosts: list = field(default_factory=list)
    cpu_policy: str = 'none'
    pinning: dict = field(default_factory=dict)
    cpu: dict = None
    vnuma: list = field(default_factory=list)
    numa_mode: str = 'strict'
    huge_page_kb: int = None
    nics: list = field(default_factory=list)
    emulated_machine: str = None
    custom_properties: dict = field(default_factory=dict)
    tsc_hz: int = None
    compatibility_version: str = None
    host_devices: list = field(default_factory=list)
    vgpus: list = field(default_factory=list)
    lease_domain: str = None

    @property
    def vcpus(self):
        return self.sockets * self.cores * self.threads

    @property
    def running(self):
        return self.host is not None and self.status != 'down'

    @property
    def exclusive(self):
        """Whether its CPUs are pinned for it alone."""
        return self.cpu_policy == 'dedicated'

    def is_on(self, host):
        return self.running and self.host == host.id

    def pinned_nodes(self):
        return [node for node in self.vnuma if node.get('host_node') is not None]


@dataclass
class Rule:
    enabled: bool = False
    positive: bool = True
    enforcing: bool = False


@dataclass
class Group:
    """An affinity group."""
    id: str
    priority: float = 1
    vms: list = field(default_factory=list)
    hosts: list = field(default_factory=list)
    vm_labels: list = field(default_factory=list)
    host_labels: list = field(default_factory=list)
    vms_rule: Rule = field(default_factory=Rule)
    hosts_rule: Rule = field(default_factory=Rule)


@dataclass
class Label:
    """An affinity label."""
    id: str
    vms: list = field(default_factory=list)
    hosts: list = field(default_factory=list)


@dataclass
class Pending:
    """What a VM will take of a host that was chosen for it and on which it does not run yet. Figures that are None follow from the VM."""
    vm: str
    host: str
    vcpus: int = None
    cores: int = None
    real_mb: float = None
    overcommit_mb: float = None
    huge: dict = None
    cpu_load: float = None
    exclusive_cpus: list = field(default_factory=list)
    numa: dict = field(default_factory=dict)


@dataclass
class Cluster:
    settings: Settings = field(default_factory=Settings)
    overcommit_percent: int = 100
    threads_as_cores: bool = False
    architecture: str = 'x86_64'
    level: str = '4.7'
    ha_reservation: bool = False
    display_network: str = None
    optimisation: str = 'none'
    upgrading: bool = False
    data_age_s: float = 0
    hosts: list = field(default_factory=list)
    vms: list = field(default_factory=list)
    pending: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    labels: list = field(default_factory=list)

    def host(self, name):
        return next((h for h in self.hosts if h.id == name), None)

    def vm(self, name):
        return next((v for v in self.vms if v.id == name), None)

    def up(self):
        return [h for h in self.hosts if h.status == 'up']

    def vms_on(self, host):
        return [v for v in self.vms if v.is_on(host)]

    def active_vms(self, host):
        return len(self.vms_on(host)) if host.active_vms is None else host.active_vms

    def pending_at(self, host):
        return [p for p in self.pending if p.host == host.id]

    def add_pending(self, record):
        """A newer record of a VM replaces the older one."""
        self.clear_pending(record.vm)
        self.pending.append(record)

    def clear_pending(self, vm):
        self.pending = [p for p in self.pending if p.vm != vm]

    # ---- affinity ----

    def members(self, group):
        """VMs of a group, those of its labels included."""
        of_labels = [v for label in self.labels if label.id in group.vm_labels for v in label.vms]
        return list(dict.fromkeys(group.vms + of_labels))

    def group_hosts(self, group):
        of_labels = [h for label in self.labels if label.id in group.host_labels for h in label.hosts]
        return list(dict.fromkeys(group.hosts + of_labels))

    def hosts_of_member(self, name):
        """Hosts on which a VM runs, or will run."""
        vm = self.vm(name)
        found = [vm.host] if vm and vm.running else []
        return list(dict.fromkeys(found + [p.host for p in self.pending if p.vm == name]))


def build(kind, data, at):
    """An object of a dataclass from JSON; a field that it does not have is an error."""
    names = {f.name for f in dataclasses.fields(kind)}
    for key in data:
        if key not in names:
            raise ValueError(f'{at}/{key}: not a field of a {kind.__name__}')
    return kind(**data)


def whole_keys(pages):
    """JSON has no whole numbers as keys."""
    return {int(key): value for key, value in pages.items()}


def load(data):
    cluster = build(Cluster, data, '')
    cluster.settings = build(Settings, data.get('settings', {}), '/settings')
    for name, kind in (('hosts', Host), ('vms', Vm), ('pending', Pending), ('groups', Group), ('labels', Label)):
        setattr(cluster, name, [build(kind, entry, f'/{name}/{n}') for n, entry in enumerate(data.get(name, []))])
    for host in cluster.hosts:
        host.huge_free = whole_keys(host.huge_free)
    for vm in cluster.vms:
        vm.pinning = whole_keys(vm.pinning)
    for record in cluster.pending:
        record.numa = whole_keys(record.numa)
        record.huge = None if record.huge is None else whole_keys(record.huge)
    for n, group in enumerate(cluster.groups):
        for rule in ('vms_rule', 'hosts_rule'):
            setattr(group, rule, build(Rule, getattr(group, rule) if isinstance(getattr(group, rule), dict) else {}, f'/groups/{n}/{rule}'))
    return cluster
