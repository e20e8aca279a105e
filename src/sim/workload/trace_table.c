/* trace_table.c: parses separated values whose columns have names (RFC 4180, with any delimiter): one line
 * for each VM and time. */
#include "sim/workload/trace_rows.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define COLUMNS_MAX 1000
#define FIELD_SHOWN_MAX 64
#define LINE_SHOWN_MAX 200
#define TIME_MOST_S 1e11 /* a date of the year 5000 */

/* What a column is: one of the figures, or these. */
enum { COLUMN_VM = TRACE_PARTS, COLUMN_TIME, COLUMN_KINDS };

struct table {
    const char *file;
    unsigned line; /* of the record that is parsed */
    unsigned next_line;
    const char *at, *end;
    const struct trace_columns *columns;
    unsigned parts;
    size_t of[COLUMN_KINDS]; /* the number of each column, from 0 */
    struct trace_field *fields;
    size_t n;
    struct arena *a;
    struct err *err;
};

static const char *kind_word(int kind)
{
    return kind == COLUMN_VM ? "vm" : kind == COLUMN_TIME ? "time" : trace_part_words[kind];
}

static bool is_wanted(const struct table *t, int kind)
{
    return kind >= TRACE_PARTS || (t->parts & 1u << kind);
}

static const char *column_name(const struct trace_columns *c, int kind)
{
    return kind == COLUMN_VM ? c->vm : kind == COLUMN_TIME ? c->time : c->of[kind].name;
}

/* A field in quotes, which t->at stands on: its text without them; two quotes stand for one. */
static int parse_quoted(struct table *t, struct trace_field *ret)
{
    const char *begin = ++t->at;
    size_t doubled = 0;
    const char *quote;

    for (;;) {
        quote = memchr(t->at, '"', (size_t)(t->end - t->at));
        if (!quote)
            return err_set(t->err, -EINVAL,
                           "%s:%u: a quote is not closed, expected \" at the end of the field", t->file,
                           t->line);
        t->at = quote + 1;
        if (t->at == t->end || *t->at != '"')
            break;
        t->at++;
        doubled++;
    }
    for (const char *p = begin; (p = memchr(p, '\n', (size_t)(quote - p))); p++)
        t->next_line++;
    *ret = (struct trace_field){begin, (size_t)(quote - begin)};
    if (doubled > 0) {
        char *text = arena_strndup(t->a, begin, ret->len);
        size_t n = 0;
        for (size_t i = 0; i < ret->len; i++) {
            text[n++] = begin[i];
            i += begin[i] == '"';
        }
        *ret = (struct trace_field){text, n};
    }
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\r'))
        t->at++;
    if (t->at < t->end && *t->at != t->columns->delimiter && *t->at != '\n')
        return err_set(t->err, -EINVAL,
                       "%s:%u: text follows a quote, expected the delimiter or the line's end", t->file,
                       t->line);
    return 0;
}

static int parse_field(struct table *t, struct trace_field *ret)
{
    const char *begin = t->at;

    while (begin < t->end && *begin == ' ' && *begin != t->columns->delimiter)
        begin++;
    if (begin < t->end && *begin == '"') {
        t->at = begin;
        return parse_quoted(t, ret);
    }
    while (t->at < t->end && *t->at != t->columns->delimiter && *t->at != '\n')
        t->at++;
    *ret = trace_rows_trimmed(begin, t->at > begin ? (size_t)(t->at - begin) : 0);
    return 0;
}

/* The fields of the next record. 0: none is left, 1: there is one. */
static int parse_record(struct table *t)
{
    if (t->at == t->end)
        return 0;
    t->line = t->next_line;
    t->n = 0;
    for (;;) {
        if (t->n == COLUMNS_MAX)
            return err_set(t->err, -EINVAL, "%s:%u: the line has more than %d fields, expected fewer",
                           t->file, t->line, COLUMNS_MAX);
        int r = parse_field(t, &t->fields[t->n++]);
        if (r < 0)
            return r;
        if (t->at == t->end)
            return 1;
        if (*t->at++ == '\n')
            break;
    }
    t->next_line++;
    return 1;
}

static bool is_blank(const struct table *t)
{
    return t->n == 1 && t->fields[0].len == 0;
}

/* ---- headings ---- */

static const char *list_of(const struct table *t)
{
    const char *list = "";

    for (size_t i = 0; i < t->n && strlen(list) < LINE_SHOWN_MAX; i++)
        list = arena_printf(t->a, "%s%s\"%.*s\"", list, *list ? ", " : "",
                            (int)(t->fields[i].len < FIELD_SHOWN_MAX ? t->fields[i].len : FIELD_SHOWN_MAX),
                            t->fields[i].text);
    return list;
}

static int find_column(struct table *t, int kind)
{
    const char *name = column_name(t->columns, kind);
    size_t len = strlen(name);
    size_t found = t->n;

    for (size_t i = 0; i < t->n; i++) {
        if (t->fields[i].len != len || memcmp(t->fields[i].text, name, len) != 0)
            continue;
        if (found < t->n)
            return err_set(t->err, -EINVAL, "%s:%u: two columns are called \"%.64s\", expected one", t->file,
                           t->line, name);
        found = i;
    }
    if (found == t->n)
        return err_set(t->err, -EINVAL, "%s:%u: there is no column \"%.64s\" (%s), expected one of %s",
                       t->file, t->line, name, kind_word(kind), list_of(t));
    t->of[kind] = found;
    return 0;
}

