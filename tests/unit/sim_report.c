/* Figures of a simulation: numbers, the exact text, JSON and CSV by their members. */
#include "unit.h"

#include "sim/report/format.h"
#include "sim_report_world.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const struct report_world small = {
    .hosts = 2, .pools = 2, .points = 3, .power = true, .scale = 1, .seed = 1};

static const struct {
    double value;
    const char *unit, *text;
} numbers[] = {
    {0, "", "0"},
    {-0.0, "", "0"},
    {5, "", "5"},
    {1280, "", "1,280"},
    {1234567.4, "", "1,234,567"},
    {1.8e6, "MHz s", "0.5"},
    {1024 * 3600 * 2.5, "MiB s", "2.5"},
    {-1234567, "", "-1,234,567"},
    {999.94, "", "999.9"},
    {73.74, "%", "73.74"},
    {99.978, "%", "99.98"},
    {99.978, "", "100"},
    {4.95, "%", "4.95"},
    {0.00495, "%", "0.00495"},
    {1e-12, "", "1.00e-12"},
    {0.0000123, "", "1.23e-05"},
    {123456, "", "123,456"},
    {0, "s", "0 s"},
    {59.4, "s", "59 s"},
    {59.6, "s", "1 min"},
    {90, "s", "1 min 30 s"},
    {3599.7, "s", "1 h"},
    {5400, "s", "1 h 30 min"},
    {86400, "s", "1 d"},
    {8 * 86400 + 3600, "s", "8 d 1 h"},
    {-90, "s", "-1 min 30 s"},
};

static void test_numbers(void **state)
{
    struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(numbers); i++)
        assert_string_equal(format_number(&a, numbers[i].value, numbers[i].unit), numbers[i].text);
    assert_null(format_number(&a, NAN, ""));
    assert_null(format_number(&a, INFINITY, "%"));
    assert_string_equal(format_number(&a, INFINITY, "s"), "never");
    assert_string_equal(format_figure(&a, NAN, "kWh"), "-");
    assert_string_equal(format_figure(&a, 12, "kWh"), "12 kWh");
    assert_string_equal(format_figure(&a, 60, "s"), "1 min");
    assert_string_equal(format_count(&a, 1, "pass"), "1 pass");
    assert_string_equal(format_count(&a, 2000, "pass"), "2,000 passes");
    assert_string_equal(format_difference(&a, 10, 7, ""), "-3");
    assert_string_equal(format_difference(&a, 7, 10, ""), "+3");
    assert_string_equal(format_difference(&a, 60, 180, "s"), "+2 min");
    assert_string_equal(format_percent(&a, 31.65, 11.97), "-62.2 %");
    assert_string_equal(format_percent(&a, 100, 100.01), "0.0 %");
    assert_null(format_percent(&a, 0, 5));
    assert_null(format_percent(&a, 1, 5000));
    arena_release(&a);
}

/* Every metric has its row, once, and a label. */
static void test_every_metric(void **state)
{
    int seen[METRIC_COUNT] = {0};

    (void)state;
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        assert_non_null(metric_rows[i].label);
        seen[metric_rows[i].id]++;
    }
    for (size_t i = 0; i < METRIC_COUNT; i++)
        assert_int_equal(seen[i], 1);
}

static void test_spread(void **state)
{
    double odd[] = {3, 1, 2};
    double even[] = {4, 1, 2, 3};
    double unknown[] = {4, NAN};
    double never[] = {4, INFINITY, 1};
    struct spread s = metric_spread_of(odd, 3);

    (void)state;
    assert_true(s.median == 2 && s.least == 1 && s.most == 3);
    assert_true(metric_spread_of(even, 4).median == 2.5);
    assert_true(isnan(metric_spread_of(unknown, 2).median));
    assert_true(metric_spread_of(never, 3).median == 4 && isinf(metric_spread_of(never, 3).most));
}

