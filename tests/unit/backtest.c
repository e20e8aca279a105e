/* A backtest of two days that a simulated service has recorded: with the settings in force it comes out as it
 * really was; with others it shows what they would have saved. VMs that came and went, and a time without
 * records. */
#include "store_place.h"

#include "backtest/backtest.h"
#include "base/cleanup.h"
#include "sim/run/simulate.h"

#include <errno.h>
#include <math.h>

#define START 1767571200 /* Monday, 2026-01-05T00:00:00Z */
#define DAY_S 86400

static const char scenario[] =
    "duration_s: 172800\n"
    "seed: 3\n"
    "sample_s: 300\n"
    "settings: {migration_threshold: 4}\n"
    "hosts:\n"
    "- {name: esx, count: 4, cores: 16, core_mhz: 2400, mem_mb: 98304, boot_s: 240,\n"
    "   power: {idle_w: 180, peak_w: 380, standby_w: 9}}\n"
    "vms:\n"
    "- {name: desk, count: 30, vcpus: 2, mem_mb: 4096, at: random, workload: {cpu: {kind: office}, mem: "
    "2048}}\n"
    "- {name: db, count: 6, vcpus: 4, mem_mb: 8192, at: esx-001, workload: {cpu: {kind: bursty}, mem: "
    "6000}}\n"
    "- {name: late, vcpus: 2, mem_mb: 4096, arrives_s: 50000, lasts_s: 60000, workload: {cpu: 2000, mem: "
    "1024}}\n"
    "- {name: stays, vcpus: 2, mem_mb: 4096, arrives_s: 100000, workload: {cpu: 1000, mem: 1024}}\n"
    "- {name: early, vcpus: 2, mem_mb: 4096, lasts_s: 40000, at: esx-002, workload: {cpu: 1500, mem: "
    "1024}}\n";

/* Two days have some thousand transactions, each of which waits for the disk. */
static void place_in_memory(struct place *p)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    (void)snprintf(p->dir, sizeof p->dir, "%s/ballast-backtest-XXXXXX", base);
    assert_non_null(mkdtemp(p->dir));
    (void)snprintf(p->state, sizeof p->state, "%s/state", p->dir);
}

static struct simulation run(const char *text, const struct scenario_options *options, struct store *store,
                             struct arena *a)
{
    struct scenario *s = arena_new(a, struct scenario);
    const struct simulate_options how = {.store = store, .passes_kept = 5000};
    struct simulation ret;
    struct err err = {0};

    if (scenario_parse("s.yaml", text, strlen(text), options, a, s, &err) < 0 ||
        simulate(s, &how, a, &ret, &err) < 0)
        fail_msg("%s", err.text);
    return ret;
}

/* The days, recorded in a store. */
static struct simulation record(const struct place *p, const char *text, struct arena *a)
{
    struct store *s;
    struct err err = {0};

    if (store_open(p->state, PASSES_MB, &s, &err) < 0)
        fail_msg("%s", err.text);
    struct simulation ret = run(text, NULL, s, a);

    store_close(s);
    return ret;
}

static struct recording read_recording(const struct place *p, instant_s since, instant_s now, struct arena *a)
{
    struct recording r;
    struct store *s;
    struct err err = {0};

    if (store_open_to_read(p->state, &s, &err) < 0 || recording_read(s, since, now, a, &r, &err) < 0)
        fail_msg("%s", err.text);
    store_close(s);
    return r;
}

static struct simulation again(const struct recording *r, const char *key, const char *value, struct arena *a,
                               struct backtest_notes *notes)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0};
    struct trace_texts texts = {.a = a};
    const struct scenario_override set = {key, value};
    const struct scenario_options options = {.overrides = &set, .n_overrides = key ? 1 : 0, .texts = &texts};

    strbuf_init(&text, STRBUF_NO_LIMIT);
    backtest_scenario(r, NULL, a, &text, notes);
    trace_texts_add(&texts, BACKTEST_SNAPSHOT, r->snapshot_text, strlen(r->snapshot_text));
    trace_texts_add(&texts, BACKTEST_SAMPLES, r->samples, r->samples_len);
    return run(text.text, &options, NULL, a);
}

static bool has_note(const struct backtest_notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->n; i++) {
        if (strstr(notes->items[i], text))
            return true;
    }
    return false;
}

