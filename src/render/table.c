/* table.c: aligns text in columns and wraps long cells. Controls and what else misleads become '?'. */
#include "render/table.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GAP 2
#define BELOW_INDENT_MAX 6
#define NARROWEST 8 /* a column of text is not made narrower than this */

const char *table_tone_sequence(enum tone tone)
{
    static const char *const sequences[tone_count] = {
        [TONE_PLAIN] = "\033[0m",  [TONE_GOOD] = "\033[32m", [TONE_WARN] = "\033[33m",
        [TONE_BAD] = "\033[1;31m", [TONE_DIM] = "\033[2m",   [TONE_TITLE] = "\033[1m",
    };

    return sequences[tone];
}

void table_cell(struct table *t, const char *text)
{
    t->cells = arena_grow(t->a, t->cells, t->n_cells, &t->cap_cells, sizeof *t->cells);
    t->tones = arena_grow(t->a, t->tones, t->n_cells, &t->cap_tones, sizeof *t->tones);
    t->tones[t->n_cells] = TONE_PLAIN;
    t->cells[t->n_cells++] = text ? text : "-";
}

void table_tone(struct table *t, enum tone tone)
{
    t->tones[t->n_cells - 1] = (unsigned char)tone;
}

void table_cellf(struct table *t, const char *format, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    table_cell(t, arena_strdup(t->a, text));
}

void table_number(struct table *t, double value)
{
    if (!isfinite(value)) {
        table_cell(t, NULL);
        return;
    }
    value += 0.0; /* no negative zero */
    int decimals = fabs(value) >= 100 || value == floor(value) ? 0 : fabs(value) >= 10 ? 1 : 3;
    table_cellf(t, "%.*f", decimals, value);
}

void table_put_text(struct strbuf *out, const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        bool safe;
        const size_t n = utf8_step(s, &safe);

        strbuf_add(out, safe ? (const void *)s : "?", safe ? n : 1);
        s += n;
    }
}

/* In characters. */
static size_t width(const char *text)
{
    size_t n = 0;
    bool safe;

    for (const unsigned char *s = (const unsigned char *)text; *s; n++)
        s += utf8_step(s, &safe);
    return n;
}

static void pad(struct strbuf *out, size_t n)
{
    for (; n > 0; n--)
        strbuf_add(out, " ", 1);
}

/* ---- the layout: what stands where, for all rows alike ---- */

enum spot { SIDE_BY_SIDE, BELOW, LEFT_OUT };

struct layout_column {
    enum spot spot;
    size_t width, title_width;
};

struct table_layout {
    struct layout_column *columns;
    const char **cells; /* as they are shown: without the domain of hosts */
    size_t n_rows, indent;
};

static const char *without_domain(const struct table *t, const char *text)
{
    size_t n = strlen(text);
    size_t end = t->domain ? strlen(t->domain) : 0;

    if (end == 0 || n <= end || strcmp(text + n - end, t->domain) != 0)
        return text;
    return arena_strndup(t->a, text, n - end);
}

static bool has_value(const char *text)
{
    return *text && strcmp(text, "-") != 0 && strcmp(text, "0") != 0;
}

static bool has_values(const struct table *t, size_t column)
{
    for (size_t i = column; i < t->n_cells; i += t->n_columns) {
        if (has_value(t->cells[i]))
            return true;
    }
    return false;
}

static size_t gap_before(const struct column *c)
{
    return c->tight ? 1 : GAP;
}

static size_t line_width(const struct table *t, const struct table_layout *l)
{
    size_t at = l->indent;

    for (size_t c = 0; c < t->n_columns; c++) {
        if (l->columns[c].spot == SIDE_BY_SIDE)
            at += (at > l->indent ? gap_before(&t->columns[c]) : 0) + l->columns[c].width;
    }
    return at;
}

/* The column whose text can best stand a narrower place; n_columns: there is none. */
static size_t widest_text(const struct table *t, const struct table_layout *l)
{
    size_t widest = t->n_columns;

    for (size_t c = 0; c < t->n_columns; c++) {
        const struct layout_column *x = &l->columns[c];
        size_t least = x->title_width > NARROWEST ? x->title_width : NARROWEST;
        if (x->spot == SIDE_BY_SIDE && !t->columns[c].right && x->width > least &&
            (widest == t->n_columns || x->width > l->columns[widest].width))
            widest = c;
    }
    return widest;
}

static void make_fit(const struct table *t, struct table_layout *l)
{
    for (size_t c = t->n_columns; c-- > 0 && line_width(t, l) > t->width;) {
        if (t->columns[c].optional && !has_values(t, c))
            l->columns[c].spot = LEFT_OUT;
    }
    for (size_t c = t->n_columns; c-- > 0 && line_width(t, l) > t->width;) {
        if (t->columns[c].word && l->columns[c].spot == SIDE_BY_SIDE)
            l->columns[c].spot = BELOW;
    }
    for (size_t c = 0; c < t->n_columns && line_width(t, l) > t->width; c++) {
        if (l->columns[c].width > t->width) /* so that the loop below is short */
            l->columns[c].width = t->width;
    }
    for (size_t c = widest_text(t, l); c < t->n_columns && line_width(t, l) > t->width; c = widest_text(t, l))
        l->columns[c].width--;
}

static struct table_layout make_layout(const struct table *t, const char *indent)
{
    struct table_layout l = {
        .columns = arena_array(t->a, struct layout_column, t->n_columns),
        .cells = arena_array(t->a, const char *, t->n_cells + 1),
        .n_rows = t->n_cells / t->n_columns,
        .indent = strlen(indent),
    };

