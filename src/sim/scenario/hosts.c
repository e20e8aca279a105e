/* hosts.c: the groups of hosts. */
#include "sim/scenario/build.h"

#include "model/attributes.h"

#include <math.h>
#include <string.h>

/* The default: a server of two sockets with a network of 1 Gbit/s. */
#define IDLE_W 200
#define PEAK_W 300
#define STANDBY_W 10
#define BOOT_S 180
#define SLEEP_S 30
#define LINK_MB_S 110
#define WATTS_MOST 1e6
#define CORES_MOST 4096
#define CORE_MHZ_MOST 1e5

static const char *const state_words[] = {"on", "standby", "maintenance", NULL};
static const enum host_state states[] = {HOST_ON, HOST_STANDBY, HOST_MAINTENANCE};

#define WATTS(key, member, text)                                                                             \
    {                                                                                                        \
        (key), FIELD_NUMBER, offsetof(struct power_spec, member), 0, WATTS_MOST, NULL, NULL, (text)          \
    }

static const struct field power_key_list[] = {
    WATTS("idle_w", idle_w, "watts when on without load"),
    WATTS("peak_w", peak_w, "watts at full load; a line between"),
    {"watts", FIELD_CURVE, offsetof(struct power_spec, watts), 0, WATTS_MOST, NULL, NULL,
     "watts at equally spaced loads from 0 to 100 %, instead of idle_w and peak_w (SPECpower)"},
    WATTS("standby_w", standby_w, "watts when asleep"),
    WATTS("boot_w", boot_w, "watts while it boots"),
    WATTS("sleep_w", sleep_w, "watts while it goes to sleep"),
    {"meter", FIELD_BOOL, offsetof(struct power_spec, meter),
     .meaning = "whether its controller reports its power draw"},
    {"meter_error", FIELD_NUMBER, offsetof(struct power_spec, meter_error), 0, 0.9, NULL, NULL,
     "by which part of it what the controller says may be off, 0 to 0.9"},
};

const struct schema power_keys = SCHEMA_OF("", power_key_list);

static int read_power(const struct reader *f, const struct node *n, void *at)
{
    struct power_spec *p = at;
    int r = reader_object(f, n, &power_keys, p);

    if (r == 0 && node_child(n, "watts") && (node_child(n, "idle_w") || node_child(n, "peak_w")))
        return reader_complain(f, n, "has both watts and idle_w or peak_w, expected one or the other");
    if (r == 0 && (node_child(n, "idle_w") || node_child(n, "peak_w")))
        p->watts = (struct power_curve){0};
    return r;
}

#define NUMBER(key, member, low, high, text)                                                                 \
    {                                                                                                        \
        (key), FIELD_NUMBER, offsetof(struct host_spec, member), (low), (high), NULL, NULL, (text)           \
    }

