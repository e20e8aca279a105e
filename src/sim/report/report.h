/* report.h: writes the results of a simulation as text, JSON, CSV or HTML.
 *
 * Output is appended to a strbuf; no function reads the clock or writes a file. The same simulation gives the
 * same bytes, except decide_ms_total in the JSON: text and page leave it out.
 *
 * A figure that could not be computed is NAN in the metrics, null in JSON and an empty field in CSV. The text
 * leaves it out, or shows "-" if another run has the figure. */
#ifndef BALLAST_SIM_REPORT_H
#define BALLAST_SIM_REPORT_H

#include "base/strbuf.h"
#include "sim/run/simulate.h"

/* Runs of one scenario with the same settings, one a seed, by ascending seed; at least one. With more than
 * one, each figure is the median, with its range. */
struct run_set {
    const char *label; /* what distinguishes the set in a comparison: "dpm.enabled=true" */
    const struct simulation *runs;
    size_t n;
};

/* The simulated cluster, a table of the metrics that apply, in groups, and a table of the pools. */
void report_text(const struct run_set *set, struct strbuf *out);

/* Writes ballast-simulation/1. With more than one run: "metrics" and "pools" are medians, "range" the lowest
 * and the highest value of each metric, "runs" the metrics of each run. */
void report_json(const struct run_set *set, struct strbuf *out);

/* Compares two sets with the same workload and seeds: each metric, the difference, and the better side; with
 * several seeds also for how many of them. Both sets have the same number of runs. JSON:
 * ballast-simulation-comparison/1. */
void report_compare_text(const struct run_set *a, const struct run_set *b, struct strbuf *out);
void report_compare_json(const struct run_set *a, const struct run_set *b, struct strbuf *out);

/* Writes one line a point, after a line with the columns' names (README.md). Columns of pools and hosts
 * follow the general ones. b: a second run of the scenario, whose lines follow; the first column is then
 * "run", A or B. NULL: none. */
void report_series_csv(const struct simulation *a, const struct simulation *b, struct strbuf *out);

/* Writes the page for a browser: the built page (dashboard/) with the figures, and those over time, in it as
 * JSON, which its script draws. NULL: plain tables. b: a second set to show beside a; NULL: none. Of several
 * seeds the first is drawn. -EINVAL: the text is no built page; nothing is written. */
int report_html(const struct run_set *a, const struct run_set *b, const char *built_page, struct strbuf *out);

#endif
