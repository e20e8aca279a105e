/* ready_by.h: power management by the snapshot's schedule (struct schedule_facts).
 *
 * At ready_by the managed hosts that are on must have the required capacity. Missing hosts are chosen in the
 * order of all wakes (rank.c). Each is woken its boot time before ready_by, with a margin of one interval, in
 * as many rounds as dpm.changes_max requires, by the last pass that is in time.
 *
 * While power_off is false, no host is put to standby. Nor is a host that could not be evacuated before
 * power_off becomes false, or that ready_by needs back within dpm.off_min_s. A host that was woken for this
 * ready_by stays on even if the others have become enough.
 *
 * No sample of a VM is used, so bad samples and the level of migration_threshold do not matter. */
#ifndef BALLAST_CORE_READY_BY_H
#define BALLAST_CORE_READY_BY_H

#include "core/power/power.h"

/* Exists if capacity is missing at ready_by. */
struct ready_by {
    instant_s *wakes_at; /* by slot: the latest time to wake the host; 0: none */
    uint32_t n_by_then;  /* hosts that will be on */
    uint32_t n_managed;
};

/* Wakes the hosts whose time has come. */
void ready_by_wake(struct pass *p);

/* The wake times by host; NULL: none. */
const instant_s *ready_by_wake_times(const struct pass *p);

/* Whether the schedule forbids every power-off now. */
bool ready_by_forbids_standby(const struct pass *p);

/* The latest time to wake the slot's host; 0: none. */
instant_s ready_by_wakes_at(const struct pass *p, uint32_t slot);

/* After the what-if and the worth of a host: whether the schedule leaves it enough time off. Shortens the
 * time off, and the benefit, if ready_by ends it. */
enum power_check ready_by_check(const struct power *w, uint32_t slot, struct power_verdict *v);

/* The finding of POWER_WINDOW, POWER_WINDOW_ENDS, POWER_READY_SOON and POWER_READY_LATER. */
struct finding ready_by_finding(const struct power *w, uint32_t host, const struct power_verdict *v);

#endif
