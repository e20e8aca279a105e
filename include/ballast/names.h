/* names.h: every word that the outside sees, once.
 *
 * Each list gives the enumerator, the word used in snapshots, plans, logs and settings, and what it means.
 * The functions below are made from the lists (src/base/names.c), and conf/names.md documents them; a test
 * compares. NAME_name() gives the word; NAME_parse() gives 0, or -EINVAL for a word that is not on the list.
 */
#ifndef BALLAST_NAMES_H
#define BALLAST_NAMES_H

#define HOST_STATES(X)                                                                                       \
    X(HOST_ON, "on", "runs VMs and may receive more")                                                        \
    X(HOST_MAINTENANCE, "maintenance", "in maintenance; runs no VMs")                                        \
    X(HOST_ENTERING_MAINTENANCE, "entering_maintenance", "being evacuated for maintenance")                  \
    X(HOST_STANDBY, "standby", "powered off or suspended to save power")                                     \
    X(HOST_ENTERING_STANDBY, "entering_standby", "being evacuated and put to standby")                       \
    X(HOST_POWERING_ON, "powering_on", "woken, not yet back in the cluster")                                 \
    X(HOST_DISCONNECTED, "disconnected", "out of contact: no VM is moved to it or from it")

/* Of the agent that watches a host for failures: vSphere HA, a cluster manager. */
#define FAILURE_DETECTIONS(X)                                                                                \
    X(FAILURE_DETECTION_UNKNOWN, "unknown", "not reported; treated as healthy")                              \
    X(FAILURE_DETECTION_HEALTHY, "healthy", "a failure of the host would be noticed")                        \
    X(FAILURE_DETECTION_UNHEALTHY, "unhealthy",                                                              \
      "a failure of the host would not be noticed: it receives no VMs")

#define VM_STATES(X)                                                                                         \
    X(VM_ON, "on", "running")                                                                                \
    X(VM_OFF, "off", "powered off")                                                                          \
    X(VM_SUSPENDED, "suspended", "suspended to disk")

/* What hosts offer and VMs need of their host; the meaning is the word of sentences. */
#define OFFER_KINDS(X)                                                                                       \
    X(OFFER_NETWORK, "network", "network")                                                                   \
    X(OFFER_DATASTORE, "datastore", "datastore")                                                             \
    X(OFFER_DEVICE, "device", "device")                                                                      \
    X(OFFER_CPU_VENDOR, "cpu_vendor", "CPU vendor")                                                          \
    X(OFFER_CPU_MODE, "cpu_mode", "CPU baseline")

#define VM_KINDS(X)                                                                                          \
    X(VM_NORMAL, "normal", "an ordinary VM")                                                                 \
    X(VM_AGENT, "agent", "part of its host's platform; never moved")                                         \
    X(VM_SPARE, "spare", "placeholder for capacity that is reserved for a restart")                          \
    X(VM_FT_PRIMARY, "ft_primary", "the running half of a fault-tolerant pair")                              \
    X(VM_FT_SECONDARY, "ft_secondary", "the replica of a fault-tolerant pair")

#define AUTOMATIONS(X)                                                                                       \
    X(AUTOMATION_INHERIT, "inherit", "the cluster's setting applies")                                        \
    X(AUTOMATION_DISABLED, "disabled", "nothing is recommended or carried out")                              \
    X(AUTOMATION_MANUAL, "manual", "recommended; an admin approves")                                         \
    X(AUTOMATION_PARTIAL, "partial",                                                                         \
      "settings of pools on hosts are carried out, migrations are recommended")                              \
    X(AUTOMATION_AUTOMATIC, "automatic", "carried out")                                                      \
    X(AUTOMATION_FULL, "full", "every move that the migration threshold allows is carried out")

#define RULE_KINDS(X)                                                                                        \
    X(RULE_VM_AFFINE, "vm-vm-affine", "these VMs run on the same host")                                      \
    X(RULE_VM_ANTI_AFFINE, "vm-vm-anti-affine", "no two of these VMs run on the same host")                  \
    X(RULE_HOST_AFFINE, "vm-host-affine", "these VMs run on these hosts only")                               \
    X(RULE_HOST_ANTI_AFFINE, "vm-host-anti-affine", "these VMs do not run on these hosts")

/* Where a rule or a pool comes from. */
#define RULE_ORIGINS(X)                                                                                      \
    X(RULE_OF_SOURCE, "source", "the hypervisor's manager, or the snapshot file")                            \
    X(RULE_OF_CONFIGURATION, "configuration", "the service's configuration")                                 \
    X(RULE_OF_TAG, "tag", "a tag of its VMs")

#define HA_POLICIES(X)                                                                                       \
    X(HA_NONE, "none", "no failover capacity is reserved")                                                   \
    X(HA_HOST_FAILURES, "host_failures", "capacity for the failure of the largest hosts is reserved")        \
    X(HA_PERCENT, "percent", "a percentage of the capacity is reserved for failures")                        \
    X(HA_DEDICATED, "dedicated", "dedicated failover hosts run no VMs")

#define OBJECTIVES(X)                                                                                        \
    X(OBJECTIVE_BALANCE, "balance", "even load on all hosts, at a cost that the moves are worth")            \
    X(OBJECTIVE_ROOM, "room", "as many spaces as possible for VMs of the size of room.cpus and room.mem_mb")

#define SEARCHES(X)                                                                                          \
    X(SEARCH_GREEDY, "greedy", "the move that lowers the imbalance most, again and again")                   \
    X(SEARCH_DEEP, "deep", "from there, other first moves and exchanges, while search_budget lasts")

/* Whose moves for balance are made. */
#define BALANCERS(X)                                                                                         \
    X(BALANCER_BALLAST, "ballast", "Ballast's own: even load, at a cost that the moves are worth")           \
    X(BALANCER_POLICY, "policy", "the rules of pipelines; Ballast's own where no pipeline has a `balance`")

