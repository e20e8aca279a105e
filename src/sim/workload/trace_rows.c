/* trace_rows.c: parses the lines of each trace format. */
#include "sim/workload/trace_rows.h"

#include "base/csv.h"
#include "base/number.h"
#include "base/rfc3339.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define ROWS_MAX 5000000
#define FIELDS_MAX 6
#define FIELD_LENGTH_MAX 64
#define VALUE_MOST 1e9
#define TIME_MOST 1e11 /* a date of the year 5000 */
#define VCPUS_MOST 4096

struct line {
    const char *file;
    unsigned number;
    const char *text;
    size_t len;
    struct err *err;
};

static int refuse(const struct line *l, const char *what, const struct trace_field *f, const char *expected)
{
    return err_set(l->err, -EINVAL, "%s:%u: %s is \"%.*s\", expected %s", l->file, l->number, what,
                   (int)(f->len < FIELD_LENGTH_MAX ? f->len : FIELD_LENGTH_MAX), f->text, expected);
}

void trace_rows_skip_mark(const char **text, size_t *len)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t n = sizeof mark - 1;

    if (*len < n || memcmp(*text, mark, n) != 0)
        return;
    *text += n;
    *len -= n;
}

struct trace_field trace_rows_trimmed(const char *text, size_t len)
{
    while (len > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\r'))
        len--;
    return (struct trace_field){text, len};
}

/* A number within its range. */
bool trace_rows_number(const struct trace_field *f, double most, double *ret)
{
    char text[FIELD_LENGTH_MAX + 1];
    double v;

    if (f->len == 0 || f->len > FIELD_LENGTH_MAX || memchr(f->text, '\0', f->len))
        return false;
    memcpy(text, f->text, f->len);
    text[f->len] = '\0';
    if (!number_parse(text, &v) || !(v >= 0 && v <= most))
        return false;
    *ret = v;
    return true;
}

bool trace_rows_instant(const struct trace_field *f, double *ret)
{
    char text[RFC3339_MAX + FIELD_LENGTH_MAX];
    instant_s t;

    if (trace_rows_number(f, TIME_MOST, ret))
        return true;
    if (f->len > FIELD_LENGTH_MAX)
        return false;
    memcpy(text, f->text, f->len);
    text[f->len] = '\0';
    if (rfc3339_parse(text, &t) < 0 || t < 0)
        return false;
    *ret = (double)t;
    return true;
}

/* An optional value. */
static int value_of(const struct line *l, const char *what, const struct trace_field *f, double *ret)
{
    if (f->len == 0) {
        *ret = UNKNOWN;
        return 0;
    }
    return trace_rows_number(f, VALUE_MOST, ret) ? 0
                                                 : refuse(l, what, f, "a number from 0 to 1e9, or nothing");
}

static size_t split(const struct line *l, char separator, struct trace_field fields[FIELDS_MAX + 1])
{
    const char *at = l->text;
    const char *end = l->text + l->len;
    size_t n = 0;

    while (n <= FIELDS_MAX) {
        const char *next = memchr(at, separator, (size_t)(end - at));
        const char *stop = next && n < FIELDS_MAX ? next : end;
        fields[n++] = trace_rows_trimmed(at, (size_t)(stop - at));
        if (stop == end)
            break;
        at = stop + 1;
    }
    return n;
}

static int parse_planetlab(const struct line *l, size_t nth, struct trace_row *row)
{
    struct trace_field f = trace_rows_trimmed(l->text, l->len);
    double percent;

    if (!trace_rows_number(&f, 100, &percent))
        return refuse(l, "the line", &f, "a percentage from 0 to 100");
    row->value[RES_CPU] = percent;
    row->value[RES_MEM] = UNKNOWN;
    row->time_s = (double)nth * PLANETLAB_STEP_S;
    return 0;
}

static int parse_bitbrains(const struct line *l, struct trace_row *row)
{
    struct trace_field f[FIELDS_MAX + 1];
    double cores, mem_cap_kb;
    int r;

    if (split(l, ';', f) != 6)
        return err_set(l->err, -EINVAL,
                       "%s:%u: the line has not 6 fields, expected "
                       "ts_s;cores;cpu_cap_mhz;cpu_used_mhz;mem_cap_kb;mem_used_kb",
                       l->file, l->number);
    if (!trace_rows_number(&f[0], TIME_MOST, &row->time_s))
        return refuse(l, "the time", &f[0], "seconds");
    if (!trace_rows_number(&f[1], VCPUS_MOST, &cores))
        return refuse(l, "the number of cores", &f[1], "a number from 0 to 4096");
    if (!trace_rows_number(&f[2], VALUE_MOST, &row->cpu_mhz) ||
        !trace_rows_number(&f[4], VALUE_MOST * KIB_PER_MIB, &mem_cap_kb))
        return refuse(l, "a capacity", &f[2], "MHz and KiB");
    if ((r = value_of(l, "the CPU used", &f[3], &row->value[RES_CPU])) < 0)
        return r;
    row->value[RES_MEM] = UNKNOWN;
    if (f[5].len > 0 && !trace_rows_number(&f[5], VALUE_MOST * KIB_PER_MIB, &row->value[RES_MEM]))
        return refuse(l, "the memory used", &f[5], "KiB, or nothing");
    row->value[RES_MEM] /= KIB_PER_MIB;
    row->vcpus = (uint32_t)cores;
    row->mem_mb = mem_cap_kb / KIB_PER_MIB;
    return 0;
}

static int parse_csv(const struct line *l, struct trace_row *row)
{
    struct trace_field f[FIELDS_MAX + 1];
    int r;

    if (split(l, ',', f) != 2)
        return err_set(l->err, -EINVAL, "%s:%u: the line has not 2 fields, expected time_s,value", l->file,
                       l->number);
    if (!trace_rows_number(&f[0], TIME_MOST, &row->time_s))
        return refuse(l, "the time", &f[0], "seconds");
    if ((r = value_of(l, "the value", &f[1], &row->value[RES_CPU])) < 0)
        return r;
    row->value[RES_MEM] = row->value[RES_CPU];
    return 0;
}

static const char *last_comma(const char *text, const char *end)
{
    return memrchr(text, ',', (size_t)(end - text));
}

/* The name is the text between the first and the last but one comma, so it may contain commas, in quotes or
 * not. */
static int parse_recorded(const struct line *l, struct arena *a, struct trace_row *row)
{
    const char *end = l->text + l->len;
    const char *first = memchr(l->text, ',', l->len);
    const char *last = first ? last_comma(first + 1, end) : NULL;
    const char *middle = last ? last_comma(first + 1, last) : NULL;
    int r;

    if (!middle)
        return err_set(l->err, -EINVAL, "%s:%u: the line has not 4 fields, expected time,vm,cpu_mhz,mem_mb",
                       l->file, l->number);
    struct trace_field time = trace_rows_trimmed(l->text, (size_t)(first - l->text));
    struct trace_field vm = trace_rows_trimmed(first + 1, (size_t)(middle - first - 1));
    struct trace_field cpu = trace_rows_trimmed(middle + 1, (size_t)(last - middle - 1));
    struct trace_field mem = trace_rows_trimmed(last + 1, (size_t)(end - last - 1));

    if (!trace_rows_instant(&time, &row->time_s))
        return refuse(l, "the time", &time, "a date, or seconds since 1970");
    if (vm.len == 0 || vm.len > 2 * TRACE_NAME_LENGTH_MAX + 3 || memchr(vm.text, '\0', vm.len))
        return refuse(l, "the VM", &vm, "its id");
    row->vm = csv_text(vm.text, vm.len, a);
    if (row->vm[0] == '\0' || strlen(row->vm) > TRACE_NAME_LENGTH_MAX)
        return refuse(l, "the VM", &vm, "its id");
    if ((r = value_of(l, "cpu_mhz", &cpu, &row->value[RES_CPU])) < 0 ||
        (r = value_of(l, "mem_mb", &mem, &row->value[RES_MEM])) < 0)
        return r;
    return 0;
}

/* Whether the first line is a heading: it begins with neither a number nor a date, and ends with a word. A
 * sample with a mistake in its time is none. */
static bool is_heading(const struct line *l, enum trace_format format)
{
    char separator = format == TRACE_BITBRAINS ? ';' : ',';
    const char *first = memchr(l->text, separator, l->len);
    const char *last = first ? (const char *)memrchr(l->text, separator, l->len) + 1 : NULL;
    double t;

    if (format == TRACE_PLANETLAB || !first)
        return false;
    struct trace_field time = trace_rows_trimmed(l->text, (size_t)(first - l->text));
    struct trace_field value = trace_rows_trimmed(last, (size_t)(l->text + l->len - last));

    return !trace_rows_instant(&time, &t) && value.len > 0 && !trace_rows_number(&value, INFINITY, &t);
}

int trace_rows_add(struct trace_rows *rows, const struct trace_row *row, struct arena *a, const char *file,
                   unsigned line, struct err *err)
{
    if (rows->n >= ROWS_MAX)
        return err_set(err, -EFBIG, "%s:%u: there are more than %d samples, expected fewer", file, line,
                       ROWS_MAX);
    rows->items = arena_grow(a, rows->items, rows->n, &rows->cap, sizeof *rows->items);
    rows->items[rows->n++] = *row;
    return 0;
}

static int parse_line(const struct line *l, enum trace_format format, size_t nth, struct arena *a,
                      struct trace_row *row)
{
    switch (format) {
    case TRACE_PLANETLAB:
        return parse_planetlab(l, nth, row);
    case TRACE_BITBRAINS:
        return parse_bitbrains(l, row);
    case TRACE_CSV:
        return parse_csv(l, row);
    case TRACE_RECORDED:
        return parse_recorded(l, a, row);
    case TRACE_PROMETHEUS: /* have parsers of their own */
    case TRACE_TABLE:
    case trace_format_count:
        break;
    }
    return -EINVAL;
}

int trace_rows_parse(const char *file, const char *vm, const char *text, size_t len, enum trace_format format,
                     struct arena *a, struct trace_rows *rows, struct err *err)
{
    trace_rows_skip_mark(&text, &len);
    const char *end = text + len;
    size_t begin = rows->n;
    unsigned number = 1;

    for (const char *at = text; at < end; number++) {
        const char *stop = format == TRACE_RECORDED ? at + csv_line_length(at, (size_t)(end - at))
                                                    : memchr(at, '\n', (size_t)(end - at));
        struct line l = {file, number, at, (size_t)((stop ? stop : end) - at), err};
        struct trace_row row = {.vm = vm, .order = (uint32_t)rows->n};

        at = stop && stop < end ? stop + 1 : end;
        if (trace_rows_trimmed(l.text, l.len).len == 0 || (number == 1 && is_heading(&l, format)))
            continue;
        int r = parse_line(&l, format, rows->n - begin, a, &row);

        if (r < 0)
            return r;
        if (format != TRACE_RECORDED && rows->n > begin && row.time_s < rows->items[rows->n - 1].time_s)
            return err_set(err, -EINVAL,
                           "%s:%u: the time %.12g is before that of the line above, expected it later", file,
                           number, row.time_s);
        if ((r = trace_rows_add(rows, &row, a, file, number, err)) < 0)
            return r;
    }
    return 0;
}
