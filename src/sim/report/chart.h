/* chart.h: draws one plot of the page: lines, bars or a map over time, with its text alternative and its
 * table.
 *
 * A plot is an SVG with its own units (CHART_WIDTH x CHART_HEIGHT), stretched to the available width; labels
 * are HTML text beside it, so that they stay readable on a telephone. The script only adds the values under
 * the pointer, which it reads from the drawing; the page is complete without it. */
#ifndef BALLAST_SIM_REPORT_CHART_H
#define BALLAST_SIM_REPORT_CHART_H

#include "base/strbuf.h"

#include <ballast/arena.h>
#include <ballast/units.h>

#include <stdbool.h>

#define CHART_WIDTH 1000.0
#define CHART_HEIGHT 200.0
#define CHART_BUCKETS 360 /* time buckets of a curve */
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

/* The time axis, common to all plots of a page. */
struct time_axis {
    instant_s start; /* on the scenario's clock */
    double from_s, to_s;
};

struct chart {
    const char *title, *about, *unit;
    double low, high; /* range of the values; NAN: 0 and the curves' maximum */
    const struct curve *curves;
    size_t n_curves;
    bool bars; /* bars instead of the only curve: v in each period that ends at t */
    bool sums; /* the curves only grow, so their mean is left out of the text */
    double bar_s;
};

void chart_put(const struct chart *c, const struct time_axis *axis, struct arena *a, struct strbuf *out);

/* A map: rows of cells over time, dark to light. value(ctx, row, i): at t[i], NAN: not known. */
struct heat {
    const char *title, *about;
    uint32_t rows;
    const char *(*name)(const void *ctx, uint32_t row);
    double (*value)(const void *ctx, uint32_t row, size_t i);
    const void *ctx;
    const double *t;
    size_t n;
    double high; /* the value of the lightest colour; 0 is the darkest */
};

void heat_put(const struct heat *h, const struct time_axis *axis, struct arena *a, struct strbuf *out);

/* ---- axis.c: axes and text of both --------------------------------------------------------- */

/* Adds the text, escaped for HTML content and quoted attributes. Control characters become '?'. */
void chart_html_text(struct strbuf *out, const char *text);

/* "Jan 2, 09:05", in UTC. */
const char *axis_time(struct arena *a, const struct time_axis *axis, double t_s);

/* The position on the axis, 0 ... 1. */
double axis_at(const struct time_axis *axis, double t_s);

/* The smallest number not below v whose quarters are round. */
double axis_round_up(double v);
/* As axis_round_up(), for counts: the quarters are whole numbers. */
double axis_count_up(double n);

/* Opens a plot, below the figure's title, with the labels of both axes. */
void axis_put_time(const struct time_axis *axis, struct arena *a, struct strbuf *out);
void axis_put_values(double low, double high, struct strbuf *out);
/* Adds the grid lines behind the curves. */
void axis_put_grid(const struct time_axis *axis, struct strbuf *out);

#endif
