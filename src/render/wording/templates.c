/* Every sentence about a decision, by the code of its finding. templates.h says how a row is read. Times of a
 * day are UTC. */
#include "render/wording/templates.h"

const struct sentence_template wording_templates[] = {
    /* Recommendations. By how much the imbalance falls is a figure of its own. */
    {FIND_MOVE, "",
     "{vm_with_share} moves from {from}{load_here} to {to}{load_there}{why_move}.{earlier}{reclaims}"},
    {FIND_PLACEMENT, "", "{vm_with_share} is powered on at {to}{load_there}.{earlier}{reclaims}"},
    {FIND_ALTERNATIVE, "stage",
     "{host}{load_here} can run the VM as well; the bucket {stage} ranks it below {to}."},
    {FIND_ALTERNATIVE, "score",
     "{host}{load_here} can run the VM as well; its score is {score:2}, that of {to} is {score_chosen:2}."},
    {FIND_ALTERNATIVE, "", "{host}{load_here} can run the VM as well."},
    {FIND_WAKE, "host.failover", "{host} is woken, because it is a dedicated failover host."},
    {FIND_WAKE, "reason=spare_capacity for_vm", "{host} is woken to keep room for a restart of {for_vm}."},
    {FIND_WAKE, "reason=spare_capacity", "{host} is woken, because failover capacity is missing."},
    {FIND_WAKE, "", "{host} is woken, because no other host can run {for_vm}."},
    {FIND_WAKE_REGISTERED, "",
     "{host} is woken, because {for_vm} is registered there, and can neither start nor leave before."},
    {FIND_WAKE_HIGH, "",
     "{host} is woken, because hosts are above {load_max:percent}: the fullest is at {fullest}, as mean of 5 "
     "minutes plus two standard deviations. {after_wake}"},
    {FIND_WAKE_EARLY, "",
     "{host} is woken early: {expected_load}; it is {now} now. {^load_then}, above the target range, which "
     "ends at {load_max:percent}. {after_wake}"},
    {FIND_WAKE_READY, "ready_by>{time}",
     "{host} is woken so that {hosts} of {hosts_all} hosts are on by {ready_by} (dpm.ready_by); booting "
     "{boot}{tries}."},
    {FIND_WAKE_READY, "",
     "{host} is woken late: {hosts} of {hosts_all} hosts should be on since {ready_by} (dpm.ready_by); "
     "booting {boot}{tries}."},
    {FIND_SLEEP, "",
     "{host}{used_here} {evacuated} put to standby for about {off_s:about}{saving}. "
     "{worth_of_sleep}.{fullest_after}{stay_off}"},
    {FIND_RESERVE_WAKE, "",
     "{host} is woken, because {hosts} hosts without VMs are on, and {stage} keeps {hosts_min}."},
    {FIND_RESERVE_SLEEP, "",
     "{host} runs no VM: {hosts} hosts without VMs are on, and {stage} keeps {hosts_min}."},
    {FIND_OFF_VM, "",
     "{vm} is off, and is registered on {to} instead of {from}, which goes to standby: it could not be "
     "started "
     "there."},
    /* Faults. */
    {FIND_HOST_UNSEEN, "vms=0", "{host} is disconnected{disconnected_why}."},
    {FIND_HOST_UNSEEN, "vms=1", "{host} is disconnected{disconnected_why}; its VM is not moved."},
    {FIND_HOST_UNSEEN, "", "{host} is disconnected{disconnected_why}; its {vms} VMs are not moved."},
    {FIND_QUARANTINE, "vms=0", "{host} is {host_is}: it receives no VMs."},
    {FIND_QUARANTINE, "vms=1",
     "{host} is {host_is}: it receives no VMs, and its VM leaves only where rules and load allow."},
    {FIND_QUARANTINE, "",
     "{host} is {host_is}: it receives no VMs, and its remaining {vms} VMs leave only where rules and load "
     "allow."},
    {FIND_DISTRUSTED, "",
     "{host} was lost {times_lost} with its VMs, last at {at:clock}: before {until:clock} no VM comes to "
     "it "
     "for balance, and other hosts come first for restarts and placements. `ballast trust` ends that."},
    {FIND_CLUSTER_OVERCOMMITTED, "",
     "The {resource} reservations add up to {need}, but the hosts have only {has}; all reservations were "
     "scaled down in proportion."},
    {FIND_HOST_OVERCOMMITTED, "",
     "The {resource} reservations on {host} exceed its capacity by {excess}, and no VM can leave {host}. "
     "{because}"},
    {FIND_POOL_OVERCOMMITTED, "other_pool",
     "The reservations in pool {pool} add up to {need} of {resource}, but the pool has only {has}, and pool "
     "{other_pool} could not give the rest."},
    {FIND_POOL_OVERCOMMITTED, "limit",
     "The reservations in pool {pool} add up to {need} of {resource}, more than the pool's limit of "
     "{limit}."},
    {FIND_POOL_OVERCOMMITTED, "",
     "The reservations in pool {pool} add up to {need} of {resource}, but the pool has only {has} and may "
     "not expand."},
    {FIND_SAMPLES_DISTRUSTED, "",
     "The measurements of {vms} of {vms_all} VMs, more than a tenth, are missing, old or implausible: only "
     "mandatory moves are made."},
    {FIND_DEMAND_UNKNOWN, "", "The demand of {vm} is unknown; {vm} is not moved for balance."},
    {FIND_SAMPLE_DISTRUSTED, "", "{vm} is not moved for balance: {because}."},
    {FIND_RULE_JOINS_PAIR, "",
     "The rule {rule} keeps {vm} together with {other_vm}, but the two are a fault-tolerant pair and "
     "must run apart; neither VM is moved."},
    {FIND_RULE_JOINS_APART, "",
     "The rule {rule} keeps {vm} together with {other_vm}, but no host may run both; neither VM is "
     "moved."},
    {FIND_RULE_LEAVES_NO_HOST, "",
     "The rule {rule} excludes every host that {vm} may run on; {vm} is not moved."},
    {FIND_RULE_NAMES_NO_HOST, "vms=1",
     "The rule {rule} names no host of the cluster; the VM that it is for is not moved."},
    {FIND_RULE_NAMES_NO_HOST, "",
     "The rule {rule} names no host of the cluster; the {vms} VMs that it is for are not moved."},
    {FIND_RULES_CONTRADICT, "",
     "The rules {rule} and {other_rule} contradict each other for {vm}; {vm} is not moved."},
    {FIND_RULES_CONTRADICT_BOTH, "",
     "The rules {rule} and {other_rule} contradict each other for {other_vm} and {vm}; neither VM is "
     "moved."},
    {FIND_RULES_CONTRADICT_CHAIN, "",
     "The rule {rule} contradicts the rules {third_rule} and {other_rule}, which keep {other_vm} "
     "with {vm} through other VMs; neither VM is moved."},
    {FIND_RULE_JOINS_AGENT, "",
     "The rule {rule} cannot keep {vm} together with {other_vm}: {other_vm} is an agent VM and part of "
     "its host."},
    {FIND_RULE_TOO_LARGE, "hosts=0", "The rule {rule} keeps {vms} VMs apart, but no host can run them."},
    {FIND_RULE_TOO_LARGE, "hosts=1", "The rule {rule} keeps {vms} VMs apart, but only 1 host can run them."},
    {FIND_RULE_TOO_LARGE, "", "The rule {rule} keeps {vms} VMs apart, but only {hosts} hosts can run them."},
    {FIND_RULE_LEFT_OUT, "because vms",
     "The preferred rule {rule} is not followed for {vms} of its {vms_all} VMs. {because}"},
    {FIND_RULE_LEFT_OUT, "because", "The preferred rule {rule} is not followed. {because}"},
    {FIND_RULE_LEFT_OUT, "",
     "The preferred rule {rule} is not followed, because more rules would be violated with it."},
    {FIND_RULE_OVERLOADS, "",
     "With the preferred rules, {host} would be at {load:percent} of its {resource}."},
    {FIND_RULE_WAKES, "hosts=1", "With it 1 more host would be woken."},
    {FIND_RULE_WAKES, "", "With it {hosts} more hosts would be woken."},
    {FIND_RULE_BROKEN, "", "{vm} on {host} {violates}, and cannot be moved to another host. {because}"},
    {FIND_RULE_BROKEN_YET, "",
     "{vm} on {host} {violates}, and waits for {other_host}, which is being woken."},
    {FIND_RULE_BROKEN_BY_PLACEMENT, "rule.mandatory",
     "{vm} is powered on although that violates the rule {rule}: no host can run {vm} and keep the "
     "rule."},
    {FIND_RULE_BROKEN_BY_PLACEMENT, "",
     "{vm} is powered on although that violates the preferred rule {rule}: no host can run {vm} and keep "
     "the rule."},
    {FIND_CANNOT_LEAVE, "", "{vm} cannot leave {host}. {because}"},
    {FIND_CANNOT_LEAVE_YET, "",
     "{vm} cannot leave {host} yet: {vm} waits for {other_host}, which is being woken."},
    {FIND_NO_HOST_TO_LOSE, "",
     "{hosts_run_vms}, but the failure of {failures} must be tolerated: no host would be "
     "left.{woken_for_it}"},
    {FIND_NO_RESTART, "",
     "{if_lost}, {vm} could not restart: {vm} may run on no other "
     "host.{woken_for_it}{vms_unprotected}"},
    {FIND_NO_RESTART_FIT, "host",
     "{if_lost}, {vm} might not restart: no single other host was found that has {missing_share} left "
     "to "
     "reserve, and the NUMA cells, devices and counts that {vm} needs.{woken_for_it}{vms_unprotected}"},
    {FIND_NO_RESTART_FIT, "",
     "No single host was found that has {missing_share} left to reserve for {vm}, and the NUMA cells, "
     "devices and "
     "counts that {vm} needs.{woken_for_it}{vms_unprotected}"},
    {FIND_NO_RESTART_ROOM, "host",
     "{if_lost}, {vm} could not restart: no single other host has {missing_share} left to "
     "reserve.{woken_for_it}{vms_unprotected}"},
    {FIND_NO_RESTART_ROOM, "",
     "No single host has {missing_share} left to reserve for {vm}.{woken_for_it}{vms_unprotected}"},
    {FIND_FAILOVER_SHARE_MISSING, "",
     "The VMs leave less {resource} than the {percent} % that is kept for failures: {missing} is missing."},
    {FIND_FAILOVER_HOST_OFF, "", "The dedicated failover host {host} cannot take over VMs: it is {host_is}."},
    {FIND_FAILOVER_HOST_BUSY, "vms=1",
     "The dedicated failover host {host} is not empty: the other hosts lack headroom for its VM. {because}"},
    {FIND_FAILOVER_HOST_BUSY, "",
     "The dedicated failover host {host} is not empty: the other hosts lack headroom for {vms} of its VMs. "
     "{because}"},
    {FIND_OVERLOAD_HELD, "because",
     "{host} is overloaded ({resource} at {load:percent}), and all moves that would relieve it are rejected. "
     "{because}"},
    {FIND_OVERLOAD_HELD, "rule",
     "{host} is overloaded ({resource} at {load:percent}), and no other host has room for the load of the "
     "VMs "
     "that the rule {rule} keeps together."},
    {FIND_OVERLOAD_HELD, "",
     "{host} is overloaded ({resource} at {load:percent}), and no other host has room for the load of a VM."},
    {FIND_OVERLOAD_OF_ALL, "hosts=1",
     "The VMs want {need} of {resource}, but the only usable host has {has} for them."},
    {FIND_OVERLOAD_OF_ALL, "",
     "The VMs want {need} of {resource}, but the {hosts} usable hosts have only {has} for them."},
    {FIND_NO_ROOM, "",
     "{host} is overloaded ({resource} at {load:percent}), and no host has the memory for a VM that would "
     "relieve {host}, even if VMs change places: {mem_missing_mb} more on {other_host} would do, for {vm}."},
    {FIND_READY_MISSING, "host",
     "By {ready_by} only {hosts} of {hosts_all} hosts can be on: {cpu_missing_mhz} of CPU and "
     "{mem_missing_mb} of memory are missing; {host} did not wake."},
    {FIND_READY_MISSING, "",
     "By {ready_by} only {hosts} of {hosts_all} hosts can be on: {cpu_missing_mhz} of CPU and "
     "{mem_missing_mb} of memory are missing."},
    {FIND_CANNOT_PLACE, "", "{vm} cannot be powered on. {because}"},
    {FIND_CANNOT_PLACE_HALF, "ft_peer={vm}",
     "{vm} cannot be powered on: no host can run {other_vm}, the other half of its fault-tolerant pair."},
    {FIND_CANNOT_PLACE_HALF, "",
     "{vm} cannot be powered on with {ft_peer}, as a rule demands: no host can run {other_vm}, the other "
     "half of the fault-tolerant pair of {ft_peer}."},
    {FIND_OTHER_BALANCER, "",
     "Another balancer migrates this cluster's VMs by itself (in vCenter: DRS is fully automated). It and "
     "Ballast may move the same VMs to and fro; set it to manual."},
    {FIND_OTHER_POWER, "",
     "Another power management switches this cluster's hosts by itself (in vCenter: DPM is automated). It "
     "and Ballast may undo each other's decisions; switch it off."},
    {FIND_LABELS_UNREAD, "",
     "The tags of some VMs or hosts could not be read yet, so rules that name tags or labels may be missing: "
     "no move begins before they are read, unless its recommendation is approved by number. If no rule needs "
     "tags, set proxlb_tags to off.{peer_says}"},
    {FIND_SOURCE_FAULT, "", "{peer}."},
    {FIND_POWER_METHOD, "", "{host.power_fault}."},
    {FIND_VSAN, "hosts=1 hosts_all>1",
     "A host is part of vSAN: its disks hold data of the cluster, so it is never put to standby."},
    {FIND_VSAN, "hosts={hosts_all}",
     "All {hosts_all} hosts are part of vSAN: their disks hold data of the cluster, so no host is ever put "
     "to standby. Set dpm.enabled to false."},
    {FIND_VSAN, "",
     "{hosts} of {hosts_all} hosts are part of vSAN: their disks hold data of the cluster, so they are never "
     "put to standby."},
    {FIND_SERVES_STORAGE, "hosts=1 hosts_all>1",
     "The disks of a host hold data of other hosts' VMs, so it is never put to standby."},
    {FIND_SERVES_STORAGE, "hosts={hosts_all}",
     "The disks of all {hosts_all} hosts hold data of other hosts' VMs, so no host is ever put to standby. "
     "Set dpm.enabled to false."},
    {FIND_SERVES_STORAGE, "",
     "The disks of {hosts} of {hosts_all} hosts hold data of other hosts' VMs, so they are never put to "
     "standby."},
    {FIND_AVOID, "vm host failed=1",
     "{vm} is not moved to {host} before {until:clock}, because a move there failed.{peer_says}"},
    {FIND_AVOID, "vm host",
     "{vm} is not moved to {host} before {until:clock}, because {failed} moves there failed in a "
     "row.{peer_says}"},
    {FIND_AVOID, "vm",
     "Before {until:clock}, {vm} moves only if its host must be emptied, because its moves to {failed} "
     "hosts failed.{peer_says}"},
    {FIND_AVOID, "host",
     "{host} receives no VMs before {until:clock}, because moves of {failed} VMs to it failed in a "
     "row.{peer_says}"},
    {FIND_AVOID, "failed=0 check=avoid",
     "Before {until:clock}, VMs leave only hosts that must be emptied, and no others move: {peer}"},
    {FIND_AVOID, "failed=0", "Only mandatory moves are made before {until:clock}: {peer}"},
    {FIND_AVOID, "",
     "Only mandatory moves are made before {until:clock}, because {failed} of the last moves "
     "failed.{peer_says}"},
    /* What is wrong with a VM's measurements: a phrase, behind SAMPLE_DISTRUSTED and the check vm_sample_bad.
     */
    {FIND_SAMPLE_MARKED, "", "{vm.sample_bad}"},
    {FIND_SAMPLE_CPU, "",
     "the reported CPU demand is {need:whole} MHz, but {vcpus} can use at most {limit:whole} MHz on {host}"},
    {FIND_SAMPLE_MEM, "", "the reported memory demand is {need:whole} MiB, but the VM has {limit:whole} MiB"},
    {FIND_SAMPLE_CONSUMED, "",
     "the reported memory consumption is {need:whole} MiB, but the VM has {limit:whole} MiB"},
    {FIND_SAMPLE_OLD, "", "the measurements are {is_s:about} old"},
    /* Why a state is not even: phrases, behind a move, in a plan's end and in the status. */
    {FIND_UNEVEN_IMBALANCE, "", "the imbalance of {imbalance:4} is above the target of {target:4}"},
    {FIND_UNEVEN_OUTLIER, "load>1.005",
     "the VMs of {host} are entitled to {load:percent} of its {resource} and those of {other_host} to "
     "{load_other:percent}, more than {difference_max:points} apart"},
    {FIND_UNEVEN_OUTLIER, "",
     "the {resource} loads of {host} ({load:percent}) and {other_host} ({load_other:percent}) differ by more "
     "than {difference_max:points}"},
    {FIND_UNEVEN_HEADROOM, "load>1.005",
     "{host} lacks headroom (its VMs are entitled to {load:tenths} of its {resource}, above "
     "{load_max:percent})"},
    {FIND_UNEVEN_HEADROOM, "", "{host} lacks headroom ({resource} {load:tenths}, above {load_max:percent})"},
    {FIND_UNEVEN_LACK, "cpu_mhz>0",
     "the VMs of {host} lack {cpu_mhz} of CPU that the configuration entitles them to and no hypervisor "
     "enforces"},
    {FIND_UNEVEN_LACK, "",
     "the VMs of {host} lack {mem_mb} of memory that the configuration entitles them to and no hypervisor "
     "enforces"},
    {FIND_UNEVEN_PLAN, "", "elsewhere, {because}, and the moves of this plan lower the imbalance together"},
    {FIND_UNEVEN_ELSEWHERE, "", "elsewhere, {because}, and this move lowers the imbalance most"},
    {FIND_ROOM, "spaces_after={spaces}", "There is room for {room_vms} {room_size}."},
    {FIND_ROOM, "", "There is room for {room_vms} {room_size}, and for {spaces_after} after the plan."},
    {FIND_BOUND, "moves=1",
     "No plan that moves 1 VM ends below an imbalance of {imbalance_least:4}{bound_ruled}; this plan ends at "
     "{imbalance:4}.{bound_moves}"},
    {FIND_BOUND, "",
     "No plan that moves {moves} VMs ends below an imbalance of {imbalance_least:4}{bound_ruled}; this plan "
     "ends at {imbalance:4}.{bound_moves}"},
    {FIND_RULE_MOVES, "load_max",
     "{from} is at {cpu_load:percent} CPU, at or above {load_max:percent} for {is_s:duration} (rule "
     "{stage}); {to} is at "
     "{cpu_load_to:percent}"},
    {FIND_RULE_MOVES, "load_min",
     "{from} is at {cpu_load:percent} CPU, at or below {load_min:percent} for {is_s:duration} (rule "
     "{stage}); {to} is at "
     "{cpu_load_to:percent}"},
    {FIND_RULE_MOVES, "",
     "{from} is at {cpu_load:percent} CPU and {mem_load:percent} memory (rule {stage}); {to} is at "
     "{cpu_load_to:percent} and {mem_load_to:percent}"},
    {FIND_ROOM_MADE, "", "{room_spaces} {room_size} on {host}"},
    /* Why a preferred rule is left out. */
    {FIND_LEAVES_NO_HOST, "", "The rule excludes every host that {vm} may run on."},
    {FIND_LEAVES_NO_COMMON_HOST, "", "No host may run both {other_vm} and {vm}."},
    {FIND_CONTRADICTS, "", "For {vm} the rule contradicts the rule {rule}."},
    /* Why a VM cannot be powered on, or moved. */
    {FIND_RULES_HELD, "", "The VM's rules contradict each other."},
    {FIND_NO_HOST, "", "No host can run VMs."},
    {FIND_NO_HOST_FITS, "",
     "The filters of {other_vm} leave no host: of {hosts_all} hosts that are on, {stages_left}."},
    {FIND_NO_OTHER_HOST, "", "No other host can run VMs."},
    {FIND_POOL_SHORTAGE, "left_below_limit",
     "The VM reserves {need} of {resource}, but {pool_or_cluster} has only {left_below_limit} left below its "
     "limit: {missing} is missing."},
    {FIND_POOL_SHORTAGE, "",
     "The VM reserves {need} of {resource}, but {pool_or_cluster} has only {left} left to reserve: {missing} "
     "is missing."},
    {FIND_FAILOVER_SHARE_SHORT, "",
     "{missing} of the {percent} % of {resource} that is kept for failures would be missing."},
    {FIND_WAITS_FOR_HOST, "", "The VM waits for {host}, which is being woken."},
    {FIND_OUT_OF_REACH, "host.state=standby",
     "{other_vm} is registered on {host}, which is in standby and which no plan may wake: the VM cannot "
     "start "
     "before the host is on."},
    {FIND_OUT_OF_REACH, "",
     "{other_vm} is registered on {host}, which is {host_is}: the VM cannot start before the host is back, "
     "or "
     "the VM is registered elsewhere."},
    {FIND_CLOSEST, "because", "The best candidate is {host}. {because}"},
    {FIND_CLOSEST, "", "The best candidate is {host}, but {check.meaning}."},
    {FIND_CLOSEST_SHORT, "check=reservation_cpu",
     "The best candidate is {host}, where {missing} of unreserved CPU is missing. {because}"},
    {FIND_CLOSEST_SHORT, "check=reservation_mem",
     "The best candidate is {host}, where {missing} of unreserved memory is missing. {because}"},
    {FIND_CLOSEST_SHORT, "check=memory",
     "The best candidate is {host}, where {missing} of memory is missing. {because}"},
    {FIND_CLOSEST_SHORT, "",
     "The best candidate is {host}, where {missing} of free memory is missing. {because}"},
    /* A VM as a whole. */
    {FIND_OFF_HERE, "", "The VM is on this host and does not run."},
    {FIND_ON_NO_HOST, "because",
     "{vm} is on no host. {because} Most frequent reason among the hosts: {check.meaning}."},
    {FIND_ON_NO_HOST, "", "{vm} is on no host: {check.meaning}."},
    {FIND_STAYS_ALONE, "", "{vm} stays on {host}: there is no other host."},
    {FIND_STAYS, "because",
     "{vm} stays on {host}. {because} Most frequent reason among the hosts: {check.meaning}."},
    {FIND_STAYS, "to", "{vm} stays on {host}. It would gain most on {to}, but {check.meaning}."},
    {FIND_STAYS, "", "{vm} stays on {host}. Most frequent reason: {check.meaning}."},
    /* What holds a VM where it is, by check. */
    {FIND_CHECK, "check=vm_not_running", "The VM is {vm.state}; only running VMs are migrated."},
    {FIND_CHECK, "check=vm_host_unseen",
     "The VM's host {host} is {host_is}, so the state of the VM is unknown."},
    {FIND_CHECK, "check=vm_migrating from", "The VM is being migrated from {from} to {to}."},
    {FIND_CHECK, "check=vm_migrating", "An approved migration moves the VM to {to}."},
    {FIND_CHECK, "check=vm_kind", "The VM is of kind {vm.kind} ({vm.kind_meaning})."},
    {FIND_CHECK, "check=vm_immovable", "{vm} cannot be moved: {vm.immovable}."},
    {FIND_CHECK, "check=vm_mandatory_only", "{vm} is moved only when it must be: {vm.mandatory_only}."},
    {FIND_CHECK, "check=vm_sample_bad", "{^because}."},
    {FIND_CHECK, "check=vm_ft",
     "The VM and {ft_peer} are a fault-tolerant pair, which is moved only when it must be."},
    {FIND_CHECK, "check=vm_cool_down",
     "The VM is in its cool-down: {least_s-is_s:about} of {least_s:about} left."},
    {FIND_CHECK, "check=vm_rejected peer",
     "{vm} is not moved for balance, or to make room, {until:before}: {peer}."},
    {FIND_CHECK, "check=vm_rejected", "{vm} is not moved for balance, or to make room, {until:before}."},
    {FIND_CHECK, "check=vm_rules other_rule",
     "The rules {rule} and {other_rule} contradict each other for the VM."},
    {FIND_CHECK, "check=vm_rules", "The rule {rule} excludes every host that the VM may run on."},
    {FIND_CHECK, "check=unit_held",
     "The VM must stay with {other_vm}, which cannot be moved: {because.check.meaning}."},
    /* What keeps a VM off a host. */
    {FIND_CHECK, "check=host_not_on stage",
     "{host} is {host_is}, and the filter {stage} refuses it to {other_vm}{values_there}{unit_said}."},
    {FIND_CHECK, "check=host_not_on", "{host} is {host_is}."},
    {FIND_CHECK, "check=host_sleeps", "The plan puts {host} to standby."},
    {FIND_CHECK, "check=failover_host", "{host} is a dedicated failover host."},
    {FIND_CHECK, "check=host_quarantine", "{host} is in quarantine and receives no VMs."},
    {FIND_CHECK, "check=host_unhealthy",
     "A failure of {host} would not be noticed, so {host} receives no VMs."},
    {FIND_CHECK, "check=incompatible missing_more=0",
     "{host} does not offer the {not_offered} that {other_vm} needs."},
    {FIND_CHECK, "check=incompatible missing_more",
     "{host} does not offer the {not_offered} and {missing_more} more that {other_vm} needs."},
    {FIND_CHECK, "check=incompatible",
     "{other_vm} can run on {hosts} of the {hosts_all} hosts, but not on {host}."},
    {FIND_CHECK, "check=fit_filter",
     "The filter {stage} refuses {host} to {other_vm}: {refused_by} is not "
     "true{values_there}{unit_said}.{of_ovirt}"},
    {FIND_CHECK, "check=agent_missing other_vm.state=on",
     "The agent VM {other_vm}, which {host} requires, does not run there."},
    {FIND_CHECK, "check=agent_missing",
     "The agent VM {other_vm}, which {host} requires, is {other_vm.state}."},
    {FIND_CHECK, "check=rule_vm_host", "The rule {rule} keeps {other_vm} off {host}."},
    {FIND_CHECK, "check=rule_anti_affinity to",
     "The rule {rule} keeps {vm} apart from {other_vm}, which is moving to {to}."},
    {FIND_CHECK, "check=rule_anti_affinity from",
     "The rule {rule} keeps {vm} apart from {other_vm}, which is still moving from {from}."},
    {FIND_CHECK, "check=rule_anti_affinity",
     "The rule {rule} keeps {vm} apart from {other_vm}, which is on {host}."},
    {FIND_CHECK, "check=ft_peer",
     "{ft_peer}, the other half of the fault-tolerant pair of {other_vm}, is on {host}."},
    {FIND_CHECK, "check=fit_quantity at_most",
     "{host} is at the limit of {stage}: {other_vm} takes {takes}, {used} of {at_most} are taken."},
    {FIND_CHECK, "check=fit_quantity", "{host} has no limit for {stage}, so {other_vm} cannot come there."},
    {FIND_CHECK, "check=fit_numa cell_cpus",
     "{other_vm} needs {cell_cpus} CPUs in a NUMA cell; in cell {cell} of {host}, {used} of {at_most} are "
     "taken.{needed_by}"},
    {FIND_CHECK, "check=fit_numa cell_dedicated",
     "{other_vm} needs {cell_dedicated} dedicated CPUs in a NUMA cell; in cell {cell} of {host}, {used} of "
     "{at_most} are "
     "taken.{needed_by}"},
    {FIND_CHECK, "check=fit_numa cell_mem_mb",
     "{other_vm} needs {cell_mem_mb} of memory in a NUMA cell; in cell {cell} of {host}, {used} of {at_most} "
     "MiB are "
     "taken.{needed_by}"},
    {FIND_CHECK, "check=fit_numa cell_pages_mb",
     "{other_vm} needs {cell_pages_mb} in memory pages of a size that cell {cell} of {host} has too few "
     "of.{needed_by}"},
    {FIND_CHECK, "check=fit_numa cells=0", "{host} has no NUMA cell that {other_vm} can use.{needed_by}"},
    {FIND_CHECK, "check=fit_numa cells",
     "{other_vm} has more NUMA cells than {host}, which has {cells}.{needed_by}"},
    {FIND_CHECK, "check=fit_numa",
     "The NUMA cells of {other_vm} do not fit into {host} all at once.{needed_by}"},
    {FIND_CHECK, "check=fit_device",
     "{other_vm} needs {takes} devices of a kind of which it finds {at_most} on {host}.{needed_by}"},
    {FIND_CHECK, "check=rule_affinity", "The VM must stay with {other_vm}, which is on {other_host}."},
    {FIND_CHECK, "check=reservation_cpu",
     "The VM reserves {need} of CPU, but {host} has only {left} left to reserve."},
    {FIND_CHECK, "check=reservation_mem",
     "The VM reserves {need} of memory, but {host} has only {left} left to reserve."},
    {FIND_CHECK, "check=spare_capacity kept",
     "The VM reserves {need} of {resource}, but {kept} of the {left} that {host} has left to reserve is kept "
     "for restarts after a failure."},
    {FIND_CHECK, "check=spare_capacity hosts",
     "If {hosts} hosts failed together, {host} among them, no other host would have room to restart the VM."},
    {FIND_CHECK, "check=spare_capacity",
     "If {host} failed, no other host would have room to restart the VM."},
    {FIND_CHECK, "check=memory has",
     "The VM needs {need} of memory, but {host} has only {left} left of the {limit} that mem_overcommit "
     "makes of its {has}."},
    {FIND_CHECK, "check=memory",
     "The VM needs {need} of memory, but {host} has only {left} of {limit} left."},
    {FIND_CHECK, "check=memory_free reclaimed_mb",
     "The VM needs {need} of physical memory, but only {left} is free on {host} or may be reclaimed there."},
    {FIND_CHECK, "check=memory_free",
     "The VM needs {need} of physical memory, but only {left} is free on {host}."},
    {FIND_CHECK, "check=host_load",
     "With the VM, {host} would be at {load:percent} of {resource}; at most {load_max:percent} is right for "
     "a "
     "VM that need not leave its host."},
    {FIND_CHECK, "check=host_distrusted",
     "{host} was lost {times_lost} with its VMs, last at {at:clock}; no VM comes to it for balance before "
     "{until:clock}."},
    {FIND_CHECK, "check=avoid vm host failed=1",
     "A move of {vm} to {host} failed; next try {until:clock}.{peer_says}"},
    {FIND_CHECK, "check=avoid vm host",
     "Moves of {vm} to {host} failed {failed} times; next try {until:clock}.{peer_says}"},
    {FIND_CHECK, "check=avoid vm",
     "Moves of {vm} to {failed} hosts failed; next try {until:clock}.{peer_says}"},
    {FIND_CHECK, "check=avoid host",
     "Moves of {failed} VMs to {host} failed; next try {until:clock}.{peer_says}"},
    {FIND_CHECK, "check=avoid",
     "Before {until:clock}, VMs leave only hosts that must be emptied, and no others move: {peer}"},
    /* Whether the move is worth it. */
    {FIND_CHECK, "check=mandatory_only migration_threshold",
     "At migration threshold 1 only mandatory moves are made."},
    {FIND_CHECK, "check=mandatory_only failed=0",
     "Only mandatory moves are made before {until:clock}: {peer}"},
    {FIND_CHECK, "check=mandatory_only failed",
     "Only mandatory moves are made before {until:clock}, because {failed} of the last moves "
     "failed.{peer_says}"},
    {FIND_CHECK, "check=mandatory_only",
     "The measurements of {vms} of {vms_all} VMs are missing, old or implausible: only mandatory moves are "
     "made."},
    {FIND_CHECK, "check=target_reached", "The imbalance is {imbalance:4}, within the target of {target:4}."},
    {FIND_RULE_NOT_FROM, "", "No rule takes VMs from {from} now, at {cpu_load:percent} CPU (rule {stage})."},
    {FIND_RULE_NOT_VM, "", "The rule {stage} takes VMs from {from}, but not this one."},
    {FIND_RULE_NOT_TO, "", "The rule {stage} sends no VM to {to} now, at {cpu_load_to:percent} CPU."},
    {FIND_RULE_NO_FIT, "", "By the rule {stage}, {to} is too full for the VM, at {cpu_load_to:percent} CPU."},
    {FIND_RULE_RANKED, "", "The rule {stage} allows it, but the VM's pipeline ranks another host higher."},
    {FIND_RULE_OTHER_VM, "", "The rule {stage} allows it, but other VMs come first in this pass."},
    {FIND_CHECK, "check=no_gain",
     "The move would not lower the imbalance: {imbalance_after:4} after it, {imbalance:4} now."},
    {FIND_CHECK, "check=min_goodness",
     "The move would lower the imbalance by {gain:4}; at least {gain_min:4} is required."},
    {FIND_CHECK, "check=fit_bucket bucket",
     "The bucket {stage} ranks {host} below {from} for {other_vm}: {bucket} on {host}, {bucket_own} on "
     "{from}; a lower number is better."},
    {FIND_CHECK, "check=fit_bucket",
     "The bucket {stage} has no number on {host}, so it ranks {host} below {from} for {other_vm}."},
    {FIND_CHECK, "check=fit_score gain",
     "{stage} scores {host} lower for {other_vm}: {score:2} on {host}, {score_own:2} on {from} (0: worst "
     "host, 1: best). The move would lower the imbalance by {gain:4}; the lower score takes {score_cost:4} "
     "off (score_weight {score_weight}), and at least {gain_min:4} must be left."},
    {FIND_CHECK, "check=fit_score",
     "{stage} scores {host} lower for {other_vm} than the chosen host {to}: {score:2} on {host}, "
     "{score_chosen:2} on {to} (0: worst host, 1: best)."},
    {FIND_REFUSED, "",
     "The best of them, {vm} from {from} to {to}, would lower the imbalance to {imbalance_after:4}. "
     "{because}"},
    {FIND_RATIO, "ratio_min>0",
     "Migration threshold {migration_threshold} makes a move only if it gains {ratio_asked}."},
    {FIND_RATIO, "", "Migration threshold {migration_threshold} makes a move only if it adds no shortage."},
    {FIND_CHOSEN, "ratio>0.005",
     "The plan moves the VM here. The migration takes {duration_s:about}, at {cpu_cost_mhz_s/duration_s} of "
     "CPU, and would {shortage_ended}, worth {ratio:2} times its cost."},
    {FIND_CHOSEN, "",
     "The plan moves the VM here. The migration takes {duration_s:about}, at {cpu_cost_mhz_s/duration_s} of "
     "CPU, and would {shortage_ended}."},
    {FIND_CHECK, "check=cost_benefit stable_s/duration_s<1 ratio<0.005",
     "The migration takes {duration_s:about}; today's loads are expected to last {stable_s:about}."},
    {FIND_CHECK, "check=cost_benefit failed",
     "The migration takes {duration_s:about}, at {cpu_cost_mhz_s/duration_s} of CPU, and gains too little "
     "for "
     "what the VM would lack if {host} were lost again: it was lost {times_lost} with its VMs, last at "
     "{at:clock}."},
    {FIND_CHECK, "check=cost_benefit ratio>0.005",
     "The migration takes {duration_s:about}, at {cpu_cost_mhz_s/duration_s} of CPU. It would "
     "{shortage_ended}, worth {ratio:2} times its cost; migration threshold {migration_threshold} asks for "
     "{ratio_asked}."},
    {FIND_CHECK, "check=cost_benefit",
     "The migration takes {duration_s:about}, at {cpu_cost_mhz_s/duration_s} of CPU, and would "
     "{shortage_ended}; migration threshold {migration_threshold} asks for {ratio_asked}."},
    {FIND_CHECK, "check=worst_case cpu_worse_now_mhz mem_worse_now_mb",
     "The move would add a shortage of {cpu_worse_now_mhz} of CPU and {mem_worse_now_mb} of memory at "
     "today's load."},
    {FIND_CHECK, "check=worst_case cpu_worse_now_mhz",
     "The move would add a shortage of {cpu_worse_now_mhz} of CPU at today's load."},
    {FIND_CHECK, "check=worst_case mem_worse_now_mb",
     "The move would add a shortage of {mem_worse_now_mb} of memory at today's load."},
    {FIND_CHECK, "check=worst_case cpu_worse_mhz mem_worse_mb",
     "In the worst case, the move would add a shortage of {cpu_worse_mhz} of CPU and {mem_worse_mb} of "
     "memory."},
    {FIND_CHECK, "check=worst_case mem_worse_mb",
     "In the worst case, the move would add a shortage of {mem_worse_mb} of memory."},
    {FIND_CHECK, "check=worst_case",
     "In the worst case, the move would add a shortage of {cpu_worse_mhz} of CPU."},
    {FIND_CHECK, "check=moves_max moves_max=1", "The plan already has its maximum of 1 move (moves_max)."},
    {FIND_CHECK, "check=moves_max", "The plan already has its maximum of {moves_max} moves (moves_max)."},
    {FIND_CHECK, "check=less_gain for_vm",
     "No exchange of as few moves that passes all checks brings the VM here and lowers the imbalance more "
     "than the one that brings it to {to}."},
    {FIND_CHECK, "check=less_gain reclaimed_mb",
     "For the VM, the hypervisor would have to reclaim {reclaimed_mb} of memory on {host}; the imbalance "
     "would "
     "be {imbalance_after:4}, with the VM on {to} it is {imbalance_chosen:4}."},
    {FIND_CHECK, "check=less_gain imbalance_after={imbalance_chosen}",
     "The imbalance would be equal, {imbalance_after:4}, with the VM on {to}, which is first among equals."},
    {FIND_CHECK, "check=less_gain",
     "The imbalance would be {imbalance_after:4}; with the VM on {to} it is {imbalance_chosen:4}."},
    {FIND_CHECK, "check=plan_worse",
     "By itself this move would do as well: an imbalance of {imbalance_after:4}, with the VM on {to} "
     "{imbalance_chosen:4}. But with the other moves of the plan the deep search found nothing better than "
     "{to}."},
    /* The other checks come without figures. */
    {FIND_CHECK, "", "{^check.meaning}."},
    {FIND_MEANING, "", "{^check.meaning}."},
    /* Why a host stays as it is, by check. */
    {FIND_POWER, "power=host_quarantine host.quarantine",
     "{host} is in quarantine: it receives no VMs, does not count as capacity, and is neither put to standby "
     "nor woken."},
    {FIND_POWER, "power=host_quarantine",
     "A failure of {host} would not be noticed: it receives no VMs, does not count as capacity, and is not "
     "put to standby."},
    {FIND_POWER, "power=controller_doubted", "{host} stays on: {host.power_fault}."},
    {FIND_POWER, "power=vsan",
     "{host} is part of vSAN: its disks hold data of other hosts' VMs, so it is never put to standby."},
    {FIND_POWER, "power=serves_storage",
     "The disks of {host} hold data of other hosts' VMs, so it is never put to standby."},
    {FIND_POWER, "power=own_use",
     "{host} itself uses {has} of {resource}, which its VMs do not explain. A host that runs something of "
     "its "
     "own is not put to standby."},
    {FIND_POWER, "power=woken reason=asked",
     "An admin requested the wake of {host} {is_s:about} ago; {host} stays on for at least {least_s:about} "
     "(dpm.asked_on_s). `ballast standby {host}` puts {host} to standby earlier."},
    {FIND_POWER, "power=woken reason=expected_demand",
     "{host} was woken {is_s:about} ago for an expected rise of demand; it stays on until the rise is over, "
     "{least_s:about} after the wake."},
    {FIND_POWER, "power=woken",
     "{host} was woken {is_s:about} ago: {reason.meaning}. It stays on for at least {least_s:about}, because "
     "DPM checks demand that far back before a power-off."},
    {FIND_POWER, "power=hosts_min hosts=1",
     "Without {host}, 1 host would be on; at least {hosts_min} must stay on (dpm.hosts_min)."},
    {FIND_POWER, "power=hosts_min",
     "Without {host}, {hosts} hosts would be on; at least {hosts_min} must stay on (dpm.hosts_min)."},
    {FIND_POWER, "power=quorum",
     "Without {host}, {hosts} hosts would be on; {hosts_min} must be, so that the cluster keeps its quorum "
     "should one fail."},
    {FIND_POWER, "power=cpu_min",
     "Without {host}, the hosts would have {has} of CPU; at least {least} must stay on (dpm.cpu_min_mhz)."},
    {FIND_POWER, "power=mem_min",
     "Without {host}, the hosts would have {has} of memory; at least {least} must stay on (dpm.mem_min_mb)."},
    {FIND_POWER, "power=reserved",
     "Without {host}, the hosts would have {has} of {resource}, but {least} is reserved."},
    {FIND_POWER, "power=rule_last", "No other host that the rule {rule} allows is on."},
    {FIND_POWER, "power=needed because vm", "{vm} needs another host, and could run on {host}. {because}"},
    {FIND_POWER, "power=needed because", "A fault of this plan names {host}. {because}"},
    {FIND_POWER, "power=needed", "{vm} waits for a host, and without {host} it would fit on none."},
    {FIND_POWER, "power=vm_stays check=none",
     "only an admin can move {vm}, and {host} would have to wait for that."},
    {FIND_POWER, "power=vm_stays check=vm_immovable", "{vm} cannot be moved: {vm.immovable}."},
    {FIND_POWER, "power=vm_stays check=vm_mandatory_only",
     "{vm} is moved only when it must be: {vm.mandatory_only}."},
    {FIND_POWER, "power=vm_stays", "{vm} stays on {host}: {check.meaning}."},
    {FIND_POWER, "power=raises_high vm",
     "{vm} could only move to hosts that would then be above {load_max:percent}."},
    {FIND_POWER, "power=raises_high",
     "Without {host}, the {resource} score for load above the target range would rise from {high:3} to "
     "{high_after:3}."},
    {FIND_POWER, "power=vm_no_room vm because", "{vm} cannot leave {host}. {because}"},
    {FIND_POWER, "power=vm_no_room vm",
     "{vm} fits on no other host once the other VMs of {host} have moved."},
    {FIND_POWER, "power=keeps_low",
     "Without {host}, the scores for load below the target range would go from {cpu_low:3} to "
     "{cpu_low_after:3} (CPU) and from {mem_low:3} to {mem_low_after:3} (memory)."},
    {FIND_POWER, "power=failover_demand hosts=1",
     "Without {host}, the failure of 1 more host could leave {has} of {resource}, but the VMs demand "
     "{need}."},
    {FIND_POWER, "power=failover_demand hosts",
     "Without {host}, the failure of {hosts} more hosts could leave {has} of {resource}, but the VMs demand "
     "{need}."},
    {FIND_POWER, "power=failover_demand",
     "Without {host}, {percent} % of the capacity kept for failures would leave {has} of {resource}, but the "
     "VMs demand {need}."},
    {FIND_POWER, "power=cost_benefit evacuate_s",
     "Evacuating {host} takes {evacuate_s:about}; demand is expected to change before the host is off."},
    {FIND_POWER, "power=cost_benefit resource=CPU",
     "With {host} off for {off_s:about}, the benefit in CPU would be {cpu_benefit_mhz_s/cpu_cost_mhz_s:1} "
     "times the cost; {ratio_min} times is required (dpm.ratio)."},
    {FIND_POWER, "power=cost_benefit",
     "With {host} off for {off_s:about}, the benefit in memory would be {mem_benefit_mb_s/mem_cost_mb_s:1} "
     "times the cost; {ratio_min} times is required (dpm.ratio)."},
    {FIND_POWER, "power=bursts",
     "{other_host} is the host with the most room for {vm}, but in the worst case (four standard deviations "
     "above the mean of an hour, or the highest rise of the last day) its VMs and {vm} would want {least} of "
     "{resource}, and {other_host} has "
     "{has}.{correlated}"},
    {FIND_POWER, "power=quiet_short",
     "Without {host}, the other hosts serve a total demand of {has} of {resource} within the target range. "
     "Going by past quiet times ({times} known), demand rises above that in "
     "{is_s:about}; at least {least_s:about} is required (dpm.off_min_s)."},
    {FIND_POWER, "power=missed_before",
     "Going by past quiet times ({times} known; {times_sudden} ended in a sudden rise, to "
     "{need} of {resource} on average), demand rises again in {is_s:about}. {other_host} is the host with "
     "the "
     "most room for {vm}; its VMs and {vm} would then want {least}, and it has {has}. What would be missing "
     "until {host} is back is worth more than its standby saves."},
    {FIND_STAYS_ON, "hosts=1",
     "1 host stays on: until {at:clock} demand was higher than the others serve, and going by past quiet "
     "times "
     "it may be so again too soon. If demand stays as low as it is, this ends by {until:clock}."},
    {FIND_STAYS_ON, "",
     "{hosts} hosts stay on: until {at:clock} demand was higher than fewer hosts serve, and going by past "
     "quiet "
     "times it may be so again too soon. If demand stays as low as it is, this ends for the first of them by "
     "{until:clock}."},
    {FIND_POWER, "power=high",
     "The fullest host is at {fullest}; the target range ends at {load_max:percent}."},
    {FIND_POWER, "power=not_low resource=CPU",
     "No host{but_asleep} is below {load_min:percent} of CPU: all hosts that are on are needed."},
    {FIND_POWER, "power=not_low resource=memory",
     "No host{but_asleep} is below {load_min:percent} of memory: all hosts that are on are needed."},
    {FIND_POWER, "power=not_low",
     "No host{but_asleep} is below {load_min:percent} of CPU or of memory: all hosts that are on are "
     "needed."},
    {FIND_POWER, "power=moves_max vms=1",
     "{host} has 1 VM to move, but the plan may have only {moves_max} more moves (moves_max)."},
    {FIND_POWER, "power=moves_max",
     "{host} has {vms} VMs to move, but the plan may have only {moves_max} more moves (moves_max)."},
    {FIND_POWER, "power=others_coming", "{other_host} is being woken, and its relief is not measured yet."},
    {FIND_POWER, "power=after_wake",
     "{other_host} was woken {is_s:about} ago: {reason.meaning}. No host is put to standby until "
     "{least_s:about} after the wake."},
    {FIND_POWER, "power=reserve",
     "A pipeline keeps hosts without VMs in reserve, and no others are on or missing."},
    {FIND_POWER, "power=window until",
     "No host is put to standby before {until} (dpm.windows, dpm.ready_by)."},
    {FIND_POWER, "power=window",
     "No host is put to standby now (dpm.windows, dpm.ready_by); the next time at which one may be is "
     "unknown."},
    {FIND_POWER, "power=window_ends",
     "Evacuating {host} takes {evacuate_s}, but the standby window ends at {until}."},
    {FIND_POWER, "power=ready_soon",
     "{host} would be off for only {is_s} before it must be woken to be on by {ready_by} (dpm.ready_by); at "
     "least {least_s} is required (dpm.off_min_s)."},
    {FIND_POWER, "power=ready_later",
     "{host} is in standby, and is woken at {at} at the latest to be on by {ready_by} (dpm.ready_by)."},
    {FIND_POWER, "power=expected_demand", "{^expected_load}. {^load_then}."},
    {FIND_POWER, "power=needed_soon",
     "{^expected_load}. Without {host}, the remaining hosts would then be at {load:percent}, and {host} "
     "would be woken again before standby pays off."},
    /* The other checks come without figures. */
    {FIND_POWER, "", "{^power.meaning}."},
    {FIND_DPM_OFF, "host.state=standby",
     "Power management is off: dpm.enabled is false. {host} stays in standby until an admin wakes it."},
    {FIND_DPM_OFF, "", "Power management is off: dpm.enabled is false."},
    {FIND_OUTLOOK, "",
     "Until {until:clock} the CPU demand of all VMs is expected to peak at {expected:mhz}, at {at:clock}, as "
     "on {days_before}; it is {now:mhz} now."},
    {FIND_OUTLOOK_OFF, "", "Expected demand is not considered: dpm.proactive is false."},
};

