/* report.h: what came of a simulation, for people and for programs.
 *
 * Everything is appended to a strbuf; nothing here asks for the time or writes a file. The same simulation
 * gives the same bytes, decide_ms_total aside.
 */
#ifndef BALLAST_SIM_REPORT_H
#define BALLAST_SIM_REPORT_H

#include "base/strbuf.h"
#include "sim/run/simulate.h"

/* A table of the metrics, with units, and one of the pools. */
void report_text(const struct simulation *s, struct strbuf *out);

/* ballast-simulation/1 (contract.md). */
void report_json(const struct simulation *s, struct strbuf *out);

/* One line a point; the first line names the columns. Columns of pools and hosts follow the general ones. */
void report_series_csv(const struct simulation *s, struct strbuf *out);

/* Two runs of the same scenario and seed side by side: each metric, the difference, and which is better. */
void report_compare_text(const struct simulation *a, const struct simulation *b, struct strbuf *out);
void report_compare_json(const struct simulation *a, const struct simulation *b, struct strbuf *out);

/* A self-contained page (no script or style from elsewhere) with the plots that an admin wants: imbalance,
 * load per host, migrations per pass, happiness, power, hosts on. b: a second run to draw beside it, or NULL.
 */
void report_html(const struct simulation *a, const struct simulation *b, struct strbuf *out);

#endif
