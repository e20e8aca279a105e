// What the API replies, as far as the pages use it; conf/schema/replies.json has it whole.

export type Role = 'viewer' | 'operator' | 'admin';
type Nullable<T> = T | null;

export interface Clusters {
  clusters: { name: string }[];
  who: string;
  role: Role;
}

export interface Asleep {
  host: string;
  host_name: string;
  since: Nullable<string>;
  by_ballast: boolean;
  wake_failed: Nullable<string>;
  boot_s: Nullable<number>;
  waking: Nullable<{ method: Nullable<string>; why: Nullable<string> }>;
}

export interface Pass {
  id: number;
  time: Nullable<string>;
  imbalance: Nullable<number>;
  imbalance_cpu: Nullable<number>;
  imbalance_mem: Nullable<number>;
  imbalance_after: Nullable<number>;
  target: Nullable<number>;
  end: { text: Nullable<string> };
  stays_on: { text: Nullable<string> };
}

export interface Fault {
  code: string;
  vm: Nullable<string>;
  host: Nullable<string>;
  rule: Nullable<string>;
  text: string;
}

export interface NightHost {
  host: string;
  host_name: string;
  from?: string;
  until?: string;
  asleep_s: number;
  woke_s?: number;
  expected_s?: number;
  late: boolean;
  failed: boolean;
  stayed_on: boolean;
  why?: string;
}

export interface Night {
  from: string;
  until: string;
  text: string;
  next_proof_host?: string;
  next_proof_host_name?: string;
  next_proof_due?: string;
  next_proof_why?: string;
  proofs_due: number;
  hosts: NightHost[];
}

export interface Power {
  watts: Nullable<number>;
  all_on_w: Nullable<number>;
  hosts: number;
  hosts_measured: number;
  hosts_unknown: number;
}

export interface Roll {
  at_once: number;
  by: Nullable<string>;
  started: string;
  ended: Nullable<string>;
  failed: Nullable<string>;
  waits: Nullable<string>;
  hosts: { id: string; name: string; step: string; meaning: string; since: Nullable<string> }[];
}

/** What waits for a second person (four_eyes). */
export interface FirstRequest {
  action: string;
  text: string;
  by: string;
  until: string;
}

/** A target of alarms. */
export interface AlarmTarget {
  target: string;
  address: string;
  failing_since: Nullable<string>;
  error: Nullable<string>;
  next_attempt: Nullable<string>;
  delivered_at: Nullable<string>;
  waiting: number;
  given_up: number;
}

/** The MQTT broker. */
export interface Broker {
  url: string;
  connected: boolean;
  since: Nullable<string>;
  error: Nullable<string>;
  unsent: number;
  refused: number;
  /** Of these, events that are sent again for an hour */
  refused_kept: number;
  refusal: Nullable<string>;
}

export interface StoreSize {
  used_bytes: number;
  limit_bytes: number;
  disk_free_bytes: number;
  warning: Nullable<string>;
}

export interface Status {
  cluster: string;
  version: string;
  time: string;
  time_zone: string;
  automation: string;
  interval_s: number;
  source: { state: 'unknown' | 'up' | 'lost'; since: Nullable<string>; error: Nullable<string>; seen_age_s: Nullable<number> };
  hosts: number;
  vms: number;
  asleep: Asleep[];
  pass: Nullable<Pass>;
  pass_error: Nullable<string>;
  next_pass: Nullable<string>;
  faults: Fault[];
  frozen: boolean;
  frozen_since: Nullable<string>;
  frozen_by: Nullable<string>;
  store_error: Nullable<string>;
  failing_units: { unit: string; since: string; error: Nullable<string>; vms: number }[];
  /** null: no broker is configured */
  mqtt: Nullable<Broker>;
  store: StoreSize;
  alarms: AlarmTarget[];
  first_requests: FirstRequest[];
  night: Nullable<Night>;
  power: Nullable<Power>;
  roll: Nullable<Roll>;
  configuration: string[];
  logins_paused: { account: string; next_try: Nullable<string> }[];
  actions: Record<string, number>;
}