static const struct field host_key_list[] = {
    {"name", FIELD_TEXT, offsetof(struct host_spec, name),
     .meaning = "the host's name, or of a group the beginning of the names"},
    {"match", FIELD_TEXT, offsetof(struct host_spec, match),
     .meaning = "instead of name: the snapshot's hosts that this is about, a name or a pattern with * and ?"},
    {"count", FIELD_COUNT, offsetof(struct host_spec, count), 1, SCENARIO_HOSTS_MAX,
     .meaning = "hosts of this kind; their names are numbered"},
    {"cycle", FIELD_NODE, offsetof(struct host_spec, cycle),
     .meaning = "variants that the hosts take by turns"},
    {"split", FIELD_NODE, offsetof(struct host_spec, split),
     .meaning = "variants that the hosts take in blocks of equal size"},
    {"kind", FIELD_TEXT, offsetof(struct host_spec, kind), .meaning = "another word that means these hosts"},
    {"cores", FIELD_COUNT, offsetof(struct host_spec, seen.is.cores), 1, CORES_MOST, .meaning = "CPU cores"},
    NUMBER("core_mhz", core_mhz, 1, CORE_MHZ_MOST, "MHz of a core"),
    NUMBER("mem_mb", seen.is.total[RES_MEM], 1, SIZE_MOST, "MiB of memory"),
    NUMBER("cpu_reserved_mhz", seen.is.reserved[RES_CPU], 0, SIZE_MOST, "MHz kept for the hypervisor"),
    NUMBER("mem_reserved_mb", seen.is.reserved[RES_MEM], 0, SIZE_MOST, "MiB kept for the hypervisor"),
    {"state", FIELD_WORD, offsetof(struct host_spec, state), .words = state_words,
     .meaning = "at the beginning"},
    {"power", FIELD_OWN, offsetof(struct host_spec, power), .read = read_power, .meaning = "its power draw"},
    NUMBER("boot_s", model.boot_s, 0, 86400, "seconds from waking to usable"),
    NUMBER("sleep_s", model.sleep_s, 0, 86400, "seconds from empty to asleep"),
    NUMBER("link_mb_s", model.link_mb_s, 0.1, 1e6, "MiB/s of the network for migrations, each way"),
    NUMBER("throttled", model.throttled, 0, 0.99,
           "part of its CPU that it does not give, though it reports all of it"),
    {"migrations_max", FIELD_COUNT, offsetof(struct host_spec, seen.is.migrations_max), 0, 64,
     .meaning = "migrations in and out at a time; 0: as the setting says"},
    NUMBER("migration_rate_mb_s", seen.is.migration_rate_mb_s, 0.1, 1e6,
           "MiB/s of a migration, as Ballast believes at first; the setting where it is not given"),
    {"wake_verified", FIELD_BOOL, offsetof(struct host_spec, seen.is.wake_verified),
     .meaning = "whether waking it has been tried with success"},
    {"dpm", FIELD_WORD, offsetof(struct host_spec, seen.is.dpm), .words = automation_words,
     .meaning = "inherit, disabled, manual or automatic"},
    {"labels", FIELD_LABELS, offsetof(struct host_spec, seen.is.labels), .meaning = "{KEY: VALUE}"},
    {"attributes", FIELD_OWN, offsetof(struct host_spec, seen.is.attributes), .read = attributes_read,
     .meaning = "{NAME: VALUE}, which pipelines read"},
};

const struct schema host_keys = SCHEMA_OF("", host_key_list);

static struct host_spec default_spec(void)
{
    struct host_spec d = {
        .core_mhz = UNKNOWN,
        .power = {.idle_w = UNKNOWN,
                  .peak_w = UNKNOWN,
                  .standby_w = UNKNOWN,
                  .boot_w = UNKNOWN,
                  .sleep_w = UNKNOWN},
        .model = {.boot_s = BOOT_S, .sleep_s = SLEEP_S, .link_mb_s = LINK_MB_S},
    };

    host_facts_default(&d.seen.is);
    d.seen.is.wake_methods = WAKE_HYPERVISOR;
    d.seen.is.wake_verified = true;
    return d;
}

static double or_else(double v, double otherwise)
{
    return isnan(v) ? otherwise : v;
}

/* The inventory reports the true values. */
static void tell_power(struct arena *a, const struct host_model *m, struct host_facts *is)
{
    const double *watts = arena_copy(a, m->watts, m->n_watts, sizeof *watts);

    host_facts_set_curve(is, &(struct power_curve){watts, m->n_watts});
    if (m->n_watts == 2) /* a line needs no curve */
        is->power_curve_w = (struct power_curve){0};
    is->power_standby_w = m->standby_w;
}

/* Values that follow from given ones. */
static void finish(struct arena *a, struct host_spec *h)
{
    struct host_facts *is = &h->seen.is;
    struct host_model *m = &h->model;

    if (h->power.watts.n > 0) {
        memcpy(m->watts, h->power.watts.watts, h->power.watts.n * sizeof m->watts[0]);
        m->n_watts = h->power.watts.n;
    } else {
        m->watts[0] = or_else(h->power.idle_w, IDLE_W);
        m->watts[1] = or_else(h->power.peak_w, fmax(PEAK_W, m->watts[0]));
        m->n_watts = 2;
    }
    double most = m->watts[m->n_watts - 1];

    m->standby_w = or_else(h->power.standby_w, STANDBY_W);
    m->boot_w = or_else(h->power.boot_w, most);
    m->sleep_w = or_else(h->power.sleep_w, m->watts[0]);
    m->meter = h->power.meter;
    m->meter_error = h->power.meter_error;
    tell_power(a, m, is);
    is->boot_s = m->boot_s;
}

