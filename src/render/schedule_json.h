/* schedule_json.h: the schedule of power management as JSON: what is set, what holds now, and what comes. */
#ifndef BALLAST_RENDER_SCHEDULE_JSON_H
#define BALLAST_RENDER_SCHEDULE_JSON_H

#include "base/json_writer.h"
#include "schedule/schedule.h"

/* Adds its members to the object that is open: now, time_zone, enabled (dpm.enabled), windows,
 * ready_by_expressions, ready_percent, power_off, power_off_changes, ready_by, and next: the n events that
 * come, each with time, local and what (begins, ends: of the time in which hosts may be put to standby;
 * ready_by). */
void render_schedule_json(const struct schedule *s, bool enabled, instant_s now, unsigned n,
                          struct json_writer *w);

#endif
