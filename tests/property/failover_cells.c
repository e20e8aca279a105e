/* Failover capacity with NUMA cells, devices and counts (§3.3.2): where a plan names no missing failover
 * capacity, a search of all arrangements finds one that restarts the VMs of any host lost after the plan.
 * The clusters are small: a host has cells with dedicated CPUs, a pool of devices and a counted quantity. */
#include "base/rng.h"
#include "core/pass.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <ballast/names.h>
#include <ballast/plan.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CLUSTERS 20000
#define HOSTS 4
#define CELLS 2
#define VMS 9
#define ROUNDING 1e-5

struct guest {
    int host, cell; /* cell: -1 once it has moved: any that has room */
    int dedicated, devices, disk;
    double reserved[RES_COUNT];
};

struct cluster {
    uint64_t seed;
    struct arena a;
    int n_hosts, n_vms;
    int cells[HOSTS], cpus[HOSTS], devices[HOSTS], disk[HOSTS];
    struct guest vms[VMS];
    bool percent; /* each VM by itself, else all of a host */
    struct snapshot snap;
    struct policy policy;
    struct plan plan;
};

/* ---- a cluster ---- */

static void draw_hosts(struct cluster *c, struct rng *r)
{
    c->n_hosts = 2 + (int)rng_below(r, HOSTS - 1);
    for (int h = 0; h < c->n_hosts; h++) {
        c->cells[h] = 1 + (int)rng_below(r, CELLS);
        c->cpus[h] = 2 + (int)rng_below(r, 3);
        c->devices[h] = (int)rng_below(r, 4);
        c->disk[h] = 60 + (int)rng_below(r, 140);
    }
}

/* The capacity of the host that the other VMs leave. */
static int left_of_cell(const struct cluster *c, int host, int cell, int n)
{
    int left = c->cpus[host];

    for (int v = 0; v < n; v++)
        left -= c->vms[v].host == host && c->vms[v].cell == cell ? c->vms[v].dedicated : 0;
    return left;
}

static void draw_vms(struct cluster *c, struct rng *r)
{
    int wanted = 3 + (int)rng_below(r, VMS - 2);
    int devices[HOSTS] = {0}, disk[HOSTS] = {0};

    for (int i = 0; i < wanted; i++) {
        struct guest v = {.host = (int)rng_below(r, (uint32_t)c->n_hosts),
                          .dedicated = (int)rng_below(r, 3),
                          .devices = rng_below(r, 3) == 0,
                          .disk = (int)rng_below(r, 50)};
        v.cell = (int)rng_below(r, (uint32_t)c->cells[v.host]);
        v.reserved[RES_CPU] = rng_below(r, 4) == 0 ? 0 : 500 * rng_below(r, 5);
        v.reserved[RES_MEM] = 1024 + 2048 * rng_below(r, 6);
        if (v.dedicated > left_of_cell(c, v.host, v.cell, c->n_vms) ||
            devices[v.host] + v.devices > c->devices[v.host] || disk[v.host] + v.disk > c->disk[v.host])
            continue;
        devices[v.host] += v.devices;
        disk[v.host] += v.disk;
        c->vms[c->n_vms++] = v;
    }
}

static const char *host_text(struct cluster *c, int h)
{
    const char *cells = "";

    for (int i = 0; i < c->cells[h]; i++)
        cells = arena_printf(&c->a, "%s%s{\"id\":%d,\"cpus\":8,\"dedicated\":%d,\"mem_mb\":65536}", cells,
                             i > 0 ? "," : "", i, c->cpus[h]);
    return arena_printf(&c->a,
                        "{\"id\":\"h%d\",\"state\":\"on\",\"cpu_mhz\":10000,\"cores\":8,\"mem_mb\":32768,"
                        "\"numa\":[%s],\"device_pools\":[{\"id\":\"p\",\"count\":%d,\"properties\":{\"kind\":"
                        "\"gpu\"}}],\"quantities\":{\"DISK\":{\"total\":%d}}}",
                        h, cells, c->devices[h], c->disk[h]);
}

