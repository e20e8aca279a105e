/* nights: simulated nights in which hosts sleep, and their controllers, meters and boots go wrong.
 *
 *     nights COUNT [FIRST SEED]     BALLAST_TEST_SEED repeats one seed alone, BALLAST_TEST_TALKS tells its
 * story; BALLAST_TEST_LONG: ten thousand nights
 *
 * The engine, its passes and actuators/power are those of the service; only the methods are made: each is a
 * controller of a simulated host, with a fault that is drawn by seed and begins at a time that is drawn, too.
 * The service is killed in most nights. What must hold in every night, whatever goes wrong:
 *
 *   - no host with a VM is switched off, by any method, and all VMs run all the time;
 *   - no controller switches a host off that its hypervisor has not put into maintenance mode;
 *   - at ready_by each host is on that one of its methods can wake and that boots in its usual time;
 *   - the account of a host's energy is within 3 % of the energy that it drew, where its meter works;
 *   - a time in which the meter did not work is not counted as measured;
 *   - a refused password is sent again only after pauses that grow. */
#include "night_methods.h"
#include "unit/sim_scenario_made.h"

#include "sim/run/memory_store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_RUN 10000
#define READY_BY "03:30 UTC" /* the scenario begins at 22:13 */
#define READY_S (5 * 3600 + 16 * 60 + 40)
#define NIGHT_S (READY_S + 120.0)
#define ENERGY_ERROR 0.03
#define METER_FRESH_S 300 /* a reading counts for so long */
#define LOOK_S 60
#define KILLED_WITHIN_S 60 /* sim/run/service.c */
#define ESTIMATED_S 240
#define ESTIMATED_W 100  /* by which an estimate may err: 10 W in standby, 150 W while it boots */
#define FIRST_KILL_S 150 /* the account begins with the first look */

/* ---- a night --------------------------------------------------------------------------------- */

/* Two or three methods a host, in any order; one of them can put it to standby. */
static void draw_methods(struct night *n, struct made_host *h)
{
    static const enum power_method_kind able[] = {POWER_IPMI, POWER_REDFISH, POWER_HYPERVISOR};
    enum power_method_kind order[POWER_METHOD_COUNT] = {POWER_HYPERVISOR, POWER_IPMI, POWER_REDFISH,
                                                        POWER_WOL};
    enum power_method_kind sure = able[rng_below(&n->rng, 3)];

    for (uint32_t i = POWER_METHOD_COUNT; i-- > 1;) {
        uint32_t k = rng_below(&n->rng, i + 1);
        enum power_method_kind swap = order[i];

        order[i] = order[k];
        order[k] = swap;
    }
    for (uint32_t i = 0; i < POWER_METHOD_COUNT; i++) {
        if (order[i] == sure || rng_below(&n->rng, 2))
            h->sequence[h->entry.n_sequence++] = order[i];
    }
    for (uint32_t i = 0; i < POWER_METHOD_COUNT; i++) {
        h->fault_from_s[i] = INFINITY;
        if (rng_below(&n->rng, 3) > 0)
            continue;
        h->fault[i] = rng_below(&n->rng, METHOD_FAULTS);
        h->fault_from_s[i] = rng_below(&n->rng, 3) ? rng_range(&n->rng, 0, READY_S) : 0;
    }
    h->meter_until_s = rng_below(&n->rng, 4) ? INFINITY : rng_range(&n->rng, 0, READY_S);
}

static void make_host(struct night *n, uint32_t i)
{
    struct made_host *h = &n->hosts[i];
    const char *id = n->s.initial.hosts[i].is.id;

    h->entry = (struct power_host){.name = id, .sequence = h->sequence, .timeout_s = TIMEOUT_S};
    h->entry.hard_off = rng_below(&n->rng, 4) == 0;
    h->entry.ipmi.address = h->entry.redfish.url = id;
    h->entry.ipmi.username = h->entry.redfish.username = "admin";
    h->entry.ipmi.password = h->entry.redfish.password = "secret";
    draw_methods(n, h);
    if (rng_below(&n->rng, 8) == 0) {
        struct scripted_fault *f =
            sim_scenario_fault(&n->s, &n->a, 0, rng_below(&n->rng, 2) ? SIM_WAKE_FAILS : SIM_WAKE_SLOW);

        f->host = i;
        f->factor = rng_range(&n->rng, 1.5, 4);
        h->boots_badly = true;
    }
    for (size_t k = 0; k < h->entry.n_sequence; k++)
        night_tell("%s: %s %s from %.0f s; hard_off %d; meter until %.0f s", id,
                   night_kind_words[h->sequence[k]], night_fault_words[h->fault[h->sequence[k]]],
                   h->fault_from_s[h->sequence[k]], h->entry.hard_off, h->meter_until_s);
}

