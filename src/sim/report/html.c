/* html.c: the report page: the built page with the data in it, or plain tables where there is none. */
#include "sim/report/page.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

/* Stands in the built page (dashboard/report.html); the data follows. */
#define DATA_BEGINS "<script type=\"application/json\" id=\"data\">"

/* Escaped for HTML content. Control characters become '?'. */
static void put_text(struct strbuf *out, const char *text)
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
        default:
            strbuf_add(out, *c < ' ' || *c == 0x7f ? (const void *)"?" : c, 1);
        }
    }
}

static void put_element(struct strbuf *out, const char *name, const char *text)
{
    strbuf_printf(out, "<%s>", name);
    put_text(out, text);
    strbuf_printf(out, "</%s>", name);
}

static void put_row(const struct page_row *row, size_t n_columns, struct strbuf *out)
{
    strbuf_puts(out, "<tr>");
    if (row->group) {
        strbuf_printf(out, "<th colspan=\"%zu\">", n_columns);
        put_text(out, row->group);
        strbuf_puts(out, "</th>");
    } else {
        put_element(out, "th", row->head);
        for (size_t c = 0; c + 1 < n_columns; c++)
            put_element(out, "td", row->cells[c]);
    }
    strbuf_puts(out, "</tr>\n");
}

static void put_table(const struct page_table *t, struct strbuf *out)
{
    strbuf_puts(out, "<table>");
    put_element(out, "caption", t->caption);
    strbuf_puts(out, "<tr>");
    for (size_t c = 0; c < t->n_columns; c++)
        put_element(out, "th", t->columns[c]);
    strbuf_puts(out, "</tr>\n");
    for (size_t r = 0; r < t->n_rows; r++)
        put_row(&t->rows[r], t->n_columns, out);
    strbuf_puts(out, "</table>\n");
}

static const char plain_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\"/>\n"
    "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:1rem}"
    "table{border-collapse:collapse;display:block;overflow-x:auto;margin:1rem 0}caption{text-align:left}"
    "th,td{padding:.2rem .6rem;text-align:right}th:first-child{text-align:left}"
    "h1,p{overflow-wrap:anywhere}</style>\n";

static void put_plain(const struct page *p, struct strbuf *out)
{
    struct page_texts texts;
    struct page_tables tables;
    const char *name = p->sets[0]->runs[0].scenario->name;

    page_texts_make(p, &texts);
    page_tables_make(p, &tables);
    strbuf_puts(out, plain_head);
    put_element(out, "title", name);
    strbuf_puts(out, "</head><body>\n");
    put_element(out, "h1", name);
    for (size_t i = 0; i < texts.n_about; i++)
        put_element(out, "p", texts.about[i]);
    for (size_t i = 0; i < texts.n_notes; i++)
        put_element(out, "p", texts.notes[i]);
    for (size_t i = 0; i < tables.n; i++) {
        if (i == 0 || strcmp(tables.items[i].heading, tables.items[i - 1].heading) != 0)
            put_element(out, "h2", tables.items[i].heading);
        put_table(&tables.items[i], out);
    }
    strbuf_puts(out, "</body></html>\n");
}

int report_html(const struct run_set *a, const struct run_set *b, const char *built_page, struct strbuf *out)
{
    CLEANUP(arena_releasep) struct arena scratch = {0};
    const struct page p = {.sets = {a, b}, .n = b ? 2 : 1, .a = &scratch};
    const char *data = built_page ? strstr(built_page, DATA_BEGINS) : NULL;

    if (built_page && !data)
        return -EINVAL;
    if (data) {
        data += strlen(DATA_BEGINS);
        strbuf_add(out, built_page, (size_t)(data - built_page));
        page_json_put(&p, out);
        strbuf_puts(out, data);
    } else
        put_plain(&p, out);
    return 0;
}
