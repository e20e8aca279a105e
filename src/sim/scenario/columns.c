/* columns.c: what the columns of a table, or the answers of Prometheus, are: the keys of `workload` for the
 * formats prometheus and table. */
#include "sim/scenario/build.h"

#include "base/rfc3339.h"

#include <string.h>

#define AT(member) offsetof(struct column_spec, member)

ENUM_WORDS(unit, TRACE_UNITS);

/* clang-format off */
static const struct field column_key_list[] = {
    {"file", FIELD_PATH, AT(file), .meaning = "a file with this figure"},
    {"dir", FIELD_PATH, AT(dir), .meaning = "a folder of such files"},
    {"column", FIELD_TEXT, AT(column), .meaning = "table: the heading of its column, or its number"},
    {"metric", FIELD_TEXT, AT(metric), .meaning = "prometheus: only series of this metric"},
    {"unit", FIELD_WORD, AT(unit), .words = unit_words, .meaning = "of the figures"},
};
/* clang-format on */

const struct schema column_keys = SCHEMA_OF("", column_key_list);

struct columns_spec columns_default(void)
{
    return (struct columns_spec){.header = true, .delimiter = ","};
}

bool columns_has(int format)
{
    return format == TRACE_PROMETHEUS || format == TRACE_TABLE;
}

/* The keys of one format are an error in another: they are a misunderstanding. */
static const struct {
    const char *key;
    bool prometheus, table, recorded, needed;
} keys_of_formats[] = {
    {"vm", true, true, false, true},          {"cpu", true, true, false, true},
    {"time", false, true, false, true},       {"from", true, true, true, false},
    {"mem", true, true, false, false},        {"vcpus", true, true, false, false},
    {"mem_size", true, true, false, false},   {"time_unit", false, true, false, false},
    {"delimiter", false, true, false, false}, {"header", false, true, false, false},
};

static int check_keys(const struct reader *f, const struct node *n, int format)
{
    for (size_t i = 0; i < sizeof keys_of_formats / sizeof *keys_of_formats; i++) {
        const char *key = keys_of_formats[i].key;
        const struct node *given = node_child(n, key);
        bool known = (format == TRACE_PROMETHEUS && keys_of_formats[i].prometheus) ||
                     (format == TRACE_TABLE && keys_of_formats[i].table) ||
                     (format == TRACE_RECORDED && keys_of_formats[i].recorded);
        if (given && !known)
            return reader_complain(f, given, "means nothing for the format %s, expected it with %s",
                                   trace_format_name((enum trace_format)format),
                                   keys_of_formats[i].recorded     ? "prometheus, table and recorded"
                                   : keys_of_formats[i].prometheus ? "prometheus and table"
                                                                   : "table");
        if (!given && known && keys_of_formats[i].needed)
            return reader_complain(f, n, ".%s is missing, expected it for the format %s", key,
                                   trace_format_name((enum trace_format)format));
    }
    if (columns_has(format) && node_child(n, "percent"))
        return reader_complain(f, node_child(n, "percent"),
                               "means nothing here, expected unit: percent in the figure's section");
    return 0;
}

static const char *units_of(enum trace_part part)
{
    return part == TRACE_CPU   ? "mhz, cores, percent or seconds"
           : part == TRACE_MEM ? "bytes, kib, mib, gib or percent"
                               : "bytes, kib, mib or gib";
}

static int make_column(const struct reader *f, const struct node *n, const struct workload_spec *s,
                       const struct column_spec *spec, enum trace_part part, struct trace_column *ret)
{
    bool table = s->format == TRACE_TABLE;
    const char *other = table ? spec->metric : spec->column;

    if (!spec->given)
        return 0;
    if (other)
        return reader_complain(f, n, ".%s means nothing for the format %s, expected %s",
                               table ? "metric" : "column", table ? "table" : "prometheus",
                               table ? "column" : "metric");
    if (table && !spec->column)
        return reader_complain(f, n, ".column is missing, expected its heading");
    if (spec->unit == TRACE_UNIT_NONE && part != TRACE_VCPUS)
        return reader_complain(f, n, ".unit is missing, expected %s", units_of(part));
    if (!trace_unit_fits((enum trace_unit)spec->unit, part))
        return part == TRACE_VCPUS
                   ? reader_complain(f, n, ".unit means nothing here, expected none")
                   : reader_complain(f, n, ".unit is \"%s\", expected %s",
                                     trace_unit_name((enum trace_unit)spec->unit), units_of(part));
    if (spec->file && spec->dir)
        return reader_complain(f, n, "has both file and dir, expected one of them");
    const char *own = spec->file ? spec->file : spec->dir;
    const char *path = own ? own : s->file ? s->file : s->dir;

    if (!path)
        return reader_complain(f, n, ".file is missing, expected the file with this figure");
    *ret =
        (struct trace_column){true, path, table ? spec->column : spec->metric, (enum trace_unit)spec->unit};
    return 0;
}

static int read_delimiter(const struct reader *f, const struct node *n, const char *text, char *ret)
{
    if (strcmp(text, "tab") == 0) {
        *ret = '\t';
        return 0;
    }
    if (strlen(text) != 1 || strchr("\"\r\n", text[0]) || (unsigned char)text[0] >= 0x80)
        return reader_refuse(f, node_child(n, "delimiter"), "one character, or tab");
    *ret = text[0];
    return 0;
}

static int read_from(const struct reader *f, const struct node *n, const char *text, double *ret)
{
    instant_s t;

    *ret = UNKNOWN;
    if (!text)
        return 0;
    if (rfc3339_parse(text, &t) < 0 || t <= 0)
        return reader_refuse(f, node_child(n, "from"), "a date like 2026-01-05T00:00:00Z");
    *ret = (double)t;
    return 0;
}

int columns_make(const struct reader *f, const struct node *n, const struct columns_spec *spec,
                 struct workload_spec *s)
{
    struct trace_columns c = {.vm = spec->vm,
                              .time = spec->time,
                              .time_unit_s = spec->time_unit == 1 ? 0.001 : 1,
                              .header = spec->header};
    int r = check_keys(f, n, s->format);

    if (r < 0 || (r = read_from(f, n, spec->from, &s->from_s)) < 0 || !columns_has(s->format))
        return r;
    c.from_s = s->from_s;
    for (int part = 0; r == 0 && part < TRACE_PARTS; part++)
        r = make_column(f, node_child(n, trace_part_words[part]), s, &spec->of[part], (enum trace_part)part,
                        &c.of[part]);
    if (r < 0 || (r = read_delimiter(f, n, spec->delimiter, &c.delimiter)) < 0)
        return r;
    struct trace_columns *made = arena_new(f->a, struct trace_columns);

    *made = c;
    s->columns = made;
    return 0;
}