const struct phrase wording_phrases[] = {
    {"peer_says", "peer", " The reason given: {peer}"},
    {"peer_says", "", ""},
    {"needed_by", "stage", " The filter {stage} asks for this."},
    {"needed_by", "", ""},
    /* A VM and its share, hosts and their load. */
    {"vm_with_share", "", "{vm} ({cpu_mhz}, {mem_mb})"},
    {"load_here", "cpu_load>1.005",
     " (its VMs are entitled to {cpu_load:percent} of CPU, {mem_load:percent} of memory)"},
    {"load_here", "mem_load>1.005",
     " (its VMs are entitled to {cpu_load:percent} of CPU, {mem_load:percent} of memory)"},
    {"load_here", "cpu_load", " (CPU {cpu_load:percent}, memory {mem_load:percent})"},
    {"load_here", "", ""},
    {"used_here", "vms>0", " (its VMs want {cpu_load:percent} of CPU, {mem_load:percent} of memory)"},
    {"used_here", "", ""},
    {"load_there", "cpu_load_to>1.005",
     " (its VMs are entitled to {cpu_load_to:percent} of CPU, {mem_load_to:percent} of memory)"},
    {"load_there", "mem_load_to>1.005",
     " (its VMs are entitled to {cpu_load_to:percent} of CPU, {mem_load_to:percent} of memory)"},
    {"load_there", "", " (CPU {cpu_load_to:percent}, memory {mem_load_to:percent})"},
    {"fullest", "cpu_fullest",
     "CPU {cpu_load_fullest:percent} ({cpu_fullest}) and memory {mem_load_fullest:percent} ({mem_fullest})"},
    {"fullest", "", "nothing"},
    {"fullest_after", "cpu_load_fullest", " Afterwards the VMs of the fullest host want {fullest}."},
    {"fullest_after", "", ""},
    {"vcpus", "vm.vcpus=1", "its 1 vCPU"},
    {"vcpus", "", "its {vm.vcpus} vCPUs"},
    /* A host that cannot receive VMs. */
    {"times_lost", "failed=1", "once"},
    {"times_lost", "failed=2", "twice"},
    {"times_lost", "", "{failed} times"},
    {"host_is", "host.state=on host.quarantine", "in quarantine"},
    {"host_is", "host.state=on host.unhealthy", "not watched for failures"},
    {"host_is", "host.state=on", "about to be put to standby or into maintenance"},
    {"host_is", "host.state=maintenance", "in maintenance"},
    {"host_is", "host.state=entering_maintenance", "entering maintenance"},
    {"host_is", "host.state=standby", "in standby"},
    {"host_is", "host.state=entering_standby", "entering standby"},
    {"host_is", "host.state=powering_on", "being woken"},
    {"host_is", "host.state=disconnected", "disconnected"},
    {"host_is", "", "?"},
    {"disconnected_why", "host.disconnected_why", " ({host.disconnected_why})"},
    {"disconnected_why", "", ""},
    /* Why a VM moves. */
    {"why_move", "reason=maintenance", ", because {from} is entering maintenance"},
    {"why_move", "reason=standby", ", because {from} is entering standby"},
    {"why_move", "reason=rule rule", ", because on {from} it violates the rule {rule}"},
    {"why_move", "reason=rule stage", ", because the stage {stage} refuses {from}"},
    {"why_move", "reason=rule ft_peer",
     ", because {ft_peer}, the other half of its fault-tolerant pair, is on {from}"},
    {"why_move", "reason=rule", ", because it is not compatible with {from}"},
    {"why_move", "reason=host_overcommitted", ", because the reservations on {from} exceed its capacity"},
    {"why_move", "reason=balance_cpu because", " to balance CPU load. The load is not even yet: {because}"},
    {"why_move", "reason=balance_mem from.squeezes>0 because",
     " to balance memory load: {from} has taken {from.squeezes} from its VMs. The load is not even yet: "
     "{because}"},
    {"why_move", "reason=balance_mem from.squeezes>0",
     " to balance memory load: {from} has taken {from.squeezes} from its VMs"},
    {"why_move", "reason=balance_mem because",
     " to balance memory load. The load is not even yet: {because}"},
    {"why_move", "reason=balance_cpu", " to balance CPU load"},
    {"why_move", "reason=balance_mem", " to balance memory load"},
    {"why_move", "reason=spare_capacity for_vm", ", to keep room on {from} for a restart of {for_vm}"},
    {"why_move", "reason=spare_capacity", ", because {from} is a dedicated failover host"},
    {"why_move", "reason=exchange !for_vm={vm}", ", in an exchange that lets {for_vm} move"},
    {"why_move", "reason=exchange", ", in an exchange: the host that it goes to has no room yet"},
    {"why_move", "reason=prerequisite for_vm !for_vm={vm}", ", to make room on {from} for {for_vm}"},
    {"why_move", "reason=quarantine from.quarantine", ", because {from} is in quarantine"},
    {"why_move", "reason=quarantine", ", because a failure of {from} would not be noticed"},
    {"why_move", "reason=agent", ", because the agent VM of {from} needs its reservation there"},
    {"why_move", "reason=consolidate", ", so that {from} can go to standby"},
    {"why_move", "reason=high_utilization", ", because {from} is above the target range"},
    {"why_move", "reason=expected_demand",
     ", because {from} is expected to rise above the target range soon"},
    {"why_move", "reason=room", ", to make room for {because}"},
    {"why_move", "reason=policy because", ": {because}"},
    {"why_move", "", " ({reason.meaning})"},
    {"earlier", "moves", " The loads count the moves before it."},
    {"earlier", "", ""},
    {"reclaims", "reclaimed_mb",
     " For it the hypervisor must reclaim {reclaimed_mb} of consumed but idle memory on {to}."},
    {"reclaims", "", ""},
    {"bound_ruled", "imbalance_least_ruled", ", and with the rules none below {imbalance_least_ruled:4}"},
    {"bound_ruled", "", ""},
    {"bound_moves", "moves_least=1", " At least 1 move is needed to reach the target."},
    {"bound_moves", "moves_least", " At least {moves_least} moves are needed to reach the target."},
    {"bound_moves", "", ""},
    {"room_spaces", "spaces=1", "1 more VM"},
    {"room_spaces", "", "{spaces} more VMs"},
    {"room_vms", "spaces=1", "1 VM"},
    {"room_vms", "", "{spaces} VMs"},
    {"room_size", "room_cpus>0 room_mem_mb>0", "of {room_cpus} vCPUs and {room_mem_mb}{in_cells}"},
    {"room_size", "room_cpus>0", "of {room_cpus} vCPUs{in_cells}"},
    {"room_size", "", "of {room_mem_mb}{in_cells}"},
    {"in_cells", "room_cells=1", " in one NUMA cell"},
    {"in_cells", "room_cells>1", " in {room_cells} NUMA cells"},
    {"in_cells", "", ""},
    /* What a move would change for others, and what a level asks for. */
    {"shortage_ended", "cpu_benefit_mhz_s>0.5 mem_benefit_mb_s>0.5",
     "end a shortage of {cpu_benefit_mhz_s/stable_s} of CPU and {mem_benefit_mb_s/stable_s} of memory for "
     "{stable_s:about}"},
    {"shortage_ended", "cpu_benefit_mhz_s>0.5 mem_benefit_mb_s<-0.5",
     "end a shortage of {cpu_benefit_mhz_s/stable_s} of CPU but add one of {mem_benefit_mb_s/stable_s:minus} "
     "of memory for {stable_s:about}"},
    {"shortage_ended", "cpu_benefit_mhz_s<-0.5 mem_benefit_mb_s>0.5",
     "end a shortage of {mem_benefit_mb_s/stable_s} of memory but add one of "
     "{cpu_benefit_mhz_s/stable_s:minus} of CPU for {stable_s:about}"},
    {"shortage_ended", "cpu_benefit_mhz_s<-0.5 mem_benefit_mb_s<-0.5",
     "add a shortage of {cpu_benefit_mhz_s/stable_s:minus} of CPU and {mem_benefit_mb_s/stable_s:minus} of "
     "memory for {stable_s:about}"},
    {"shortage_ended", "cpu_benefit_mhz_s>0.5 cpu_benefit_mhz_s/stable_s<0.5",
     "end a shortage of less than 1 MHz of CPU"},
    {"shortage_ended", "cpu_benefit_mhz_s>0.5",
     "end a shortage of {cpu_benefit_mhz_s/stable_s} of CPU for {stable_s:about}"},
    {"shortage_ended", "mem_benefit_mb_s>0.5 mem_benefit_mb_s/stable_s<0.5",
     "end a shortage of less than 1 MiB of memory"},
    {"shortage_ended", "mem_benefit_mb_s>0.5",
     "end a shortage of {mem_benefit_mb_s/stable_s} of memory for {stable_s:about}"},
    {"shortage_ended", "cpu_benefit_mhz_s<-0.5 cpu_benefit_mhz_s/stable_s>-0.5",
     "add a shortage of less than 1 MHz of CPU"},
    {"shortage_ended", "cpu_benefit_mhz_s<-0.5",
     "add a shortage of {cpu_benefit_mhz_s/stable_s:minus} of CPU for {stable_s:about}"},
    {"shortage_ended", "mem_benefit_mb_s<-0.5 mem_benefit_mb_s/stable_s>-0.5",
     "add a shortage of less than 1 MiB of memory"},
    {"shortage_ended", "mem_benefit_mb_s<-0.5",
     "add a shortage of {mem_benefit_mb_s/stable_s:minus} of memory for {stable_s:about}"},
    {"shortage_ended", "", "end no shortage"},
    {"ratio_asked", "ratio_min>1", "more than {ratio_min} times its cost"},
    {"ratio_asked", "ratio_min=1", "more than its cost"},
    {"ratio_asked", "ratio_min=0.25", "more than a quarter of its cost"},
    {"ratio_asked", "ratio_min>0", "more than {ratio_min:2} times its cost"},
    {"ratio_asked", "", "no added shortage"},
    /* What waking a host brings. */
    {"after_wake", "cpu_high>0", "Other hosts are needed besides {host}."},
    {"after_wake", "mem_high>0", "Other hosts are needed besides {host}."},
    {"after_wake", "", "With {host} no host is above {load_max:percent}."},
    {"boot", "host.boot_s", "takes {boot_s}"},
    {"boot", "", "is assumed to take {boot_s}"},
    {"tries", "host.wake_tries_s", ", up to {host.wake_tries_s} more if only its last method wakes it"},
    {"tries", "", ""},
    /* What putting a host to standby takes and saves. */
    {"evacuated", "vms=0", "has no VMs and is"},
    {"evacuated", "vms=1", "is evacuated (1 VM) and"},
    {"evacuated", "", "is evacuated ({vms} VMs) and"},
    {"stay_off", "host.off_vms", " These VMs do not run, and stay there: {host.off_vms}."},
    {"stay_off", "", ""},
    {"saving", "watts", ", which saves about {watts} W"},
    {"saving", "", ""},
    {"worth_of_sleep", "cpu_cost_mhz_s>0 mem_cost_mb_s>0",
     "The benefit is {cpu_benefit_mhz_s/cpu_cost_mhz_s} times the cost for CPU and "
     "{mem_benefit_mb_s/mem_cost_mb_s} times for memory ({ratio_min} required)"},
    {"worth_of_sleep", "cpu_cost_mhz_s>0",
     "The benefit is {cpu_benefit_mhz_s/cpu_cost_mhz_s} times the cost for CPU ({ratio_min} required)"},
    {"worth_of_sleep", "mem_cost_mb_s>0",
     "The benefit is {mem_benefit_mb_s/mem_cost_mb_s} times the cost for memory ({ratio_min} required)"},
    {"worth_of_sleep", "", "That costs nothing"},
    {"correlated", "correlation",
     " The demands of the VMs rise and fall together (correlation {correlation:2})."},
    {"correlated", "", ""},
    {"but_asleep", "hosts_asleep>0", " except those that the plan puts to standby"},
    {"but_asleep", "", ""},
    /* What is expected. */
    {"expected_load", "at>{time}",
     "demand is expected to reach {expected} of {resource} by {at:clock}, as on {days_before}"},
    {"expected_load", "",
     "demand is expected at {expected} of {resource} since {at:clock}, as on {days_before}"},
    {"days_before", "days_alike=working_days", "{days} of the last {days_all} working days"},
    {"days_before", "days_alike=weekends", "{days} of the last {days_all} weekend days"},
    {"days_before", "", "the same weekday in {days} of the last {days_all} weeks"},
    {"load_then", "hosts=1", "the host that is on would then be at {load:percent}"},
    {"load_then", "",
     "the {hosts} hosts that are on or being woken would then be at {load:percent} on average"},
    /* Parts of faults. */
    {"violates", "rule", "violates the rule {rule}"},
    {"violates", "ft_peer", "runs beside the other half of its fault-tolerant pair"},
    {"violates", "stage", "is refused by the stage {stage}"},
    {"violates", "", "is not compatible with the host"},
    {"hosts_run_vms", "hosts=0", "No host runs VMs"},
    {"hosts_run_vms", "hosts=1", "1 host runs VMs"},
    {"hosts_run_vms", "", "{hosts} hosts run VMs"},
    {"failures", "hosts_min=1", "1 host"},
    {"failures", "", "{hosts_min} hosts"},
    {"missing_share", "cpu_need_mhz>0 mem_need_mb>0", "{cpu_need_mhz} and {mem_need_mb}"},
    {"missing_share", "cpu_need_mhz>0", "{cpu_need_mhz}"},
    {"missing_share", "", "{mem_need_mb}"},
    {"if_lost", "hosts=2", "If {host} and {from} failed together"},
    {"if_lost", "hosts", "If {hosts} hosts failed together, {host} and {from} among them"},
    {"if_lost", "", "If {host} failed"},
    {"woken_for_it", "other_host", " {other_host} is being woken for it."},
    {"woken_for_it", "", ""},
    {"vms_unprotected", "vms>1", " {vms} VMs in all have no failover capacity for this reason."},
    {"vms_unprotected", "", ""},
    {"pool_or_cluster", "pool", "pool {pool}"},
    {"pool_or_cluster", "", "the cluster"},
};

const size_t wording_templates_count = sizeof wording_templates / sizeof *wording_templates;
const size_t wording_phrases_count = sizeof wording_phrases / sizeof *wording_phrases;
