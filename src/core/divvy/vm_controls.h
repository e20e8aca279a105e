/* vm_controls.h: the CPU controls of VMs on hosts that have no pools (§3.1.7).
 *
 * Such a host (plain KVM: libvirt) divides its CPU among its VMs by one weight each, and holds each below its
 * own limit. The pool tree's part on the host (pool_parts.h) is therefore flattened into weights:
 *
 *   weight of a VM = max(its part of the shares, its entitlement on this host / λ), or the latter alone if it
 *                    is entitled to less than it demands
 *
 * A VM's part of the shares: those of its pool on the host, times its own among its siblings'. λ: MHz that a
 * share is worth below the root. If demand exceeds the capacity, that is the λ with which the host's tree is
 * divided (divvy.h); else the idle MHz are added to the entitlements by shares first, so that λ has no step
 * where demand reaches the capacity.
 *
 * What follows, checked by tests/property/vm_controls.c:
 *   - A host that divides by these weights gives each VM its entitlement at the demand of the pass: what a VM
 *     leaves goes to its pool first, and a reservation holds.
 *   - A VM that wakes up weighs its shares at once. Until the next pass its pool may then weigh up to twice
 *     its shares.
 *   - A VM that the configuration neither holds in a pool nor gives controls of its own keeps its admin's.
 *   - A pool's limit lowers the weights, so it holds where the host has no idle CPU. It is not divided into
 *     limits of VMs: one would be held back while another leaves its part idle, for a whole interval.
 *   - A VM's own limit is handed on as it is. Memory is not controlled: hypervisors without pools enforce
 *     limits of memory by ending the VM.
 * Only differences worth making are listed: beyond 5 % and what the coarsest host can express. */
#ifndef BALLAST_CORE_VM_CONTROLS_H
#define BALLAST_CORE_VM_CONTROLS_H

#include <ballast/arena.h>
#include <ballast/plan.h>

/* The range of weights, in shares: what hosts with either version of control groups can express. */
#define VM_CONTROLS_SHARES_MIN 10.0
#define VM_CONTROLS_SHARES_MAX 100000.0

/* The controls of each VM, by VM. demand: by resource and VM. Without snap->vm_controls: those of their
 * admins. O(V + P · log V) for P parts of pools. */
struct vm_control *vm_controls_targets(const struct snapshot *snap, double *const demand[RES_COUNT],
                                       struct arena *a);

/* The differences that are worth setting, by host, then VM. VMs that are being migrated are left alone until
 * they have arrived, as are hosts that are not up. */
void vm_controls(const struct snapshot *snap, double *const demand[RES_COUNT], struct arena *a,
                 struct vm_setting_due **ret, uint32_t *ret_n);

#endif