static void make_scenario(struct night *n)
{
    uint32_t hosts = 3 + rng_below(&n->rng, HOSTS_MOST - 2);
    struct calendar *ready = arena_array(&n->a, struct calendar, 1);
    struct err err = {0};

    sim_scenario_make(&n->s, hosts, 2 * hosts, rng_range(&n->rng, 50, 600), false, &n->a);
    n->s.duration_s = NIGHT_S;
    n->s.seed = n->seed;
    n->s.policy.dpm.enabled = true;
    n->s.policy.dpm.automation = AUTOMATION_AUTOMATIC;
    n->s.policy.dpm.watch_s = 600;
    if (calendar_parse(READY_BY, "UTC", &n->a, ready, &err) < 0)
        night_wrong("%s", err.text);
    n->s.schedule =
        (struct schedule){.ready_by = ready, .n_ready_by = 1, .ready_percent = 100, .zone = "UTC"};
    for (uint32_t i = 0; i < hosts; i++) {
        n->s.hosts[i].boot_s = n->s.initial.hosts[i].is.boot_s = rng_range(&n->rng, 40, 400);
        n->s.initial.hosts[i].is.power_standby_w = n->s.hosts[i].standby_w;
        n->s.hosts[i].meter = false; /* the methods have them */
        make_host(n, i);
    }
    for (uint32_t k = rng_below(&n->rng, 6); k > 0; k--) {
        struct scripted_fault *f = sim_scenario_fault(
            &n->s, &n->a, rng_range(&n->rng, FIRST_KILL_S, READY_S - 600), SIM_SERVICE_RESTARTS);

        f->for_s = rng_range(&n->rng, 1, 120);
        n->down_s += f->for_s + KILLED_WITHIN_S;
    }
}

static int begin(struct night *n, struct host_power_method *ways, struct power_host *entries, struct err *err)
{
    n->cluster = cluster_new(&n->s);
    int r = night_methods_begin(n, entries, ways, err);

    if (r < 0 || (r = service_init(&n->service, &n->s, n->cluster, NULL, &n->a, err)) < 0)
        return r;
    n->service.settings.ways = ways;
    n->service.settings.n_ways = n->s.initial.n_hosts;
    n->service.run_job = night_run_job;
    n->service.run_job_ctx = n;
    engine_configure(n->service.engine, &n->service.settings, service_instant(&n->service, 0));
    return 0;
}

/* ---- what must hold -------------------------------------------------------------------------- */

static void check_vms(struct night *n)
{
    for (uint32_t i = 0; i < n->s.initial.n_vms; i++) {
        if (cluster_vm(n->cluster, i)->host == IX_NONE)
            night_wrong("VM %s does not run any more", n->s.initial.vms[i].is.id);
    }
}

/* Whether this method can wake the host, through all of the night. A controller that lies about the chassis,
 * is slow or loses its answer wakes it all the same; the hypervisor wakes only hosts that it put to standby
 * itself. */
static bool wakes(const struct made_host *h, enum power_method_kind kind)
{
    switch (h->fault_from_s[kind] >= NIGHT_S ? WORKS : h->fault[kind]) {
    case WORKS:
    case SLOW:
    case SAYS_OFF:
    case SAYS_ON:
        return kind != POWER_HYPERVISOR || h->by_hypervisor;
    case LOSES:
        return kind != POWER_HYPERVISOR;
    case DEAF:
    case REFUSES:
    case DOES_NOTHING:
    case PRETENDS:
    case BUSY:
    case METHOD_FAULTS:
        break;
    }
    return kind == POWER_HYPERVISOR && h->by_hypervisor &&
           (h->fault[kind] == DOES_NOTHING || h->fault[kind] == PRETENDS); /* it knows no such fault */
}

static unsigned check_ready(struct night *n)
{
    unsigned held = 0;

    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        const struct made_host *h = &n->hosts[i];
        const struct host_now *now = cluster_host(n->cluster, i);
        bool can = false;

        for (size_t k = 0; k < h->entry.n_sequence; k++)
            can = can || wakes(h, h->sequence[k]);
        if (!h->slept || h->boots_badly || !can)
            continue;
        held++;
        if (now->dead || now->state != HOST_ON)
            night_wrong("host %s is not on at ready_by, but %s", h->entry.name,
                        now->dead ? "switched off" : host_state_name(now->state));
    }
    return held;
}

static bool meter_works(const struct made_host *h)
{
    if (isfinite(h->meter_until_s))
        return false;
    for (size_t k = 0; k < h->entry.n_sequence; k++) {
        enum power_method_kind kind = h->sequence[k];
        enum method_fault fault = h->fault_from_s[kind] >= NIGHT_S ? WORKS : h->fault[kind];

        if ((kind == POWER_IPMI || kind == POWER_REDFISH) &&
            (fault == WORKS || fault == SAYS_OFF || fault == SAYS_ON || fault == SLOW ||
             fault == DOES_NOTHING || fault == PRETENDS))
            return true;
    }
    return false;
}

static bool has_meter(const struct made_host *h)
{
    for (size_t k = 0; k < h->entry.n_sequence; k++) {
        if (h->sequence[k] == POWER_IPMI || h->sequence[k] == POWER_REDFISH)
            return true;
    }
    return false;
}