static int add(struct building *b, const struct host_spec *spec, const char *id)
{
    struct host_spec h = *spec;

    if (b->n_hosts >= SCENARIO_HOSTS_MAX)
        return reader_complain_line(&b->f, h.line, "there are more than %u hosts, expected fewer",
                                    SCENARIO_HOSTS_MAX);
    if (h.seen.is.cores == 0 || isnan(h.core_mhz) || h.seen.is.total[RES_MEM] <= 0)
        return reader_complain_line(&b->f, h.line,
                                    "host \"%s\" has no %s, expected cores, core_mhz and mem_mb", id,
                                    h.seen.is.cores == 0 ? "cores"
                                    : isnan(h.core_mhz)  ? "core_mhz"
                                                         : "mem_mb");
    h.seen.is.id = h.seen.is.name = id;
    h.seen.is.state = states[h.state];
    h.seen.is.total[RES_CPU] = h.seen.is.cores * h.core_mhz;
    h.group = h.name;
    finish(b->f.a, &h);
    b->hosts = arena_grow(b->f.a, b->hosts, b->n_hosts, &b->cap_hosts, sizeof *b->hosts);
    b->hosts[b->n_hosts++] = h;
    return 0;
}

static int add_group(struct building *b, const struct node *group, const struct host_spec *spec)
{
    uint32_t n = spec->count ? spec->count : 1;
    int r = groups_check_variants(&b->f, group, spec->cycle, spec->split);

    for (uint32_t i = 0; r == 0 && i < n; i++) {
        struct host_spec h = *spec;

        r = groups_read_variant(&b->f, i, n, spec->cycle, spec->split, &host_keys, &h);
        if (r == 0)
            r = add(b, &h, spec->count ? groups_member_name(b->f.a, spec->name, i, n) : spec->name);
    }
    return r;
}

/* An entry about hosts of the snapshot: its keys replace each host's values. */
static int change_matching(struct building *b, const struct node *group, const char *pattern)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n_hosts; i++) {
        struct host_spec *h = &b->hosts[i];
        if (i >= b->n_snapshot_hosts || !groups_is_meant(pattern, groups_host_called(h)))
            continue;
        int r = reader_object(&b->f, group, &host_keys, h);
        if (r < 0)
            return r;
        if (node_child(group, "state"))
            h->seen.is.state = states[h->state];
        if (node_child(group, "cores") || node_child(group, "core_mhz"))
            h->seen.is.total[RES_CPU] = h->seen.is.cores * h->core_mhz;
        h->line = group->line;
        finish(b->f.a, h);
        n++;
    }
    if (n == 0)
        return reader_complain(&b->f, group, ".match: no host of the snapshot is called \"%.64s\"", pattern);
    if (node_child(group, "count") || node_child(group, "cycle") || node_child(group, "split"))
        return reader_complain(&b->f, group, ".match: count, cycle and split are for new hosts");
    return 0;
}

int hosts_build(struct building *b, const struct node *groups)
{
    int r = groups ? reader_list_check(&b->f, groups, "a list of groups", SCENARIO_GROUPS_MAX) : 0;

    for (const struct node *g = groups ? groups->first : NULL; r == 0 && g; g = g->next) {
        struct host_spec spec = default_spec();
        if ((r = reader_object(&b->f, g, &host_keys, &spec)) < 0)
            return r;
        spec.line = g->line;
        if ((r = groups_check_name(&b->f, g, spec.name, spec.match)) < 0)
            return r;
        r = spec.match ? change_matching(b, g, spec.match) : add_group(b, g, &spec);
    }
    if (r == 0 && b->n_hosts == 0)
        return reader_complain_line(&b->f, groups ? groups->line : 1,
                                    "there are no hosts, expected a snapshot or some hosts");
    for (size_t i = 0; r == 0 && i < b->n_hosts; i++)
        b->core_mhz = fmax(b->core_mhz, b->hosts[i].core_mhz);
    return r;
}

void hosts_of_snapshot(struct building *b, const struct inventory *inv)
{
    b->n_snapshot_hosts = inv->n_hosts;
    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_spec h = default_spec();
        h.seen = inv->hosts[i];
        const struct host_facts *is = &h.seen.is;

        h.core_mhz = is->cores ? is->total[RES_CPU] / is->cores : 0;
        h.power.idle_w = is->power_idle_w;
        h.power.peak_w = is->power_peak_w;
        h.power.watts = is->power_curve_w;
        h.power.standby_w = is->power_standby_w;
        h.model.boot_s = or_else(is->boot_s, BOOT_S);
        finish(b->f.a, &h);
        h.line = 1;
        b->hosts = arena_grow(b->f.a, b->hosts, b->n_hosts, &b->cap_hosts, sizeof *b->hosts);
        b->hosts[b->n_hosts++] = h;
    }
}
