/* table.c: aligns text in columns and wraps long cells. Control characters become '?'. */
#include "render/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GAP 2

void table_init(struct table *t, struct arena *a, const struct column *columns, size_t n_columns)
{
    *t = (struct table){.a = a, .columns = columns, .n_columns = n_columns, .wrap = TABLE_WIDTH};
}

void table_cell(struct table *t, const char *text)
{
    t->cells = arena_grow(t->a, t->cells, t->n_cells, &t->cap_cells, sizeof *t->cells);
    t->cells[t->n_cells++] = text ? text : "-";
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

/* C0 controls, DEL, and the C1 controls, which are c2 80 ... c2 9f in UTF-8. */
static size_t control_length(const unsigned char *s)
{
    if (s[0] < ' ' || s[0] == 0x7f)
        return 1;
    return s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f ? 2 : 0;
}

void table_put_text(struct strbuf *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s) {
        const unsigned char *plain = s;
        while (*s && control_length(s) == 0)
            s++;
        strbuf_add(out, plain, (size_t)(s - plain));
        if (*s) {
            strbuf_add(out, "?", 1);
            s += control_length(s);
        }
    }
}

/* Characters: bytes that do not continue one, each control as the one that stands for it. */
static size_t width(const char *text)
{
    size_t n = 0;

    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t control = control_length(s);
        n += control > 0 || (*s & 0xc0) != 0x80;
        s += control > 0 ? control : 1;
    }
    return n;
}

static void pad(struct strbuf *out, size_t n)
{
    for (; n > 0; n--)
        strbuf_add(out, " ", 1);
}

static size_t columns_side_by_side(const struct table *t)
{
    return t->columns[t->n_columns - 1].below ? t->n_columns - 1 : t->n_columns;
}

static void put_row(const struct table *t, const size_t *widths, const char *const *cells, const char *indent,
                    struct strbuf *out)
{
    size_t owed = 0; /* blanks, put only if more text comes */

    strbuf_puts(out, indent);
    for (size_t c = 0; c < columns_side_by_side(t); c++) {
        size_t free = widths[c] - width(cells[c]);
        owed += t->columns[c].right ? free : 0;
        if (*cells[c]) {
            pad(out, owed);
            owed = 0;
        }
        table_put_text(out, cells[c]);
        owed += GAP + (t->columns[c].right ? 0 : free);
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
static void put_wrapped(struct strbuf *out, const char *text, size_t at, size_t indent, size_t wrap)
{
    struct arena scratch = {0};

    while (*text) {
        size_t n = unbroken(text);
        const char *word = arena_strndup(&scratch, text, n);
        size_t w = width(word);

        if (at > 0 && at + 1 + w > wrap) {
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
    arena_release(&scratch);
}

void table_put_wrapped(struct strbuf *out, const char *text, size_t indent)
{
    put_wrapped(out, text, 0, indent, TABLE_WIDTH);
}

void table_put_hanging(struct strbuf *out, const char *text, size_t at, size_t indent)
{
    put_wrapped(out, text, at, indent, TERMINAL_WIDTH);
}

void table_render(const struct table *t, const char *indent, struct strbuf *out)
{
    struct arena scratch = {0};
    size_t *widths = arena_array(&scratch, size_t, t->n_columns);
    const char **titles = arena_array(&scratch, const char *, t->n_columns);

    for (size_t c = 0; c < t->n_columns; c++) {
        titles[c] = t->columns[c].title;
        widths[c] = width(titles[c]);
    }
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t w = width(t->cells[i]);
        if (w > widths[i % t->n_columns])
            widths[i % t->n_columns] = w;
    }
    put_row(t, widths, titles, indent, out);
    for (size_t i = 0; i + t->n_columns <= t->n_cells; i += t->n_columns) {
        const char *last = t->cells[i + t->n_columns - 1];

        put_row(t, widths, t->cells + i, indent, out);
        if (columns_side_by_side(t) < t->n_columns && *last)
            put_wrapped(out, last, 0, strlen(indent) + widths[0] + GAP, t->wrap);
    }
    arena_release(&scratch);
}