#define MEM_ADMISSIONS(X)                                                                                    \
    X(MEM_ADMISSION_RESERVATION, "reservation", "a VM needs its reservation at its destination")             \
    X(MEM_ADMISSION_CONSUMED, "consumed", "a VM needs the memory that it has touched so far")                \
    X(MEM_ADMISSION_CONFIGURED, "configured", "a VM needs its configured size")

#define ACTION_KINDS(X)                                                                                      \
    X(ACTION_MIGRATE, "migrate", "migration of a VM to another host")                                        \
    X(ACTION_POWER_ON, "power_on", "wake a host from standby")                                               \
    X(ACTION_POWER_OFF, "power_off", "put an evacuated host to standby")                                     \
    X(ACTION_PLACE, "place", "power a VM on at a host")                                                      \
    X(ACTION_ENTER_MAINTENANCE, "enter_maintenance", "take an evacuated host out of service")                \
    X(ACTION_EXIT_MAINTENANCE, "exit_maintenance", "put a host back into service")

#define REASONS(X)                                                                                           \
    X(REASON_MAINTENANCE, "maintenance", "the host is entering maintenance")                                 \
    X(REASON_STANDBY, "standby", "the host is entering standby")                                             \
    X(REASON_RULE, "rule", "a rule is violated")                                                             \
    X(REASON_HOST_OVERCOMMITTED, "host_overcommitted", "the reservations on the host exceed its capacity")   \
    X(REASON_BALANCE_CPU, "balance_cpu", "balances CPU load")                                                \
    X(REASON_BALANCE_MEM, "balance_mem", "balances memory load")                                             \
    X(REASON_CONSOLIDATE, "consolidate", "empties a host so that it can go to standby")                      \
    X(REASON_OFF_VM, "off_vm", "a VM that is off leaves a host that goes to standby")                        \
    X(REASON_HIGH_UTILIZATION, "high_utilization", "a host is above the target range")                       \
    X(REASON_SPARE_CAPACITY, "spare_capacity", "failover capacity is missing")                               \
    X(REASON_QUARANTINE, "quarantine", "the host is in quarantine, or its failure would not be noticed")     \
    X(REASON_ROOM, "room", "makes room for large VMs")                                                       \
    X(REASON_PLACEMENT, "placement", "a VM is powered on")                                                   \
    X(REASON_PREREQUISITE, "prerequisite", "another action needs this one first")                            \
    X(REASON_EXCHANGE, "exchange", "VMs change places, because there is no room for a single move")          \
    X(REASON_AGENT, "agent", "a host's agent VM needs its reservation")                                      \
    X(REASON_ASKED, "asked", "an admin asked for it")                                                        \
    X(REASON_WAKE_TEST, "wake_test", "it is proven that the host wakes")                                     \
    X(REASON_READY_BY, "ready_by", "capacity must be back by dpm.ready_by")                                  \
    X(REASON_EXPECTED_DEMAND, "expected_demand", "more hosts will be needed soon, as on earlier days")       \
    X(REASON_VM_WENT_DOWN, "vm_went_down", "a VM that ran went down with the host")                          \
    X(REASON_POLICY, "policy", "a rule of the VM's pipeline moves it")                                       \
    X(REASON_RESERVE, "reserve", "a pipeline keeps hosts without VMs in reserve")

#define FAULT_CODES(X)                                                                                       \
    X(FAULT_OVERCOMMITTED, "overcommitted", "reservations exceed the capacity; they were scaled down")       \
    X(FAULT_RULE_CONFLICT, "rule_conflict", "rules contradict each other")                                   \
    X(FAULT_RULE_VIOLATED, "rule_violated", "a mandatory rule is violated, and no allowed move fixes it")    \
    X(FAULT_CANNOT_EVACUATE, "cannot_evacuate", "a VM cannot leave a host that is to be evacuated")          \
    X(FAULT_HOST_DISCONNECTED, "host_disconnected", "a host is disconnected; its VMs are not moved")         \
    X(FAULT_QUARANTINE, "quarantine",                                                                        \
      "a host is in quarantine, or its failure would not be noticed: it receives no VMs")                    \
    X(FAULT_HOST_DISTRUSTED, "host_distrusted",                                                              \
      "a host was lost again and again with its VMs: no VM comes to it for balance for a while")             \
    X(FAULT_DEMAND_UNKNOWN, "demand_unknown", "a VM's demand is unknown; the VM is not moved for balance")   \
    X(FAULT_SAMPLE_BAD, "sample_bad",                                                                        \
      "a VM's measurements are old or implausible; the VM is not moved for balance")                         \
    X(FAULT_SAMPLES_BAD, "samples_bad",                                                                      \
      "too many VMs have missing, old or implausible measurements: only mandatory moves are made")           \
    X(FAULT_POOL_OVERCOMMITTED, "pool_overcommitted",                                                        \
      "the reservations inside a pool exceed what the pool has")                                             \
    X(FAULT_RULE_TOO_LARGE, "rule_too_large", "a rule keeps more VMs apart than there are hosts for them")   \
    X(FAULT_PREFERENCE_DROPPED, "preference_dropped", "a preferred rule is not followed")                    \
    X(FAULT_SPARE_MISSING, "spare_missing", "failover capacity is missing")                                  \
    X(FAULT_NO_ROOM, "no_room",                                                                              \
      "a host is overloaded, and no other host has memory for a VM that would relieve it")                   \
    X(FAULT_OVERLOADED, "overloaded", "a host is overloaded, and no move relieves it")                       \
    X(FAULT_CANNOT_PLACE, "cannot_place", "a VM cannot be powered on at any host")                           \
    X(FAULT_READY_BY, "ready_by", "less capacity than required can be on by dpm.ready_by")                   \
    X(FAULT_OTHER_BALANCER, "other_balancer", "another balancer migrates the same VMs by itself")            \
    X(FAULT_OTHER_POWER, "other_power_management", "another power management switches the same hosts")       \
    X(FAULT_LABELS_UNREAD, "labels_unread",                                                                  \
      "labels or tags could not be read yet: rules may be missing, so no move begins by itself")             \
    X(FAULT_SOURCE, "source_fault",                                                                          \
      "hypervisors contradict each other, or one reports what only a person can mend")                       \
    X(FAULT_POWER_METHOD, "power_method", "a host's power method fails, or its controller is in doubt")      \
    X(FAULT_VSAN, "vsan",                                                                                    \
      "hosts that are part of vSAN are never put to standby, though dpm.enabled is true")                    \
    X(FAULT_SERVES_STORAGE, "serves_storage",                                                                \
      "hosts whose disks hold data of other hosts' VMs are never put to standby, though dpm.enabled is "     \
      "true")                                                                                                \
    X(FAULT_AVOID, "avoid",                                                                                  \
      "moves failed; the VM, the host or all optional moves are not tried again for a while")

