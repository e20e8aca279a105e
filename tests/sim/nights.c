/* nights: simulated nights in which hosts sleep, and their controllers, meters and boots go wrong.
 *
 *     nights COUNT [FIRST SEED]     BALLAST_TEST_SEED repeats one seed alone, BALLAST_TEST_TALKS tells its
 * story; BALLAST_TEST_LONG: ten thousand nights; BALLAST_TEST_SLOW: a tenth of COUNT
 *
 * The engine, its passes and actuators/power are those of the service; only the methods are made: each is a
 * controller of a simulated host, with a fault that is drawn by seed and begins at a time that is drawn, too.
 * Controllers are found at other hosts' addresses, the source loses hosts that sleep or does not answer, the
 * configuration changes, the clock is set, and the service is killed in most nights. What must hold in every
 * night, whatever goes wrong:
 *
 *   - no host with a VM is switched off, by any method, nor one in place of another, and all VMs run all the
 *     time: the made hardware judges that, when power goes;
 *   - no controller switches a host off that its hypervisor has not put into maintenance mode;
 *   - at ready_by each host is on that one of its methods can wake and that boots in its usual time;
 *   - the account of a host's energy is within 3 % of the energy that it drew, where its meter works;
 *   - a time in which the meter did not work is not counted as measured;
 *   - a refused password is sent again only after pauses that grow. */
#include "night_methods.h"
#include "unit/sim_scenario_made.h"
#include "unit/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_RUN 10000
#define READY_BY "03:30 UTC" /* the scenario begins at 22:13 */
#define READY_S (5 * 3600 + 16 * 60 + 40)
#define AFTER_S 120.0 /* for so long it goes on after ready_by */
#define ENERGY_ERROR 0.03
#define METER_FRESH_S 300 /* a reading counts for so long */
#define LOOK_S 60
#define KILLED_WITHIN_S 60 /* sim/run/service.c */
#define ESTIMATED_S 240
#define FIRST_KILL_S 150  /* the account begins with the first look */
#define READY_PLAN_S 3600 /* before ready_by; what hinders the wakes in this time is not counted */

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
        struct made_controller *c = &h->controllers[i];

        c->fault_from_s = c->moved_s = c->moved_back_s = INFINITY;
        c->identity = rng_below(&n->rng, 8) ? HAS_UUID : 1 + rng_below(&n->rng, MADE_UUIDS - 1);
        if (rng_below(&n->rng, 3) > 0)
            continue;
        c->fault = rng_below(&n->rng, METHOD_FAULTS);
        c->fault_from_s = rng_below(&n->rng, 3) ? rng_range(&n->rng, 0, READY_S) : 0;
    }
    h->confirms = rng_below(&n->rng, 4) > 0;
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
    for (size_t k = 0; k < h->entry.n_sequence; k++) {
        const struct made_controller *c = &h->controllers[h->sequence[k]];

        night_tell("%s: %s %s from %.0f s; identity %d; hard_off %d; meter until %.0f s", id,
                   night_kind_words[h->sequence[k]], night_fault_words[c->fault], c->fault_from_s,
                   (int)c->identity, h->entry.hard_off, h->meter_until_s);
    }
}

/* ---- what changes in the middle ---------------------------------------------------------------- */

/* A time of the night, in a third of the nights its beginning. */
static double draw_time(struct night *n)
{
    return rng_below(&n->rng, 3) ? rng_range(&n->rng, 0, READY_S) : 0;
}

/* Two hosts' controllers change their addresses, or one answers at both: cables, a DHCP server without
 * reservations, a typing error in the configuration. */
static void draw_moves(struct night *n)
{
    uint32_t hosts = n->s.initial.n_hosts;
    uint32_t a = rng_below(&n->rng, hosts);
    uint32_t b = (a + 1 + rng_below(&n->rng, hosts - 1)) % hosts;
    enum power_method_kind kind = rng_below(&n->rng, 2) ? POWER_IPMI : POWER_REDFISH;
    bool both = rng_below(&n->rng, 2);
    double from_s = draw_time(n);
    double back_s = rng_below(&n->rng, 2) ? INFINITY : from_s + rng_range(&n->rng, 10, 7200);

    if (rng_below(&n->rng, 3) > 0)
        return;
    for (int i = 0; i < 1 + both; i++) {
        struct made_controller *c = &n->hosts[i ? b : a].controllers[kind];

        c->other = i ? a : b;
        c->moved_s = from_s;
        c->moved_back_s = back_s;
        night_tell("h%02u: its %s is that of h%02u from %.0f to %.0f s", i ? b : a, night_kind_words[kind],
                   c->other, from_s, back_s);
    }
}

