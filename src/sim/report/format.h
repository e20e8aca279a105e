/* format.h: formats numbers, durations and sentences of a report. */
#ifndef BALLAST_SIM_REPORT_FORMAT_H
#define BALLAST_SIM_REPORT_FORMAT_H

#include "sim/report/metric.h"

#include <ballast/arena.h>

/* Whether the unit is a time; times are written in days, hours, minutes and seconds. */
bool format_is_duration(const char *unit);

/* Formats a number without its unit: thousands separated, as many decimals as are significant. "s" becomes
 * days, hours, minutes and seconds, or "never". NULL: the value is not finite. */
const char *format_number(struct arena *a, double value, const char *unit);
/* The unit to print; "" for durations, whose text has units. */
const char *format_unit(const char *unit);
/* Number and unit: "1,280", "12.3 kWh", "2 h 5 min"; "-": the value is not finite. */
const char *format_figure(struct arena *a, double value, const char *unit);
/* The difference with its sign; NULL: a value is not finite. */
const char *format_difference(struct arena *a, double from, double to, const char *unit);
/* The difference in percent of `from`; NULL: not meaningful. */
const char *format_percent(struct arena *a, double from, double to);

/* "1,280 VMs", "1 VM". */
const char *format_count(struct arena *a, double n, const char *what);

/* The run in one sentence without a subject: "32 hosts, 1,280 VMs, 1 d, 288 passes; seed 1." */
const char *format_run(struct arena *a, const struct run_set *set);
/* The deciding policy; what was left out or assumed. Each is a sentence. */
const char *format_policy(struct arena *a, const struct scenario *s);
const char *format_assumptions(struct arena *a, const struct scenario *s);

#endif