static void test_judge(void **state)
{
    const struct metric_row less = {.better = -1};
    const struct metric_row more = {.better = 1};
    const struct metric_row neither = {.better = 0};

    (void)state;
    assert_int_equal(metric_judge(&less, 2, 1), 1);
    assert_int_equal(metric_judge(&less, 1, 2), -1);
    assert_int_equal(metric_judge(&more, 1, 2), 1);
    assert_int_equal(metric_judge(&more, 1, 1 + 1e-12), 0);
    assert_int_equal(metric_judge(&more, NAN, 2), 0);
    assert_int_equal(metric_judge(&neither, 1, 2), 0);
    assert_int_equal(metric_judge(&less, INFINITY, 2), 1); /* never, and after two seconds */
    assert_int_equal(metric_judge(&less, INFINITY, INFINITY), 0);
}

static const char expected_text[] =
    "monday: 2 hosts, 8 VMs, 2 min, 31 passes; seed 1.\n"
    "Automation full, migration threshold 3, a pass every 5 min; idle hosts sleep\n"
    "(DPM manual).\n"
    "Migrations copy in rounds and share the hosts' links. A host that is short\n"
    "divides by reservations, limits and shares. Nothing fails.\n"
    "\n"
    "What VMs got\n"
    "  CPU delivered, of what all hosts have            1  %\n"
    "    the most that was possible                     3  %\n"
    "  memory delivered, of what all hosts have         2  %\n"
    "    the most that was possible                     4  %\n"
    "  CPU that VMs got of their entitlement           17  %\n"
    "  VMs that got 95 % of it or more                 18  %\n"
    "  missing CPU                               5.28e-06  GHz h\n"
    "    of what VMs wanted (SLAV)                     28  %\n"
    "  missing memory                            5.43e-06  GiB h\n"
    "  any host above 90 % of CPU or memory          36 s\n"
    "  times that a VM found no place                  30\n"
    "Migrations\n"
    "  that ended well                                  5\n"
    "  that failed                                      6\n"
    "  per VM and day                                  37\n"
    "  copied for them                                  7  GiB\n"
    "  looked at ten minutes later                     42\n"
    "    hosts loaded as predicted                     43  %\n"
    "    took as long as predicted                     44  %\n"
    "  looked at, with others at their hosts           45\n"
    "    hosts loaded as predicted                     46  %\n"
    "    took as long as predicted                     47  %\n"
    "  that did harm                                   48\n"
    "Balance\n"
    "  imbalance, mean over time                       11\n"
    "  imbalance at its worst                          13\n"
    "  imbalance at the end                            12\n"
    "  score of VMs on their hosts, mean               50\n"
    "  imbalance above the target                    49 s\n"
    "  from the worst to the target                  16 s\n"
    "  from the worst to below 0.1 for good          14 s\n"
    "  from the worst to below 0.05 for good        never\n"
    "Power\n"
    "  energy                                           8  kWh\n"
    "    if hosts without demand were off               9  kWh\n"
    "    if all hosts had been on                      10  kWh\n"
    "  hosts on, mean over time                        24\n"
    "  hosts put to sleep                              21\n"
    "    per host and day                              41\n"
    "  hosts woken                                     22\n"
    "  shortest sleep of a host                      38 s\n"
    "  median sleep                                  39 s\n"
    "  sleeps shorter than an hour                     40\n"
    "As the consolidation literature counts\n"
    "  active hosts' time short of CPU (SLATAH)        25  %\n"
    "  CPU lost to migrations (PDM)                    26  %\n"
    "  SLATAH times PDM (SLA)                          27  %\n"
    "  energy times SLATAH times PDM (ESV)             29\n"
    "\n"
    "Pools, in percent: the payload is what they got of what all hosts have; got is\n"
    "of what they wanted; entitled: of the CPU that they were entitled to; then the\n"
    "VMs that got 95 % of it, and the mean of its VMs at the worst time.\n"
    "POOL    VMS  RESOURCE  PAYLOAD   GOT  ENTITLED  VMS AT 95 %  AT WORST\n"
    "pool A    4  CPU          10.5    95      99.5           90        50\n"
    "             memory         20   100\n"
    "pool B    5  CPU          10.5  94.5      98.5           89        51\n"
    "             memory         20     -\n"
    "\n"
    "The VMs that lacked most CPU, in GHz h and percent.\n"
    "VM       MISSING CPU  OF WANTED  OF ENTITLED  MISSING MEM\n"
    "web-001          1.5         12            -            0\n"
    "web-007         0.25          3            1           50\n";