/* The hypervisor tells each host's UUID, or none, or the same of two hosts. */
static void draw_uuids(struct night *n)
{
    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        char uuid[CONTROLLER_UUID_MAX];
        uint32_t odd = rng_below(&n->rng, 24);

        night_uuid(odd == 0 && i > 0 ? i - 1 : i, uuid);
        n->s.initial.hosts[i].is.hardware_uuid = odd == 1 ? NULL : arena_strdup(&n->a, uuid);
        if (odd < 2)
            night_tell("h%02u: its hypervisor reports %s", i, odd ? "no UUID" : "that of the host before");
    }
}

/* The source does not list a host that sleeps; it does not answer at all. Near ready_by it works: a host that
 * is not seen is woken by a person. */
static void draw_source(struct night *n)
{
    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        struct made_host *h = &n->hosts[i];

        h->unlisted_from_s = h->listed_s = INFINITY;
        if (rng_below(&n->rng, 6) > 0)
            continue;
        h->unlisted_from_s = rng_range(&n->rng, 600, n->ready_s - READY_PLAN_S);
        h->listed_s = rng_below(&n->rng, 3)
                          ? rng_range(&n->rng, h->unlisted_from_s, n->ready_s - READY_PLAN_S)
                          : n->s.duration_s;
        h->unlisted_as_lost = rng_below(&n->rng, 2);
        night_tell("h%02u: %s from %.0f to %.0f s while it sleeps", i,
                   h->unlisted_as_lost ? "lost" : "not listed", h->unlisted_from_s, h->listed_s);
    }
    if (rng_below(&n->rng, 3) == 0) {
        struct scripted_fault *f = sim_scenario_fault(
            &n->s, &n->a, rng_range(&n->rng, FIRST_KILL_S, n->ready_s - 2 * READY_PLAN_S), SIM_SOURCE_DEAF);

        f->for_s = n->source_deaf_s = rng_range(&n->rng, 30, READY_PLAN_S);
        night_tell("the source is deaf from %.0f s for %.0f s", f->at_s, f->for_s);
    }
}

/* Another sequence of methods, perhaps with one less. */
static void draw_reload(struct night *n)
{
    n->reload_s = rng_below(&n->rng, 3) ? INFINITY : rng_range(&n->rng, FIRST_KILL_S, n->ready_s);
    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        struct made_host *h = &n->hosts[i];
        size_t by = rng_below(&n->rng, 3);

        for (size_t k = 0; k < h->entry.n_sequence; k++)
            h->later_sequence[k] = h->sequence[(k + by) % h->entry.n_sequence];
        h->n_before = h->entry.n_sequence;
        h->n_later = h->entry.n_sequence - (h->entry.n_sequence > 1 && rng_below(&n->rng, 4) == 0);
    }
    if (isfinite(n->reload_s))
        night_tell("another configuration from %.0f s", n->reload_s);
}

static void add_kill(struct night *n, double at_s, double for_s)
{
    struct scripted_fault *f = sim_scenario_fault(&n->s, &n->a, at_s, SIM_SERVICE_RESTARTS);

    f->for_s = for_s;
    n->down_s += for_s + KILLED_WITHIN_S;
    night_tell("the service is killed at %.0f s, down for %.0f s", at_s, for_s);
}

/* A service whose machine's clock was set restarts (daemon/wall_clock.h). */
static void draw_clock(struct night *n)
{
    n->clock_set_s = INFINITY;
    n->ready_s = READY_S;
    if (rng_below(&n->rng, 4) > 0)
        return;
    bool far = rng_below(&n->rng, 2);

    n->clock_set_s = rng_range(&n->rng, FIRST_KILL_S, READY_S - (far ? 3 : 1) * READY_PLAN_S);
    n->clock_by_s = floor(rng_range(&n->rng, 5, far ? 3600 : 120)) * (rng_below(&n->rng, 2) ? 1 : -1);
    n->ready_s -= n->clock_by_s;
    night_tell("the clock is set by %.0f s at %.0f s", n->clock_by_s, n->clock_set_s);
}

static void draw_kills(struct night *n)
{
    if (isfinite(n->clock_set_s))
        add_kill(n, n->clock_set_s, 1);
    for (uint32_t k = rng_below(&n->rng, 6); k > 0; k--) {
        bool long_ = rng_below(&n->rng, 8) == 0;
        double at_s = rng_range(&n->rng, FIRST_KILL_S, n->ready_s - (long_ ? 2 * READY_PLAN_S : 600));

        add_kill(n, at_s, rng_range(&n->rng, 1, long_ ? READY_PLAN_S : 120));
    }
}

static void make_scenario(struct night *n)
{
    uint32_t hosts = 3 + rng_below(&n->rng, HOSTS_MOST - 2);
    struct calendar *ready = arena_array(&n->a, struct calendar, 1);
    struct err err = {0};

    draw_clock(n);
    sim_scenario_make(&n->s, hosts, 2 * hosts, rng_range(&n->rng, 50, 600), false, &n->a);
    n->s.duration_s = n->ready_s + AFTER_S;
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
    draw_moves(n);
    draw_uuids(n);
    draw_source(n);
    draw_reload(n);
    draw_kills(n);
}