export interface Load {
  capacity: Nullable<number>;
  demand: Nullable<number>;
  entitlement: Nullable<number>;
  load: Nullable<number>;
}

export interface WakeProof {
  method: string;
  state: 'never' | 'proven' | 'expired' | 'failed';
  proven: Nullable<string>;
  failed: Nullable<string>;
  why: Nullable<string>;
}

export interface Host {
  id: string;
  name: string;
  state: string;
  cores: number;
  vms: number;
  in_inventory: boolean;
  cpu_vendor: Nullable<string>;
  losses: number;
  distrusted_until: string | null;
  quarantine: boolean;
  dpm: string;
  wake_methods: string[];
  wake_verified: boolean;
  wake_proofs: WakeProof[];
  wake_failed_at: Nullable<string>;
  waking: Nullable<{ method: Nullable<string>; why: Nullable<string> }>;
  identity: { meaning: string; why: Nullable<string> };
  boot_s: Nullable<number>;
  power_w: Nullable<number>;
  own_cpu_mhz: Nullable<number>;
  own_mem_mb: Nullable<number>;
  own_at: Nullable<string>;
  swap_in_mb_s: number;
  mem_pressure: number;
  on_since: Nullable<string>;
  standby_since: Nullable<string>;
  cpu: Load;
  mem: Load;
}

export interface Demand {
  demand: Nullable<number>;
  entitlement: Nullable<number>;
}

/** Of a VM at the newest look; score: percent delivered of what was due, that is of demand, but no more than the entitlement. */
export interface Delivery extends Demand {
  delivered: Nullable<number>;
  score: Nullable<number>;
}

export interface Vm {
  id: string;
  name: string;
  state: string;
  host: Nullable<string>;
  host_name: Nullable<string>;
  pool: Nullable<string>;
  automation: string;
  vcpus: number;
  mem_mb: Nullable<number>;
  demand_unknown: boolean;
  ballooned_mb: number;
  swapped_mb: number;
  cpu: Delivery;
  mem: Delivery;
  last_migrated: Nullable<string>;
}

export interface PoolSetting extends Demand {
  reservation: Nullable<number>;
  limit: Nullable<number>;
  shares: Nullable<number>;
}

export interface Pool {
  id: string;
  name: string;
  parent: Nullable<string>;
  parent_name: Nullable<string>;
  cpu: PoolSetting;
  mem: PoolSetting;
}

export type ActionState =
  | 'recommended' | 'approved' | 'starting' | 'running' | 'verifying'
  | 'done' | 'failed' | 'cancelled' | 'rejected' | 'expired';

export interface Amount {
  cpu_mhz_s: Nullable<number>;
  mem_mb_s: Nullable<number>;
}

export interface Action {
  id: number;
  version: number;
  state: ActionState;
  action: string;
  priority: number;
  vm: Nullable<string>;
  from: Nullable<string>;
  to: Nullable<string>;
  host: Nullable<string>;
  vm_name: Nullable<string>;
  from_name: Nullable<string>;
  to_name: Nullable<string>;
  host_name: Nullable<string>;
  reason: string;
  text: Nullable<string>;
  depends_on: number[];
  group: Nullable<number>;
  imbalance_after: Nullable<number>;
  cost: Amount;
  benefit: Amount;
  duration_s: Nullable<number>;
  percent: Nullable<number>;
  approved_by: Nullable<string>;
  ended_by: Nullable<string>;
  why: Nullable<string>;
  created: Nullable<string>;
  approved: Nullable<string>;
  started: Nullable<string>;
  ended: Nullable<string>;
}

export interface Recommendations {
  recommendations: Action[];
  balance: Nullable<{ open: boolean; changes: Nullable<string> }>;
  avoid: Fault[];
}