/* What is read is what was simulated. */
static void check_real(const struct recording *r, const struct simulation *was)
{
    const struct recorded_figures *f = &r->real;

    assert_int_equal(r->from, START);
    assert_within((double)r->until, START + 2.0 * DAY_S, 600);
    assert_within(f->migrations, was->metrics.migrations, 0);
    assert_int_equal(f->by_people, 0);
    assert_within(f->kwh, was->metrics.kwh, 0.01 * was->metrics.kwh);
    assert_within(f->kwh_known, 1, 0.01);
    assert_within(f->hosts_on_mean, was->metrics.hosts_on_mean, 0.01);
    assert_within(f->imbalance_mean, was->metrics.imbalance_mean, 0.02);
    assert_within(f->score, was->metrics.happiness_mean, 1);
    assert_true(f->migrations > 0 && f->gb_moved > 0);
}

static void check_vms(const struct recording *r)
{
    const struct recorded_vm *late = recording_find_vm(r, "late");
    const struct recorded_vm *early = recording_find_vm(r, "early");

    assert_int_equal(r->n_vms, 39);
    assert_non_null(late);
    assert_non_null(early);
    assert_within((double)(late->first - START), 50000, 1800);
    assert_within((double)(late->last - START), 110000, 1800);
    assert_within((double)(early->last - START), 40000, 1800);
    assert_null(recording_find_vm(r, "nowhere"));
}

/* Where a person approves standby, the simulation has none, and says so. */
static void check_manual(struct recording r, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf text = {0};
    struct policy policy = *r.snapshot->policy;
    struct snapshot manual = *r.snapshot;
    struct backtest_notes notes = {0};

    policy.dpm.automation = AUTOMATION_MANUAL;
    manual.policy = &policy;
    r.snapshot = &manual;
    strbuf_init(&text, STRBUF_NO_LIMIT);
    backtest_scenario(&r, NULL, a, &text, &notes);
    assert_true(has_note(&notes, "no people who approve standby: dpm.automation=automatic"));
}

static void test_days(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct backtest_notes notes = {0};
    struct place p;

    (void)state;
    place_in_memory(&p);
    struct simulation was = record(&p, scenario, &a);
    struct recording r = read_recording(&p, START - DAY_S, START + 8 * DAY_S, &a);

    check_real(&r, &was);
    check_vms(&r);

    struct simulation same = again(&r, NULL, NULL, &a, &notes);

    assert_within(same.metrics.kwh, r.real.kwh, 0.02 * r.real.kwh);
    assert_within(same.metrics.hosts_on_mean, r.real.hosts_on_mean, 0.01);
    assert_within(same.metrics.happiness_mean, r.real.score, 1);
    assert_within(same.metrics.imbalance_mean, r.real.imbalance_mean, 0.03);
    assert_within(same.metrics.migrations, r.real.migrations, 0.5 * r.real.migrations + 3);
    assert_true(has_note(&notes, "1 VMs that were powered on meanwhile are placed anew"));
    assert_true(has_note(&notes, "1 VMs came and went, and no snapshot that is kept has them"));
    assert_true(has_note(&notes, "learned of earlier days"));

    struct simulation saving = again(&r, "dpm.enabled", "true", &a, &notes);

    assert_true(saving.metrics.kwh < 0.9 * same.metrics.kwh);
    assert_false(has_note(&notes, "no people who approve standby"));
    check_manual(r, &a);
    assert_true(saving.metrics.host_power_offs > 0);

    /* the last hours only, from the pass at that time */
    struct recording part = read_recording(&p, START + 4 * DAY_S / 3, START + 8 * DAY_S, &a);

    assert_within((double)part.from, START + 4.0 * DAY_S / 3, 300);
    assert_true(part.n_vms == 37 && part.samples_len < r.samples_len);
    remove_all(p.dir);
}

/* ---- how near it comes ------------------------------------------------------------------------ */

/* What a backtest of a day may differ by with the settings that were in force. Decisions near a threshold
 * fall to either side, so single migrations are not repeated; what they come to is. */
