/* chart.h: one plot of the page: lines, bars or a map over time, with its text alternative and its table.
 *
 * Drawn as SVG that is stretched to the width it gets, in its own units (CHART_WIDTH x CHART_HEIGHT); labels
 * are ordinary text beside it, so that they stay readable on a telephone. Without its script the page lacks
 * nothing but the values under the pointer, which the script reads off the drawing.
 */
#ifndef BALLAST_SIM_REPORT_CHART_H
#define BALLAST_SIM_REPORT_CHART_H

#include "base/strbuf.h"

#include <ballast/arena.h>
#include <ballast/units.h>

#include <stdbool.h>

#define CHART_WIDTH 1000.0
#define CHART_HEIGHT 200.0
#define CHART_BUCKETS 360 /* parts of the time that are told apart */
#define CURVE_STYLES 8    /* colours, with dashes from the fifth on */

enum curve_kind { CURVE_LINE, CURVE_STEPS, CURVE_DASHED, CURVE_BAND };

struct curve {
    const char *name;
    enum curve_kind kind;
    unsigned style; /* colour */
    const double *t, *v;
    const double *low; /* CURVE_BAND: from low to v */
    size_t n;
};

/* The time that all plots of a page share. */
struct time_axis {
    instant_s start; /* of the scenario's clock */
    double from_s, to_s;
};

struct chart {
    const char *title, *about, *unit;
    double low, high; /* of the values; NAN: as the curves need it, from 0 */
    const struct curve *curves;
    size_t n_curves;
    bool bars; /* the only curve: v in each period that ends at t */
    bool sums; /* the curves only grow: a mean tells nothing */
    double bar_s;
};

void chart_put(const struct chart *c, const struct time_axis *axis, struct arena *a, struct strbuf *out);

/* Rows of cells over time, darker to lighter. value(ctx, row, i): at t[i], NAN where there is nothing. */
struct heat {
    const char *title, *about;
    uint32_t rows;
    const char *(*name)(const void *ctx, uint32_t row);
    double (*value)(const void *ctx, uint32_t row, size_t i);
    const void *ctx;
    const double *t;
    size_t n;
    double high; /* from there on the lightest colour; 0 is the darkest */
};

void heat_put(const struct heat *h, const struct time_axis *axis, struct arena *a, struct strbuf *out);

/* ---- what both are made of, in axis.c -------------------------------------------------------- */

/* Adds text for HTML, between tags or in quotes. Control characters become '?'. */
void chart_html_text(struct strbuf *out, const char *text);

/* "Jan 2, 09:05", in UTC. */
const char *axis_time(struct arena *a, const struct time_axis *axis, double t_s);

/* 0 ... 1. */
double axis_at(const struct time_axis *axis, double t_s);

/* The smallest number that is not below v and has round quarters. */
double axis_round_up(double v);
/* The same of what is counted: the quarters are whole numbers. */
double axis_count_up(double n);

/* What follows the figure's title: the opening of a plot with its labels on both axes. */
void axis_put_time(const struct time_axis *axis, struct arena *a, struct strbuf *out);
void axis_put_values(double low, double high, struct strbuf *out);
/* Lines behind the curves. */
void axis_put_grid(const struct time_axis *axis, struct strbuf *out);

#endif
