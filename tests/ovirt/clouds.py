"""A cluster of the model as a cloud in the words of oVirt's REST API, which src/dialect/ovirt reads."""
from filters import os_of
from policies import UUIDS
from quantities import max_scheduling_memory

MIB = 1 << 20


def statistics(**values):
    return [{'name': name.replace('_', '.'), 'values': [{'datum': value}]} for name, value in values.items() if value is not None]


def in_bytes(megabytes):
    return None if megabytes is None else megabytes * MIB


def named(ids):
    return [{'id': name} for name in ids]


def given(**members):
    """Without those that are not known."""
    return {name: value for name, value in members.items() if value is not None}


def topology(host):
    if not (host.sockets and host.cores and host.threads):
        return {}
    return {'sockets': host.sockets, 'cores': host.cores // host.sockets, 'threads': host.threads // host.cores}


def cpu_units(host):
    loads = {cpu['id']: cpu['percent'] or 0 for cpu in host.cpus or []}
    return [given(cpu_id=number, load=loads.get(number), exclusive=number in host.exclusive_cpus) for number in host.online_cpus or []]


def only_online(hosts):
    """As REST has it: a CPU that is not online is not told, neither its use nor who holds it."""
    for host in hosts:
        online = set(host['online_cpus'])
        host['cpus'] = host.get('cpus') and [cpu for cpu in host['cpus'] if cpu['id'] in online]
        host['exclusive_cpus'] = [cpu for cpu in host.get('exclusive_cpus', ()) if cpu in online]


def host_of(cluster, host):
    system = os_of(host.os)
    idle = [p for p in cluster.pending if p.host == host.id]
    cluster.pending = [p for p in cluster.pending if p not in idle]  # what is pending is told by the VMs
    schedulable = max_scheduling_memory(cluster, host)
    cluster.pending += idle
    return given(
        id=host.id, name=host.label, address=host.address, status=host.status, memory=in_bytes(host.physical_mb),
        max_scheduling_memory=in_bytes(schedulable), cpu={'topology': topology(host), 'type': f'{host.cpu_maker} {host.cpu_level}'},
        cpu_units=cpu_units(host), cpu_threshold_seconds=host.over_s, summary=given(active=host.active_vms),
        statistics=statistics(cpu_current_user=host.cpu_percent, cpu_current_system=None if host.cpu_percent is None else 0,
                              memory_free=in_bytes(host.mem_free_mb), swap_total=in_bytes(host.swap_total_mb), swap_free=in_bytes(host.swap_free_mb)),
        hugepages=[{'name': str(size), 'free': count} for size, count in host.huge_free.items()],
        numa_nodes=[{'index': node['id'], 'memory': node['mem_mb'], 'cpus': [str(cpu) for cpu in node['cpus']],
                     'statistics': statistics(memory_free=node['free_mb'])} for node in host.numa],
        networks=list(host.networks), networks_with_address=[name for name, has in host.networks.items() if has],
        virtual_functions=[{'name': name, 'free': count} for name, count in host.free_vfs.items()],
        emulated_machines=host.emulated_machines, supported_versions=host.compatibility_versions, hooks=host.hooks,
        os=system and {'type': system[0], 'version': {'major': system[1]}},
        hosted_engine=given(configured=host.he_score is not None, score=host.he_score, local_maintenance=host.he_local_maintenance),
        spm={'status': 'spm' if host.spm else 'none'}, tsc_frequency=host.tsc_hz, tsc_scaling=host.tsc_scaling, cpu_flags=host.cpu_flags,
        device_passthrough={'enabled': host.device_passthrough}, devices=[{'name': name, 'capability': name.split('_')[0]} for name in host.free_devices],
        mdev_types=[{'name': kind, 'free': count} for kind, count in host.vgpus.items()],
        lease_domains=None if host.lease_domains is None else [name for name, acquired in host.lease_domains.items() if acquired])


def cpu_of(vm):
    model = vm.cpu or {}
    pins = [{'vcpu': vcpu, 'cpu_set': ','.join(str(cpu) for cpu in cpus)} for vcpu, cpus in vm.pinning.items()]
    return given(topology={'sockets': vm.sockets, 'cores': vm.cores, 'threads': vm.threads}, cpu_tune={'vcpu_pins': pins},
                 mode='host_passthrough' if model.get('passthrough') else None, type=f'{model["maker"]} {model["level"]}' if 'maker' in model else None)


def version_of(text):
    return dict(zip(('major', 'minor'), text.split('.'))) if text else None


def vm_of(cluster, vm):
    pending = [p.host for p in cluster.pending if p.vm == vm.id]
    return given(
        id=vm.id, status=vm.status if vm.running else 'down', host={'id': vm.host} if vm.running else None,
        pending_host={'id': pending[0]} if pending else None, memory=in_bytes(vm.mem_mb), video_memory=vm.video_mb, io={'threads': vm.io_threads}, cpu=cpu_of(vm),
        statistics=statistics(cpu_current_total=None if vm.cpu_percent is None else vm.cpu_percent * vm.vcpus), type=vm.type,
        high_availability={'enabled': vm.ha}, origin='managed_hosted_engine' if vm.engine else None,
        placement_policy={'affinity': vm.affinity, 'hosts': named(vm.hosts)},
        cpu_pinning_policy='resize_and_pin_numa' if vm.cpu_policy == 'resize_and_pin' else vm.cpu_policy, cpu_flags=(vm.cpu or {}).get('flags'),
        numa_nodes=[given(index=n, memory=node['mem_mb'], cpus=[str(vcpu) for vcpu in node['vcpus']],
                          pins=None if node['host_node'] is None else [str(node['host_node'])]) for n, node in enumerate(vm.vnuma)],
        numa_tune_mode=vm.numa_mode, hugepages=vm.huge_page_kb, custom_emulated_machine=vm.emulated_machine,
        nics=[given(network=nic['network'], unplugged=not nic['plugged'], pass_through=nic['passthrough']) for nic in vm.nics],
        sap_agent=vm.custom_properties.get('sap_agent') == 'true', tsc_frequency=vm.tsc_hz, custom_compatibility_version=version_of(vm.compatibility_version),
        host_devices=[device['name'] for device in vm.host_devices], mdev_types=vm.vgpus, lease=vm.lease_domain and {'storage_domain': {'id': vm.lease_domain}})


def rule_of(rule):
    return {'enabled': rule.enabled, 'positive': rule.positive, 'enforcing': rule.enforcing}


def group_of(group):
    return {'id': group.id, 'priority': group.priority, 'vms_rule': rule_of(group.vms_rule), 'hosts_rule': rule_of(group.hosts_rule),
            **{name: named(getattr(group, name)) for name in ('vms', 'hosts', 'vm_labels', 'host_labels')}}


def policy_of(policy):
    """(the policies of the cloud, the cluster's policy, the cluster's properties): of a built-in one its id only."""
    properties = [{'name': name, 'value': str(value)} for name, value in policy['parameters'].items()]
    if policy.get('locked'):
        return [], policy['id'], properties
    own = {'id': 'p', 'name': 'p', 'selector': UUIDS['selector'][policy.get('selector', 'RankSelector')], 'properties': properties,
           'filters': [{'id': UUIDS['filter'][entry['unit']], 'position': entry.get('position', 0)} for entry in policy['filters']],
           'weights': [{'id': UUIDS['weight'][entry['unit']], 'factor': entry.get('factor', 1)} for entry in policy['weights']],
           'balances': [{'id': UUIDS['balance'][policy['balance']]}]}
    return [own], 'p', []


def cpu_types(cluster):
    known = {(host.cpu_maker, host.cpu_level) for host in cluster.hosts} | {(vm.cpu['maker'], vm.cpu['level']) for vm in cluster.vms if 'maker' in (vm.cpu or {})}
    return [{'name': f'{maker} {level}', 'vendor': maker, 'level': level} for maker, level in sorted(known, key=str) if None not in (maker, level)]


def cloud_of(cluster, policy, vms):
    """The cloud; vms: those of one call, which go to one host."""
    policies, ident, properties = policy_of(policy)
    return {'dialect': 'ovirt', 'scheduling_policies': policies, 'cpu_types': cpu_types(cluster),
            'clusters': [given(id='c', scheduling_policy={'id': ident}, custom_scheduling_policy_properties=properties, threads_as_cores=cluster.threads_as_cores,
                               ha_reservation=cluster.ha_reservation, display_network=cluster.display_network, version=version_of(cluster.level),
                               cpu={'architecture': cluster.architecture})],
            'hosts': [host_of(cluster, host) for host in cluster.hosts], 'vms': [vm_of(cluster, vm) for vm in cluster.vms],
            'affinity_groups': [group_of(group) for group in cluster.groups],
            'affinity_labels': [{'id': label.id, 'vms': named(label.vms), 'hosts': named(label.hosts)} for label in cluster.labels]}
