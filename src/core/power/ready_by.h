/* ready_by.h: what the schedule of a snapshot (struct schedule_facts) says to power management.
 *
 * By ready_by so much capacity must be on, of the hosts that DPM manages. Those that are missing then are
 * chosen in the order of every wake (rank.c), and each is woken by its own time to boot before, with a margin
 * of an interval, and in as many rounds as dpm.changes_max makes necessary. A host is woken by the last pass
 * after which it would be too late.
 *
 * And while power_off is false nothing is put to standby; nor what could not be emptied before that changes,
 * nor what would have to be woken for ready_by before it has been off for dpm.off_min_s.
 *
 * The figures of VMs decide nothing here, so that neither missing figures nor the level of
 * migration_threshold hold it back.
 */
#ifndef BALLAST_CORE_READY_BY_H
#define BALLAST_CORE_READY_BY_H

#include "core/power/power.h"

/* Made where capacity is missing for ready_by. */
struct ready_by {
    instant_s *wakes_at; /* by slot: when the host must be woken at the latest; 0: it need not be */
    uint32_t n_by_then;  /* hosts that will be on */
    uint32_t n_managed;
};

/* Wakes those that must be on by dpm.ready_by, each in time. */
void ready_by_wake(struct pass *p);

/* When they are, by host; NULL: none is. */
const instant_s *ready_by_wake_times(const struct pass *p);

/* Whether nothing may be put to standby now. */
bool ready_by_forbids_standby(const struct pass *p);

/* When the slot must be woken; 0: it need not be. */
instant_s ready_by_wakes_at(const struct pass *p, uint32_t slot);

/* Of a host whose what-if stands, and whose worth has been judged: whether the schedule leaves it the time.
 * Shortens the time off, and what it is worth, where ready_by comes first. */
enum power_check ready_by_check(const struct power *w, uint32_t slot, struct power_verdict *v);

/* The figures behind POWER_WINDOW, POWER_WINDOW_ENDS, POWER_READY_SOON and POWER_READY_LATER. */
struct finding ready_by_finding(const struct power *w, uint32_t host, const struct power_verdict *v);

#endif
