/* inventory_check.c: what can be wrong with one object of an inventory by itself. */
#include "model/inventory_check.h"

#include "base/order.h"
#include "model/attributes.h"
#include "model/numa.h"
#include "model/quantities.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT_ABSURD 1000000u
#define PHRASE_BYTES_MAX 1024
/* Averages are sums of floating-point numbers: they may exceed their range by a rounding error. */
#define ROUNDING 1e-6

static const char *const res_word[RES_COUNT] = {[RES_CPU] = "cpu", [RES_MEM] = "mem"};
static const char *const window_word[WINDOW_COUNT] = {
    [WINDOW_5M] = "5m", [WINDOW_40M] = "40m", [WINDOW_60M] = "60m"};

int inventory_check_refuse(const struct place *at, const char *field, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (at->ix == NO_IX)
        return err_set(at->err, -EINVAL, "/%s/%s: %s", at->kind, field, text);
    return err_set(at->err, -EINVAL, "/%s/%zu/%s: %s", at->kind, at->ix, field, text);
}

bool inventory_check_is_name(const char *text)
{
    return text && *text && strnlen(text, FACT_NAME_BYTES_MAX + 1) <= FACT_NAME_BYTES_MAX;
}

int inventory_check_sort(const struct place *at, const char *field, const void *items, uint32_t n,
                         size_t size, struct arena *a, const void **ret)
{
    char *sorted = n > 0 ? arena_copy(a, items, n, size) : NULL;

    order_sort(sorted, n, size, order_texts);
    for (uint32_t i = 1; i < n; i++)
        if (order_texts(sorted + (i - 1) * size, sorted + i * size) == 0)
            return inventory_check_refuse(at, field, "\"%s\" is given twice, expected once",
                                          *(const char *const *)(sorted + i * size));
    *ret = sorted;
    return 0;
}

static int check_size(const struct place *at, const char *field, double v)
{
    if (isnan(v))
        return inventory_check_refuse(at, field, "not a number, expected 0 or more");
    if (v < 0)
        return inventory_check_refuse(at, field, "%.12g is negative, expected 0 or more", v);
    if (v > SIZE_ABSURD)
        return inventory_check_refuse(at, field, "%.12g is absurd, expected at most %g", v, SIZE_ABSURD);
    return 0;
}

/* A number of a struct, by its offset. */
struct size_field {
    const char *name;
    size_t offset;
    bool optional; /* may be UNKNOWN */
};

static int check_sizes(const struct place *at, const void *of, const struct size_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double v;
        memcpy(&v, (const char *)of + fields[i].offset, sizeof v);
        if (fields[i].optional && isnan(v))
            continue;
        int r = check_size(at, fields[i].name, v);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_id(const struct place *at, const char *id)
{
    return id && *id ? 0
                     : inventory_check_refuse(at, "id", "missing or empty, expected a text that is unique");
}

/* A phrase or a name that may be absent, but not empty. */
static int check_phrase(const struct place *at, const char *field, const char *text, size_t bytes_max)
{
    if (!text)
        return 0;
    if (!*text)
        return inventory_check_refuse(at, field, "empty, expected a text, or no such field");
    if (strlen(text) > bytes_max)
        return inventory_check_refuse(at, field, "%zu bytes, expected at most %zu", strlen(text), bytes_max);
    return 0;
}

struct names_field {
    const char *name;
    const struct ids *of;
};

/* Lists of networks, datastores and so on. */
static int check_names(const struct place *at, const struct names_field *fields, size_t n)
{
    char item[64];

    for (size_t i = 0; i < n; i++) {
        const struct ids *of = fields[i].of;

        if (of->n > FACT_NAMES_MAX)
            return inventory_check_refuse(at, fields[i].name, "%u entries, expected at most %d", of->n,
                                          FACT_NAMES_MAX);
        for (uint32_t k = 0; k < of->n; k++) {
            size_t length = of->items[k] ? strnlen(of->items[k], FACT_NAME_BYTES_MAX + 1) : 0;

            if (length > 0 && length <= FACT_NAME_BYTES_MAX)
                continue;
            (void)snprintf(item, sizeof item, "%s/%u", fields[i].name, k);
            return inventory_check_refuse(at, item, "%s, expected a name of at most %d bytes",
                                          length == 0 ? "empty" : "too long", FACT_NAME_BYTES_MAX);
        }
    }
    return 0;
}

static int check_labels(const struct place *at, const struct labels *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (!l->items[i].key || !l->items[i].value)
            return inventory_check_refuse(at, "labels", "a label without key or value, expected texts");
    }
    return 0;
}