#define VERDICTS(X)                                                                                          \
    X(VERDICT_CURRENT, "current", "the host that the VM runs on")                                            \
    X(VERDICT_CHOSEN, "chosen", "the host that the plan moves the VM to")                                    \
    X(VERDICT_REJECTED, "rejected", "not chosen; the check names the reason")

/* In the order in which they are asked. The first that fails decides. */
#define CHECKS(X)                                                                                            \
    X(CHECK_NONE, "none", "every check passed")                                                              \
    X(CHECK_CURRENT_HOST, "current_host", "the VM runs on this host")                                        \
    X(CHECK_VM_NOT_RUNNING, "vm_not_running", "the VM does not run; only running VMs are migrated")          \
    X(CHECK_VM_KIND, "vm_kind", "VMs of this kind are not migrated")                                         \
    X(CHECK_VM_HOST_UNSEEN, "vm_host_unseen", "the VM's host is disconnected, so the VM's state is unknown") \
    X(CHECK_VM_MIGRATING, "vm_migrating", "the VM is being migrated, or its migration is approved")          \
    X(CHECK_VM_IMMOVABLE, "vm_immovable", "the VM cannot be moved")                                          \
    X(CHECK_VM_DISABLED, "vm_disabled", "automation is disabled for the VM")                                 \
    X(CHECK_VM_RULES, "vm_rules", "the VM's rules contradict each other")                                    \
    X(CHECK_VM_DEMAND_UNKNOWN, "vm_demand_unknown", "the VM's demand is unknown")                            \
    X(CHECK_VM_SAMPLE_BAD, "vm_sample_bad", "the VM's measurements are old or implausible")                  \
    X(CHECK_VM_FT, "vm_ft", "a fault-tolerant pair is moved only when it must be")                           \
    X(CHECK_VM_MANDATORY_ONLY, "vm_mandatory_only", "the VM is moved only when it must be")                  \
    X(CHECK_VM_COOL_DOWN, "vm_cool_down", "the VM was migrated recently and is in its cool-down")            \
    X(CHECK_VM_REJECTED, "vm_rejected", "a person rejected a move of the VM for this reason")                \
    X(CHECK_VM_MOVED, "vm_moved", "the plan moves the VM already")                                           \
    X(CHECK_VM_HELD_BACK, "vm_held_back",                                                                    \
      "after the plan's moves, its move would leave failover capacity missing or a host too full")           \
    X(CHECK_UNIT_HELD, "unit_held", "another VM of its affinity set cannot be moved")                        \
    X(CHECK_HOST_NOT_ON, "host_not_on", "the host cannot run VMs now")                                       \
    X(CHECK_FAILOVER_HOST, "failover_host", "the host is a dedicated failover host")                         \
    X(CHECK_HOST_QUARANTINE, "host_quarantine", "the host is in quarantine")                                 \
    X(CHECK_HOST_UNHEALTHY, "host_unhealthy", "a failure of the host would not be noticed")                  \
    X(CHECK_HOST_SLEEPS, "host_sleeps", "the plan puts the host to standby")                                 \
    X(CHECK_INCOMPATIBLE, "incompatible", "the VM is not compatible with the host")                          \
    X(CHECK_FIT_FILTER, "fit_filter", "a stage of the VM's pipeline refuses the host")                       \
    X(CHECK_RULE_VM_HOST, "rule_vm_host", "a VM-host rule keeps the VM off the host")                        \
    X(CHECK_AGENT_MISSING, "agent_missing", "an agent VM that the host requires does not run there")         \
    X(CHECK_RULE_ANTI_AFFINITY, "rule_anti_affinity",                                                        \
      "an anti-affinity rule keeps the VM apart from a VM on the host")                                      \
    X(CHECK_FT_PEER, "ft_peer", "the other half of its fault-tolerant pair runs on the host")                \
    X(CHECK_FIT_QUANTITY, "fit_quantity", "a stage of the VM's pipeline counts too much on the host")        \
    X(CHECK_FIT_NUMA, "fit_numa", "the VM's NUMA cells do not fit into those of the host")                   \
    X(CHECK_FIT_DEVICE, "fit_device", "the host has not the devices left that the VM needs")                 \
    X(CHECK_RESERVATION_CPU, "reservation_cpu", "the host has too little unreserved CPU")                    \
    X(CHECK_RESERVATION_MEM, "reservation_mem", "the host has too little unreserved memory")                 \
    X(CHECK_POOL_RESERVATION, "pool_reservation", "the VM's pool has too little left to reserve")            \
    X(CHECK_SPARE_CAPACITY, "spare_capacity", "failover capacity would be missing afterwards")               \
    X(CHECK_MEMORY, "memory", "the VM's memory does not fit on the host")                                    \
    X(CHECK_MEMORY_FREE, "memory_free", "the host has too little free memory")                               \
    X(CHECK_AVOID, "avoid", "a move there failed, and is not tried again yet")                               \
    X(CHECK_HOST_DISTRUSTED, "host_distrusted", "the host was lost again and again with its VMs")            \
    X(CHECK_HOST_LOAD, "host_load", "the host would lack headroom, and the VM need not leave its host")      \
    X(CHECK_RULE_AFFINITY, "rule_affinity", "an affinity rule keeps the VM with a VM on another host")       \
    X(CHECK_MANDATORY_ONLY, "mandatory_only", "only mandatory moves are made")                               \
    X(CHECK_POWER_FIRST, "power_first", "hosts are put to standby first; load is balanced afterwards")       \
    X(CHECK_TARGET_REACHED, "target_reached", "the imbalance is within the target")                          \
    X(CHECK_NO_SPACE, "no_space",                                                                            \
      "no further moves make a space for VMs of the size of room.cpus and room.mem_mb")                      \
    X(CHECK_SPACE_KEPT, "space_kept", "the VM would take a space that room.free keeps for larger VMs")       \
    X(CHECK_POLICY, "policy", "no rule of the VM's pipeline moves the VM there now")                         \
    X(CHECK_FIT_BUCKET, "fit_bucket", "a bucket of the VM's pipeline ranks the host below the VM's own")     \
    X(CHECK_NO_GAIN, "no_gain", "the move would not lower the imbalance")                                    \
    X(CHECK_MIN_GOODNESS, "min_goodness", "the move would lower the imbalance too little")                   \
    X(CHECK_FIT_SCORE, "fit_score",                                                                          \
      "the move would gain too little for the lower score of the host in the VM's pipeline")                 \
    X(CHECK_COST_BENEFIT, "cost_benefit", "the migration would gain too little for its cost")                \
    X(CHECK_WORST_CASE, "worst_case", "the move would increase the shortage, now or in the worst case")      \
    X(CHECK_MOVES_MAX, "moves_max", "the plan has reached its maximum number of moves")                      \
    X(CHECK_PLAN_WORSE, "plan_worse", "the deep search found no better plan with the VM on this host")       \
    X(CHECK_STANDS, "stands", "the last pass recommended another host, and still does")                      \
    X(CHECK_LESS_GAIN, "less_gain", "another move lowers the imbalance more")                                \
    X(CHECK_LESS_ROOM, "less_room", "another host leaves more room for large VMs")