static int begin(struct night *n, struct err *err)
{
    n->cluster = cluster_new(&n->s);
    int r = night_methods_begin(n, err);

    if (r < 0 ||
        (r = service_init(&n->service, &n->s, n->cluster, &(struct simulate_options){0}, &n->a, err)) < 0)
        return r;
    n->service.settings.ways = night_power(n)->ways;
    n->service.settings.n_ways = n->s.initial.n_hosts;
    n->service.run_job = night_run_job;
    n->service.edit_inventory = night_edit_inventory;
    n->service.hooks_ctx = n;
    engine_configure(n->service.engine, &n->service.settings, service_instant(&n->service, 0));
    return 0;
}

/* A reload waits while hosts are being switched (daemon/service.c); a new process reads the file. */
static int reload_if_due(struct night *n, struct err *err)
{
    struct service *v = &n->service;

    if (n->reloaded || n->t_s < n->reload_s || (v->engine && engine_is_changing_power(v->engine)))
        return 0;
    int r = night_methods_reload(n, err);

    v->settings.ways = night_power(n)->ways;
    if (r == 0 && v->engine)
        engine_configure(v->engine, &v->settings, service_instant(v, n->t_s));
    night_tell("the other configuration counts");
    return r;
}

static void set_clock_if_due(struct night *n)
{
    if (n->clock_was_set || n->service.engine || n->t_s < n->clock_set_s)
        return;
    n->clock_was_set = true;
    n->service.ahead_s += n->clock_by_s;
}

