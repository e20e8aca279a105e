/* trace.c: reads folders of traces into one set of VMs. Lines are trace_rows.c's. */
#include "sim/workload/trace.h"

#include "base/cleanup.h"
#include "base/name_define.h"
#include "base/order.h"
#include "base/rfc3339.h"
#include "sim/workload/trace_rows.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

NAME_DEFINE(trace_format, TRACE_FORMATS)

#define FILE_BYTES_MAX ((size_t)256 * 1024 * 1024)
#define FILES_MAX 100000
#define STDIN_PATH "/dev/stdin"
#define STEP_S 300 /* length of a trace with a single sample */

/* ---- from rows to traces ---- */

/* How rows become traces. */
struct making {
    bool dated;                        /* t = 0 is from_s, or the earliest sample */
    double from_s;                     /* UNKNOWN: the earliest sample */
    const struct trace_columns *units; /* NULL: all rows are MHz and MiB, or what the format has */
};

/* Irregularities of a set, for its note. */
struct findings {
    size_t replaced;   /* samples for which a later line has another value */
    uint32_t with_gap; /* VMs with a gap */
    double longest_s, longest_at;
    const char *longest_vm;
};

static int by_vm_and_time(const void *x, const void *y)
{
    const struct trace_row *a = x;
    const struct trace_row *b = y;
    int order = strcmp(a->vm, b->vm);

    if (order != 0)
        return order;
    if (a->time_s != b->time_s)
        return (a->time_s > b->time_s) - (a->time_s < b->time_s);
    return (a->order > b->order) - (a->order < b->order);
}

/* One resource of one VM: the known samples; of two at one time the later line counts. */
static struct trace make_trace(const struct trace_row *rows, size_t n, enum resource r, struct arena *a,
                               struct findings *f)
{
    struct trace t = {
        .time_s = arena_array(a, double, n),
        .value = arena_array(a, double, n),
    };

    for (size_t i = 0; i < n; i++) {
        double at = rows[i].time_s;
        if (isnan(rows[i].value[r]))
            continue;
        if (t.n > 0 && t.time_s[t.n - 1] == at) {
            t.n--;
            f->replaced += t.value[t.n] != rows[i].value[r];
        }
        t.time_s[t.n] = at;
        t.value[t.n++] = rows[i].value[r];
    }
    return t;
}

/* A counter becomes its rise per second, which holds from one sample to the next. Where it fell it began
 * anew, and the rise before that holds on. */
static void differentiate(struct trace *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i + 1 < t->n; i++) {
        double rise = t->value[i + 1] - t->value[i];
        if (rise < 0)
            continue;
        t->value[n] = rise / (t->time_s[i + 1] - t->time_s[i]);
        t->time_s[n++] = t->time_s[i];
    }
    t->n = n;
}

/* Times from t = 0. Of samples before that the last one counts, from t = 0 on. */
static void begin_at(struct trace *t, double origin)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        double at = fmax(t->time_s[i] - origin, 0);
        double value = t->value[i];
        if (n > 0 && t->time_s[n - 1] == at)
            n--;
        t->time_s[n] = at;
        t->value[n++] = value;
    }
    t->n = n;
}

static struct traced_vm make_vm(const struct trace_row *rows, size_t n, const struct making *how,
                                struct arena *a, struct findings *f)
{
    struct traced_vm v = {.name = rows[0].vm};

    for (size_t i = 0; i < n; i++) {
        v.vcpus = rows[i].vcpus > v.vcpus ? rows[i].vcpus : v.vcpus;
        v.cpu_mhz = fmax(v.cpu_mhz, rows[i].cpu_mhz);
        v.mem_mb = fmax(v.mem_mb, rows[i].mem_mb);
    }
    for (int r = 0; r < RES_COUNT; r++)
        v.of[r] = make_trace(rows, n, (enum resource)r, a, f);
    if (how->units && how->units->of[TRACE_CPU].unit == TRACE_SECONDS)
        differentiate(&v.of[RES_CPU]);
    return v;
}

/* All traces of a set have one period: until the last sample of all, plus its length. */
static double length_of(const struct trace_set *set)
{
    double end = 0;

    for (uint32_t i = 0; i < set->n; i++) {
        for (int r = 0; r < RES_COUNT; r++) {
            const struct trace *t = &set->vms[i].of[r];
            double step = t->n > 1 ? t->time_s[t->n - 1] - t->time_s[t->n - 2] : STEP_S;
            if (t->n > 0)
                end = fmax(end, t->time_s[t->n - 1] + step);
        }
    }
    return end;
}