/* Without headings columns are called by their numbers. */
static int number_column(struct table *t, int kind)
{
    const char *name = column_name(t->columns, kind);
    const struct trace_field f = {name, strlen(name)};
    double v;

    if (!trace_rows_number(&f, COLUMNS_MAX, &v) || v < 1 || v != (double)(size_t)v)
        return err_set(t->err, -EINVAL,
                       "%s:1: the column of %s is \"%.64s\", expected a number from 1 (header: false)",
                       t->file, kind_word(kind), name);
    t->of[kind] = (size_t)v - 1;
    return 0;
}

static int find_columns(struct table *t)
{
    int r = 1;

    if (t->columns->header) {
        while ((r = parse_record(t)) == 1 && is_blank(t)) {
        }
        if (r == 0)
            return err_set(t->err, -EINVAL, "%s:1: there is no line, expected the names of the columns",
                           t->file);
    }
    for (int kind = 0; r >= 0 && kind < COLUMN_KINDS; kind++) {
        if (is_wanted(t, kind))
            r = t->columns->header ? find_column(t, kind) : number_column(t, kind);
    }
    return r < 0 ? r : 0;
}

/* ---- lines ---- */

static int refuse(const struct table *t, const char *what, const struct trace_field *f, const char *expected)
{
    return err_set(t->err, -EINVAL, "%s:%u: %s is \"%.*s\", expected %s", t->file, t->line, what,
                   (int)(f->len < FIELD_SHOWN_MAX ? f->len : FIELD_SHOWN_MAX), f->text, expected);
}

static bool is_missing(const struct trace_field *f)
{
    static const char *const words[] = {"nan", "null", "na", "n/a", "-"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == f->len && strncasecmp(f->text, words[i], f->len) == 0)
            return true;
    }
    return f->len == 0;
}

static int read_time(const struct table *t, double *ret)
{
    const struct trace_field *f = &t->fields[t->of[COLUMN_TIME]];
    double number;

    if (trace_rows_number(f, TIME_MOST_S / t->columns->time_unit_s, &number)) {
        *ret = number * t->columns->time_unit_s;
        return 0;
    }
    if (trace_rows_instant(f, ret))
        return 0;
    return refuse(t, "the time", f,
                  t->columns->time_unit_s < 1 ? "milliseconds since 1970, or a date like 2026-01-05T00:00:00Z"
                                              : "seconds since 1970, or a date like 2026-01-05T00:00:00Z "
                                                "(time_unit: ms for milliseconds)");
}

static int read_figure(struct table *t, enum trace_part part, struct trace_rows *rows, struct trace_row *row)
{
    const struct trace_column *c = &t->columns->of[part];
    const struct trace_field *f = &t->fields[t->of[part]];
    double v;

    if (is_missing(f)) {
        rows->missing += part == TRACE_CPU || part == TRACE_MEM;
        return 0;
    }
    if (trace_rows_number(f, 1e300, &v) && trace_row_set(row, part, c->unit, v))
        return 0;
    return refuse(t, trace_part_words[part], f,
                  arena_printf(t->a, "a number %s, or nothing", trace_columns_range(part, c->unit)));
}

static int parse_line(struct table *t, struct trace_rows *rows)
{
    struct trace_row row = {.order = (uint32_t)rows->n, .value = {UNKNOWN, UNKNOWN}};
    int r;

    for (int kind = 0; kind < COLUMN_KINDS; kind++) {
        if (is_wanted(t, kind) && t->of[kind] >= t->n)
            return err_set(t->err, -EINVAL, "%s:%u: the line has %zu fields, expected %s in field %zu",
                           t->file, t->line, t->n, kind_word(kind), t->of[kind] + 1);
    }
    const struct trace_field *vm = &t->fields[t->of[COLUMN_VM]];

    if (vm->len == 0 || vm->len > TRACE_NAME_LENGTH_MAX || memchr(vm->text, '\0', vm->len))
        return refuse(t, "the VM", vm, "its id or name");
    if ((r = read_time(t, &row.time_s)) < 0)
        return r;
    for (int part = 0; part < TRACE_PARTS; part++) {
        if (t->parts & 1u << part && (r = read_figure(t, (enum trace_part)part, rows, &row)) < 0)
            return r;
    }
    const char *before = rows->n > 0 ? rows->items[rows->n - 1].vm : NULL;
    bool same = before && strlen(before) == vm->len && memcmp(before, vm->text, vm->len) == 0;

    row.vm = same ? before : arena_strndup(t->a, vm->text, vm->len);
    return trace_rows_add(rows, &row, t->a, t->file, t->line, t->err);
}

int trace_table_parse(const char *file, const char *text, size_t len, const struct trace_columns *columns,
                      unsigned parts, struct arena *a, struct trace_rows *rows, struct err *err)
{
    trace_rows_skip_mark(&text, &len);
    struct table t = {
        .file = file,
        .line = 1,
        .next_line = 1,
        .at = text,
        .end = text + len,
        .columns = columns,
        .parts = parts,
        .fields = arena_array(a, struct trace_field, COLUMNS_MAX),
        .a = a,
        .err = err,
    };

    int r = find_columns(&t);

    while (r == 0 && (r = parse_record(&t)) == 1)
        r = is_blank(&t) ? 0 : parse_line(&t, rows);
    return r;
}
