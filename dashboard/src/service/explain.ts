// Why a VM stays: the hosts that were considered for it, put together by the check that decided.
export interface Candidate {
  host: string;
  verdict: 'current' | 'chosen' | 'rejected';
  check: string;
  text: string | null;
  imbalance_after: number | null;
  subjects?: { stage?: string };
}

export interface StageLeft {
  stage: string;
  hosts: number;
}

export interface Explained {
  vm: string;
  summary: string | null;
  stages?: StageLeft[];
  candidates: Candidate[];
}

export interface CheckGroup {
  check: string;
  verdict: Candidate['verdict'];
  stage?: string;
  hosts: Candidate[];
}

const RANK = { chosen: 0, current: 1, rejected: 2 };

/** The chosen host first, then the present one, then the checks that decided for most hosts. */
export function byCheck(candidates: readonly Candidate[]): CheckGroup[] {
  const groups = new Map<string, CheckGroup>();
  for (const c of candidates) {
    const stage = c.check.startsWith('fit_') ? c.subjects?.stage : undefined;
    const key = `${c.verdict} ${c.check} ${stage ?? ''}`;
    const group = groups.get(key);
    if (group) group.hosts.push(c);
    else groups.set(key, { check: c.check, verdict: c.verdict, ...(stage && { stage }), hosts: [c] });
  }
  return [...groups.values()].sort((a, b) => RANK[a.verdict] - RANK[b.verdict] || b.hosts.length - a.hosts.length);
}

/** What the checks ask, as conf/names.md has it. */
const CHECKS: Record<string, string> = {
  none: 'Every check passed',
  current_host: 'The VM runs here',
  vm_not_running: 'The VM does not run',
  vm_host_unseen: 'The VM\'s host is disconnected',
  vm_migrating: 'The VM is being migrated, or will be',
  vm_kind: 'VMs of this kind are not migrated',
  vm_immovable: 'The VM cannot be moved',
  vm_demand_unknown: 'The VM\'s demand is unknown',
  vm_sample_bad: 'The VM\'s measurements are old or implausible',
  vm_ft: 'A fault-tolerant pair is moved only when it must be',
  vm_mandatory_only: 'The VM is moved only when it must be',
  vm_disabled: 'Automation is disabled for the VM',
  vm_cool_down: 'The VM was migrated recently',
  vm_rejected: 'A person rejected a move of the VM for this reason',
  vm_moved: 'The plan moves the VM already',
  vm_held_back: 'Its move would leave failover capacity missing, or a host too full',
  vm_rules: 'The VM\'s rules contradict each other',
  unit_held: 'Another VM of its affinity set cannot be moved',
  host_not_on: 'The host is not on',
  host_sleeps: 'The host is put to standby',
  failover_host: 'A dedicated failover host',
  host_distrusted: 'The host was lost again and again',
  host_quarantine: 'The host is in quarantine',
  host_unhealthy: 'A failure of the host would not be noticed',
  incompatible: 'The VM is not compatible with the host',
  fit_filter: 'A filter of the VM’s pipeline refuses the host',
  fit_quantity: 'A count of the VM’s pipeline would be above its limit on the host',
  fit_numa: 'The VM’s NUMA cells do not fit into those of the host',
  fit_device: 'The host lacks the devices that the VM needs',
  agent_missing: 'The host lacks an agent VM',
  rule_vm_host: 'A rule keeps the VM off the host',
  rule_anti_affinity: 'A rule keeps the VM apart from a VM there',
  ft_peer: 'The other VM of its fault-tolerant pair runs there',
  rule_affinity: 'A rule keeps the VM with a VM elsewhere',
  reservation_cpu: 'Too little unreserved CPU',
  reservation_mem: 'Too little unreserved memory',
  pool_reservation: 'The VM\'s pool has too little left to reserve',
  spare_capacity: 'Failover capacity would be missing',
  memory: 'The memory does not fit',
  memory_free: 'Too little free memory',
  avoid: 'A move there failed, and is not tried again yet',
  host_load: 'The host would lack headroom',
  mandatory_only: 'Only mandatory moves are made',
  power_first: 'Hosts are put to standby first',
  target_reached: 'The load is even enough',
  no_gain: 'Would not lower the imbalance',
  fit_bucket: 'A bucket of the VM’s pipeline ranks the host below the VM’s own',
  fit_score: 'Would gain too little for the lower score of the host',
  policy: 'No rule of the VM’s pipeline moves the VM there',
  min_goodness: 'Would lower the imbalance too little',
  cost_benefit: 'Would gain too little for its cost',
  no_space: 'No further moves make room',
  space_kept: 'It would take a space that is kept for larger VMs',
  worst_case: 'Could increase the shortage',
  moves_max: 'The plan has all the moves that it may have',
  less_room: 'Another host leaves more room for large VMs',
  plan_worse: 'No better plan was found with the VM there',
  stands: 'The host recommended before still is',
  less_gain: 'Another move gains more',
};

export function checkTitle(g: CheckGroup): string {
  if (g.verdict === 'chosen') return 'Recommended';
  if (g.stage) return `The stage ${g.stage} refuses the host`;
  return CHECKS[g.check] ?? g.check;
}

/** How many hosts each stage of the VM's pipeline leaves; the first that leaves none ends the list. */
export function stagesText(stages: readonly StageLeft[]): string {
  return stages.map((s) => `${s.hosts} after ${s.stage}`).join(', ');
}