/* Without columns each line has a time that counts, even without figures. */
static double earliest(const struct trace_set *set, const struct trace_rows *rows, const struct making *how)
{
    double first = INFINITY;

    for (size_t i = 0; !how->units && i < rows->n; i++)
        first = fmin(first, rows->items[i].time_s);
    for (uint32_t i = 0; i < set->n; i++) {
        for (int r = 0; r < RES_COUNT; r++) {
            if (set->vms[i].of[r].n > 0)
                first = fmin(first, set->vms[i].of[r].time_s[0]);
        }
    }
    return isfinite(first) ? first : 0;
}

static void make_set(struct trace_rows *rows, enum trace_format format, const struct making *how,
                     struct arena *a, struct trace_set *ret, struct findings *f)
{
    struct trace_set set = {0};
    size_t cap = 0;

    order_sort(rows->items, rows->n, sizeof *rows->items, by_vm_and_time);
    for (size_t i = 0, end; i < rows->n; i = end) {
        for (end = i + 1; end < rows->n && strcmp(rows->items[end].vm, rows->items[i].vm) == 0;)
            end++;
        struct traced_vm v = make_vm(&rows->items[i], end - i, how, a, f);
        if (format == TRACE_BITBRAINS && (v.vcpus == 0 || v.mem_mb <= 0)) /* a VM that never ran */
            continue;
        set.vms = arena_grow(a, set.vms, set.n, &cap, sizeof *set.vms);
        set.vms[set.n++] = v;
    }
    if (how->dated) {
        set.from_s = isnan(how->from_s) ? earliest(&set, rows, how) : how->from_s;
        for (uint32_t i = 0; i < set.n; i++) {
            begin_at(&set.vms[i].of[RES_CPU], set.from_s);
            begin_at(&set.vms[i].of[RES_MEM], set.from_s);
        }
    }
    double length = length_of(&set);

    for (uint32_t i = 0; i < set.n; i++)
        set.vms[i].of[RES_CPU].length_s = set.vms[i].of[RES_MEM].length_s = length;
    *ret = set;
}

static void make_plain_set(struct trace_rows *rows, enum trace_format format, double from_s, struct arena *a,
                           struct trace_set *ret)
{
    const struct making how = {.dated = format == TRACE_BITBRAINS || format == TRACE_RECORDED,
                               .from_s = from_s};
    struct findings f = {0};

    make_set(rows, format, &how, a, ret, &f);
}

/* ---- the note ---- */

#define GAP_STEPS 3 /* times the usual step: one missing sample is no gap */

/* The median time between two samples. steps has space for all. */
static double usual_step(const struct trace *t, double *steps)
{
    for (uint32_t i = 0; i + 1 < t->n; i++)
        steps[i] = t->time_s[i + 1] - t->time_s[i];
    qsort(steps, t->n - 1, sizeof *steps, order_numbers);
    return steps[(t->n - 1) / 2];
}

static void find_gaps(const struct traced_vm *v, double *steps, struct findings *f)
{
    bool found = false;

    for (int r = 0; r < RES_COUNT; r++) {
        const struct trace *t = &v->of[r];
        double most = t->n > 1 ? GAP_STEPS * usual_step(t, steps) : INFINITY;
        for (uint32_t i = 0; i + 1 < t->n; i++) {
            double gap = t->time_s[i + 1] - t->time_s[i];
            if (gap <= most)
                continue;
            found = true;
            if (gap <= f->longest_s)
                continue;
            f->longest_s = gap;
            f->longest_at = t->time_s[i];
            f->longest_vm = v->name;
        }
    }
    f->with_gap += found;
}

/* What an admin should know about the files before believing the result. */
static const char *note_of(const struct trace_set *set, const struct trace_rows *rows, struct findings *f,
                           struct arena *a)
{
    const char *note = rows->warning;
    char date[RFC3339_MAX];
    uint32_t most = 1;

    for (uint32_t i = 0; i < set->n; i++) {
        for (int r = 0; r < RES_COUNT; r++)
            most = set->vms[i].of[r].n > most ? set->vms[i].of[r].n : most;
    }
    double *steps = arena_array(a, double, most);

    for (uint32_t i = 0; i < set->n; i++)
        find_gaps(&set->vms[i], steps, f);
    if (f->with_gap > 0)
        note =
            arena_printf(a,
                         "%s%s%u of %u VMs have gaps, in which the value before the gap holds; the longest: "
                         "VM \"%.64s\", %.0f s from %s on",
                         note ? note : "", note ? "; " : "", f->with_gap, set->n, f->longest_vm, f->longest_s,
                         rfc3339_format((instant_s)(set->from_s + f->longest_at), date));
    if (rows->missing > 0)
        note = arena_printf(a, "%s%s%zu figures are empty or no number", note ? note : "", note ? "; " : "",
                            rows->missing);
    if (f->replaced > 0)
        note =
            arena_printf(a, "%s%s%zu samples have another value for their time on a later line, which counts",
                         note ? note : "", note ? "; " : "", f->replaced);
    return note;
}