static int check_automation(const struct place *at, const char *field, enum automation a)
{
    switch (a) {
    case AUTOMATION_INHERIT:
    case AUTOMATION_DISABLED:
    case AUTOMATION_MANUAL:
    case AUTOMATION_AUTOMATIC:
        return 0;
    case AUTOMATION_PARTIAL:
    case AUTOMATION_FULL:
    case automation_count:
        break;
    }
    return inventory_check_refuse(
        at, field, "\"%s\" does not apply here, expected inherit, disabled, manual or automatic",
        automation_name(a));
}

static const struct size_field host_sizes[] = {
    {"cpu_mhz", offsetof(struct host_facts, total[RES_CPU]), false},
    {"mem_mb", offsetof(struct host_facts, total[RES_MEM]), false},
    {"cpu_reserved_mhz", offsetof(struct host_facts, reserved[RES_CPU]), false},
    {"mem_reserved_mb", offsetof(struct host_facts, reserved[RES_MEM]), false},
    {"mem_free_mb", offsetof(struct host_facts, mem_free_mb), true},
    {"swap_in_mb_s", offsetof(struct host_facts, swap_in_mb_s), false},
    {"mem_pressure", offsetof(struct host_facts, mem_pressure), false},
    {"own/cpu_mhz", offsetof(struct host_facts, own.now[RES_CPU]), false},
    {"own/mem_mb", offsetof(struct host_facts, own.now[RES_MEM]), false},
    {"power_idle_w", offsetof(struct host_facts, power_idle_w), true},
    {"power_peak_w", offsetof(struct host_facts, power_peak_w), true},
    {"power_standby_w", offsetof(struct host_facts, power_standby_w), true},
    {"power_w", offsetof(struct host_facts, power_w), true},
    {"boot_s", offsetof(struct host_facts, boot_s), true},
    {"wake_tries_s", offsetof(struct host_facts, wake_tries_s), true},
    {"migration_rate_mb_s", offsetof(struct host_facts, migration_rate_mb_s), true},
};

/* A source may know of a disconnected host its name only; every other host must have capacity. */
static int check_capacity(const struct place *at, const struct host_facts *f)
{
    static const char *const total_field[RES_COUNT] = {"cpu_mhz", "mem_mb"};
    static const char *const reserved_field[RES_COUNT] = {"cpu_reserved_mhz", "mem_reserved_mb"};
    bool seen = f->state != HOST_DISCONNECTED;

    for (int r = 0; r < RES_COUNT; r++) {
        if (seen && f->total[r] <= 0)
            return inventory_check_refuse(at, total_field[r], "%.12g, expected more than 0", f->total[r]);
        if (f->reserved[r] > f->total[r] || (seen && f->reserved[r] >= f->total[r]))
            return inventory_check_refuse(
                at, reserved_field[r],
                "%.12g leaves no capacity for VMs, expected less than the host's %.12g", f->reserved[r],
                f->total[r]);
    }
    if (seen && f->cores == 0)
        return inventory_check_refuse(at, "cores", "0, expected 1 or more");
    if (f->cores > COUNT_ABSURD)
        return inventory_check_refuse(at, "cores", "%u is absurd, expected at most %u", f->cores,
                                      COUNT_ABSURD);
    return 0;
}

static int check_curve(const struct place *at, const struct host_facts *f)
{
    const struct power_curve *c = &f->power_curve_w;
    char field[64];
    int r = 0;

    if (c->n == 1 || c->n > POWER_POINTS_MAX)
        return inventory_check_refuse(at, "power_curve_w", "%u figures, expected 2 to %d", c->n,
                                      POWER_POINTS_MAX);
    for (uint32_t i = 0; r == 0 && i < c->n; i++) {
        (void)snprintf(field, sizeof field, "power_curve_w/%u", i);
        r = check_size(at, field, c->watts[i]);
    }
    if (r < 0 || c->n == 0)
        return r;
    if (f->power_idle_w != c->watts[0])
        return inventory_check_refuse(at, "power_idle_w", "%.12g, expected %.12g, the first of power_curve_w",
                                      f->power_idle_w, c->watts[0]);
    if (f->power_peak_w != c->watts[c->n - 1])
        return inventory_check_refuse(at, "power_peak_w", "%.12g, expected %.12g, the last of power_curve_w",
                                      f->power_peak_w, c->watts[c->n - 1]);
    return 0;
}