/* Why a host that is on stays on, or one in standby is not woken (§4): in the order in which they are asked.
 */
#define POWER_CHECKS(X)                                                                                      \
    X(POWER_FINE, "none", "every check passed")                                                              \
    X(POWER_DPM_OFF, "dpm_off", "power management is off: dpm.enabled is false")                             \
    X(POWER_MANDATORY_ONLY, "mandatory_only", "only mandatory moves are made")                               \
    X(POWER_HOST_STATE, "host_state", "the host is neither on nor in standby")                               \
    X(POWER_HOST_FAILOVER, "host_failover", "the host is a dedicated failover host")                         \
    X(POWER_HOST_QUARANTINE, "host_quarantine",                                                              \
      "the host is in quarantine, or its failure would not be noticed: DPM leaves it as it is")              \
    X(POWER_HOST_DISABLED, "host_disabled", "DPM is disabled for the host")                                  \
    X(POWER_REJECTED, "rejected", "a person rejected to put it to standby, or to wake it, for this reason")  \
    X(POWER_VSAN, "vsan", "the host is part of vSAN: its disks hold data of other hosts' VMs")               \
    X(POWER_SERVES_STORAGE, "serves_storage", "the host's disks hold data of other hosts' VMs")              \
    X(POWER_HOST_COMING, "host_coming", "the host is already being woken")                                   \
    X(POWER_WAKE_FAILED, "wake_failed", "the last wake of the host failed")                                  \
    X(POWER_CONTROLLER, "controller_doubted", "the host's controller is not known to be its own")            \
    X(POWER_WAKE_UNPROVEN, "wake_unproven", "no wake of the host has been verified yet")                     \
    X(POWER_OWN_USE, "own_use", "the host runs something of its own, which would end")                       \
    X(POWER_WOKEN, "woken", "the host was woken, and the reason for that still counts")                      \
    X(POWER_NOT_WATCHED, "not_watched", "the cluster has not been observed for dpm.watch_s yet")             \
    X(POWER_RESERVE, "reserve", "as many hosts without VMs are on as a pipeline keeps in reserve")           \
    X(POWER_HOST_LOST, "host_lost",                                                                          \
      "a host of a cluster with a quorum is lost: no other goes to standby meanwhile")                       \
    X(POWER_HIGH, "high", "a host is above the target range, and the hosts that are on cannot relieve it")   \
    X(POWER_NOT_LOW, "not_low", "no host is below the target range in CPU, or no host in memory")            \
    X(POWER_OTHERS_COMING, "others_coming",                                                                  \
      "another host is being woken, and its relief is not measured yet")                                     \
    X(POWER_AFTER_WAKE, "after_wake", "another host was woken for load, and the reason still counts")        \
    X(POWER_SPARE_MISSING, "spare_missing", "failover capacity is missing already")                          \
    X(POWER_HOST_BUSY, "host_busy", "a VM is being migrated to the host or from it")                         \
    X(POWER_HOSTS_MIN, "hosts_min", "fewer hosts than dpm.hosts_min would stay on")                          \
    X(POWER_QUORUM, "quorum", "the cluster would be left with too few votes")                                \
    X(POWER_CPU_MIN, "cpu_min", "less CPU capacity than dpm.cpu_min_mhz would stay on")                      \
    X(POWER_MEM_MIN, "mem_min", "less memory than dpm.mem_min_mb would stay on")                             \
    X(POWER_RULE_LAST, "rule_last", "no other host that a mandatory rule allows would stay on")              \
    X(POWER_RESERVED, "reserved", "the reservations would exceed the capacity of the other hosts")           \
    X(POWER_VM_STAYS, "vm_stays", "a VM on the host cannot be moved to save power")                          \
    X(POWER_NEEDED, "needed", "a fault or a VM that waits for a host needs the host")                        \
    X(POWER_MOVES_MAX, "moves_max", "the plan would exceed its maximum number of moves")                     \
    X(POWER_VM_NO_ROOM, "vm_no_room", "a VM on the host fits on no other host")                              \
    X(POWER_RAISES_HIGH, "raises_high", "other hosts would rise above the target range")                     \
    X(POWER_KEEPS_LOW, "keeps_low", "the remaining hosts would not come closer to the target range")         \
    X(POWER_FAILOVER_DEMAND, "failover_demand",                                                              \
      "after the losses that ha promises to survive, demand would exceed the other hosts' capacity")         \
    X(POWER_SPARE, "spare", "failover capacity would be missing while its VMs move, or afterwards")          \
    X(POWER_ROOM, "room", "fewer spaces for large VMs than room.free would be left")                         \
    X(POWER_ORDER, "order", "all VMs would fit at the end, but not after each single move")                  \
    X(POWER_COST_BENEFIT, "cost_benefit", "the saving is less than dpm.ratio times the cost")                \
    X(POWER_BURSTS, "bursts", "the other hosts could not serve the bursts of their VMs")                     \
    X(POWER_QUIET_SHORT, "quiet_short",                                                                      \
      "by past quiet times, demand rises again in less than dpm.off_min_s")                                  \
    X(POWER_MISSED_BEFORE, "missed_before",                                                                  \
      "by past quiet times, demand rises suddenly before standby has paid, to more than the others serve")   \
    X(POWER_NOT_HIGH, "not_high", "no host is above the target range")                                       \
    X(POWER_WITHOUT_IT, "without_it", "the hosts that are on or being woken are enough")                     \
    X(POWER_NO_RELIEF, "no_relief", "waking the host would not relieve the hosts above the target range")    \
    X(POWER_OTHER_BETTER, "other_better", "another host does as well and is preferred")                      \
    X(POWER_WINDOW, "window", "dpm.windows and dpm.ready_by allow no standby now")                           \
    X(POWER_WINDOW_ENDS, "window_ends", "the standby window would end before the host is evacuated")         \
    X(POWER_READY_SOON, "ready_soon", "the host would be needed for dpm.ready_by before standby pays off")   \
    X(POWER_READY_LATER, "ready_later", "the host stays in standby until it must be woken for dpm.ready_by") \
    X(POWER_EXPECTED, "expected_demand",                                                                     \
      "demand is expected to rise soon: hosts are woken, not put to standby")                                \
    X(POWER_NEEDED_SOON, "needed_soon", "expected demand needs the host again before standby pays off")

