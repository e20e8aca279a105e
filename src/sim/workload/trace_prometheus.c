/* trace_prometheus.c: parses the answer of Prometheus to a range query (/api/v1/query_range, result type
 * matrix), as curl gives it: https://prometheus.io/docs/prometheus/latest/querying/api/ */
#include "sim/workload/trace_rows.h"

#include "base/cleanup.h"
#include "base/idmap.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* jansson's tree takes about 15 times as much memory. */
#define FILE_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define VALUE_LENGTH_MAX 64
#define LABELS_SHOWN_MAX 12
#define SHOWN_MAX 64
#define TIME_MOST_S 1e11

struct answer {
    const char *file;
    const struct trace_columns *columns;
    enum trace_part part;
    struct arena *a;
    struct trace_rows *rows;
    size_t first_row;
    bool repeated; /* several series are of one VM */
    struct idmap vms;
    struct err *err;
};

static int not_an_answer(const struct answer *x, const char *what)
{
    return err_set(x->err, -EINVAL, "%s: %s, expected what /api/v1/query_range answers", x->file, what);
}

/* ---- one series ---- */

static const char *labels_of(const struct answer *x, const json_t *metric)
{
    const char *list = "";
    const char *key;
    json_t *value;
    int n = 0;

    json_object_foreach((json_t *)metric, key, value)
    {
        if (n++ == LABELS_SHOWN_MAX)
            break;
        list = arena_printf(x->a, "%s%s%.64s", list, *list ? ", " : "", key);
    }
    return *list ? list : "no label at all";
}

/* The VM of the series; NULL and 0: the series is of another metric. */
static int vm_of(struct answer *x, size_t nth, const json_t *metric, const char **ret)
{
    const char *wanted = x->columns->of[x->part].name;
    const char *name = json_string_value(json_object_get(metric, "__name__"));
    const char *vm = json_string_value(json_object_get(metric, x->columns->vm));

    *ret = NULL;
    if (!json_is_object(metric))
        return err_set(x->err, -EINVAL, "%s: /data/result/%zu/metric: expected the labels of a series",
                       x->file, nth);
    if (wanted && (!name || strcmp(name, wanted) != 0))
        return 0;
    if (!vm || !*vm || strlen(vm) > TRACE_NAME_LENGTH_MAX)
        return err_set(
            x->err, -EINVAL,
            "%s: /data/result/%zu/metric: there is no label \"%.64s\" with the VM, expected one of %s",
            x->file, nth, x->columns->vm, labels_of(x, metric));
    void **known = idmap_slot(&x->vms, vm);

    if (*known)
        x->repeated = true;
    else
        *known = arena_strdup(x->a, vm);
    *ret = *known;
    return 0;
}

/* One sample, [seconds since 1970, "value"]. */
static int add_value(struct answer *x, size_t nth, size_t i, const char *vm, const json_t *sample)
{
    const json_t *time = json_array_get(sample, 0);
    const char *text = json_string_value(json_array_get(sample, 1));
    const struct trace_field f = {text, text ? strlen(text) : 0};
    struct trace_row row = {.vm = vm, .order = (uint32_t)x->rows->n, .value = {UNKNOWN, UNKNOWN}};
    enum trace_unit unit = x->columns->of[x->part].unit;
    double v;

    row.time_s = json_number_value(time);
    if (json_array_size(sample) != 2 || !json_is_number(time) || !text ||
        !(row.time_s >= 0 && row.time_s <= TIME_MOST_S))
        return err_set(x->err, -EINVAL, "%s: /data/result/%zu/values/%zu: expected [seconds, \"value\"]",
                       x->file, nth, i);
    if (strcmp(text, "NaN") == 0 || strcmp(text, "+Inf") == 0 || strcmp(text, "-Inf") == 0) {
        x->rows->missing++;
        return 0;
    }
    if (f.len > VALUE_LENGTH_MAX || !trace_rows_number(&f, 1e300, &v) ||
        !trace_row_set(&row, x->part, unit, v))
        return err_set(x->err, -EINVAL,
                       "%s: /data/result/%zu/values/%zu: %s is \"%.64s\", expected a number %s", x->file, nth,
                       i, trace_part_words[x->part], text, trace_columns_range(x->part, unit));
    return trace_rows_add(x->rows, &row, x->a, x->file, 1, x->err);
}

static int add_series(struct answer *x, size_t nth, const json_t *series)
{
    const json_t *values = json_object_get(series, "values");
    const char *vm;
    json_t *sample;
    size_t i;
    int r = vm_of(x, nth, json_object_get(series, "metric"), &vm);

    if (r < 0 || !vm)
        return r;
    if (!json_is_array(values))
        return err_set(x->err, -EINVAL, "%s: /data/result/%zu: has no values, expected %s", x->file, nth,
                       json_object_get(series, "histograms") ? "numbers, not histograms" : "some");
    json_array_foreach(values, i, sample)
    {
        if ((r = add_value(x, nth, i, vm, sample)) < 0)
            return r;
    }
    return 0;
}