static const char *vm_text(struct cluster *c, int i, struct rng *r)
{
    const struct guest *v = &c->vms[i];
    const char *numa = v->dedicated > 0
                           ? arena_printf(&c->a, ",\"numa\":[{\"dedicated\":%d,\"mem_mb\":256,\"cell\":%d}]",
                                          v->dedicated, v->cell)
                           : "";
    const char *devices = v->devices > 0 ? ",\"device_requests\":[{\"count\":1,\"any_of\":[{\"properties\":{"
                                           "\"kind\":\"gpu\"}}],\"pool\":\"p\"}]"
                                         : "";

    return arena_printf(
        &c->a,
        "{\"id\":\"v%d\",\"host\":\"h%d\",\"state\":\"on\",\"vcpus\":2,\"mem_mb\":12288,"
        "\"pipeline\":\"p\",\"flavor\":{\"disk\":%d},\"cpu\":{\"demand\":%u,\"reservation\":%g},"
        "\"mem\":{\"demand\":1024,\"consumed\":1024,\"reservation\":%g}%s%s}",
        i, v->host, v->disk, 100 * rng_below(r, 40), v->reserved[RES_CPU], v->reserved[RES_MEM], numa,
        devices);
}

static void begin(struct cluster *c, uint64_t seed)
{
    struct rng r;
    struct inventory inv;
    struct err err = {0};
    const char *hosts = "";
    const char *vms = "";

    *c = (struct cluster){.seed = seed};
    r.state = seed;
    draw_hosts(c, &r);
    draw_vms(c, &r);
    c->percent = rng_below(&r, 3) == 0;
    for (int h = 0; h < c->n_hosts; h++)
        hosts = arena_printf(&c->a, "%s%s%s", hosts, h > 0 ? "," : "", host_text(c, h));
    for (int i = 0; i < c->n_vms; i++)
        vms = arena_printf(&c->a, "%s%s%s", vms, i > 0 ? "," : "", vm_text(c, i, &r));
    const char *text =
        arena_printf(&c->a,
                     "{\"format\":\"ballast-snapshot/"
                     "1\",\"cluster\":\"c\",\"time\":\"2026-01-01T00:00:00Z\",\"hosts\":[%s],"
                     "\"vms\":[%s],\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"disk\",\"count\":"
                     "\"$vm.flavor.disk\",\"limit\":\"$host.quantities.DISK\"}]}],\"ha\":%s}",
                     hosts, vms,
                     c->percent ? "{\"policy\":\"percent\",\"cpu_percent\":5,\"mem_percent\":5}"
                                : "{\"policy\":\"host_failures\",\"hosts\":1}");

    if (snapshot_read_inventory(text, strlen(text), &c->a, &inv, NULL, &err) < 0 ||
        snapshot_build(&inv, &c->a, &c->snap, &err) < 0)
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, err.text, text);
    policy_default(&c->policy);
    c->policy.cost_benefit = c->policy.min_goodness = false;
    c->policy.migration_threshold = 5;
    c->policy.dpm.enabled = rng_below(&r, 2);
}

/* ---- all arrangements ---- */

struct room {
    double reserved[HOSTS][RES_COUNT];
    int cpus[HOSTS][CELLS], devices[HOSTS], disk[HOSTS];
    bool off[HOSTS];
};

/* Places the VMs of the list, one after another, wherever they may go. cells: else reservations alone count.
 */
static bool place_rest(const struct cluster *c, struct room *room, const int *list, int n, bool cells)
{
    if (n == 0)
        return true;
    const struct guest *v = &c->vms[list[0]];
    bool moves = v->host >= 0; /* it has moved: only its cell is open */

    for (int h = moves ? v->host : 0; h < (moves ? v->host + 1 : c->n_hosts); h++) {
        double *reserved = room->reserved[h];
        bool fits = !room->off[h];

        for (int r = 0; r < RES_COUNT && !moves; r++)
            fits = fits && reserved[r] + v->reserved[r] <= c->snap.hosts[h].capacity[r] + ROUNDING;
        if (cells)
            fits = fits && room->devices[h] >= v->devices && room->disk[h] >= v->disk;
        for (int cell = 0; fits && cell < (cells && v->dedicated > 0 ? c->cells[h] : 1); cell++) {
            if (cells && room->cpus[h][cell] < v->dedicated)
                continue;
            struct room was = *room;

            room->cpus[h][cell] -= v->dedicated;
            room->devices[h] -= v->devices;
            room->disk[h] -= v->disk;
            for (int r = 0; r < RES_COUNT; r++)
                reserved[r] += v->reserved[r];
            bool good = place_rest(c, room, list + 1, n - 1, cells);
            *room = was;
            if (good)
                return true;
        }
    }
    return false;
}