/* The days that an expectation rests on. */
#define ALIKE_DAYS(X)                                                                                        \
    X(ALIKE_WORKING_DAYS, "working_days", "the last days from Monday to Friday")                             \
    X(ALIKE_WEEKENDS, "weekends", "the last Saturdays and Sundays")                                          \
    X(ALIKE_WEEKDAY, "same_weekday", "the same day of the weeks before")

#define ACTION_STATES(X)                                                                                     \
    X(ACTION_RECOMMENDED, "recommended", "waits for approval")                                               \
    X(ACTION_APPROVED, "approved", "waits for actions that it depends on, or for a free action slot")        \
    X(ACTION_STARTING, "starting", "the request was sent to the hypervisor; its task is not known yet")      \
    X(ACTION_RUNNING, "running", "the hypervisor carries it out")                                            \
    X(ACTION_VERIFYING, "verifying", "the hypervisor reports success; an inventory must confirm it")         \
    X(ACTION_DONE, "done", "an inventory confirms it")                                                       \
    X(ACTION_FAILED, "failed", "it was not carried out")                                                     \
    X(ACTION_CANCELLED, "cancelled", "it was stopped, or an action that it depends on failed")               \
    X(ACTION_REJECTED, "rejected", "an admin rejected it")                                                   \
    X(ACTION_EXPIRED, "expired", "a later pass no longer recommends it")

/* Why a state is not even. */
#define UNEVENS(X)                                                                                           \
    X(UNEVEN_IMBALANCE, "imbalance", "the imbalance is above the target")                                    \
    X(UNEVEN_OUTLIER, "outlier", "the loads of two hosts differ by more than the threshold tolerates")       \
    X(UNEVEN_HEADROOM, "headroom", "a host lacks headroom that another host has")

#define CHANGE_KINDS(X)                                                                                      \
    X(CHANGE_HOST_OFF, "host_off", "the host is to be put to standby")                                       \
    X(CHANGE_HOST_ON, "host_on", "the host is on")                                                           \
    X(CHANGE_MAINTENANCE, "maintenance", "the host is to be taken out of service")                           \
    X(CHANGE_DEMAND, "demand", "the VM demands another amount of CPU")