/* Two VMs that lacked CPU; of the first one no sample knows the entitlement. */
static void add_shortfalls(struct simulation *s)
{
    s->shortfalls[0] = (struct vm_shortfall){"web-001", 5.4e6, 12, NAN, 0};
    s->shortfalls[1] = (struct vm_shortfall){"web-007", 0.9e6, 3, 1, 50};
    s->n_shortfalls = 2;
}

static void test_text(void **state)
{
    struct arena a = {0};
    struct strbuf out;
    struct simulation s;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    report_world_make(&small, &a, &s);
    add_shortfalls(&s);
    report_text(&(struct run_set){.runs = &s, .n = 1}, &out);
    assert_string_equal(out.text, expected_text);
    strbuf_release(&out);
    arena_release(&a);
}

/* What does not apply is not there. */
static void test_text_without_power(void **state)
{
    struct report_world world = small;
    struct arena a = {0};
    struct strbuf out;
    struct simulation s;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    world.power = false;
    world.pools = 0;
    report_world_make(&world, &a, &s);
    s.metrics.host_power_offs = s.metrics.host_power_ons = 0;
    report_text(&(struct run_set){.runs = &s, .n = 1}, &out);
    assert_null(strstr(out.text, "kWh"));
    assert_null(strstr(out.text, "woken"));
    assert_null(strstr(out.text, "POOL"));
    assert_non_null(strstr(out.text, "No host has a power\nmodel"));
    strbuf_release(&out);
    arena_release(&a);
}

static double json_of(const json_t *j, const char *object, const char *member)
{
    return json_number_value(json_object_get(json_object_get(j, object), member));
}

static void test_json(void **state)
{
    struct arena a = {0};
    struct strbuf out;
    struct simulation s;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    report_world_make(&small, &a, &s);
    add_shortfalls(&s);
    report_json(&(struct run_set){.runs = &s, .n = 1}, &out);
    json_t *j = json_loads(out.text, 0, NULL);
    assert_non_null(j);
    assert_string_equal(json_string_value(json_object_get(j, "format")), "ballast-simulation/1");
    assert_string_equal(json_string_value(json_object_get(j, "scenario")), "monday");
    assert_int_equal(json_integer_value(json_object_get(j, "seed")), 1);
    assert_true(json_number_value(json_object_get(j, "duration_s")) == 120);
    assert_int_equal(json_object_size(json_object_get(j, "metrics")), METRIC_COUNT);
    assert_true(json_of(j, "metrics", "payload_cpu") == 1);
    assert_true(json_is_null(json_object_get(json_object_get(j, "metrics"), "time_below_0_05_s")));
    json_t *pool = json_object_get(json_object_get(j, "pools"), "pool B");
    assert_true(json_number_value(json_object_get(pool, "happiness_least")) == 51);
    assert_true(json_is_null(json_object_get(pool, "got_mem")));
    json_t *lacking = json_object_get(j, "vms_lacking_most");
    assert_int_equal(json_array_size(lacking), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(lacking, 1), "vm")), "web-007");
    assert_true(json_number_value(json_object_get(json_array_get(lacking, 1), "missing_mem_percent")) == 50);
    assert_true(json_is_null(json_object_get(json_array_get(lacking, 0), "missing_entitlement_percent")));
    assert_null(json_object_get(j, "runs"));
    json_decref(j);
    strbuf_release(&out);
    arena_release(&a);
}

enum { SEEDS = 3 };

/* Three runs with 1, 2 and 3 times the figures; times `by`. */
static void make_runs(double by, struct arena *a, struct simulation *runs)
{
    for (int i = 0; i < SEEDS; i++) {
        struct report_world world = small;
        world.seed = (uint64_t)i + 1;
        world.scale = by * (i + 1);
        report_world_make(&world, a, &runs[i]);
    }
}