/* What is drawn in truth is compared as of the account's last look. */
static void note_looks(struct night *n)
{
    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        struct made_host *h = &n->hosts[i];
        const struct energy_record r = memory_store_host_energy(n->service.store, h->entry.name);

        if (r.until == h->seen)
            continue;
        h->seen = r.until;
        h->drawn_wh = cluster_host_totals(n->cluster, i)->energy_j / 3600;
    }
}

static unsigned check_energy(struct night *n)
{
    unsigned held = 0;

    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        const struct made_host *h = &n->hosts[i];
        const struct energy_record r = memory_store_host_energy(n->service.store, h->entry.name);
        double measured_most_s = !has_meter(h)                ? 0
                                 : isfinite(h->meter_until_s) ? h->meter_until_s + METER_FRESH_S + LOOK_S
                                                              : n->t_s;

        night_tell("%s: %.2f Wh drawn, account %.2f, measured %.0f of %.0f s", h->entry.name, h->drawn_wh,
                   r.used_wh, r.measured_s, r.host_s);
        if (r.measured_s > measured_most_s)
            night_wrong("%.0f s of host %s are called measured, its meter was there for %.0f s", r.measured_s,
                        h->entry.name, measured_most_s);
        if (!meter_works(h))
            continue;
        held++;
        /* each start of the service has a minute or two before the first reading, for which there is an
         * estimate, marked as one; nothing else may be estimated */
        double estimated_s = r.host_s - r.measured_s;
        double most_s = ESTIMATED_S * n->service.lives + n->down_s;
        double most_wh =
            ENERGY_ERROR * h->drawn_wh + (n->service.lives > 1 ? ESTIMATED_W * estimated_s / 3600 : 0);

        if (estimated_s > most_s)
            night_wrong("%.0f s of host %s are estimated, and its meter works", estimated_s, h->entry.name);
        if (fabs(r.used_wh - h->drawn_wh) > most_wh)
            night_wrong("host %s drew %.2f Wh, and the account says %.2f", h->entry.name, h->drawn_wh,
                        r.used_wh);
        if (r.span_s < 0.9 * n->t_s)
            night_wrong("only %.0f s of host %s are in the account", r.span_s, h->entry.name);
    }
    return held;
}

/* The first pauses after refusals are a minute and two; a method has one account, and a host at most two. */
static void check_logins(struct night *n)
{
    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        const struct made_host *h = &n->hosts[i];

        if (h->n_refused > 2 * (4 + READY_S / 900 + 1))
            night_wrong("host %s refused %u logins", h->entry.name, h->n_refused);
    }
}

struct tally {
    unsigned nights, slept, woken, held, metered;
};

static bool night(uint64_t seed, bool talks, struct tally *t)
{
    struct night n = {.seed = seed, .rng = {.state = seed}, .talks = talks};
    struct host_power_method ways[HOSTS_MOST];
    struct power_host entries[HOSTS_MOST];
    struct err err = {0};
    bool was_ready = false;

    N = &n;
    make_scenario(&n);
    int r = begin(&n, ways, entries, &err);

    while (r == 0 && !n.wrong && n.t_s < n.s.duration_s) {
        cluster_advance(n.cluster, n.t_s);
        if (!was_ready && n.t_s >= READY_S) {
            t->held += check_ready(&n);
            was_ready = true;
        }
        r = service_turn(&n.service, n.t_s, &err);
        check_vms(&n);
        note_looks(&n);
        double next_s = service_next_s(&n.service, n.t_s);

        n.t_s = fmin(was_ready ? n.s.duration_s : READY_S, next_s);
        if (was_ready && next_s < n.s.duration_s)
            n.t_s = next_s;
    }
    if (r < 0)
        night_wrong("%s", err.text);
    cluster_advance(n.cluster, n.t_s);
    t->metered += n.wrong ? 0 : check_energy(&n);
    check_logins(&n);
    for (uint32_t i = 0; i < n.s.initial.n_hosts; i++) {
        t->slept += n.hosts[i].slept;
        t->woken += cluster_host_totals(n.cluster, i)->power_ons;
    }
    t->nights++;
    service_release(&n.service);
    night_methods_end(&n);
    cluster_free(n.cluster);
    arena_release(&n.a);
    return !n.wrong;
}

int main(int argc, char **argv)
{
    const char *alone = getenv("BALLAST_TEST_SEED");
    struct tally t = {0};
    unsigned failed = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: nights COUNT [FIRST SEED]\n");
        return 2;
    }
    if (alone)
        return night(strtoull(alone, NULL, 10), getenv("BALLAST_TEST_TALKS") != NULL, &t) ? 0 : 1;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t count = getenv("BALLAST_TEST_LONG") ? LONG_RUN : strtoull(argv[1], NULL, 10);

    for (uint64_t seed = first; seed < first + count; seed++)
        failed += !night(seed, false, &t);
    printf("%u nights, %u of them wrong: %u hosts slept, %u wakes; ready_by was held to of %u hosts, the "
           "account of %u\n",
           t.nights, failed, t.slept, t.woken, t.held, t.metered);
    return failed == 0 && t.slept > count && t.held > count / 2 && t.metered > count / 2 ? 0 : 1;
}