/* Operators of expressions (expression.h); src/model/expression.c has their operands. */
#define EXPRESSION_OPERATORS(X)                                                                              \
    X(OPERATOR_AND, "and", "every operand is true")                                                          \
    X(OPERATOR_OR, "or", "an operand is true")                                                               \
    X(OPERATOR_NOT, "not", "the operand is not true")                                                        \
    X(OPERATOR_IF, "if", "if the first operand is true the second, else the third")                          \
    X(OPERATOR_GIVEN, "given", "the operand is not absent")                                                  \
    X(OPERATOR_DEFAULT, "default", "the first operand that is not absent")                                   \
    X(OPERATOR_EQUAL, "=", "both are of one type and equal")                                                 \
    X(OPERATOR_UNEQUAL, "!=", "both are of one type and not equal")                                          \
    X(OPERATOR_LESS, "<", "the first number is less")                                                        \
    X(OPERATOR_AT_MOST, "<=", "the first number is less or equal")                                           \
    X(OPERATOR_MORE, ">", "the first number is greater")                                                     \
    X(OPERATOR_AT_LEAST, ">=", "the first number is greater or equal")                                       \
    X(OPERATOR_BEFORE, "s<", "the first text comes before the second, byte by byte")                         \
    X(OPERATOR_NOT_AFTER, "s<=", "the first text comes before the second or is equal")                       \
    X(OPERATOR_AFTER, "s>", "the first text comes after the second")                                         \
    X(OPERATOR_NOT_BEFORE, "s>=", "the first text comes after the second or is equal")                       \
    X(OPERATOR_SAME_LETTERS, "i=", "the texts are equal but for the case of ASCII letters")                  \
    X(OPERATOR_IN, "in", "a value of the first operand is a value of another")                               \
    X(OPERATOR_HAS_ALL, "has_all", "every value of the other operands is a value of the first")              \
    X(OPERATOR_CONTAINS, "contains", "the second text is a part of the first")                               \
    X(OPERATOR_STARTS_WITH, "starts_with", "the first text begins with the second")                          \
    X(OPERATOR_ENDS_WITH, "ends_with", "the first text ends with the second")                                \
    X(OPERATOR_VERSION, "version", "the version agrees with the conditions, such as \">=6.0, <7\"")          \
    X(OPERATOR_ADD, "+", "the sum")                                                                          \
    X(OPERATOR_SUBTRACT, "-", "the first less the second")                                                   \
    X(OPERATOR_MULTIPLY, "*", "the product")                                                                 \
    X(OPERATOR_DIVIDE, "/", "the first by the second; by 0: absent")                                         \
    X(OPERATOR_MIN, "min", "the least of the numbers")                                                       \
    X(OPERATOR_MAX, "max", "the greatest of the numbers")                                                    \
    X(OPERATOR_FLOOR, "floor", "the greatest whole number that is not above the number")                     \
    X(OPERATOR_MOST_OF_HOSTS, "most_of_hosts",                                                               \
      "the most that the operand is on a host that is ranked, in a score; absent operands do not count")     \
    X(OPERATOR_BETWEEN_HOSTS, "between_hosts",                                                               \
      "where the operand stands between the least of such numbers (0) and the most (1); 0 if they are "      \
      "equal")                                                                                               \
    X(OPERATOR_NUMBER, "number", "the text as a number; absent if the text is none")                         \
    X(OPERATOR_SPLIT, "split", "the parts of the text between commas")                                       \
    X(OPERATOR_COUNT, "count", "how many values the operand has")                                            \
    X(OPERATOR_ANY_GROUP, "any_group", "the second operand is true for a group of the host of this kind")    \
    X(OPERATOR_ALL_GROUPS, "all_groups", "... for every group of the host of this kind, also for none")      \
    X(OPERATOR_GROUPS, "groups", "how many groups of this kind the host is in")                              \
    X(OPERATOR_LEAST_OF_GROUPS, "least_of_groups",                                                           \
      "the least number that the second operand is for the host's groups of this kind; absent for none")     \
    X(OPERATOR_MOST_OF_GROUPS, "most_of_groups", "the greatest such number")