/* ---- files ---- */

/* "/a/b/web.csv": "web". */
static const char *name_of(const char *file, struct arena *a)
{
    static const char *const endings[] = {".csv", ".txt"};
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    size_t len = strlen(name);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t tail = strlen(endings[i]);
        if (len > tail && strcmp(name + len - tail, endings[i]) == 0)
            return arena_strndup(a, name, len - tail);
    }
    return name;
}

struct text {
    const char *text;
    size_t len;
    char *owned;
};

static void text_releasep(struct text *t)
{
    free(t->owned);
}

/* All of it, up to a limit: a pipe does not say how long it is. */
static int read_stream(FILE *f, const char *path, struct text *ret, struct err *err)
{
    size_t cap = (size_t)1 << 16;
    char *text = NULL;
    size_t len = 0;

    for (;;) {
        char *more = realloc(text, cap);
        if (!more) {
            free(text);
            return err_set(err, -ENOMEM, "%s: out of memory", path);
        }
        text = more;
        len += fread(text + len, 1, cap - len, f);
        if (len < cap)
            break;
        cap *= 2;
        if (len > FILE_BYTES_MAX)
            break;
    }
    *ret = (struct text){text, len, text};
    if (ferror(f))
        return err_set(err, -EIO, "%s: cannot be read", path);
    if (len > FILE_BYTES_MAX)
        return err_set(err, -EFBIG, "%s: larger than %zu bytes, expected a trace", path, FILE_BYTES_MAX);
    return 0;
}

/* Standard input is kept, if it can be: a scenario may be read again. */
static int read_stdin(struct trace_texts *texts, struct text *ret, struct err *err)
{
    int r = read_stream(stdin, "standard input", ret, err);

    if (r == 0 && texts) {
        ret->text = arena_strndup(texts->a, ret->text, ret->len);
        trace_texts_add(texts, STDIN_PATH, ret->text, ret->len);
    }
    return r;
}

static int read_text(const char *path, struct trace_texts *texts, struct text *ret, struct err *err)
{
    const struct trace_text *known = trace_texts_find(texts, path);
    struct stat st;

    if (known) {
        *ret = (struct text){known->text, known->len, NULL};
        return 0;
    }
    if (strcmp(path, STDIN_PATH) == 0)
        return read_stdin(texts, ret, err);
    CLEANUP(fclosep) FILE *f = fopen(path, "re");

    if (!f || fstat(fileno(f), &st) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EINVAL, "%s: this is no file, expected one with a trace", path);
    if ((size_t)st.st_size > FILE_BYTES_MAX)
        return err_set(err, -EFBIG, "%s: larger than %zu bytes, expected a trace", path, FILE_BYTES_MAX);
    return read_stream(f, path, ret, err);
}

static int read_file(const char *path, enum trace_format format, struct trace_texts *texts, struct arena *a,
                     struct trace_rows *rows, struct err *err)
{
    CLEANUP(text_releasep) struct text t = {0};
    int r = read_text(path, texts, &t, err);

    return r < 0 ? r : trace_rows_parse(path, name_of(path, a), t.text, t.len, format, a, rows, err);
}

static void closedirp(DIR **d)
{
    if (*d)
        (void)closedir(*d);
}

struct paths {
    const char **items;
    size_t n, cap;
};

/* Lists regular files; hidden files and folders are skipped. */
static int list_files(const char *path, struct arena *a, struct paths *ret, struct err *err)
{
    CLEANUP(closedirp) DIR *d = opendir(path);
    struct dirent *e;

    if (!d)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    while ((e = readdir(d))) {
        struct stat st;
        if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode))
            continue;
        if (ret->n >= FILES_MAX)
            return err_set(err, -EFBIG, "%s: more than %d files, expected fewer", path, FILES_MAX);
        ret->items = arena_grow(a, ret->items, ret->n, &ret->cap, sizeof *ret->items);
        ret->items[ret->n++] = arena_printf(a, "%s/%s", path, e->d_name);
    }
    return 0;
}

/* Refuses two files for one VM, such as web.csv and web.txt. */
static int check_names(const struct paths *p, struct arena *a, struct err *err)
{
    const char **names = arena_array(a, const char *, p->n);

    for (size_t i = 0; i < p->n; i++)
        names[i] = name_of(p->items[i], a);
    order_sort(names, p->n, sizeof *names, order_texts);
    for (size_t i = 1; i < p->n; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            return err_set(err, -EINVAL, "%s: two files are of a VM called \"%s\", expected one", p->items[0],
                           names[i]);
    }
    return 0;
}