/* A person confirms what the service cannot verify, where that is right: once. */
static void confirm_controllers(struct night *n)
{
    for (uint32_t i = 0; n->service.engine && i < n->s.initial.n_hosts; i++) {
        struct made_host *h = &n->hosts[i];
        struct engine_identity is;
        bool right = h->confirms;
        uint32_t of;

        for (size_t k = 0; k < h->entry.n_sequence; k++)
            right = right && !night_controller_moved(&h->controllers[h->entry.sequence[k]], i, n->t_s, &of);
        if (!right)
            continue;
        engine_identity(n->service.engine, h->entry.name, &is);
        if (is.is != HOST_IDENTITY_UNKNOWN)
            continue;
        h->confirms = false;
        (void)engine_confirm_controllers(n->service.engine, h->entry.name, "person",
                                         service_instant(&n->service, n->t_s), &is, NULL);
        night_tell("h%02u: a person confirms %s", i, is.controllers ? is.controllers : "nothing");
    }
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
static bool wakes(const struct night *n, const struct made_host *h, enum power_method_kind kind)
{
    const struct made_controller *c = &h->controllers[kind];

    if (isfinite(c->moved_s) && c->moved_back_s > n->ready_s - READY_PLAN_S)
        return false; /* at its address another host's controller answers, in the morning at least */
    switch (isinf(c->fault_from_s) ? WORKS : c->fault) {
    case WORKS:
    case SLOW:
    case SAYS_OFF:
    case SAYS_ON:
        return kind != POWER_HYPERVISOR || h->by_hypervisor;
    case LOSES:
    case LATE:
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
           (c->fault == DOES_NOTHING || c->fault == PRETENDS); /* it knows no such fault */
}

static unsigned check_ready(struct night *n)
{
    unsigned held = 0;

    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        const struct made_host *h = &n->hosts[i];
        const struct host_now *now = cluster_host(n->cluster, i);
        bool can = false;

        for (size_t k = 0; k < h->entry.n_sequence; k++)
            can = can || wakes(n, h, h->entry.sequence[k]);
        if (!h->slept || h->boots_badly || !can)
            continue;
        held++;
        if (now->dead || now->state != HOST_ON)
            night_wrong("host %s is not on at ready_by, but %s", h->entry.name,
                        now->dead ? "switched off" : host_state_name(now->state));
    }
    return held;
}

/* Of the host's methods, before and after the reload. */
static bool any_of(const enum power_method_kind *sequence, size_t n_sequence, const struct made_host *h,
                   bool (*is)(const struct made_host *, enum power_method_kind))
{
    for (size_t k = 0; k < n_sequence; k++) {
        if (is(h, sequence[k]))
            return true;
    }
    return false;
}

static bool is_meter(const struct made_host *h, enum power_method_kind kind)
{
    (void)h;
    return kind == POWER_IPMI || kind == POWER_REDFISH;
}

static bool is_good_meter(const struct made_host *h, enum power_method_kind kind)
{
    switch (isinf(h->controllers[kind].fault_from_s) ? WORKS : h->controllers[kind].fault) {
    case WORKS:
    case SLOW:
    case SAYS_OFF:
    case SAYS_ON:
    case DOES_NOTHING:
    case PRETENDS:
        return is_meter(h, kind);
    case LOSES:
    case DEAF:
    case REFUSES:
    case BUSY:
    case LATE:
    case METHOD_FAULTS:
        break;
    }
    return false;
}

/* A controller that is another host's reads another host's meter. */
static bool is_moved_meter(const struct made_host *h, enum power_method_kind kind)
{
    return is_meter(h, kind) && isfinite(h->controllers[kind].moved_s);
}

static bool meter_works(const struct night *n, const struct made_host *h)
{
    return isinf(h->meter_until_s) && any_of(h->entry.sequence, h->entry.n_sequence, h, is_good_meter) &&
           (!n->reloaded || any_of(h->sequence, h->n_before, h, is_good_meter)) &&
           !any_of(h->sequence, h->n_before, h, is_moved_meter);
}

static bool has_meter(const struct made_host *h)
{
    return any_of(h->sequence, h->n_before, h, is_meter);
}

static unsigned check_energy(struct night *n)
{
    const double clock_s = n->clock_was_set ? fabs(n->clock_by_s) : 0;
    unsigned held = 0;

    for (uint32_t i = 0; i < n->s.initial.n_hosts; i++) {
        const struct made_host *h = &n->hosts[i];
        const struct energy_record *r = &h->account;
        double measured_most_s = !has_meter(h)                ? 0
                                 : isfinite(h->meter_until_s) ? h->meter_until_s + METER_FRESH_S + LOOK_S
                                                              : n->t_s;

        night_tell("%s: %.2f Wh drawn, account %.2f, measured %.0f of %.0f s", h->entry.name, h->drawn_wh,
                   r->used_wh, r->measured_s, r->host_s);
        if (r->measured_s > measured_most_s + clock_s)
            night_wrong("%.0f s of host %s are called measured, its meter was there for %.0f s",
                        r->measured_s, h->entry.name, measured_most_s);
        if (!meter_works(n, h))
            continue;
        held++;
        /* each start of the service has a minute or two before the first reading, for which there is an
         * estimate, marked as one; nothing else may be estimated */
        double estimated_s = r->host_s - r->measured_s;
        double away_s = n->down_s + n->source_deaf_s + clock_s;

        if (isfinite(h->unlisted_from_s))
            away_s += h->listed_s - h->unlisted_from_s + METER_FRESH_S;
        if (estimated_s > ESTIMATED_S * n->service.lives + away_s)
            night_wrong("%.0f s of host %s are estimated, and its meter works", estimated_s, h->entry.name);
        if (fabs(r->used_wh - h->drawn_wh) > ENERGY_ERROR * h->drawn_wh)
            night_wrong("host %s drew %.2f Wh, and the account says %.2f", h->entry.name, h->drawn_wh,
                        r->used_wh);
        if (r->span_s < 0.98 * n->t_s - away_s)
            night_wrong("only %.0f s of host %s are in the account", r->span_s, h->entry.name);
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
    struct err err = {0};
    bool was_ready = false;

    N = &n;
    make_scenario(&n);
    int r = begin(&n, &err);

    while (r == 0 && !n.wrong && n.t_s < n.s.duration_s) {
        cluster_advance(n.cluster, n.t_s);
        night_late_orders(&n);
        if (!was_ready && n.t_s >= n.ready_s) {
            t->held += check_ready(&n);
            was_ready = true;
        }
        set_clock_if_due(&n);
        (void)snprintf(n.life, sizeof n.life, "%u", n.service.lives + (n.service.engine == NULL));
        r = reload_if_due(&n, &err);
        if (r == 0)
            r = service_turn(&n.service, n.t_s, &err);
        confirm_controllers(&n);
        if (r == 0)
            r = service_answer(&n.service, n.t_s, &err);
        check_vms(&n);
        night_note_looks(&n);
        n.t_s = fmin(service_next_s(&n.service, n.t_s), ceil(night_late_next_s(&n)));
        n.t_s = fmin(n.t_s, was_ready ? n.s.duration_s : n.ready_s);
    }
    if (r < 0)
        night_wrong("%s", err.text);
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
    uint64_t count = getenv("BALLAST_TEST_LONG") ? LONG_RUN : rounds((unsigned)strtoul(argv[1], NULL, 10));

    for (uint64_t seed = first; seed < first + count; seed++)
        failed += !night(seed, false, &t);
    printf("%u nights, %u of them wrong: %u hosts slept, %u wakes; ready_by was held to of %u hosts, the "
           "account of %u\n",
           t.nights, failed, t.slept, t.woken, t.held, t.metered);
    return failed == 0 && t.slept > count && t.held > count / 2 && t.metered > count / 2 ? 0 : 1;
}