/* Variables of expressions. A word that ends in a dot is completed with a name. */
#define EXPRESSION_VARIABLES(X)                                                                              \
    X(VARIABLE_HOST_ID, "$host.id", "text")                                                                  \
    X(VARIABLE_HOST_NAME, "$host.name", "text")                                                              \
    X(VARIABLE_HOST_CORES, "$host.cores", "number")                                                          \
    X(VARIABLE_HOST_CPU_MHZ, "$host.cpu_mhz", "number: of all cores together")                               \
    X(VARIABLE_HOST_MEM_MB, "$host.mem_mb", "number")                                                        \
    X(VARIABLE_HOST_CPU_VENDOR, "$host.cpu_vendor", "text")                                                  \
    X(VARIABLE_HOST_TRAITS, "$host.traits", "texts")                                                         \
    X(VARIABLE_HOST_NETWORKS, "$host.networks", "texts; absent if not known")                                \
    X(VARIABLE_HOST_DATASTORES, "$host.datastores", "texts; absent if not known")                            \
    X(VARIABLE_HOST_DEVICES, "$host.devices", "texts; absent if not known")                                  \
    X(VARIABLE_HOST_CPU_MODES, "$host.cpu_modes", "texts; absent if not known")                              \
    X(VARIABLE_HOST_LABEL, "$host.labels.", "text")                                                          \
    X(VARIABLE_HOST_ATTRIBUTE, "$host.attributes.", "of any type")                                           \
    X(VARIABLE_HOST_QUANTITY, "$host.quantities.",                                                           \
      "number: (total - reserved) * ratio - used_elsewhere; absent if the host has none of it")              \
    X(VARIABLE_HOST_USED, "$host.used.",                                                                     \
      "number: what other VMs take now of what the stage `count` of this name counts; in a filter, score "   \
      "or bucket")                                                                                           \
    X(VARIABLE_HOST_LEFT, "$host.left.", "number: its limit less what is used; likewise")                    \
    X(VARIABLE_HOST_FREE_MEM, "$host.free_mem_mb",                                                           \
      "number: memory that is physically free now, without the VM; absent if not known; likewise")           \
    X(VARIABLE_HOST_LOAD, "$host.load",                                                                      \
      "number: CPU that its other VMs are entitled to now, as a share of its capacity: 0 to 1, more if it "  \
      "is overloaded; likewise")                                                                             \
    X(VARIABLE_HOST_OVER, "$host.over_s",                                                                    \
      "number: for how many seconds its load has been at or above `high`, or at or below `low`, of a "       \
      "`balance`; absent if it is neither")                                                                  \
    X(VARIABLE_VM_ID, "$vm.id", "text")                                                                      \
    X(VARIABLE_VM_NAME, "$vm.name", "text")                                                                  \
    X(VARIABLE_VM_VCPUS, "$vm.vcpus", "number")                                                              \
    X(VARIABLE_VM_MEM_MB, "$vm.mem_mb", "number: its configured memory")                                     \
    X(VARIABLE_VM_CPU_MHZ, "$vm.cpu_mhz", "number: the CPU that it demands now, of all vCPUs together")      \
    X(VARIABLE_VM_HOST, "$vm.host",                                                                          \
      "text: the id of the host on which it ran as the pass began; absent of a VM that is off")              \
    X(VARIABLE_VM_KIND, "$vm.kind", "text")                                                                  \
    X(VARIABLE_VM_FOLDER, "$vm.folder", "text")                                                              \
    X(VARIABLE_VM_OWNER, "$vm.owner", "text")                                                                \
    X(VARIABLE_VM_LABEL, "$vm.labels.", "text")                                                              \
    X(VARIABLE_VM_FLAVOR, "$vm.flavor.", "of any type")                                                      \
    X(VARIABLE_VM_IMAGE, "$vm.image.", "of any type")                                                        \
    X(VARIABLE_VM_HINT, "$vm.hints.", "of any type")                                                         \
    X(VARIABLE_VM_GROUPS, "$vm.groups", "texts: the groups of VMs that it is in")                            \
    X(VARIABLE_ANSWER, "$answer",                                                                            \
      "what the stage's external unit says of the VM on the host: true or false, or a number; absent "       \
      "without a valid answer")                                                                              \
    X(VARIABLE_ANSWER_MULTIPLIER, "$answer.multiplier",                                                      \
      "number: the multiplier that it gives for the host; in a multiplier")                                  \
    X(VARIABLE_GROUP_ID, "$group.id", "text; in the second operand of an operator of groups")                \
    X(VARIABLE_GROUP_NAME, "$group.name", "text; likewise")                                                  \
    X(VARIABLE_GROUP_META, "$group.meta.", "text; likewise")

/* How the scores of a stage become comparable with those of others. */
#define NORMALISATIONS(X)                                                                                    \
    X(NORMALISE_MINMAX, "minmax", "from 0, the least of the hosts, to 1, the greatest; 0 if all are equal")  \
    X(NORMALISE_CLAMP, "clamp", "below 0 becomes 0, above 1 becomes 1")                                      \
    X(NORMALISE_RANK, "rank", "how many hosts have less")                                                    \
    X(NORMALISE_RANK_HIGH, "rank_high", "how many other hosts have less or as much")                         \
    X(NORMALISE_NONE, "none", "as it is")

/* What a stage of a pipeline binds. */
#define FIT_USES(X)                                                                                          \
    X(FIT_PLACE, "place", "the host at which a VM is powered on")                                            \
    X(FIT_MOVE, "move", "the hosts to which a VM is moved, whatever for, or restarted at")                   \
    X(FIT_CORRECT, "correct", "the VM's present host: a VM on a host that the stage refuses is moved away")

/* What a VM needs of a host, of which a stage is the name. */
#define STAGE_NEEDS(X)                                                                                       \
    X(STAGE_NEEDS_NUMA, "numa", "NUMA cells; and devices, if no other stage of the pipeline is their name")  \
    X(STAGE_NEEDS_DEVICES, "devices", "devices, such as those of PCI passthrough")

/* What a filter does where its external unit has failed, or its answer is too old. */
#define ANSWER_FAILURES(X)                                                                                   \
    X(ANSWER_FAILURE_REFUSE, "refuse", "no VM comes to a host by it; none is moved away either")             \
    X(ANSWER_FAILURE_IGNORE, "ignore", "the filter refuses no host")

/* Room for the name that tells a person from others: a user of this machine, or the owner of a token. */
#define PERSON_NAME_MAX 64

/* How much a user, or a program with a token, may do. A role includes those before it. */
#define ROLES(X)                                                                                             \
    X(ROLE_VIEWER, "viewer", "sees everything but snapshots and consoles, and changes nothing")              \
    X(ROLE_OPERATOR, "operator", "approves, rejects, pauses, and changes the state of hosts")                \
    X(ROLE_ADMIN, "admin", "confirms controllers, reads snapshots, manages tokens")

/* What may need two people (four_eyes.actions of the configuration; engine/four_eyes.h). */
#define FOUR_EYES_ACTIONS(X)                                                                                 \
    X(FOUR_EYES_APPROVE, "approve", "approving recommendations")                                             \
    X(FOUR_EYES_PLACE, "place", "powering on VMs by `ballast place --apply`")                                \
    X(FOUR_EYES_MIGRATE, "migrate", "migrating a VM by `ballast migrate --apply`; `approve` includes it")    \
    X(FOUR_EYES_MAINTENANCE, "maintenance", "taking a host out of service, also by a roll of maintenance")   \
    X(FOUR_EYES_ROLL, "roll", "beginning a roll of maintenance")                                             \
    X(FOUR_EYES_STANDBY, "standby", "putting a host to standby, also to test that it wakes")                 \
    X(FOUR_EYES_WAKE, "wake", "waking a host, or testing that it wakes")