/* Whether the VMs of the host can restart elsewhere; only: this one of them. */
static bool can_restart(struct cluster *c, int lost, int only, bool cells)
{
    struct room room = {0};
    struct cluster then = *c;
    int list[VMS], n = 0;

    for (int h = 0; h < c->n_hosts; h++) {
        for (int cell = 0; cell < c->cells[h]; cell++)
            room.cpus[h][cell] = c->cpus[h];
        room.devices[h] = c->devices[h];
        room.disk[h] = c->disk[h];
        room.off[h] = h == lost || c->snap.hosts[h].is.state != HOST_ON;
    }
    for (uint32_t i = 0; i < c->plan.n_recommendations; i++)
        if (c->plan.recommendations[i].action == ACTION_POWER_OFF)
            room.off[c->plan.recommendations[i].host] = true;
    for (int i = 0; i < c->n_vms; i++) {
        struct guest *v = &then.vms[i];

        if (v->host == lost) {
            v->host = -1;
            if (only == -1 || only == i)
                list[n++] = i;
        } else if (v->cell < 0) {
            list[n++] = i; /* where it is, in some cell */
        } else {
            room.cpus[v->host][v->cell] -= v->dedicated;
            room.devices[v->host] -= v->devices;
            room.disk[v->host] -= v->disk;
            for (int r = 0; r < RES_COUNT; r++)
                room.reserved[v->host][r] += v->reserved[r];
        }
    }
    return place_rest(&then, &room, list, n, cells);
}

static bool all_can_restart(struct cluster *c, bool cells)
{
    bool can = true;

    for (int h = 0; h < c->n_hosts && can; h++)
        can = c->percent || can_restart(c, h, -1, cells);
    for (int i = 0; i < c->n_vms && can && c->percent; i++)
        can = can_restart(c, c->vms[i].host, i, cells);
    return can;
}

/* ---- the plan ---- */

struct tally {
    unsigned kept, moves, named, for_cells, too_careful;
};

static void apply_moves(struct cluster *c)
{
    for (uint32_t i = 0; i < c->plan.n_recommendations; i++) {
        const struct recommendation *x = &c->plan.recommendations[i];
        if (x->action != ACTION_MIGRATE)
            continue;
        c->vms[x->vm].host = (int)x->to;
        c->vms[x->vm].cell = -1;
    }
}

static bool names_missing(const struct cluster *c)
{
    for (uint32_t i = 0; i < c->plan.n_faults; i++)
        if (c->plan.faults[i].code == FAULT_SPARE_MISSING)
            return true;
    return false;
}

static void check(uint64_t seed, struct tally *t)
{
    struct cluster c;
    struct err err = {0};

    begin(&c, seed);
    if (pass_run(&c.snap, &c.policy, &c.a, &c.plan, &err) < 0)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    apply_moves(&c);
    if (names_missing(&c)) {
        t->named++;
        t->for_cells += all_can_restart(&c, false);
        t->too_careful += all_can_restart(&c, true);
    } else if (!all_can_restart(&c, true)) {
        fail_msg("seed %llu: no failover capacity is said to be missing, but VMs of a host cannot restart",
                 (unsigned long long)seed);
    } else {
        t->kept++;
        t->moves += c.plan.n_recommendations;
    }
    arena_release(&c.a);
}

static void test_what_is_said_is_true(void **state)
{
    struct tally t = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= CLUSTERS; seed++)
        check(seed, &t);
    print_message(
        "%u clusters: %u keep failover capacity, with %u actions; %u are said to lack it, %u of these "
        "because of cells, devices and counts; %u could restart after all\n",
        CLUSTERS, t.kept, t.moves, t.named, t.for_cells, t.too_careful);
    assert_true(t.kept > CLUSTERS / 10 && t.moves > 100 && t.for_cells > CLUSTERS / 20);
    assert_true(t.too_careful < t.named / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_said_is_true)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
