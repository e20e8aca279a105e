/* metric.h: label, group and direction of each metric in reports, and the median of a set of runs. */
#ifndef BALLAST_SIM_REPORT_METRIC_H
#define BALLAST_SIM_REPORT_METRIC_H

#include "sim/report/report.h"

#include <stdbool.h>

#define METRIC_SAME 1e-9 /* relative to the larger figure: a smaller difference is rounding */

#define METRIC_ID(name, unit, meaning) METRIC_##name,
enum metric_id { METRICS(METRIC_ID) METRIC_COUNT };
#undef METRIC_ID

/* In the order of the text report; a title stands above each group's metrics. */
#define METRIC_GROUPS(X)                                                                                     \
    X(GROUP_DELIVERED, "What VMs got")                                                                       \
    X(GROUP_MOVES, "Migrations")                                                                             \
    X(GROUP_BALANCE, "Balance")                                                                              \
    X(GROUP_POWER, "Power")                                                                                  \
    X(GROUP_LITERATURE, "As the consolidation literature counts")

#define GROUP_ID(id, title) id,
enum metric_group { METRIC_GROUPS(GROUP_ID) GROUP_COUNT };
#undef GROUP_ID

enum metric_when {
    WHEN_ALWAYS,
    WHEN_POWER, /* a host has a power model */
    WHEN_DPM,   /* a host changed its power, or DPM was to let it */
    WHEN_SOME,  /* the figure is not 0 */
    WHEN_KNOWN, /* the figure of any run is known */
    WHEN_ASKED, /* JSON only: the figure differs between equal runs, or is in the headline */
};

struct metric_row {
    enum metric_id id;
    enum metric_group group;
    int better; /* 1: higher is better, -1: lower is; 0: neutral */
    enum metric_when when;
    const char *label;
};

/* Each metric once, in the order of the report. */
extern const struct metric_row metric_rows[];

const char *metric_name(enum metric_id id); /* the contract's */
const char *metric_unit(enum metric_id id);

/* As format_number() and format_figure(); of sleeps that there are not: "none". */
const char *metric_number(struct arena *a, double value, enum metric_id id);
const char *metric_figure(struct arena *a, double value, enum metric_id id);
const char *metric_meaning(enum metric_id id);
const char *metric_group_title(enum metric_group group);

/* The value of a metric. A time until an event that did not happen is INFINITY, so that a median counts it.
 */
double metric_of(const struct simulation *s, enum metric_id id);

/* Median and range over the runs of the set; NAN if any run does not know the figure. */
struct spread {
    double median, least, most;
};
struct spread metric_spread(const struct run_set *set, enum metric_id id);
struct spread metric_spread_of(double *values, size_t n); /* sorts them */

/* Whether a report shows the metric: the figure is known, and the scenario has its subject. */
bool metric_applies(const struct run_set *set, const struct metric_row *m);

/* Whether any host has a power model. */
bool metric_has_power_model(const struct scenario *s);

/* 1: b is better, -1: a is; 0: they are equal, or neither is better, or one is unknown. */
int metric_judge(const struct metric_row *m, double a, double b);

#endif