    for (size_t c = 0; c < t->n_columns; c++) {
        l.columns[c].spot = t->columns[c].below ? BELOW : SIDE_BY_SIDE;
        l.columns[c].width = l.columns[c].title_width = width(t->columns[c].title);
    }
    for (size_t i = 0; i < t->n_cells; i++) {
        struct layout_column *c = &l.columns[i % t->n_columns];
        const struct column *column = &t->columns[i % t->n_columns];
        l.cells[i] = column->host ? without_domain(t, t->cells[i]) : t->cells[i];
        size_t w = width(l.cells[i]);
        c->width = w > c->width ? w : c->width;
    }
    make_fit(t, &l);
    return l;
}

/* ---- rows ---- */

static void put_cell(const struct table *t, const char *text, enum tone tone, struct strbuf *out)
{
    bool toned = t->colours && tone != TONE_PLAIN;

    if (toned)
        strbuf_puts(out, table_tone_sequence(tone));
    table_put_text(out, text);
    if (toned)
        strbuf_puts(out, table_tone_sequence(TONE_PLAIN));
}

/* A text that is wider than its column stands whole; what follows it begins a new line. tones: of the cells.
 */
static void put_row(const struct table *t, const struct table_layout *l, const char *const *cells,
                    const unsigned char *tones, struct strbuf *out)
{
    size_t column = l->indent; /* where this column begins */
    size_t at = 0;             /* where the line ends by now */

    for (size_t c = 0; c < t->n_columns; c++) {
        const struct layout_column *x = &l->columns[c];
        size_t w = width(cells[c]);

        if (x->spot != SIDE_BY_SIDE)
            continue;
        column += column > l->indent ? gap_before(&t->columns[c]) : 0;
        size_t from = column + (t->columns[c].right && w < x->width ? x->width - w : 0);
        if (w > 0) {
            if (at > 0 && (at + gap_before(&t->columns[c]) > from ||
                           (from + w > t->width && at + 1 > l->indent + 2 * GAP))) {
                strbuf_puts(out, "\n");
                at = 0;
            }
            if (from + w > t->width) /* as far to the right as it can stand */
                from = w + l->indent + 2 * GAP < t->width ? t->width - w : l->indent + (c > 0 ? 2 * GAP : 0);
            pad(out, from - at);
            put_cell(t, cells[c], tones[c], out);
            at = from + w;
        }
        column += x->width;
    }
    strbuf_puts(out, "\n");
}

/* How much of the text stays on one line: a word, or a number with its unit. */
static size_t unbroken(const char *text)
{
    size_t n = strcspn(text, " ");
    char first = *text == '(' ? text[1] : *text;

    if (first >= '0' && first <= '9' && text[n] == ' ')
        n += 1 + strcspn(text + n + 1, " ");
    return n;
}

/* at: where the line ends by now; 0: it has not begun. */
static void put_wrapped(struct strbuf *out, const char *text, size_t at, size_t indent)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};

    while (*text) {
        size_t n = unbroken(text);
        const char *word = arena_strndup(&scratch, text, n);
        size_t w = width(word);

        if (at > 0 && at + 1 + w > TABLE_WIDTH) {
            strbuf_puts(out, "\n");
            at = 0;
        }
        pad(out, at > 0 ? 1 : indent);
        table_put_text(out, word);
        at = (at > 0 ? at + 1 : indent) + w;
        text += n;
        text += strspn(text, " ");
    }
    strbuf_puts(out, "\n");
}

void table_put_wrapped(struct strbuf *out, const char *text, size_t indent)
{
    put_wrapped(out, text, 0, indent);
}

void table_put_hanging(struct strbuf *out, const char *text, size_t at, size_t indent)
{
    put_wrapped(out, text, at, indent);
}

/* "Needs 1,2; group 3. The sentence." */
static const char *text_below(const struct table *t, const struct table_layout *l, const char *const *cells)
{
    const char *text = "";

    for (size_t c = 0; c < t->n_columns; c++) {
        const struct column *x = &t->columns[c];
        if (l->columns[c].spot != BELOW || !*cells[c])
            continue;
        if (x->below)
            return *text ? arena_printf(t->a, "%s. %s", text, cells[c]) : cells[c];
        if (strcmp(cells[c], "-") == 0)
            continue;
        char *part = arena_printf(t->a, "%s%s%s", x->word, *x->word ? " " : "", cells[c]);
        if (*x->word && !*text)
            part[0] = (char)toupper((unsigned char)part[0]);
        text = *text ? arena_printf(t->a, "%s; %s", text, part) : part;
    }
    return text;
}

void table_render(const struct table *t, const char *indent, struct strbuf *out)
{
    struct table_layout l = make_layout(t, indent);
    const char **titles = arena_array(t->a, const char *, t->n_columns);
    unsigned char *title_tones = arena_array(t->a, unsigned char, t->n_columns);
    size_t below = l.columns[0].width + GAP;

    for (size_t c = 0; c < t->n_columns; c++) {
        titles[c] = t->columns[c].title;
        title_tones[c] = TONE_TITLE;
    }
    if (below > BELOW_INDENT_MAX)
        below = BELOW_INDENT_MAX;
    put_row(t, &l, titles, title_tones, out);
    for (size_t i = 0; i < l.n_rows; i++) {
        const char *const *cells = l.cells + i * t->n_columns;
        const char *text = text_below(t, &l, cells);

        put_row(t, &l, cells, t->tones + i * t->n_columns, out);
        if (*text)
            put_wrapped(out, text, 0, l.indent + below);
    }
}