/* What happened (engine/ports.h: struct event). */
#define EVENTS(X)                                                                                            \
    X(EVENT_SOURCE_LOST, "source_lost", "the cluster could not be read; nothing is decided until it can")    \
    X(EVENT_SOURCE_BACK, "source_back", "the cluster can be read again")                                     \
    X(EVENT_PASS_DONE, "pass_done", "a pass has decided")                                                    \
    X(EVENT_PASS_FAILED, "pass_failed", "a pass could not decide")                                           \
    X(EVENT_FAULT, "fault", "a pass found something that it cannot mend")                                    \
    X(EVENT_ACTION, "action", "an action entered the state that it is in")                                   \
    X(EVENT_PAUSED, "frozen", "paused: nothing is started until `ballast resume`")                           \
    X(EVENT_RESUMED, "thawed", "resumed: actions are started again")                                         \
    X(EVENT_WAKE_FAILED, "wake_failed", "a host that is needed did not wake: check the host")                \
    X(EVENT_VM_WENT_DOWN, "vm_went_down",                                                                    \
      "VMs that ran went down with a host that was put to standby: an emergency")                            \
    X(EVENT_STORE_FAILED, "storing_failed",                                                                  \
      "something could not be stored; nothing new is started until it can")                                  \
    X(EVENT_SETTINGS, "settings", "what pools or VMs have on the hosts was set")                             \
    X(EVENT_SETTINGS_FAILED, "settings_failed",                                                              \
      "what pools should have on a host could not be set; it is tried again after the next pass")            \
    X(EVENT_FAULT_CLEARED, "fault_cleared", "a pass no longer finds what an earlier one found")              \
    X(EVENT_HOST, "host", "a host's state has changed, by any cause, or a new host is there")                \
    X(EVENT_HOST_LOST, "host_lost", "a host is not in the inventory any more")                               \
    X(EVENT_HOST_BACK, "host_back", "a host is in the inventory again")                                      \
    X(EVENT_METER_LOST, "meter_lost", "the power meter of a host that is on cannot be read any more")        \
    X(EVENT_METER_BACK, "meter_back", "the power meter of a host is read again")                             \
    X(EVENT_RETRY, "retry", "an admin had what failed tried again")                                          \
    X(EVENT_FIRST_REQUEST, "first_request",                                                                  \
      "a person asked for what takes two people, and it waits for the second; or that was withdrawn")        \
    X(EVENT_CONFIGURATION, "configuration", "a setting was changed by a reload of the configuration")        \
    X(EVENT_CONFIGURATION_FAILED, "configuration_failed",                                                    \
      "the configuration could not be reloaded; the old one stays in force")                                 \
    X(EVENT_MAINTENANCE_ROLL, "maintenance_roll",                                                            \
      "a host's turn in a roll of maintenance, or the end of the roll")                                      \
    X(EVENT_NIGHT, "night", "how hosts slept since the last morning: in one sentence, and by host")          \
    X(EVENT_ALARM_FAILED, "alarm_failed", "alarms cannot be delivered to a target, or were given up")        \
    X(EVENT_ALARM_BACK, "alarm_back", "alarms are delivered to a target again")                              \
    X(EVENT_UNIT_FAILED, "unit_failed", "an external unit has no answer about VMs")                          \
    X(EVENT_UNIT_BACK, "unit_back", "an external unit answers again, or is not asked any more")              \
    X(EVENT_GAP, "gap", "events were dropped before they could be stored, or sent")

#define NAME_ENUM(e, word, meaning) e,
#define NAME_DECLARE(name, LIST)                                                                             \
    enum name { LIST(NAME_ENUM) name##_count };                                                              \
    const char *name##_name(enum name value);                                                                \
    const char *name##_meaning(enum name value);                                                             \
    int name##_parse(const char *word, enum name *ret);

NAME_DECLARE(host_state, HOST_STATES)
NAME_DECLARE(failure_detection, FAILURE_DETECTIONS)
NAME_DECLARE(vm_state, VM_STATES)
NAME_DECLARE(offer_kind, OFFER_KINDS)
NAME_DECLARE(vm_kind, VM_KINDS)
NAME_DECLARE(automation, AUTOMATIONS)
NAME_DECLARE(rule_kind, RULE_KINDS)
NAME_DECLARE(rule_origin, RULE_ORIGINS)
NAME_DECLARE(ha_policy, HA_POLICIES)
NAME_DECLARE(mem_admission, MEM_ADMISSIONS)
NAME_DECLARE(objective, OBJECTIVES)
NAME_DECLARE(balancer, BALANCERS)
NAME_DECLARE(search_kind, SEARCHES)
NAME_DECLARE(action_kind, ACTION_KINDS)
NAME_DECLARE(reason, REASONS)
NAME_DECLARE(fault_code, FAULT_CODES)
NAME_DECLARE(verdict, VERDICTS)
NAME_DECLARE(check, CHECKS)
NAME_DECLARE(power_check, POWER_CHECKS)
NAME_DECLARE(action_state, ACTION_STATES)
NAME_DECLARE(change_kind, CHANGE_KINDS)
NAME_DECLARE(alike_days, ALIKE_DAYS)
NAME_DECLARE(uneven, UNEVENS)
NAME_DECLARE(expression_operator, EXPRESSION_OPERATORS)
NAME_DECLARE(expression_variable, EXPRESSION_VARIABLES)
NAME_DECLARE(normalisation, NORMALISATIONS)
NAME_DECLARE(fit_use, FIT_USES)
NAME_DECLARE(answer_failure, ANSWER_FAILURES)
NAME_DECLARE(stage_needs, STAGE_NEEDS)
NAME_DECLARE(role, ROLES)
NAME_DECLARE(four_eyes_action, FOUR_EYES_ACTIONS)
NAME_DECLARE(event_kind, EVENTS)

/* The word of an event as text shows it: paused for "frozen", resumed for "thawed", which programs read; any
 * other as it is. */
const char *names_event_shown(const char *word);

#endif
