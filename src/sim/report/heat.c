/* heat.c: the map of hosts over time, an image with a legend. */
#include "sim/report/chart.h"
#include "sim/report/format.h"
#include "sim/report/png.h"

#include <math.h>

#define CELLS_MAX 90000u /* of one map; 120 KB in the page */
#define ROWS_MAX 400u
#define COLUMNS_MAX 360u
#define NAMED_MAX 40u    /* rows with a label each */
#define NAMED_ROW_PX 14u /* height of a labelled row */
#define HEIGHT_MAX_PX 400u
#define LEVELS 64

/* Dark to light, readable with colour blindness and in grey: matplotlib's viridis. */
static const uint8_t anchors[][3] = {
    {0x44, 0x01, 0x54}, {0x48, 0x28, 0x78}, {0x3e, 0x49, 0x89}, {0x31, 0x68, 0x8e}, {0x26, 0x82, 0x8e},
    {0x1f, 0x9e, 0x89}, {0x35, 0xb7, 0x79}, {0x6e, 0xce, 0x58}, {0xb5, 0xde, 0x2b}, {0xfd, 0xe7, 0x25},
};
#define N_ANCHORS (sizeof anchors / sizeof *anchors)

/* Index 0: no value; 1 ... LEVELS from dark to light. */
static void make_palette(uint8_t palette[LEVELS + 1][3])
{
    for (int c = 0; c < 3; c++)
        palette[0][c] = 0;
    for (int i = 0; i < LEVELS; i++) {
        double at = (double)i * (N_ANCHORS - 1) / (LEVELS - 1);
        size_t low = (size_t)at < N_ANCHORS - 1 ? (size_t)at : N_ANCHORS - 2;
        double part = at - (double)low;
        for (int c = 0; c < 3; c++)
            palette[i + 1][c] = (uint8_t)lround(anchors[low][c] * (1 - part) + anchors[low + 1][c] * part);
    }
}

struct grid {
    uint32_t columns, rows, hosts_a_row;
    double *cells; /* row by row; NAN: no value */
};

/* The highest value of each cell: an overload must not be averaged away. */
static struct grid fold(const struct heat *h, const struct time_axis *axis, struct arena *a)
{
    struct grid g = {.hosts_a_row = (h->rows + ROWS_MAX - 1) / ROWS_MAX};

    g.rows = (h->rows + g.hosts_a_row - 1) / g.hosts_a_row;
    uint32_t most = CELLS_MAX / g.rows < COLUMNS_MAX ? CELLS_MAX / g.rows : COLUMNS_MAX;
    g.columns = h->n < most ? (uint32_t)h->n : most;
    g.cells = arena_array(a, double, (size_t)g.rows *g.columns);
    for (size_t i = 0; i < (size_t)g.rows * g.columns; i++)
        g.cells[i] = NAN;
    for (size_t i = 0; i < h->n; i++) {
        double at = axis_at(axis, h->t[i]) * g.columns;
        uint32_t column = at < 0 ? 0 : at >= g.columns ? g.columns - 1 : (uint32_t)at;
        for (uint32_t row = 0; row < h->rows; row++) {
            double *cell = &g.cells[(size_t)(row / g.hosts_a_row) * g.columns + column];
            *cell = fmax(*cell, h->value(h->ctx, row, i)); /* fmax() ignores NAN */
        }
    }
    return g;
}

static void put_image(const struct heat *h, const struct grid *g, const char *alternative, struct arena *a,
                      struct strbuf *out)
{
    uint8_t palette[LEVELS + 1][3];
    size_t n = (size_t)g->rows * g->columns;
    uint8_t *pixels = arena_array(a, uint8_t, n);
    uint32_t px = g->rows <= NAMED_MAX ? g->rows * NAMED_ROW_PX : g->rows;

    make_palette(palette);
    for (size_t i = 0; i < n; i++) {
        if (isfinite(g->cells[i]))
            pixels[i] = (uint8_t)(1 + lround(fmin(fmax(g->cells[i] / h->high, 0), 1) * (LEVELS - 1)));
    }
    strbuf_printf(out, "<img class=\"heat\" style=\"height:%upx\" width=\"%u\" height=\"%u\" alt=\"",
                  px < HEIGHT_MAX_PX ? px : HEIGHT_MAX_PX, g->columns, g->rows);
    chart_html_text(out, alternative);
    strbuf_puts(out, "\" src=\"");
    png_put_data_url(&(struct png){g->columns, g->rows, pixels, palette, LEVELS + 1}, out);
    strbuf_puts(out, "\"/>");
}

/* The colours, from which the script reads values. */
static void put_colours(struct strbuf *out)
{
    uint8_t palette[LEVELS + 1][3];

    make_palette(palette);
    for (int i = 1; i <= LEVELS; i++)
        strbuf_printf(out, "%s%02x%02x%02x", i > 1 ? " " : "", palette[i][0], palette[i][1], palette[i][2]);
}