/* The offers and the parts of a host. */
static int check_offers(const struct place *at, const struct host_facts *f)
{
    const struct names_field names[] = {{"networks", &f->networks.names},
                                        {"datastores", &f->datastores.names},
                                        {"devices", &f->devices.names},
                                        {"cpu_modes", &f->cpu_modes.names},
                                        {"traits", &f->traits}};
    int r = check_names(at, names, sizeof names / sizeof *names);

    if (r < 0 || (r = check_phrase(at, "cpu_vendor", f->cpu_vendor, FACT_NAME_BYTES_MAX)) < 0 ||
        (r = attributes_check(at, "attributes", &f->attributes)) < 0 ||
        (r = quantities_check(at, &f->quantities)) < 0 || (r = numa_check_host(at, f)) < 0)
        return r;
    if ((r = check_phrase(at, "disconnected_why", f->disconnected_why, PHRASE_BYTES_MAX)) < 0)
        return r;
    return check_phrase(at, "hardware_uuid", f->hardware_uuid, FACT_NAME_BYTES_MAX);
}

static bool is_size(double v)
{
    return v >= 0 && v <= SIZE_ABSURD;
}

/* in: what holds the windows, "" or "own/". */
static int check_window(const struct place *at, const char *in, enum window w, enum resource r,
                        const struct demand_stats *s)
{
    const struct {
        const char *name;
        double value;
    } parts[] = {{"mean", s->mean}, {"stddev", s->stddev}, {"min", s->min}, {"max", s->max}};
    char field[64];

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (is_size(parts[i].value))
            continue;
        (void)snprintf(field, sizeof field, "%swindows/%s/%s/%s", in, window_word[w], res_word[r],
                       parts[i].name);
        return check_size(at, field, parts[i].value);
    }
    double slack = ROUNDING * (1 + s->max);
    if (s->min <= s->mean + slack && s->mean <= s->max + slack)
        return 0;
    (void)snprintf(field, sizeof field, "%swindows/%s/%s/mean", in, window_word[w], res_word[r]);
    return inventory_check_refuse(at, field, "%.12g, expected it between min (%.12g) and max (%.12g)",
                                  s->mean, s->min, s->max);
}

static int check_windows(const struct place *at, const char *in,
                         const struct demand_stats of[WINDOW_COUNT][RES_COUNT])
{
    int rc = 0;

    for (int w = 0; w < WINDOW_COUNT && rc == 0; w++)
        for (int r = 0; r < RES_COUNT && rc == 0; r++)
            rc = check_window(at, in, (enum window)w, (enum resource)r, &of[w][r]);
    return rc;
}

static int check_host(const struct seen_host *h, size_t ix, struct err *err)
{
    const struct place at = {.kind = "hosts", .ix = ix, .err = err};
    int r;

    if ((r = check_id(&at, h->is.id)) < 0 ||
        (r = check_sizes(&at, &h->is, host_sizes, sizeof host_sizes / sizeof *host_sizes)) < 0 ||
        (r = check_windows(&at, "own/", h->is.own.window)) < 0 || (r = check_capacity(&at, &h->is)) < 0 ||
        (r = check_automation(&at, "dpm", h->is.dpm)) < 0 || (r = check_labels(&at, &h->is.labels)) < 0 ||
        (r = check_curve(&at, &h->is)) < 0 || (r = check_offers(&at, &h->is)) < 0)
        return r;
    if (h->is.power_peak_w < h->is.power_idle_w) /* false if one of the two is unknown */
        return inventory_check_refuse(&at, "power_peak_w",
                                      "%.12g is below power_idle_w, expected at least %.12g",
                                      h->is.power_peak_w, h->is.power_idle_w);
    if (h->is.migration_rate_mb_s <= 0)
        return inventory_check_refuse(&at, "migration_rate_mb_s", "0, expected more than 0");
    return 0;
}

/* Every pass checks thousands of VMs: the field's name is formatted only when its value is wrong. */
static int check_alloc_in(const struct place *at, const char *in, enum resource r, const struct alloc *a)
{
    const struct {
        const char *name;
        double value;
        bool wrong;
    } fields[] = {{"reservation", a->reservation, !is_size(a->reservation)},
                  {"shares", a->shares, !is_size(a->shares)},
                  {"limit", a->limit, a->limit != NO_LIMIT && !is_size(a->limit)},
                  {"limit", a->limit, a->limit < a->reservation}};
    char field[64];

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int rc;

        if (!fields[i].wrong)
            continue;
        (void)snprintf(field, sizeof field, "%s%s/%s", in, res_word[r], fields[i].name);
        if ((rc = check_size(at, field, fields[i].value)) < 0)
            return rc;
        return inventory_check_refuse(at, field,
                                      "%.12g is below the reservation, expected at least %.12g or null",
                                      a->limit, a->reservation);
    }
    return 0;
}

