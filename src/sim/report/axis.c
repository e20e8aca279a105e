/* axis.c: tick marks and labels of time and value axes. */
#include "base/rfc3339.h"
#include "sim/report/chart.h"
#include "sim/report/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_STEPS 4
#define TIME_LABELS_MAX 8
#define S_PER_DAY 86400
#define THOUSAND 1000.0
#define MILLION 1e6
#define HUNDRED 100.0
#define NEAR_END 0.95 /* a label beyond this would reach past the plot */

void chart_html_text(struct strbuf *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        switch (*c) {
        case '<':
            strbuf_puts(out, "&lt;");
            break;
        case '>':
            strbuf_puts(out, "&gt;");
            break;
        case '&':
            strbuf_puts(out, "&amp;");
            break;
        case '"':
            strbuf_puts(out, "&quot;");
            break;
        case '\'':
            strbuf_puts(out, "&#39;");
            break;
        default:
            strbuf_add(out, *c < ' ' || *c == 0x7f ? (const void *)"?" : c, 1);
        }
    }
}

double axis_at(const struct time_axis *axis, double t_s)
{
    return (t_s - axis->from_s) / (axis->to_s - axis->from_s);
}

double axis_round_up(double v)
{
    static const double steps[] = {1,   1.2, 1.6, 2, 2.4,
                                   3.2, 4,   6,   8, 10}; /* their quarters are round as well */

    if (!(v > 0) || !isfinite(v))
        return 1;
    double power = 1;
    while (power * 10 <= v)
        power *= 10;
    while (power > v)
        power /= 10;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] * power >= v * (1 - 1e-9))
            return steps[i] * power;
    }
    return 10 * power;
}

double axis_count_up(double n)
{
    return VALUE_STEPS * ceil(axis_round_up(n) / VALUE_STEPS);
}

/* ---- time ------------------------------------------------------------------------------------ */

static int digits(const char *text, int n)
{
    int v = 0;

    for (int i = 0; i < n; i++)
        v = 10 * v + (text[i] - '0');
    return v;
}

/* Of "2026-01-02T09:05:00Z": "Jan 2". */
static const char *day_text(struct arena *a, const char *text)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

    return arena_printf(a, "%s %d", months[(digits(text + 5, 2) + 11) % 12], digits(text + 8, 2));
}

const char *axis_time(struct arena *a, const struct time_axis *axis, double t_s)
{
    char text[RFC3339_MAX];

    (void)rfc3339_format(axis->start + (instant_s)floor(t_s), text);
    return arena_printf(a, "%s, %.5s", day_text(a, text), text + 11);
}

/* The time between two labels. */
static instant_s time_step(const struct time_axis *axis)
{
    static const instant_s steps[] = {60,
                                      120,
                                      300,
                                      600,
                                      900,
                                      1800,
                                      3600,
                                      2 * 3600,
                                      3 * 3600,
                                      6 * 3600,
                                      12 * 3600,
                                      S_PER_DAY,
                                      2 * S_PER_DAY,
                                      7 * S_PER_DAY,
                                      14 * S_PER_DAY,
                                      28 * S_PER_DAY};
    size_t i = 0;

    while (i + 1 < sizeof steps / sizeof *steps &&
           (axis->to_s - axis->from_s) / (double)steps[i] > TIME_LABELS_MAX)
        i++;
    return steps[i];
}

/* The first round time on the axis. */
static instant_s first_label(const struct time_axis *axis, instant_s step)
{
    instant_s from = axis->start + (instant_s)ceil(axis->from_s);
    instant_s past = ((from % step) + step) % step;

    return past == 0 ? from : from + step - past;
}

void axis_put_time(const struct time_axis *axis, struct arena *a, struct strbuf *out)
{
    instant_s step = time_step(axis);
    bool first = true;

    strbuf_puts(out, "<div class=\"x\" aria-hidden=\"true\">");
    for (instant_s at = first_label(axis, step); (double)(at - axis->start) <= axis->to_s; at += step) {
        char text[RFC3339_MAX];
        double part = axis_at(axis, (double)(at - axis->start));
        (void)rfc3339_format(at, text);
        bool day = first || step >= S_PER_DAY || strncmp(text + 11, "00:00", 5) == 0;
        strbuf_printf(
            out, "<span%s style=\"left:%.2f%%\">%.6s%s%s</span>", part > NEAR_END ? " class=\"r\"" : "",
            HUNDRED * part, step >= S_PER_DAY ? day_text(a, text) : arena_strndup(a, text + 11, 5),
            day && step < S_PER_DAY ? "<br/>" : "", day && step < S_PER_DAY ? day_text(a, text) : "");
        first = false;
    }
    strbuf_puts(out, "</div>");
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Short enough for a margin: "0.075", "12.5", "1.5 M". */
static const char *short_number(struct arena *a, double v)
{
    double size = fabs(v);

    if (size >= MILLION)
        return arena_printf(a, "%g M", v / MILLION);
    if (size >= 10 * THOUSAND)
        return arena_printf(a, "%g k", v / THOUSAND);
    return format_number(a, v, "");
}

/* From bottom to top, in equal steps. */
void axis_put_values(double low, double high, struct strbuf *out)
{
    struct arena scratch = {0};

    strbuf_puts(out, "<div class=\"y\" aria-hidden=\"true\">");
    for (int i = 0; i <= VALUE_STEPS; i++)
        strbuf_printf(out, "<span style=\"bottom:%d%%\">%s</span>", 100 * i / VALUE_STEPS,
                      short_number(&scratch, low + (high - low) * i / VALUE_STEPS));
    strbuf_puts(out, "</div>");
    arena_release(&scratch);
}

void axis_put_grid(const struct time_axis *axis, struct strbuf *out)
{
    instant_s step = time_step(axis);

    strbuf_puts(out, "<path class=\"grid\" d=\"");
    for (int i = 0; i <= VALUE_STEPS; i++)
        strbuf_printf(out, "M0,%gH%g", CHART_HEIGHT * i / VALUE_STEPS, CHART_WIDTH);
    for (instant_s at = first_label(axis, step); (double)(at - axis->start) <= axis->to_s; at += step)
        strbuf_printf(out, "M%.1f,0V%g", CHART_WIDTH * axis_at(axis, (double)(at - axis->start)),
                      CHART_HEIGHT);
    strbuf_puts(out, "\"/>");
}
