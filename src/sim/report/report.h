/* report.h: the results of a simulation, for people and for programs.
 *
 * Everything is appended to a strbuf; nothing here asks for the time or writes a file. The same simulation
 * gives the same bytes, decide_ms_total in the JSON aside: text and page leave it out.
 *
 * A figure that could not be computed is NAN in the metrics, null in JSON, an empty field in CSV, and left
 * out of the text, or "-" where its row is there for the sake of another run.
 */
#ifndef BALLAST_SIM_REPORT_H
#define BALLAST_SIM_REPORT_H

#include "base/strbuf.h"
#include "sim/run/simulate.h"

/* What is reported together: runs of the same scenario and settings, one a seed, ascending. One at least.
 * With more than one each figure is the median, and its range is given too. */
struct run_set {
    const char *label; /* what is special about it, when it is compared: "dpm.enabled=true" */
    const struct simulation *runs;
    size_t n;
};

/* What was simulated, a table of the metrics that apply, in groups, and one of the pools. */
void report_text(const struct run_set *set, struct strbuf *out);

/* ballast-simulation/1. More than one run: "metrics" and "pools" are medians, "range" the least
 * and the greatest of each metric, "runs" each run's own. */
void report_json(const struct run_set *set, struct strbuf *out);

/* Two sets on the same workload and seeds side by side: each metric, the difference, and which is better;
 * with several seeds also for how many of them. The sets are as long as each other. JSON:
 * ballast-simulation-comparison/1. */
void report_compare_text(const struct run_set *a, const struct run_set *b, struct strbuf *out);
void report_compare_json(const struct run_set *a, const struct run_set *b, struct strbuf *out);

/* One line a point; the first line names the columns (README.md). Columns of pools and hosts follow the
 * general ones. b: a second run of the same scenario, whose lines follow; then "run" is the first column, A
 * or B. NULL: there is none. */
void report_series_csv(const struct simulation *a, const struct simulation *b, struct strbuf *out);

/* A self-contained page (no script or style from elsewhere) with the plots that an admin wants: imbalance,
 * load per host, migrations per pass, happiness, power, hosts on. b: a second set to draw beside it, or NULL.
 * Of several seeds the first is drawn. */
void report_html(const struct run_set *a, const struct run_set *b, struct strbuf *out);

#endif