static int check_alloc(const struct place *at, enum resource r, const struct alloc *a)
{
    return check_alloc_in(at, "", r, a);
}

/* What the source has, where the configuration overrides it. */
static int check_source(const struct place *at, bool overridden, const struct alloc source[RES_COUNT])
{
    int rc = 0;

    for (int r = 0; overridden && rc == 0 && r < RES_COUNT; r++)
        rc = check_alloc_in(at, "source/", (enum resource)r, &source[r]);
    return rc;
}

/* What Ballast has set. */
static int check_set(const struct place *at, const struct vm_control *set)
{
    int r = set->given ? check_size(at, "set/shares", set->shares) : 0;

    return r == 0 && set->given && set->limit != NO_LIMIT ? check_size(at, "set/limit", set->limit) : r;
}

static const struct size_field vm_sizes[] = {
    {"mem_mb", offsetof(struct vm_facts, mem_mb), false},
    {"cpu/demand", offsetof(struct vm_facts, demand[RES_CPU]), false},
    {"mem/demand", offsetof(struct vm_facts, demand[RES_MEM]), false},
    {"mem/consumed", offsetof(struct vm_facts, consumed_mb), false},
    {"mem/overhead", offsetof(struct vm_facts, overhead_mb), false},
    {"cpu/deviation", offsetof(struct vm_facts, deviation[RES_CPU]), true},
    {"mem/deviation", offsetof(struct vm_facts, deviation[RES_MEM]), true},
    {"stable_s", offsetof(struct vm_facts, stable_s), true},
    {"ballooned_mb", offsetof(struct vm_facts, ballooned_mb), false},
    {"swapped_mb", offsetof(struct vm_facts, swapped_mb), false},
    {"swap_in_mb_s", offsetof(struct vm_facts, swap_in_mb_s), false},
    {"dirty_mb_s", offsetof(struct vm_facts, dirty_mb_s), true},
    {"disks_copied_mb", offsetof(struct vm_facts, disks_copied_mb), false},
    {"sample_age_s", offsetof(struct vm_facts, sample_age_s), true},
};

static int check_vm_demand(const struct place *at, const struct vm_facts *f)
{
    int rc;

    for (int r = 0; r < RES_COUNT; r++) {
        if ((rc = check_alloc(at, (enum resource)r, &f->alloc[r])) < 0)
            return rc;
        if (f->state != VM_ON && f->demand[r] > 0)
            return inventory_check_refuse(at, r == RES_CPU ? "cpu/demand" : "mem/demand",
                                          "%.12g though the VM is %s, expected 0", f->demand[r],
                                          vm_state_name(f->state));
    }
    if ((rc = check_windows(at, "", f->window)) < 0)
        return rc;
    if (f->alloc[RES_MEM].reservation > f->mem_mb)
        return inventory_check_refuse(at, "mem/reservation",
                                      "%.12g is above the configured size, expected at most %.12g",
                                      f->alloc[RES_MEM].reservation, f->mem_mb);
    return 0;
}

/* What a VM needs of its host, and what holds it there. */
static int check_needs(const struct place *at, const struct vm_facts *f)
{
    const struct names_field names[] = {{"networks", &f->networks},
                                        {"datastores", &f->datastores},
                                        {"devices", &f->devices},
                                        {"groups", &f->groups}};
    int r = check_names(at, names, sizeof names / sizeof *names);

    if (r < 0 || (r = check_phrase(at, "cpu_vendor", f->cpu_vendor, FACT_NAME_BYTES_MAX)) < 0 ||
        (r = check_phrase(at, "cpu_mode", f->cpu_mode, FACT_NAME_BYTES_MAX)) < 0 ||
        (r = check_phrase(at, "immovable", f->immovable, PHRASE_BYTES_MAX)) < 0 ||
        (r = check_phrase(at, "owner", f->owner, FACT_NAME_BYTES_MAX)) < 0 ||
        (r = attributes_check(at, "flavor", &f->flavor)) < 0 ||
        (r = attributes_check(at, "image", &f->image)) < 0 ||
        (r = attributes_check(at, "hints", &f->hints)) < 0 || (r = numa_check_vm(at, f)) < 0)
        return r;
    return check_phrase(at, "mandatory_only", f->mandatory_only, PHRASE_BYTES_MAX);
}

