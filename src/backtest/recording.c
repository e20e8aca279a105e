/* recording.c: reads a recording from a store: its beginning and its demand. What happened is happened.c's.
 */
#include "backtest/recording.h"

#include "backtest/happened.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/order.h"
#include "base/rfc3339.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "store/passes.h"
#include "store/series.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASSES_MAX INT64_MAX
#define ROWS_MAX 4000000u /* a simulation reads 5,000,000 at most */

/* A VM that is not seen for longer is taken to be off meanwhile: one look may lack figures that were wrong.
 */
#define OFF_S 900

/* ---- the beginning ---- */

static int build(const char *text, struct arena *a, const struct snapshot **ret, struct err *err)
{
    struct snapshot *s = arena_new(a, struct snapshot);
    struct inventory inv;
    int r = snapshot_read_inventory(text, strlen(text), a, &inv, NULL, err);

    if (r == 0)
        r = snapshot_build(&inv, a, s, err);
    *ret = s;
    return r < 0 ? err_widen(err, "a stored snapshot") : 0;
}

static instant_s distance(instant_s a, instant_s b)
{
    return a > b ? a - b : b - a;
}

/* The pass with a snapshot that is nearest to the time. The passes are the newest first. */
static int find_beginning(struct store *s, const struct pass_record *passes, size_t n, instant_s since,
                          struct arena *a, struct recording *ret, struct err *err)
{
    size_t best = n;
    int r;

    for (size_t i = 0; i < n; i++) {
        if (pass_trigger_is_pass(passes[i].trigger) &&
            (best == n || distance(passes[i].time, since) <= distance(passes[best].time, since)))
            best = i;
    }
    /* older passes lose their snapshots first */
    for (size_t i = best; i < n && i <= best; i--) {
        struct records found;
        if ((r = store_sqlite.list(s, QUERY_PASS, (int64_t)passes[i].id, a, &found, err)) < 0)
            return r;
        if (!pass_trigger_is_pass(passes[i].trigger) || !found.passes[0].snapshot)
            continue;
        ret->from = passes[i].time;
        ret->pass = passes[i].id;
        ret->snapshot_text = found.passes[0].snapshot;
        return build(ret->snapshot_text, a, &ret->snapshot, err);
    }
    return err_set(
        err, -ENOENT,
        "no pass with its snapshot is kept in the store, expected one (history.passes keeps more)");
}

static int read_newest(struct store *s, const struct pass_record *passes, size_t n, struct arena *a,
                       struct recording *ret, struct err *err)
{
    struct records found;
    int r;

    if (n == 0 || passes[0].id == ret->pass)
        return 0;
    if ((r = store_sqlite.list(s, QUERY_PASS, (int64_t)passes[0].id, a, &found, err)) < 0)
        return r;
    return found.passes[0].snapshot ? build(found.passes[0].snapshot, a, &ret->newest, err) : 0;
}

/* ---- demand ---- */

/* A VM while looks are read. */
struct seen {
    const char *id;
    instant_s first, last;
    double last_value[RES_COUNT];
};

struct demand {
    struct recording *rec;
    struct arena *a;
    struct idmap by_id;
    struct seen **seen;
    size_t n_seen, cap_seen;
    struct strbuf text;
    size_t rows;
    instant_s until; /* the end of the last look; before the first one, the beginning */
    double unseen_s;
    uint32_t n_covering[OFF_S]; /* looks by the time that they cover; of means it is not shorter */
};

static void put_figure(struct strbuf *out, double v)
{
    strbuf_puts(out, ",");
    if (!isnan(v))
        strbuf_printf(out, "%.10g", fmax(v, 0));
}

static void put_row(struct demand *d, instant_s time, const char *vm, double cpu, double mem)
{
    strbuf_printf(&d->text, "%" PRId64 ",%s", (int64_t)time, vm);
    put_figure(&d->text, cpu);
    put_figure(&d->text, mem);
    strbuf_puts(&d->text, "\n");
    d->rows++;
}

static struct seen *find_seen(struct demand *d, const char *id, instant_s from)
{
    void **slot = idmap_slot(&d->by_id, id);
    struct seen *v = *slot;

    if (v)
        return v;
    v = arena_new(d->a, struct seen);
    *v = (struct seen){.id = arena_strdup(d->a, id), .first = from, .last = from};
    d->seen = arena_grow(d->a, d->seen, d->n_seen, &d->cap_seen, sizeof *d->seen);
    d->seen[d->n_seen++] = v;
    *slot = v;
    return v;
}

static void add_object(struct demand *d, const struct look_object *o, instant_s from, instant_s until)
{
    double cpu = o->of[LOOK_CPU_DEMAND];
    double mem = o->of[LOOK_MEM_DEMAND];

    if (isnan(cpu) && isnan(mem))
        return;
    struct seen *v = find_seen(d, o->id, from);

    if (from - v->last > OFF_S) { /* off, while others were seen */
        put_row(d, v->last, v->id, 0, 0);
        d->rec->times_off++;
        v->last_value[RES_CPU] = v->last_value[RES_MEM] = UNKNOWN;
    }
    bool changed = v->first == from || cpu != v->last_value[RES_CPU] || mem != v->last_value[RES_MEM];

    v->last = until;
    if (!changed) /* the value before holds */
        return;
    v->last_value[RES_CPU] = cpu;
    v->last_value[RES_MEM] = mem;
    put_row(d, from, v->id, cpu, mem);
}

