/* shown.h: the metrics as people read them: names, groups, which way is better, numbers with their units. */
#ifndef BALLAST_SIM_REPORT_SHOWN_H
#define BALLAST_SIM_REPORT_SHOWN_H

#include "sim/report/report.h"

#include <ballast/arena.h>

#include <stdbool.h>

#define METRIC_ID(name, unit, meaning) METRIC_##name,
enum metric_id { METRICS(METRIC_ID) METRIC_COUNT };
#undef METRIC_ID

/* In the order of the text; a group's title stands above its metrics. */
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
    WHEN_SOME,  /* it is not 0 */
    WHEN_ASKED, /* programs only: it differs between two runs of the same, or is in the headline */
};

struct metric_shown {
    enum metric_id id;
    enum metric_group group;
    int better; /* 1: more is better, -1: less is; 0: neither, it only tells */
    enum metric_when when;
    const char *label;
};

/* Each metric once, in the order in which people are shown them. */
extern const struct metric_shown metrics_shown[];

const char *metric_name(enum metric_id id); /* the contract's */
const char *metric_unit(enum metric_id id);
const char *metric_meaning(enum metric_id id);
const char *metric_group_title(enum metric_group group);

/* A time until something that did not happen is INFINITY: so it counts in a median. */
double metric_of(const struct simulation *s, enum metric_id id);

/* Of all runs of the set; NAN where any of them does not know it. */
struct spread {
    double median, least, most;
};
struct spread metric_spread(const struct run_set *set, enum metric_id id);
struct spread spread_of(double *values, size_t n); /* sorts them */

/* Whether a person should be told of it: it is known, and the scenario has what it is about. */
bool metric_applies(const struct run_set *set, const struct metric_shown *m);

/* Whether any host has a power model. */
bool has_power(const struct scenario *s);

/* 1: b is better, -1: a is; 0: they are equal, or neither is better, or one is unknown. */
int metric_judge(const struct metric_shown *m, double a, double b);

/* For how many seeds b is better (which = 1), or a (-1). */
size_t seeds_better(const struct metric_shown *m, const struct run_set *a, const struct run_set *b,
                    int which);

/* One sentence of what b changes, in percent; "" where nothing can be said. */
const char *compare_headline(struct arena *arena, const struct run_set *a, const struct run_set *b);

/* A number for people, without its unit: thousands apart, as many decimals as tell something. "s" becomes
 * days, hours, minutes and seconds, or "never". NULL for what is not finite. */
const char *shown_number(struct arena *a, double value, const char *unit);
/* The unit that goes with it: "" for durations, which have theirs in them. */
const char *shown_unit(const char *unit);
/* Both: "1,280", "12.3 kWh", "2 h 5 min"; "-" for what is not finite. */
const char *shown_figure(struct arena *a, double value, const char *unit);
/* b - a with its sign; NULL where one is not finite. */
const char *shown_difference(struct arena *a, double from, double to, const char *unit);
/* The same in percent of `from`; NULL where that tells nothing. */
const char *shown_percent(struct arena *a, double from, double to);

/* "1,280 VMs", "1 VM". */
const char *shown_count(struct arena *a, double n, const char *what);

/* One sentence without a subject, what the run was: "32 hosts, 1,280 VMs, 1 d, 288 passes; seed 1." */
const char *shown_what(struct arena *a, const struct run_set *set);
/* Who decided, and how; what was left out or assumed. Each a sentence. */
const char *shown_policy(struct arena *a, const struct scenario *s);
const char *shown_assumptions(struct arena *a, const struct scenario *s);

#endif