/* The files of a folder, by name, or the one file that the path means. */
static int find_files(const char *path, const struct trace_texts *texts, bool *ret_folder, struct arena *a,
                      struct paths *ret, struct err *err)
{
    struct stat st;
    int r;

    *ret_folder = false;
    if (!trace_texts_find(texts, path) && strcmp(path, STDIN_PATH) != 0) {
        if (stat(path, &st) < 0)
            return err_set(err, -errno, "%s: %s", path, strerror(errno));
        *ret_folder = S_ISDIR(st.st_mode);
    }
    if (!*ret_folder) {
        ret->items = arena_grow(a, ret->items, ret->n, &ret->cap, sizeof *ret->items);
        ret->items[ret->n++] = path;
        return 0;
    }
    if ((r = list_files(path, a, ret, err)) == 0 && ret->n > 0)
        qsort(ret->items, ret->n, sizeof *ret->items, order_texts);
    return r;
}

int trace_set_read(const char *path, enum trace_format format, double from_s, struct trace_texts *texts,
                   struct arena *a, struct trace_set *ret, struct err *err)
{
    struct trace_rows rows = {0};
    struct paths files = {0};
    bool folder;
    int r = find_files(path, texts, &folder, a, &files, err);

    if (r == 0 && folder && format != TRACE_RECORDED)
        r = check_names(&files, a, err);
    for (size_t i = 0; r == 0 && i < files.n; i++)
        r = read_file(files.items[i], format, texts, a, &rows, err);
    if (r == 0)
        make_plain_set(&rows, format, from_s, a, ret);
    return r;
}

/* ---- prometheus, table ---- */

/* Reads a file for all figures that stand in it: `parts` has their bits. */
static int read_columns_file(const char *path, const struct trace_columns *c, enum trace_format format,
                             unsigned parts, struct trace_texts *texts, struct arena *a,
                             struct trace_rows *rows, struct err *err)
{
    CLEANUP(text_releasep) struct text t = {0};
    int r = read_text(path, texts, &t, err);

    if (r == 0 && format == TRACE_TABLE)
        return trace_table_parse(path, t.text, t.len, c, parts, a, rows, err);
    for (int part = 0; r == 0 && part < TRACE_PARTS; part++) {
        if (parts & 1u << part)
            r = trace_prometheus_parse(path, t.text, t.len, c, (enum trace_part)part, a, rows, err);
    }
    return r;
}

static int read_columns(const struct trace_columns *c, enum trace_format format, struct trace_texts *texts,
                        struct arena *a, struct trace_rows *rows, struct err *err)
{
    unsigned done = 0;

    for (int part = 0; part < TRACE_PARTS; part++) {
        struct paths files = {0};
        unsigned parts = 0;
        bool folder;
        int r;
        if (!c->of[part].given || done & 1u << part)
            continue;
        for (int p = part; p < TRACE_PARTS; p++) {
            if (c->of[p].given && strcmp(c->of[p].path, c->of[part].path) == 0)
                parts |= 1u << p;
        }
        done |= parts;
        if ((r = find_files(c->of[part].path, texts, &folder, a, &files, err)) < 0)
            return r;
        if (files.n == 0)
            return err_set(err, -ENOENT, "%s: has no file, expected some", c->of[part].path);
        for (size_t i = 0; i < files.n; i++) {
            if ((r = read_columns_file(files.items[i], c, format, parts, texts, a, rows, err)) < 0)
                return r;
        }
    }
    return 0;
}

static bool ends_before(const struct trace_rows *rows, double from_s)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (!(rows->items[i].time_s < from_s)) /* also where from_s is not known */
            return false;
    }
    return true;
}

int trace_set_read_columns(const struct trace_columns *columns, enum trace_format format,
                           struct trace_texts *texts, struct arena *a, struct trace_set *ret, struct err *err)
{
    const struct making how = {.dated = true, .from_s = columns->from_s, .units = columns};
    struct trace_rows rows = {0};
    struct findings f = {0};
    char date[RFC3339_MAX];
    int r = read_columns(columns, format, texts, a, &rows, err);

    if (r < 0)
        return r;
    make_set(&rows, format, &how, a, ret, &f);
    if (rows.n > 0 && ends_before(&rows, columns->from_s))
        return err_set(err, -EINVAL, "%s: all samples are before %s, expected some from then on (from)",
                       columns->of[TRACE_CPU].path, rfc3339_format((instant_s)columns->from_s, date));
    ret->note = note_of(ret, &rows, &f, a);
    return 0;
}