/* Labels of all rows if there is room, else of the first and the last. */
static void put_names(const struct heat *h, const struct grid *g, struct strbuf *out)
{
    strbuf_puts(out, "<div class=\"y names\" aria-hidden=\"true\">");
    for (uint32_t row = 0; row < g->rows; row++) {
        if (g->rows > NAMED_MAX && row != 0 && row != g->rows - 1)
            continue;
        strbuf_printf(out, "<span style=\"bottom:%.2f%%\">", 100 * (1 - (row + 0.5) / g->rows));
        chart_html_text(out, h->name(h->ctx, row * g->hosts_a_row));
        strbuf_puts(out, "</span>");
    }
    strbuf_puts(out, "</div>");
}

struct row_figures {
    double mean, most, known; /* known: part of the time */
};

static struct row_figures figures_of(const struct heat *h, uint32_t row)
{
    struct row_figures f = {0, NAN, 0};

    for (size_t i = 0; i < h->n; i++) {
        double v = h->value(h->ctx, row, i);
        if (!isfinite(v))
            continue;
        f.mean += v;
        f.most = fmax(f.most, v);
        f.known++;
    }
    f.mean = f.known > 0 ? f.mean / f.known : NAN;
    f.known /= (double)h->n;
    return f;
}

static void put_table(const struct heat *h, struct arena *a, struct strbuf *out)
{
    strbuf_puts(
        out, "<details><summary>As a table</summary><div class=\"scroll\"><table class=\"hosts\"><caption>");
    chart_html_text(out, h->title);
    strbuf_puts(out,
                "</caption><thead><tr><th scope=\"col\">Host</th><th scope=\"col\">mean</th><th "
                "scope=\"col\">highest</th><th scope=\"col\">on, % of the time</th></tr></thead><tbody>");
    for (uint32_t row = 0; row < h->rows; row++) {
        struct row_figures f = figures_of(h, row);
        strbuf_puts(out, "<tr><th scope=\"row\">");
        chart_html_text(out, h->name(h->ctx, row));
        strbuf_printf(out, "</th><td>%s</td><td>%s</td><td>%s</td></tr>", format_figure(a, f.mean, ""),
                      format_figure(a, f.most, ""), format_figure(a, 100 * f.known, ""));
    }
    strbuf_puts(out, "</tbody></table></div></details>");
}

static const char *alternative(const struct heat *h, struct arena *a)
{
    uint32_t highest = 0;
    uint32_t busiest = 0;
    struct row_figures top = {NAN, NAN, 0};
    struct row_figures busy = {NAN, NAN, 0};

    for (uint32_t row = 0; row < h->rows; row++) {
        struct row_figures f = figures_of(h, row);
        if (f.most > top.most || isnan(top.most)) {
            top = f;
            highest = row;
        }
        if (f.mean > busy.mean || isnan(busy.mean)) {
            busy = f;
            busiest = row;
        }
    }
    return arena_printf(a, "Highest: %s on %s. Highest mean: %s on %s.", format_figure(a, top.most, ""),
                        h->name(h->ctx, highest), format_figure(a, busy.mean, ""), h->name(h->ctx, busiest));
}

static const char *about(const struct heat *h, const struct grid *g, struct arena *a)
{
    return g->hosts_a_row == 1
               ? h->about
               : arena_printf(a, "%s Each row is the highest of %u hosts.", h->about, g->hosts_a_row);
}

void heat_put(const struct heat *h, const struct time_axis *axis, struct arena *a, struct strbuf *out)
{
    struct grid g = fold(h, axis, a);
    const char *words = alternative(h, a);

    strbuf_puts(out, "<figure class=\"chart\"><figcaption><h3>");
    chart_html_text(out, h->title);
    strbuf_puts(out, "</h3><p>");
    chart_html_text(out, about(h, &g, a));
    strbuf_printf(out,
                  "</p></figcaption><p class=\"scale\">0<span class=\"colours\"></span>%s and more<span "
                  "class=\"off\"></span>not on</p>",
                  format_number(a, h->high, ""));
    strbuf_printf(out, "<div class=\"plot map\" data-high=\"%.10g\" data-colours=\"", h->high);
    put_colours(out);
    strbuf_puts(out, "\">");
    put_names(h, &g, out);
    strbuf_puts(out, "<div class=\"area\">");
    put_image(h, &g, arena_printf(a, "%s. %s", h->title, words), a, out);
    strbuf_puts(out, "</div>");
    axis_put_time(axis, a, out);
    strbuf_puts(out, "</div><p class=\"reading\">");
    chart_html_text(out, words);
    strbuf_puts(out, "</p>");
    put_table(h, a, out);
    strbuf_puts(out, "</figure>\n");
}
