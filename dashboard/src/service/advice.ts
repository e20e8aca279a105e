// What to do about a fault, by its code.
const ADVICE: Record<string, string> = {
  overcommitted: 'Lower reservations of VMs or pools, or add or wake hosts: until then all reservations are scaled down.',
  rule_conflict: 'Look at the rules that are named, and disable or change one of them at the hypervisor or in the configuration.',
  rule_violated: 'No allowed move fixes it. Look at why the VM cannot move, make room on the hosts that the rule allows, or change the rule.',
  cannot_evacuate: 'Look at why the VM cannot move. Shut it down, move it by hand, or cancel the maintenance.',
  host_disconnected: 'Look at the host and its connection to the hypervisor\'s manager. Its VMs are left alone until it is back.',
  quarantine: 'Look at the host\'s health at the hypervisor. It receives no VMs until it is healthy.',
  host_distrusted: 'Look at why the host dies. Once it is mended, ballast trust HOST lets VMs come to it again.',
  demand_unknown: 'Look at whether the hypervisor still measures the VM. It is moved only when it must be.',
  sample_bad: 'Look at the VM\'s measurements at the hypervisor. It is moved only when it must be.',
  samples_bad: 'Look at the hypervisor\'s statistics and its clock: until they are right only mandatory moves are made.',
  pool_overcommitted: 'Lower reservations inside the pool, or raise its own.',
  rule_too_large: 'Add hosts that the VMs may run on, or split the rule.',
  preference_dropped: 'Nothing must be done: a preferred rule gives way. Make room on its hosts if it matters.',
  spare_missing: 'Wake or add hosts, or ask for less failover capacity: a failed host could not be made up for now.',
  overloaded: 'Change what the fault names: the rule, the compatibility, the settings of cost and benefit; or shut down VMs on the host.',
  no_room: 'Add memory to the host that the fault names, or shut down VMs on it; a host that wakes would help, too.',
  cannot_place: 'Make room on the hosts that the VM is compatible with, or change its reservation or rules.',
  ready_by: 'Wake hosts now, or look at those that fail to wake: capacity will be missing in the morning.',
  other_balancer: 'Set the other balancer (such as DRS) to manual: both would move the same VMs.',
  other_power_management: 'Turn the other power management (such as DPM) off: both would switch the same hosts.',
  labels_unread: 'Look at the hypervisor\'s tags and the rights of Ballast\'s user: no move begins by itself until they are read.',
  source_fault: 'A person has to mend it at the hypervisor: no guest is started, stopped or deleted for it.',
  power_method: 'Look at the host\'s controller: address, password, network. Prove it with ballast wake HOST --verify.',
  vsan: 'Nothing must be done: hosts of vSAN are never put to standby.',
  serves_storage: 'Nothing must be done: hosts whose disks hold data of other hosts\' VMs are never put to standby.',
  avoid: 'Look at why the moves failed (history). They are tried again later; ballast run --retry tries at once.',
};

export function advice(code: string): string {
  return ADVICE[code] ?? '';
}

/** Faults by code, those with the most first. */
export function byCode<T extends { code: string }>(faults: readonly T[]): { code: string; faults: T[] }[] {
  const groups = new Map<string, T[]>();
  for (const f of faults) groups.set(f.code, [...(groups.get(f.code) ?? []), f]);
  return [...groups].map(([code, list]) => ({ code, faults: list })).sort((a, b) => b.faults.length - a.faults.length);
}