/* Nothing was seen until then: what VMs wanted before holds. */
static void pass_gap(struct demand *d, instant_s until)
{
    for (size_t i = 0; i < d->n_seen; i++) {
        if (d->until - d->seen[i]->last <= OFF_S)
            d->seen[i]->last = until;
    }
    d->unseen_s += (double)(until - d->until);
}

/* A figure tells of the time before its look. */
static int add_look(void *ctx, const struct look *look)
{
    struct demand *d = ctx;
    instant_s from = look->time - look->covers_s;

    if (from - d->until > OFF_S)
        pass_gap(d, from);
    if (look->covers_s > 0 && look->covers_s < OFF_S)
        d->n_covering[look->covers_s]++;
    else
        d->rec->means_s += (double)look->covers_s;
    d->until = look->time > d->until ? look->time : d->until;
    for (size_t i = 0; i < look->n; i++)
        add_object(d, &look->objects[i], from, look->time);
    return d->rows > ROWS_MAX ? -EFBIG : 0;
}

static int by_id(const void *x, const void *y)
{
    return strcmp((*(struct seen *const *)x)->id, (*(struct seen *const *)y)->id);
}

static void keep_vms(struct demand *d)
{
    struct recorded_vm *vms = arena_array(d->a, struct recorded_vm, d->n_seen);

    order_sort(d->seen, d->n_seen, sizeof(struct seen *), by_id);
    for (size_t i = 0; i < d->n_seen; i++)
        vms[i] = (struct recorded_vm){d->seen[i]->id, d->seen[i]->first, d->seen[i]->last};
    d->rec->vms = vms;
    d->rec->n_vms = d->n_seen;
}

/* The usual time from look to look: the median of what they cover. */
static instant_s usual_look_s(const struct demand *d)
{
    uint64_t all = 0, below = 0;

    for (instant_s i = 0; i < OFF_S; i++)
        all += d->n_covering[i];
    for (instant_s i = 0; i < OFF_S && all > 0; i++) {
        if ((below += d->n_covering[i]) * 2 >= all)
            return i;
    }
    return 0;
}

/* Rows are changes: the last value of each VM that is still there lasts until the end. */
static void put_ends(struct demand *d)
{
    for (size_t i = 0; i < d->n_seen; i++) {
        const struct seen *v = d->seen[i];

        if (v->last >= d->until)
            put_row(d, d->until, v->id, v->last_value[RES_CPU], v->last_value[RES_MEM]);
    }
}

static void demand_release(struct demand *d)
{
    idmap_release(&d->by_id, NULL);
    strbuf_release(&d->text);
}

static int read_looks(struct store *s, enum series_steps steps, instant_s now, struct arena *a,
                      struct recording *rec, struct demand *ret, struct err *err)
{
    *ret = (struct demand){.rec = rec, .a = a, .until = rec->from};
    rec->times_off = 0;
    rec->means_s = 0;
    strbuf_init(&ret->text, STRBUF_NO_LIMIT);
    strbuf_puts(&ret->text, "time,vm,cpu_mhz,mem_mb\n");
    return store_each_look(s, LOOK_VM, steps, rec->from, now, add_look, ret, err);
}

static int read_demand(struct store *s, instant_s now, struct arena *a, struct recording *ret,
                       struct err *err)
{
    struct demand d;
    char date[RFC3339_MAX];
    int r = read_looks(s, SERIES_LOOKS, now, a, ret, &d, err);

    if (r == -EFBIG) { /* of large clusters the looks of a day are more than a simulation reads */
        demand_release(&d);
        r = read_looks(s, SERIES_MEANS, now, a, ret, &d, err);
    }
    if (r == -EFBIG)
        (void)err_set(err, r,
                      "more than %u samples are recorded since %s, expected fewer: --since a later time",
                      ROWS_MAX, rfc3339_format(ret->from, date));
    if (r == 0 && d.until <= ret->from)
        r = err_set(err, -ENOENT, "no demand of VMs is recorded since %s, expected some",
                    rfc3339_format(ret->from, date));
    if (r == 0) {
        put_ends(&d);
        keep_vms(&d);
        ret->until = d.until;
        ret->unseen_s = d.unseen_s;
        ret->look_s = usual_look_s(&d);
        ret->samples_len = d.text.len;
        ret->samples = arena_strndup(a, d.text.text, d.text.len);
    }
    demand_release(&d);
    return r;
}

/* ---- all of it ---- */

int recording_read(struct store *s, instant_s since, instant_s now, struct arena *a, struct recording *ret,
                   struct err *err)
{
    struct recording rec = {0};
    struct records passes;
    int r;

    if ((r = store_sqlite.list(s, QUERY_PASSES, PASSES_MAX, a, &passes, err)) < 0 ||
        (r = find_beginning(s, passes.passes, passes.n, since, a, &rec, err)) < 0 ||
        (r = read_newest(s, passes.passes, passes.n, a, &rec, err)) < 0 ||
        (r = read_demand(s, now, a, &rec, err)) < 0 ||
        (r = happened_read(s, passes.passes, passes.n, a, &rec, err)) < 0)
        return r;
    *ret = rec;
    return 0;
}

static int vm_by_id(const void *key, const void *item)
{
    return strcmp(key, ((const struct recorded_vm *)item)->id);
}

const struct recorded_vm *recording_find_vm(const struct recording *r, const char *id)
{
    return r->n_vms > 0 ? bsearch(id, r->vms, r->n_vms, sizeof *r->vms, vm_by_id) : NULL;
}
