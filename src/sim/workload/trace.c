/* trace.c: reads folders of traces into one set of VMs. Lines are trace_rows.c's. */
#include "sim/workload/trace.h"

#include "base/cleanup.h"
#include "base/name_define.h"
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
#define STEP_S 300 /* length of a trace with a single sample */

/* ---- from rows to traces ---- */

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
static struct trace make_trace(const struct trace_row *rows, size_t n, enum resource r, double origin,
                               struct arena *a)
{
    struct trace t = {
        .time_s = arena_array(a, double, n),
        .value = arena_array(a, double, n),
    };

    for (size_t i = 0; i < n; i++) {
        double at = rows[i].time_s - origin;
        if (isnan(rows[i].value[r]))
            continue;
        if (t.n > 0 && t.time_s[t.n - 1] == at)
            t.n--;
        t.time_s[t.n] = at;
        t.value[t.n++] = rows[i].value[r];
    }
    return t;
}

static struct traced_vm make_vm(const struct trace_row *rows, size_t n, double origin, struct arena *a)
{
    struct traced_vm v = {.name = rows[0].vm};

    for (size_t i = 0; i < n; i++) {
        v.vcpus = rows[i].vcpus > v.vcpus ? rows[i].vcpus : v.vcpus;
        v.cpu_mhz = fmax(v.cpu_mhz, rows[i].cpu_mhz);
        v.mem_mb = fmax(v.mem_mb, rows[i].mem_mb);
    }
    for (int r = 0; r < RES_COUNT; r++)
        v.of[r] = make_trace(rows, n, (enum resource)r, origin, a);
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

static void make_set(struct trace_rows *rows, enum trace_format format, struct arena *a,
                     struct trace_set *ret)
{
    bool dated = format == TRACE_BITBRAINS || format == TRACE_RECORDED;
    double origin = dated && rows->n > 0 ? INFINITY : 0;
    struct trace_set set = {0};
    size_t cap = 0;

    if (rows->n > 0)
        qsort(rows->items, rows->n, sizeof *rows->items, by_vm_and_time);
    for (size_t i = 0; dated && i < rows->n; i++)
        origin = fmin(origin, rows->items[i].time_s);
    for (size_t i = 0, end; i < rows->n; i = end) {
        for (end = i + 1; end < rows->n && strcmp(rows->items[end].vm, rows->items[i].vm) == 0;)
            end++;
        struct traced_vm v = make_vm(&rows->items[i], end - i, origin, a);
        if (format == TRACE_BITBRAINS && (v.vcpus == 0 || v.mem_mb <= 0)) /* a VM that never ran */
            continue;
        set.vms = arena_grow(a, set.vms, set.n, &cap, sizeof *set.vms);
        set.vms[set.n++] = v;
    }
    double length = length_of(&set);

    for (uint32_t i = 0; i < set.n; i++)
        set.vms[i].of[RES_CPU].length_s = set.vms[i].of[RES_MEM].length_s = length;
    *ret = set;
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

static int read_file(const char *path, enum trace_format format, struct arena *a, struct trace_rows *rows,
                     struct err *err)
{
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    CLEANUP(freep) char *text = NULL;
    struct stat st;

    if (!f || fstat(fileno(f), &st) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EINVAL, "%s: this is no file, expected one with a trace", path);
    if ((size_t)st.st_size > FILE_BYTES_MAX)
        return err_set(err, -EFBIG, "%s: larger than %zu bytes, expected a trace", path, FILE_BYTES_MAX);
    text = malloc((size_t)st.st_size + 1);
    if (!text)
        return err_set(err, -ENOMEM, "%s: out of memory", path);
    size_t len = fread(text, 1, (size_t)st.st_size, f);

    if (ferror(f))
        return err_set(err, -EIO, "%s: cannot be read", path);
    return trace_rows_parse(path, name_of(path, a), text, len, format, a, rows, err);
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

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Refuses two files for one VM, such as web.csv and web.txt. */
static int check_names(const struct paths *p, struct arena *a, struct err *err)
{
    const char **names = arena_array(a, const char *, p->n);

    for (size_t i = 0; i < p->n; i++)
        names[i] = name_of(p->items[i], a);
    if (p->n > 0)
        qsort(names, p->n, sizeof *names, by_text);
    for (size_t i = 1; i < p->n; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            return err_set(err, -EINVAL, "%s: two files are of a VM called \"%s\", expected one", p->items[0],
                           names[i]);
    }
    return 0;
}

int trace_set_read(const char *path, enum trace_format format, struct arena *a, struct trace_set *ret,
                   struct err *err)
{
    struct trace_rows rows = {0};
    struct paths files = {0};
    struct stat st;
    int r = 0;

    if (stat(path, &st) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) {
        r = read_file(path, format, a, &rows, err);
    } else {
        r = list_files(path, a, &files, err);
        if (files.n > 0)
            qsort(files.items, files.n, sizeof *files.items, by_text);
        if (r == 0 && format != TRACE_RECORDED)
            r = check_names(&files, a, err);
    }
    for (size_t i = 0; r == 0 && i < files.n; i++)
        r = read_file(files.items[i], format, a, &rows, err);
    if (r == 0)
        make_set(&rows, format, a, ret);
    return r;
}

int trace_set_parse(const char *file, const char *text, size_t len, enum trace_format format, struct arena *a,
                    struct trace_set *ret, struct err *err)
{
    struct trace_rows rows = {0};
    int r = trace_rows_parse(file, name_of(file, a), text, len, format, a, &rows, err);

    if (r == 0)
        make_set(&rows, format, a, ret);
    return r;
}