/* ---- the whole answer ---- */

static int by_vm_and_time(const void *x, const void *y)
{
    const struct trace_row *a = x;
    const struct trace_row *b = y;
    int order = strcmp(a->vm, b->vm);

    return order != 0 ? order : (a->time_s > b->time_s) - (a->time_s < b->time_s);
}

/* A VM has several series in turn, where each host that it was on reports it. At one time it has one value:
 * several (of its vCPUs, say) would have to be added, or not. */
static int check_repeated(const struct answer *x)
{
    struct trace_row *rows = x->rows->items + x->first_row;
    size_t n = x->rows->n - x->first_row;

    qsort(rows, n, sizeof *rows, by_vm_and_time);
    for (size_t i = 1; i < n; i++) {
        if (by_vm_and_time(&rows[i - 1], &rows[i]) == 0)
            return err_set(x->err, -EINVAL,
                           "%s: /data/result: several series have a value of VM \"%.64s\" at %.12g, expected "
                           "one: sum by (%.64s) (...) in the query adds them",
                           x->file, rows[i].vm, rows[i].time_s, x->columns->vm);
    }
    return 0;
}

static int check_answer(const struct answer *x, const json_t *root)
{
    const char *status = json_string_value(json_object_get(root, "status"));
    const json_t *data = json_object_get(root, "data");
    const char *type = json_string_value(json_object_get(data, "resultType"));

    if (!status)
        return not_an_answer(x, "there is no status");
    if (strcmp(status, "success") != 0) {
        const char *error = json_string_value(json_object_get(root, "error"));
        return err_set(x->err, -EINVAL, "%s: Prometheus answered with an error: %.200s", x->file,
                       error ? error : status);
    }
    if (!type)
        return not_an_answer(x, "/data/resultType is missing");
    if (strcmp(type, "matrix") != 0)
        return err_set(
            x->err, -EINVAL,
            "%s: /data/resultType is \"%.64s\", expected \"matrix\": ask /api/v1/query_range, with "
            "start, end and step",
            x->file, type);
    if (!json_is_array(json_object_get(data, "result")))
        return not_an_answer(x, "/data/result is no list");
    return 0;
}

static int add_answer(struct answer *x, const json_t *root)
{
    const json_t *result;
    json_t *series;
    size_t i;
    int r = check_answer(x, root);

    if (r < 0)
        return r;
    const char *warning = json_string_value(json_array_get(json_object_get(root, "warnings"), 0));

    if (warning && !x->rows->warning) /* a part of the data may be missing */
        x->rows->warning = arena_printf(x->a, "%s: Prometheus warns: %.200s", x->file, warning);
    result = json_object_get(json_object_get(root, "data"), "result");
    json_array_foreach(result, i, series)
    {
        if ((r = add_series(x, i, series)) < 0)
            return r;
    }
    if (x->rows->n == x->first_row)
        return x->columns->of[x->part].name
                   ? err_set(x->err, -EINVAL,
                             "%s: no sample is of the metric \"%.64s\", expected some (after "
                             "rate() or sum() a series has no metric)",
                             x->file, x->columns->of[x->part].name)
                   : err_set(x->err, -EINVAL,
                             "%s: the answer has no sample, expected some: was the query right for its time?",
                             x->file);
    return x->repeated ? check_repeated(x) : 0;
}

int trace_prometheus_parse(const char *file, const char *text, size_t len,
                           const struct trace_columns *columns, enum trace_part part, struct arena *a,
                           struct trace_rows *rows, struct err *err)
{
    struct answer x = {.file = file,
                       .columns = columns,
                       .part = part,
                       .a = a,
                       .rows = rows,
                       .first_row = rows->n,
                       .err = err};
    json_error_t where;

    trace_rows_skip_mark(&text, &len);
    if (len > FILE_BYTES_MAX)
        return err_set(
            err, -EFBIG,
            "%s: larger than %zu bytes, expected less: a longer step, or several files in a folder", file,
            FILE_BYTES_MAX);
    if (len == 0)
        return not_an_answer(&x, "is empty");
    CLEANUP(json_decrefp) json_t *root = json_loadb(text, len, 0, &where);

    if (!root)
        return err_set(err, -EINVAL, "%s:%d: is no JSON (%s), expected what /api/v1/query_range answers",
                       file, where.line, where.text);
    int r = add_answer(&x, root);

    idmap_release(&x.vms, NULL);
    return r;
}
