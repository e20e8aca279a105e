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
}

export interface Fault {
  code: string;
  text: string;
}

export interface Status {
  cluster: string;
  version: string;
  time: string;
  automation: string;
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
  night: Nullable<{ text: string }>;
  actions: Record<string, number>;
}

export interface Load {
  capacity: Nullable<number>;
  demand: Nullable<number>;
  entitlement: Nullable<number>;
  load: Nullable<number>;
}

export interface Host {
  id: string;
  name: string;
  state: string;
  vms: number;
  standby_since: Nullable<string>;
  cpu: Load;
  mem: Load;
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