static void test_seeds(void **state)
{
    struct simulation runs[SEEDS];
    struct arena a = {0};
    struct strbuf out;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    make_runs(1, &a, runs);
    report_json(&(struct run_set){.runs = runs, .n = SEEDS}, &out);
    json_t *j = json_loads(out.text, 0, NULL);
    assert_non_null(j);
    assert_true(json_of(j, "metrics", "payload_cpu") == 2);
    const json_t *range = json_object_get(json_object_get(j, "range"), "payload_cpu");
    assert_true(json_number_value(json_array_get(range, 0)) == 1);
    assert_true(json_number_value(json_array_get(range, 1)) == 3);
    const json_t *third = json_array_get(json_object_get(j, "runs"), 2);
    assert_int_equal(json_integer_value(json_object_get(third, "seed")), 3);
    assert_true(json_of(third, "metrics", "payload_cpu") == 3);
    json_decref(j);
    strbuf_clear(&out);
    report_text(&(struct run_set){.runs = runs, .n = SEEDS}, &out);
    assert_non_null(strstr(out.text, "3 runs, seeds 1 to 3"));
    strbuf_release(&out);
    arena_release(&a);
}

static void test_compare(void **state)
{
    struct simulation first[SEEDS];
    struct simulation second[SEEDS];
    struct arena a = {0};
    struct strbuf out;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    make_runs(1, &a, first);
    make_runs(2, &a, second);
    const struct run_set x = {.label = "as it is", .runs = first, .n = SEEDS};
    const struct run_set y = {.label = "a=b", .runs = second, .n = SEEDS};
    report_compare_json(&x, &y, &out);
    json_t *j = json_loads(out.text, 0, NULL);
    assert_non_null(j);
    assert_string_equal(json_string_value(json_object_get(j, "format")), "ballast-simulation-comparison/1");
    const json_t *d = json_object_get(json_object_get(j, "differences"), "migrations");
    assert_true(json_number_value(json_object_get(d, "percent")) == 100);
    assert_string_equal(json_string_value(json_object_get(d, "better")), "a");
    assert_int_equal(json_integer_value(json_object_get(d, "seeds_a_better")), SEEDS);
    assert_true(json_of(json_object_get(j, "b"), "metrics", "payload_cpu") == 4);
    json_decref(j);
    strbuf_clear(&out);
    report_compare_text(&x, &y, &out);
    assert_non_null(strstr(out.text, "\nA: as it is. "));
    assert_non_null(strstr(out.text, "B against A: energy +100.0 %"));
    assert_non_null(strstr(out.text, "3 : 0"));
    strbuf_clear(&out);
    report_compare_text(&x, &x, &out);
    assert_null(strstr(out.text, "+"));
    assert_non_null(strstr(out.text, "the same"));
    strbuf_release(&out);
    arena_release(&a);
}

static size_t fields(const char *line)
{
    size_t n = 1;

    for (bool quoted = false; *line && *line != '\n'; line++) {
        quoted ^= *line == '"';
        n += *line == ',' && !quoted;
    }
    return n;
}

static void test_series(void **state)
{
    struct arena a = {0};
    struct strbuf out;
    struct simulation s;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    report_world_make(&small, &a, &s);
    report_series_csv(&s, NULL, &out);
    assert_true(strncmp(out.text, "t_s,time,imbalance,", 19) == 0);
    assert_non_null(strstr(out.text, ",happiness of pool A,happy share of pool A,"));
    assert_non_null(strstr(out.text, ",cpu load of esx001,mem load of esx001,watts of esx001"));
    assert_non_null(strstr(out.text, "\n60,2026-01-01T00:01:00Z,"));
    size_t n = fields(out.text);
    size_t lines = 0;
    for (const char *line = out.text; *line; line = strchr(line, '\n') + 1, lines++)
        assert_int_equal(fields(line), n);
    assert_int_equal(lines, 1 + small.points);
    strbuf_clear(&out);
    report_series_csv(&s, &s, &out);
    assert_true(strncmp(out.text, "run,t_s,", 8) == 0);
    assert_non_null(strstr(out.text, "\nB,60,"));
    strbuf_release(&out);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_every_metric),
        cmocka_unit_test(test_spread),  cmocka_unit_test(test_judge),
        cmocka_unit_test(test_text),    cmocka_unit_test(test_text_without_power),
        cmocka_unit_test(test_json),    cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_compare), cmocka_unit_test(test_series),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