/* Below 0 where demand fell. */
static int check_rise(const struct place *at, const char *field, double v)
{
    return isnan(v) ? 0 : check_size(at, field, fabs(v));
}

static int check_vm(const struct seen_vm *v, size_t ix, struct err *err)
{
    const struct place at = {.kind = "vms", .ix = ix, .err = err};
    int r;

    if ((r = check_id(&at, v->is.id)) < 0 ||
        (r = check_sizes(&at, &v->is, vm_sizes, sizeof vm_sizes / sizeof *vm_sizes)) < 0 ||
        (r = check_automation(&at, "automation", v->is.automation)) < 0 ||
        (r = check_labels(&at, &v->is.labels)) < 0 || (r = check_needs(&at, &v->is)) < 0 ||
        (r = check_source(&at, v->is.overridden, v->is.source_alloc)) < 0 ||
        (r = check_set(&at, &v->is.set)) < 0 || (r = check_rise(&at, "cpu/rise", v->is.rise[RES_CPU])) < 0 ||
        (r = check_rise(&at, "mem/rise", v->is.rise[RES_MEM])) < 0)
        return r;
    if (v->is.vcpus == 0)
        return inventory_check_refuse(&at, "vcpus", "0, expected 1 or more");
    if (v->is.vcpus > COUNT_ABSURD)
        return inventory_check_refuse(&at, "vcpus", "%u is absurd, expected at most %u", v->is.vcpus,
                                      COUNT_ABSURD);
    if (v->is.mem_mb <= 0)
        return inventory_check_refuse(&at, "mem_mb", "0, expected more than 0");
    if (v->ft_peer && v->is.kind != VM_FT_PRIMARY && v->is.kind != VM_FT_SECONDARY)
        return inventory_check_refuse(&at, "ft_peer", "given though the kind is \"%s\", expected none",
                                      vm_kind_name(v->is.kind));
    return check_vm_demand(&at, &v->is);
}

static int check_pool(const struct seen_pool *p, size_t ix, struct err *err)
{
    const struct place at = {.kind = "pools", .ix = ix, .err = err};
    int rc;

    if ((rc = check_id(&at, p->is.id)) < 0)
        return rc;
    for (int r = 0; r < RES_COUNT; r++) {
        if ((rc = check_alloc(&at, (enum resource)r, &p->is.alloc[r])) < 0)
            return rc;
    }
    return check_source(&at, p->is.overridden, p->is.source_alloc);
}

static int check_rule(const struct seen_rule *r, size_t ix, struct err *err)
{
    const struct place at = {.kind = "rules", .ix = ix, .err = err};
    bool of_hosts = r->is.kind == RULE_HOST_AFFINE || r->is.kind == RULE_HOST_ANTI_AFFINE;
    int rc = check_id(&at, r->is.id);

    if (rc < 0)
        return rc;
    if (!of_hosts && r->hosts.n > 0)
        return inventory_check_refuse(&at, "hosts", "given though the kind is \"%s\", expected none",
                                      rule_kind_name(r->is.kind));
    return 0;
}

int inventory_check_setting(const struct seen_setting *h, size_t ix, struct err *err)
{
    const struct place at = {.kind = "settings", .ix = ix, .err = err};
    int rc = 0;

    if (!h->host || !h->pool)
        return inventory_check_refuse(&at, h->host ? "pool" : "host", "missing, expected an id");
    for (int r = 0; rc == 0 && r < RES_COUNT; r++)
        rc = check_alloc(&at, (enum resource)r, &h->alloc[r]);
    return rc;
}

int inventory_check_expected(const struct expected *x, size_t ix, struct err *err)
{
    const struct place at = {.kind = "forecast", .ix = ix, .err = err};
    int r;

    if (!isnan(x->demand[RES_CPU]) && (r = check_size(&at, "cpu_mhz", x->demand[RES_CPU])) < 0)
        return r;
    if (!isnan(x->demand[RES_MEM]) && (r = check_size(&at, "mem_mb", x->demand[RES_MEM])) < 0)
        return r;
    return x->days <= x->of ? 0
                            : inventory_check_refuse(&at, "days", "%u, expected no more than the %u of `of`",
                                                     x->days, x->of);
}

