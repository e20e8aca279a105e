/* format.h: numbers, durations and sentences of a report, as people read them. */
#ifndef BALLAST_SIM_REPORT_FORMAT_H
#define BALLAST_SIM_REPORT_FORMAT_H

#include "sim/report/metric.h"

#include <ballast/arena.h>

/* Whether the figures of this unit are times, which are written in days, hours, minutes and seconds. */
bool format_is_duration(const char *unit);

/* A number for people, without its unit: thousands apart, as many decimals as tell something. "s" becomes
 * days, hours, minutes and seconds, or "never". NULL for what is not finite. */
const char *format_number(struct arena *a, double value, const char *unit);
/* The unit that goes with it: "" for durations, which have theirs in them. */
const char *format_unit(const char *unit);
/* Both: "1,280", "12.3 kWh", "2 h 5 min"; "-" for what is not finite. */
const char *format_figure(struct arena *a, double value, const char *unit);
/* b - a with its sign; NULL where one is not finite. */
const char *format_difference(struct arena *a, double from, double to, const char *unit);
/* The same in percent of `from`; NULL where that tells nothing. */
const char *format_percent(struct arena *a, double from, double to);

/* "1,280 VMs", "1 VM". */
const char *format_count(struct arena *a, double n, const char *what);

/* One sentence without a subject, what the run was: "32 hosts, 1,280 VMs, 1 d, 288 passes; seed 1." */
const char *format_run(struct arena *a, const struct run_set *set);
/* Who decided, and how; what was left out or assumed. Each a sentence. */
const char *format_policy(struct arena *a, const struct scenario *s);
const char *format_assumptions(struct arena *a, const struct scenario *s);

#endif