static const char many[] = "duration_s: %d\n"
                           "seed: %d\n"
                           "sample_s: 300\n"
                           "look_s: %d\n"
                           "settings: {migration_threshold: 4, dpm.enabled: %s}\n"
                           "hosts:\n"
                           "- {name: esx, count: 6, cores: 16, core_mhz: 2400, mem_mb: 98304, boot_s: 240,\n"
                           "   power: {idle_w: 180, peak_w: 380, standby_w: 9}}\n"
                           "vms:\n"
                           "- {name: desk, count: 40, vcpus: 2, mem_mb: 4096, at: random,\n"
                           "   workload: {cpu: {kind: office}, mem: 2048}}\n"
                           "- {name: shop, count: 10, vcpus: 4, mem_mb: 8192, at: random,\n"
                           "   workload: {cpu: {kind: surge}, mem: 6000}}\n"
                           "- {name: db, count: 8, vcpus: 4, mem_mb: 8192, at: esx-00*,\n"
                           "   workload: {cpu: {kind: bursty}, mem: 6000}}\n";

static const struct {
    const char *dpm;
    int look_s;
} pasts[] = {{"true", 60}, {"false", 20}, {"false", 60}};

/* Migrations of all days. */
struct total {
    double really, simulated;
};

static void assert_near(const char *what, int seed, double really, double simulated, double allowed)
{
    if (fabs(simulated - really) > allowed)
        fail_msg("seed %d: %s: really %g, simulated %g, expected within %g", seed, what, really, simulated,
                 allowed);
}

static void one_past(int seed, const char *dpm, int look_s, struct total *total)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct backtest_notes notes = {0};
    struct place p;

    place_in_memory(&p);
    (void)record(&p, arena_printf(&a, many, DAY_S, seed, look_s, dpm), &a);
    const struct recording r = read_recording(&p, START, START + 2 * DAY_S, &a);
    const struct simulation same = again(&r, NULL, NULL, &a, &notes);
    const struct recorded_figures *f = &r.real;
    const struct metrics_of_run *m = &same.metrics;

    print_message("seed %d, dpm %s, look_s %d: migrations %u/%g, imbalance %.3f/%.3f, above target %.0f/%.0f "
                  "s, score %.2f/%.2f, hosts on %.2f/%.2f, offs %u/%g, kWh %.2f/%.2f\n",
                  seed, dpm, look_s, f->migrations, (double)m->migrations, f->imbalance_mean,
                  m->imbalance_mean, f->time_above_target_s, m->time_above_target_s, f->score,
                  m->happiness_mean, f->hosts_on_mean, m->hosts_on_mean, f->host_power_offs,
                  (double)m->host_power_offs, f->kwh, m->kwh);
    assert_int_equal(r.look_s, look_s);
    assert_near("migrations", seed, f->migrations, m->migrations, 0.5 * f->migrations + 10);
    assert_near("imbalance", seed, f->imbalance_mean, m->imbalance_mean, 0.03);
    assert_near("time above the target", seed, f->time_above_target_s, m->time_above_target_s,
                0.4 * f->time_above_target_s);
    assert_near("score", seed, f->score, m->happiness_mean, 0.25);
    /* a power-off may fall to another part of the day: a quarter of a host, and its draw */
    assert_near("hosts on", seed, f->hosts_on_mean, m->hosts_on_mean, 0.25);
    assert_near("energy", seed, f->kwh, m->kwh, 0.04 * f->kwh);
    total->really += f->migrations;
    total->simulated += m->migrations;
    remove_all(p.dir);
}

static void test_seeds(void **state)
{
    const bool all = getenv("BALLAST_TEST_LONG") && !getenv("BALLAST_TEST_SLOW");
    const int n = all ? 24 : 2;
    struct total total = {0};

    (void)state;
    if (rounds(2) < 2)
        skip(); /* how near it comes is the same in every build; its code runs in test_days() */
    for (int i = 0; i < n; i++)
        one_past(1 + i / 3, pasts[i % 3].dpm, pasts[i % 3].look_s, &total);
    assert_near("migrations of all days", 0, total.really, total.simulated,
                (all ? 0.25 : 0.5) * total.really);
}

static void test_nothing_recorded(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct recording r;
    struct place p;
    struct store *s;
    struct err err = {0};

    (void)state;
    place_make(&p);
    assert_int_equal(store_open(p.state, PASSES_MB, &s, &err), 0);
    store_close(s);
    assert_int_equal(store_open_to_read(p.state, &s, &err), 0);
    assert_int_equal(recording_read(s, START, START + DAY_S, &a, &r, &err), -ENOENT);
    assert_string_equal(err.text,
                        "no pass with its snapshot is kept in the store, expected one (history.passes "
                        "keeps more)");
    store_close(s);
    assert_true(store_open_to_read("/nowhere/at/all", &s, &err) < 0);
    remove_all(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_days),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_nothing_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