int inventory_check_quiet(const struct quiet *q, size_t ix, struct err *err)
{
    const struct place at = {.kind = "quiet", .ix = ix, .err = err};
    enum resource r = isnan(q->level[RES_CPU]) ? RES_MEM : RES_CPU;
    int rc;

    if (isnan(q->level[RES_CPU]) == isnan(q->level[RES_MEM]))
        return inventory_check_refuse(&at, "cpu_mhz", "expected either this or mem_mb");
    if ((rc = check_size(&at, r == RES_CPU ? "cpu_mhz" : "mem_mb", q->level[r])) < 0 ||
        (rc = check_size(&at, "lasts_s", q->lasts_s)) < 0)
        return rc;
    if (q->sudden > q->of)
        return inventory_check_refuse(&at, "sudden", "%u, expected no more than the %u of `of`", q->sudden,
                                      q->of);
    return check_size(&at, "rise", q->rise);
}

int inventory_check_migration_rate(const struct seen_migration_rate *m, size_t ix, struct err *err)
{
    const struct place at = {.kind = "migration_rates", .ix = ix, .err = err};
    int r;

    if (!m->from || !m->to)
        return inventory_check_refuse(&at, m->from ? "to" : "from", "missing, expected the id of a host");
    if ((r = check_size(&at, "rate_mb_s", m->rate_mb_s)) < 0)
        return r;
    return m->rate_mb_s > 0 ? 0 : inventory_check_refuse(&at, "rate_mb_s", "0, expected more than 0");
}

int inventory_check_ha(const char *kind, const double percent[RES_COUNT], struct err *err)
{
    static const char *const field[RES_COUNT] = {"cpu_percent", "mem_percent"};
    const struct place at = {.kind = kind, .ix = NO_IX, .err = err};

    for (int r = 0; r < RES_COUNT; r++) {
        if (!(percent[r] >= 0 && percent[r] <= 100))
            return inventory_check_refuse(&at, field[r], "%.12g is not a percentage, expected 0 to 100",
                                          percent[r]);
    }
    return 0;
}

static int check_schedule(const struct schedule_facts *schedule, struct err *err)
{
    static const char *const field[RES_COUNT] = {"ready_cpu_mhz", "ready_mem_mb"};
    const struct place at = {.kind = "schedule", .ix = NO_IX, .err = err};

    for (int r = 0; r < RES_COUNT; r++) {
        if (!(schedule->ready[r] >= 0 && isfinite(schedule->ready[r])))
            return inventory_check_refuse(&at, field[r], "%.12g is not a capacity, expected 0 or more",
                                          schedule->ready[r]);
    }
    return 0;
}

static int check_correlation(const struct correlation *c, struct err *err)
{
    static const char *const field[WINDOW_COUNT][RES_COUNT] = {[WINDOW_5M] = {"5m/cpu", "5m/mem"},
                                                               [WINDOW_40M] = {"40m/cpu", "40m/mem"},
                                                               [WINDOW_60M] = {"60m/cpu", "60m/mem"}};
    const struct place at = {.kind = "correlation", .ix = NO_IX, .err = err};

    for (int w = 0; w < WINDOW_COUNT; w++)
        for (int r = 0; r < RES_COUNT; r++)
            if (!(c->of[w][r] >= 0 && c->of[w][r] <= 1))
                return inventory_check_refuse(&at, field[w][r], "%.12g is no correlation, expected 0 to 1",
                                              c->of[w][r]);
    return 0;
}

int inventory_check_all(const struct inventory *inv, struct err *err)
{
    int r = 0;

    if (!inv->cluster || !*inv->cluster)
        return err_set(err, -EINVAL, "/cluster: missing or empty, expected the cluster's name");
    if (inv->n_hosts == 0)
        return err_set(err, -EINVAL, "/hosts: empty, expected at least one host");
    if ((r = check_correlation(&inv->correlation, err)) < 0 || (r = check_schedule(&inv->schedule, err)) < 0)
        return r;
    for (size_t i = 0; r == 0 && i < inv->n_hosts; i++)
        r = check_host(&inv->hosts[i], i, err);
    for (size_t i = 0; r == 0 && i < inv->n_vms; i++)
        r = check_vm(&inv->vms[i], i, err);
    for (size_t i = 0; r == 0 && i < inv->n_pools; i++)
        r = check_pool(&inv->pools[i], i, err);
    for (size_t i = 0; r == 0 && i < inv->n_rules; i++)
        r = check_rule(&inv->rules[i], i, err);
    if (r < 0)
        return r;
    return inventory_check_placement(inv, err);
}
