/* Snapshots as JSON: refusals with their messages, defaults, and a lossless round trip. */
#include "unit.h"

#include "base/rng.h"
#include "base/strbuf.h"
#include "model/generate.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Objects that are right but for the one field of the case. */
#define HOST(more) "{\"id\":\"h1\",\"state\":\"on\",\"cpu_mhz\":1000,\"cores\":2,\"mem_mb\":4096" more "}"
#define OTHER "{\"id\":\"h2\",\"state\":\"on\",\"cpu_mhz\":1000,\"cores\":2,\"mem_mb\":4096}"
#define ASLEEP "{\"id\":\"h3\",\"state\":\"standby\",\"cpu_mhz\":1000,\"cores\":2,\"mem_mb\":4096}"
#define VM(more) "{\"id\":\"v1\",\"host\":\"h1\",\"state\":\"on\",\"vcpus\":1,\"mem_mb\":512" more "}"
#define VM_OFF_WITH(more) "{\"id\":\"v1\",\"state\":\"off\",\"vcpus\":1,\"mem_mb\":512" more "}"
#define TOP "\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\",\"time\":\"2026-01-01T00:00:00Z\""
#define DOC(rest) "{" TOP rest "}"
#define OFFERS                                                                                               \
    ",\"networks\":[\"net-2\",\"net-1\"],\"datastores\":[\"ssd\"],\"devices\":[],\"cpu_vendor\":\"amd\","    \
    "\"cpu_modes\":[\"amd-zen2\",\"amd-zen\"],\"quarantine\":true,\"failure_detection\":\"unhealthy\","      \
    "\"vsan\":true,\"serves_storage\":true,\"hardware_uuid\":\"4c4c4544-0050\""
#define NEEDS                                                                                                \
    ",\"networks\":[\"net-1\"],\"datastores\":[\"ssd\",\"hdd\"],\"devices\":[\"grid_p40-2q\"],"              \
    "\"cpu_vendor\":\"amd\",\"cpu_mode\":\"amd-zen\",\"immovable\":\"a passthrough device\","                \
    "\"mandatory_only\":\"vGPU grid_p40-2q\""
#define HOSTS ",\"hosts\":[" HOST("") "," OTHER "]"
#define WITH_HOST(more) DOC(",\"hosts\":[" HOST(more) "]")
#define WITH_VM(more) DOC(HOSTS ",\"vms\":[" VM(more) "]")
#define WITH_POOLS(pools) DOC(HOSTS ",\"pools\":[" pools "]")
#define WITH_RATES(rates) DOC(HOSTS ",\"migration_rates\":[" rates "]")
#define WITH_QUIET(list) DOC(HOSTS ",\"quiet\":[" list "]")
#define WITH_SETTINGS(list) DOC(HOSTS ",\"pools\":[{\"id\":\"p\"}],\"settings\":[" list "]")
#define AT "\"time\":\"2026-01-01T08:00:00Z\""
#define WITH_FORECAST(list) DOC(HOSTS ",\"forecast\":[" list "]")
#define WITH_RULE(rule) DOC(HOSTS ",\"vms\":[" VM("") "],\"rules\":[{\"id\":\"r\"" rule "}]")

static const struct {
    const char *text;
    const char *wrong; /* what the complaint begins with; NULL: it is accepted */
} cases[] = {
    {DOC(HOSTS), NULL},
    {DOC(HOSTS ",\"vms\":[],\"pools\":[],\"rules\":[],\"migrations\":[],\"pending\":[],\"ha\":{}"), NULL},
    /* not JSON, or not a snapshot */
    {"", "/: line 1, column 0: "},
    {"{", "/: line 1, column 1: "},
    {"{\"a\":1,\n\"a\":2}", "/a: line 2, column 1: given twice"},
    {"{\"a\":\"\\u0000\"}", "/a: line 1, column 7: "},
    {"{\"a\":1e999}", "/a: line 1, column 6: "},
    {"{\"a\":NaN}", "/a: line 1, column 6: "},
    {"{} {}", "/: line 1, column 4: '{', expected the end of the text"},
    {"{\"format\":\"ballast-snapshot/1\",\"hosts\":[7],\"vms\":[}", "/vms/0: line 1, column 51: "},
    {"{\"hosts\":[7]}", "/format: missing"},
    {"[]", "/: an array, expected an object"},
    {"7", "/: 7, expected an object"},
    {"{}", "/format: missing"},
    {"{\"format\":\"ballast-snapshot/2\"}", "/format: \"ballast-snapshot/2\", expected"},
    {"{\"format\":1}", "/format: 1, expected \"ballast-snapshot/1\""},
    {"{\"format\":\"ballast-snapshot/1\"}", "/cluster: missing"},
    {"{\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\"}", "/time: missing"},
    {"{\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\",\"time\":\"yesterday\"}",
     "/time: \"yesterday\", expected an instant like \"2026-01-01T00:00:00Z\""},
    {"{\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\",\"time\":5}",
     "/time: 5, expected an instant like \"2026-01-01T00:00:00Z\""},
    {"{\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\",\"time\":\"1969-12-31T23:59:59Z\"}", "/time: "},
    {DOC(""), "/hosts: empty"},
    {DOC(",\"hosts\":{}"), "/hosts: an object, expected an array"},
    {DOC(",\"hosts\":[1]"), "/hosts/0: 1, expected an object"},
    {DOC(",\"hosts\":[null]"), "/hosts/0: null, expected an object"},
    /* hosts */
    {DOC(",\"hosts\":[{\"id\":\"h\"}]"), "/hosts/0/state: missing"},
    {DOC(",\"hosts\":[{\"id\":\"h\",\"state\":\"on\",\"cores\":1,\"mem_mb\":1}]"),
     "/hosts/0/cpu_mhz: missing"},
    {DOC(",\"hosts\":[" HOST("") "," HOST("") "]"), "/hosts/1/id: \"h1\" is the id of /hosts/0 already"},
    {WITH_HOST(",\"name\":5"), "/hosts/0/name: 5, expected a string"},
    {WITH_HOST(",\"name\":null,\"mem_free_mb\":null,\"on_since\":null"), NULL},
    {WITH_HOST(",\"woken\":{\"at\":\"2025-12-31T23:00:00Z\",\"reason\":\"asked\"}"), NULL},
    {WITH_HOST(",\"woken\":null"), NULL},
    {WITH_HOST(",\"woken\":{\"at\":\"2025-12-31T23:00:00Z\"}"), "/hosts/0/woken/reason: missing"},
    {WITH_HOST(",\"woken\":{\"reason\":\"asked\"}"), "/hosts/0/woken/at: missing"},
    {WITH_HOST(",\"woken\":{\"at\":\"2025-12-31T23:00:00Z\",\"reason\":\"bored\"}"),
     "/hosts/0/woken/reason: \"bored\", expected maintenance, standby,"},
    {WITH_HOST(OFFERS), NULL},
    {WITH_HOST(",\"networks\":[],\"cpu_modes\":null,\"quarantine\":null,\"failure_detection\":null"), NULL},
    {WITH_HOST(",\"networks\":[\"b\",\"a\",\"b\"]"), "/hosts/0/networks: \"b\" is listed twice"},
    {WITH_HOST(",\"datastores\":[\"a\",\"\"]"), "/hosts/0/datastores/1: empty"},
    {WITH_HOST(",\"devices\":\"grid_p40-2q\""), "/hosts/0/devices: \"grid_p40-2q\", expected an array"},
    {WITH_HOST(",\"cpu_modes\":[7]"), "/hosts/0/cpu_modes/0: 7, expected a string"},
    {WITH_HOST(",\"cpu_vendor\":\"\""), "/hosts/0/cpu_vendor: empty"},
    {WITH_HOST(",\"hardware_uuid\":1"), "/hosts/0/hardware_uuid: 1, expected a string"},
    {WITH_HOST(",\"failure_detection\":\"unsure\""),
     "/hosts/0/failure_detection: \"unsure\", expected healthy or unhealthy"},
    {WITH_HOST(",\"quarantine\":1"), "/hosts/0/quarantine: 1, expected true or false"},
    {WITH_HOST(",\"dpm\":\"partial\""),
     "/hosts/0/dpm: \"partial\", expected inherit, disabled, manual or automatic"},
    {WITH_HOST(",\"dpm\":true"), "/hosts/0/dpm: true, expected inherit, disabled, manual or automatic"},
    {WITH_HOST(",\"wake_methods\":[\"ipmi\",\"lan\"]"),
     "/hosts/0/wake_methods/1: \"lan\", expected ipmi, redfish, wol or hypervisor"},
    {WITH_HOST(",\"wake_methods\":\"ipmi\""),
     "/hosts/0/wake_methods: \"ipmi\", expected a list of ipmi, redfish, wol or hypervisor"},
    {WITH_HOST(",\"labels\":{\"a/b\":1}"), "/hosts/0/labels/a~1b: 1, expected a string"},
    {WITH_HOST(",\"labels\":[]"), "/hosts/0/labels: an array, expected {KEY: TEXT, ...}"},
    {WITH_HOST(",\"migrations_max\":1.5"), "/hosts/0/migrations_max: 1.5, expected a whole number"},
    {WITH_HOST(",\"migrations_max\":-1"), "/hosts/0/migrations_max: -1, expected a whole number"},
    {WITH_HOST(",\"migrations_max\":4294967296"), "/hosts/0/migrations_max: 4294967296, expected"},
    {WITH_HOST(",\"migrations_max\":4.0"), NULL},
    {WITH_HOST(",\"wake_verified\":1"), "/hosts/0/wake_verified: 1, expected true or false"},
    {WITH_HOST(",\"cpu_reserved_mhz\":-5"), "/hosts/0/cpu_reserved_mhz: -5 is negative"},
    {WITH_HOST(",\"cpu_reserved_mhz\":1000"), "/hosts/0/cpu_reserved_mhz: 1000 leaves no capacity"},
    {WITH_HOST(",\"agents_required\":[\"v1\"]"), "/hosts/0/agents_required/0: no object of /vms has the id"},
    {WITH_HOST(",\"migration_rate_mb_s\":0"), "/hosts/0/migration_rate_mb_s: 0, expected more than 0"},
    {WITH_HOST(",\"power_curve_w\":[90,140,150]"), NULL},
    {WITH_HOST(",\"power_curve_w\":[90,140,150],\"power_idle_w\":90,\"power_peak_w\":150"), NULL},
    {WITH_HOST(",\"power_curve_w\":null"), NULL},
    {WITH_HOST(",\"power_curve_w\":90"),
     "/hosts/0/power_curve_w: 90, expected a list of watts such as [120, 310], from no load to full load"},
    {WITH_HOST(",\"power_curve_w\":[90]"), "/hosts/0/power_curve_w: 1 figures, expected 2 to 101"},
    {WITH_HOST(",\"power_curve_w\":[90,null]"), "/hosts/0/power_curve_w/1: null, expected a number"},
    {WITH_HOST(",\"power_curve_w\":[90,-1,100]"), "/hosts/0/power_curve_w/1: -1 is negative"},
    {WITH_HOST(",\"power_curve_w\":[90,80]"), "/hosts/0/power_peak_w: 80 is below power_idle_w"},
    {WITH_HOST(",\"power_curve_w\":[90,140],\"power_idle_w\":80"),
     "/hosts/0/power_idle_w: 80, expected 90, the first of power_curve_w"},
    {WITH_HOST(",\"power_curve_w\":[90,140],\"power_peak_w\":150"),
     "/hosts/0/power_peak_w: 150, expected 140, the last of power_curve_w"},
    /* VMs */
    {WITH_VM(""), NULL},
    {WITH_VM(",\"cpu\":{\"limit\":null}"), NULL},
    {WITH_VM(",\"cpu\":{\"limit\":\"none\"}"), "/vms/0/cpu/limit: \"none\", expected a number or null"},
    {WITH_VM(",\"cpu\":{\"demand\":null}"), "/vms/0/cpu/demand: null, expected a number"},
    {WITH_VM(",\"cpu\":[]"), "/vms/0/cpu: an array, expected an object"},
    {WITH_VM(",\"cpu\":{\"reservation\":5,\"limit\":4}"), "/vms/0/cpu/limit: 4 is below the reservation"},
    {WITH_VM(",\"mem\":{\"reservation\":513}"), "/vms/0/mem/reservation: 513 is above the configured size"},
    {WITH_VM(",\"windows\":{\"5m\":{\"cpu\":{\"mean\":-1}}}"), "/vms/0/windows/5m/cpu/mean: -1 is negative"},
    {WITH_VM(",\"windows\":{\"40m\":{\"mem\":{\"mean\":5,\"max\":4}}}"),
     "/vms/0/windows/40m/mem/mean: 5, expected it between min (5) and max (4)"},
    {WITH_VM(",\"pool\":\"p\""), "/vms/0/pool: no object of /pools has the id \"p\""},
    {WITH_VM(",\"compatible_hosts\":[\"h1\",\"h1\"]"), "/vms/0/compatible_hosts: \"h1\" is listed twice"},
    {WITH_VM(",\"compatible_hosts\":[7]"), "/vms/0/compatible_hosts/0: 7, expected a string"},
    {WITH_VM(",\"compatible_hosts\":[\"h2\",\"h9\"]"), "/vms/0/compatible_hosts/1: no object of /hosts"},
    {WITH_VM(",\"ft_peer\":\"v1\",\"kind\":\"ft_primary\""),
     "/vms/0/ft_peer: \"v1\" is of kind \"ft_primary\""},
    {WITH_VM(NEEDS), NULL},
    {WITH_VM(",\"networks\":[],\"cpu_mode\":null,\"immovable\":null,\"mandatory_only\":null"), NULL},
    {WITH_VM(",\"networks\":[\"a\",\"a\"]"), "/vms/0/networks: \"a\" is listed twice"},
    {WITH_VM(",\"devices\":[\"\"]"), "/vms/0/devices/0: empty"},
    {WITH_VM(",\"datastores\":{}"), "/vms/0/datastores: an object, expected an array"},
    {WITH_VM(",\"cpu_mode\":\"\""), "/vms/0/cpu_mode: empty"},
    {WITH_VM(",\"immovable\":true"), "/vms/0/immovable: true, expected a string"},
    {WITH_VM(",\"mandatory_only\":\"\""), "/vms/0/mandatory_only: empty"},
    {WITH_VM(",\"last_migrated\":\"2026-02-30T00:00:00Z\""), "/vms/0/last_migrated: "},
    {DOC(HOSTS ",\"vms\":[{\"id\":\"v\",\"state\":\"on\",\"vcpus\":1,\"mem_mb\":1}]"),
     "/vms/0/host: missing"},
    {DOC(HOSTS ",\"vms\":[{\"id\":\"v\",\"host\":\"h9\",\"state\":\"on\",\"vcpus\":1,\"mem_mb\":1}]"),
     "/vms/0/host: no object of /hosts has the id \"h9\""},
    {DOC(",\"hosts\":[" HOST(
         "") "," ASLEEP
             "],\"vms\":[{\"id\":\"v\",\"host\":\"h3\",\"state\":\"on\",\"vcpus\":1,\"mem_mb\":1}]"),
     "/vms/0/host: \"h3\" is in standby though the VM is on"},
    {DOC(HOSTS ",\"vms\":[" VM_OFF_WITH(",\"cpu\":{\"demand\":1}") "]"),
     "/vms/0/cpu/demand: 1 though the VM is off"},
    {DOC(HOSTS ",\"vms\":[" VM_OFF_WITH(",\"cpu\":{\"demand\":0}") "]"), NULL},
    {DOC(HOSTS ",\"vms\":[" VM("") "," VM("") "]"), "/vms/1/id: \"v1\" is the id of /vms/0 already"},
    /* pools */
    {WITH_POOLS("{\"id\":\"a\",\"parent\":\"b\"},{\"id\":\"b\",\"parent\":\"a\"}"),
     "/pools/0/parent: the parents"},
    {WITH_POOLS("{\"id\":\"a\",\"parent\":\"c\"}"), "/pools/0/parent: no object of /pools has the id \"c\""},
    {WITH_POOLS("{\"id\":\"a\",\"cpu\":{\"expandable\":0}}"),
     "/pools/0/cpu/expandable: 0, expected true or false"},
    {WITH_POOLS("{\"id\":\"a\",\"mem\":{\"reservation\":2,\"limit\":1}}"), "/pools/0/mem/limit: 1 is below"},
    /* rules */
    {WITH_RULE(",\"kind\":\"vm-vm-affine\",\"vms\":[\"v1\"]"), NULL},
    {WITH_RULE(",\"kind\":\"apart\",\"vms\":[]"),
     "/rules/0/kind: \"apart\", expected vm-vm-affine, vm-vm-anti-affine,"},
    {WITH_RULE(",\"vms\":[]"), "/rules/0/kind: missing"},
    {WITH_RULE(",\"kind\":\"vm-vm-affine\",\"vms\":[\"v9\"]"), "/rules/0/vms/0: no object of /vms"},
    {WITH_RULE(",\"kind\":\"vm-host-affine\",\"vms\":[\"v1\"],\"hosts\":[\"x\"]"),
     "/rules/0/hosts/0: no object"},
    {WITH_RULE(",\"kind\":\"vm-vm-affine\",\"vms\":[],\"hosts\":[\"h1\"]"), "/rules/0/hosts: given though"},
    /* what is under way */
    {DOC(HOSTS ",\"vms\":[" VM("") "],\"migrations\":[{\"vm\":\"v1\",\"from\":\"h1\",\"to\":\"h1\"}]"),
     "/migrations/0/to: \"h1\" is where it comes from"},
    {DOC(HOSTS ",\"vms\":[" VM("") "],\"migrations\":[{\"vm\":\"v1\",\"from\":\"h1\"}]"),
     "/migrations/0/to: missing"},
    {DOC(HOSTS ",\"vms\":[" VM("") "],\"pending\":[{\"action\":\"migrate\",\"vm\":\"v1\"}]"),
     "/pending/0/to: missing, expected the destination"},
    {DOC(HOSTS ",\"vms\":[" VM(
         "") "],\"pending\":[{\"action\":\"migrate\",\"vm\":\"v1\",\"from\":\"h1\",\"to\":\"h2\"},"
             "{\"action\":\"migrate\",\"vm\":\"v1\",\"from\":\"h1\",\"to\":\"h2\"}]"),
     "/pending/1/vm: \"v1\" has a pending action already, expected one a VM, or a second move from where the "
     "first one "
     "ends"},
    {DOC(HOSTS ",\"vms\":[" VM("") "],\"pending\":[{\"action\":\"power_on\"}]"), "/pending/0/host: missing"},
    {WITH_RATES("{\"from\":\"h1\",\"to\":\"h2\",\"rate_mb_s\":90},"
                "{\"from\":\"h2\",\"to\":\"h1\",\"rate_mb_s\":70}"),
     NULL},
    /* what is expected */
    {DOC(HOSTS ",\"forecast\":[]"), NULL},
    {WITH_FORECAST("{" AT ",\"cpu_mhz\":5,\"mem_mb\":null,\"days\":9,\"of\":10,\"alike\":\"weekends\"}"),
     NULL},
    {WITH_FORECAST("{" AT ",\"days\":0}"), NULL},
    {WITH_FORECAST("{\"cpu_mhz\":5,\"days\":9}"), "/forecast/0/time: missing"},
    {WITH_FORECAST("{" AT "}"), "/forecast/0/days: missing"},
    {WITH_FORECAST("{" AT ",\"cpu_mhz\":-5,\"days\":9}"), "/forecast/0/cpu_mhz: -5 is negative"},
    {WITH_FORECAST("{" AT ",\"mem_mb\":1e300,\"days\":9}"), "/forecast/0/mem_mb: 1e+300 is absurd"},
    {WITH_FORECAST("{" AT ",\"days\":9,\"of\":8}"), "/forecast/0/days: 9, expected no more than the 8"},
    {WITH_FORECAST("{" AT ",\"days\":9,\"alike\":\"Mondays\"}"), "/forecast/0/alike: \"Mondays\""},
    {WITH_FORECAST("{" AT ",\"days\":9},{" AT ",\"days\":9}"),
     "/forecast: 2026-01-01T08:00:00Z is given twice"},
    {DOC(HOSTS ",\"migration_rates\":[]"), NULL},
    {WITH_RATES("{\"from\":\"h1\",\"rate_mb_s\":90}"), "/migration_rates/0/to: missing"},
    {WITH_RATES("{\"from\":\"h1\",\"to\":\"h2\"}"), "/migration_rates/0/rate_mb_s: missing"},
    {WITH_RATES("{\"from\":\"h1\",\"to\":\"h9\",\"rate_mb_s\":90}"),
     "/migration_rates/0/to: no object of /hosts has the id \"h9\""},
    {WITH_RATES("{\"from\":\"h1\",\"to\":\"h1\",\"rate_mb_s\":90}"),
     "/migration_rates/0/to: \"h1\" is where it comes from"},
    {WITH_RATES("{\"from\":\"h1\",\"to\":\"h2\",\"rate_mb_s\":0}"),
     "/migration_rates/0/rate_mb_s: 0, expected more than 0"},
    {WITH_RATES("{\"from\":\"h1\",\"to\":\"h2\",\"rate_mb_s\":-5}"),
     "/migration_rates/0/rate_mb_s: -5 is negative"},
    {WITH_RATES("{\"from\":\"h1\",\"to\":\"h2\",\"rate_mb_s\":90},"
                "{\"from\":\"h1\",\"to\":\"h2\",\"rate_mb_s\":70}"),
     "/migration_rates: from \"h1\" to \"h2\" is given twice"},
    /* what holds for the cluster as a whole */
    {DOC(HOSTS ",\"correlation\":{\"5m\":{\"cpu\":1},\"60m\":{\"cpu\":0.5,\"mem\":0}}"), NULL},
    {DOC(HOSTS ",\"correlation\":{}"), NULL},
    {DOC(HOSTS ",\"correlation\":{\"40m\":{\"mem\":1.01}}"),
     "/correlation/40m/mem: 1.01 is no correlation, expected 0 to 1"},
    {DOC(HOSTS ",\"correlation\":{\"5m\":{\"cpu\":-0.1}}"),
     "/correlation/5m/cpu: -0.1 is no correlation, expected 0 to 1"},
    {DOC(HOSTS ",\"correlation\":0.5"), "/correlation: "},
    {WITH_QUIET("{\"cpu_mhz\":900,\"lasts_s\":7200,\"of\":2,\"sudden\":1,\"rise\":1000}"), NULL},
    {WITH_QUIET(""), NULL},
    {WITH_QUIET("{\"cpu_mhz\":900,\"of\":2}"), "/quiet/0/lasts_s: missing"},
    {WITH_QUIET("{\"cpu_mhz\":900,\"lasts_s\":1}"), "/quiet/0/of: missing"},
    {WITH_QUIET("{\"lasts_s\":1,\"of\":2}"), "/quiet/0/cpu_mhz: expected either this or mem_mb"},
    {WITH_QUIET("{\"cpu_mhz\":900,\"mem_mb\":5,\"lasts_s\":1,\"of\":2}"),
     "/quiet/0/cpu_mhz: expected either this or mem_mb"},
    {WITH_QUIET("{\"mem_mb\":-1,\"lasts_s\":1,\"of\":2}"), "/quiet/0/mem_mb: -1 is negative"},
    {WITH_QUIET("{\"mem_mb\":1,\"lasts_s\":-1,\"of\":2}"), "/quiet/0/lasts_s: -1 is negative"},
    {WITH_QUIET("{\"mem_mb\":1,\"lasts_s\":1,\"of\":2,\"rise\":1e300}"), "/quiet/0/rise: 1e+300 is absurd"},
    {WITH_QUIET("{\"mem_mb\":1,\"lasts_s\":1,\"of\":2,\"sudden\":3}"),
     "/quiet/0/sudden: 3, expected no more than the 2"},
    {WITH_QUIET("{\"mem_mb\":1,\"lasts_s\":1,\"of\":2},{\"mem_mb\":1,\"lasts_s\":2,\"of\":2}"),
     "/quiet: a level is given twice"},
    {WITH_SETTINGS(
         "{\"host\":\"h1\",\"pool\":\"p\",\"cpu\":{\"reservation\":10,\"limit\":null,\"shares\":5}},"
         "{\"host\":\"h2\",\"pool\":\"p\"}"),
     NULL},
    {WITH_SETTINGS(""), NULL},
    {WITH_SETTINGS("{\"pool\":\"p\"}"), "/settings/0/host: missing"},
    {WITH_SETTINGS("{\"host\":\"h1\"}"), "/settings/0/pool: missing"},
    {WITH_SETTINGS("{\"host\":\"h9\",\"pool\":\"p\"}"),
     "/settings/0/host: no object of /hosts has the id \"h9\""},
    {WITH_SETTINGS("{\"host\":\"h1\",\"pool\":\"q\"}"),
     "/settings/0/pool: no object of /pools has the id \"q\""},
    {WITH_SETTINGS("{\"host\":\"h1\",\"pool\":\"p\",\"mem\":{\"reservation\":-1}}"),
     "/settings/0/mem/reservation: -1 is negative"},
    {WITH_SETTINGS("{\"host\":\"h1\",\"pool\":\"p\",\"cpu\":{\"reservation\":9,\"limit\":8}}"),
     "/settings/0/cpu/limit: 8 is below the reservation"},
    {WITH_SETTINGS("{\"host\":\"h1\",\"pool\":\"p\"},{\"host\":\"h1\",\"pool\":\"p\"}"),
     "/settings: \"p\" on \"h1\" is given twice"},
    {DOC(HOSTS ",\"ha\":{\"policy\":\"some\"}"),
     "/ha/policy: \"some\", expected none, host_failures, percent or dedicated"},
    {DOC(HOSTS ",\"ha\":{\"cpu_percent\":120}"), "/ha/cpu_percent: 120 is not a percentage"},
};

static int read_and_build(const char *text, struct arena *a, struct snapshot *ret,
                          struct unknown_fields *unknown, struct err *err)
{
    struct inventory inv;
    int r = snapshot_read_inventory(text, strlen(text), a, &inv, unknown, err);

    return r < 0 ? r : snapshot_build(&inv, a, ret, err);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};
        int r = read_and_build(cases[i].text, &a, &s, NULL, &err);
        print_message("%s\n", r < 0 ? err.text : "accepted");
        if (!cases[i].wrong && r < 0)
            fail_msg("%s: %s", cases[i].text, err.text);
        if (cases[i].wrong &&
            (r != -EINVAL || strncmp(err.text, cases[i].wrong, strlen(cases[i].wrong)) != 0))
            fail_msg("%s: %s, expected %s", cases[i].text, err.text, cases[i].wrong);
        if (cases[i].wrong)
            assert_non_null(strstr(err.text, "expected"));
        arena_release(&a);
    }
}

static void test_defaults(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct err err = {0};

    (void)state;
    assert_int_equal(
        read_and_build(WITH_VM(",\"cpu\":{\"demand\":300},\"windows\":{\"60m\":{\"cpu\":{\"max\":900}}}"), &a,
                       &s, NULL, &err),
        0);
    const struct vm_facts *f = &s.vms[0].is;
    assert_string_equal(f->name, "v1");
    assert_true(f->alloc[RES_CPU].shares == 1000 && f->alloc[RES_MEM].shares == 5120);
    assert_true(f->consumed_mb == 512 && f->demand[RES_MEM] == 512 && !f->demand_unknown);
    assert_true(f->window[WINDOW_5M][RES_CPU].mean == 300 && f->window[WINDOW_5M][RES_CPU].stddev == 0);
    assert_true(f->window[WINDOW_60M][RES_CPU].mean == 300 && f->window[WINDOW_60M][RES_CPU].max == 900);
    assert_false(s.vms[0].compatible_given);
    assert_int_equal(s.vms[0].pool, IX_NONE);
    /* nobody said what it uses: never taken for nothing */
    assert_int_equal(read_and_build(WITH_VM(""), &a, &s, NULL, &err), 0);
    assert_true(s.vms[0].is.demand_unknown);
    arena_release(&a);
}

/* What a host offers is sorted, and kept apart from what is not known of it; all of it survives the dump. */
static void test_offers_and_needs(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct err err = {0};
    struct strbuf text;

    (void)state;
    assert_int_equal(read_and_build(DOC(",\"hosts\":[" HOST(OFFERS) "," OTHER "],\"vms\":[" VM(NEEDS) "]"),
                                    &a, &s, NULL, &err),
                     0);
    const struct host_facts *h = &s.hosts[0].is;
    const struct vm_facts *v = &s.vms[0].is;

    assert_true(h->networks.known && h->networks.names.n == 2 && h->devices.known && h->devices.names.n == 0);
    assert_string_equal(h->networks.names.items[0], "net-1");
    assert_false(s.hosts[1].is.networks.known || s.hosts[1].is.devices.known);
    assert_true(h->quarantine && h->vsan && h->serves_storage &&
                h->failure_detection == FAILURE_DETECTION_UNHEALTHY);
    assert_int_equal(s.hosts[1].is.failure_detection, FAILURE_DETECTION_UNKNOWN);
    assert_string_equal(v->datastores.items[0], "hdd");
    assert_string_equal(v->immovable, "a passthrough device");
    assert_null(s.vms[0].is.sample_bad);

    strbuf_init(&text, STRBUF_NO_LIMIT);
    snapshot_dump(&s, &text);
    assert_non_null(strstr(
        text.text,
        "\"devices\": [], \"cpu_vendor\": \"amd\", \"cpu_modes\": [\"amd-zen\", "
        "\"amd-zen2\"], \"quarantine\": true, \"failure_detection\": "
        "\"unhealthy\", \"vsan\": true, \"serves_storage\": true, \"hardware_uuid\": \"4c4c4544-0050\"}"));
    assert_non_null(strstr(text.text,
                           "\"datastores\": [\"hdd\", \"ssd\"], \"devices\": [\"grid_p40-2q\"], "
                           "\"cpu_vendor\": \"amd\", \"cpu_mode\": \"amd-zen\", \"immovable\": \"a "
                           "passthrough device\", \"mandatory_only\": \"vGPU grid_p40-2q\"}"));
    strbuf_release(&text);
    arena_release(&a);
}

/* One host failure is what is meant when no number is said; none is kept for only by saying so. */
static void test_default_failures(void **state)
{
    static const struct {
        const char *text;
        uint32_t hosts;
    } failures[] = {
        {DOC(HOSTS ",\"ha\":{\"policy\":\"host_failures\"}"), 1},
        {DOC(HOSTS ",\"ha\":{\"policy\":\"host_failures\",\"hosts\":0}"), 0},
        {DOC(HOSTS ",\"ha\":{\"policy\":\"host_failures\",\"hosts\":2}"), 2},
        {DOC(HOSTS ",\"ha\":{\"policy\":\"percent\",\"cpu_percent\":25}"), 0},
        {DOC(HOSTS ",\"ha\":{}"), 0},
        {DOC(HOSTS), 0},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(failures); i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};

        assert_int_equal(read_and_build(failures[i].text, &a, &s, NULL, &err), 0);
        if (s.ha.hosts != failures[i].hosts)
            fail_msg("%s: %u hosts, expected %u", failures[i].text, s.ha.hosts, failures[i].hosts);
        arena_release(&a);
    }
}

static void test_unknown_fields(void **state)
{
    static const char text[] = DOC(",\"x\":1,\"hosts\":[" HOST(
        ",\"foo\":1,\"bar\":{}") ","
                                 "{\"id\":\"h2\",\"foo\":2,\"state\":\"on\",\"cpu_mhz\":1,"
                                 "\"cores\":1,\"mem_mb\":1}],"
                                 "\"vms\":[" VM(",\"foo\":3,\"cpu\":{\"foo\":4}") "]");
    static const char *const expected[] = {
        "/hosts/0/foo: unknown field, ignored (as in 1 more of this kind)",
        "/hosts/0/bar: unknown field, ignored",
        "/vms/0/foo: unknown field, ignored",
        "/vms/0/cpu/foo: unknown field, ignored",
        "/x: unknown field, ignored",
    };
    struct arena a = {0};
    struct unknown_fields unknown = {0};
    struct snapshot s;
    struct err err = {0};

    (void)state;
    assert_int_equal(read_and_build(text, &a, &s, &unknown, &err), 0);
    assert_int_equal(unknown.n, ELEMENTS(expected));
    for (size_t i = 0; i < ELEMENTS(expected); i++)
        assert_string_equal(reader_unknown_text(&unknown.items[i], &a), expected[i]);
    arena_release(&a);
}

static char *dump(const struct snapshot *s)
{
    struct strbuf b;

    strbuf_init(&b, STRBUF_NO_LIMIT);
    snapshot_dump(s, &b);
    return b.text;
}

static void shuffle(json_t *array, struct rng *rng)
{
    for (size_t i = json_array_size(array); i > 1; i--) {
        size_t j = rng_below(rng, (uint32_t)i);
        json_t *x = json_incref(json_array_get(array, i - 1));
        json_t *y = json_incref(json_array_get(array, j));
        assert_int_equal(json_array_set_new(array, i - 1, y) | json_array_set_new(array, j, x), 0);
    }
}

/* The text with every list in another order, those within rules included. */
static char *shuffled(const char *text, uint64_t seed)
{
    static const char *const lists[] = {
        "hosts", "vms", "pools", "rules", "migrations", "pending", "migration_rates", "forecast", "quiet"};
    struct rng rng = {.state = seed};
    json_t *document = json_loads(text, 0, NULL);
    size_t i;
    json_t *rule;

    assert_non_null(document);
    for (size_t l = 0; l < ELEMENTS(lists); l++)
        if (json_object_get(document, lists[l]))
            shuffle(json_object_get(document, lists[l]), &rng);
    json_array_foreach(json_object_get(document, "rules"), i, rule)
    {
        shuffle(json_object_get(rule, "vms"), &rng);
        shuffle(json_object_get(rule, "hosts"), &rng);
    }
    char *again = json_dumps(document, JSON_REAL_PRECISION(17));
    json_decref(document);
    return again;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        struct arena a = {0};
        struct generate_options o = {
            .hosts = 1 + seed, .vms = seed * 9, .seed = seed, .shape = seed % SHAPE_COUNT};
        struct inventory inv;
        struct snapshot s;
        struct err err = {0};
        struct rng rng = {.state = seed};

        print_message("seed %u\n", seed);
        assert_int_equal(generate(&o, &a, &inv, &err), 0);
        for (size_t i = 0; i < inv.n_vms; i++) /* numbers that no short decimal stands for */
            inv.vms[i].is.alloc[RES_CPU].shares = rng_unit(&rng) * 1e4;
        for (uint32_t i = 1; i < inv.n_hosts && seed > 1;
             i++) /* the first has none: nothing is written then */
            *inventory_add_migration_rate(&inv, &a) =
                (struct seen_migration_rate){.from = inv.hosts[i].is.id,
                                             .to = inv.hosts[(i * 7 + 3) % i].is.id,
                                             .rate_mb_s = 1 + rng_unit(&rng) * 1e3};
        if (seed > 2) {
            inv.correlation.of[seed % WINDOW_COUNT][seed % RES_COUNT] = rng_unit(&rng);
            inv.hosts[seed % inv.n_hosts].is.woken =
                (struct woken){.at = inv.time - 60 * seed, .reason = (enum reason)(seed % reason_count)};
        }
        for (uint32_t i = 0; i < seed && seed > 1; i++)
            *inventory_add_expected(&inv, &a) = (struct expected){
                .time = 1767571200 + (instant_s)(i * 7 % 13) * FORECAST_SLOT_S,
                .demand = {rng_unit(&rng) * 1e5, i % 3 == 0 ? UNKNOWN : rng_unit(&rng) * 1e6},
                .days = i,
                .of = i + i % 2,
                .alike = (enum alike_days)(i % alike_days_count)};
        for (uint32_t i = 0; i < seed && seed > 2; i++) {
            struct quiet *q = inventory_add_quiet(&inv, &a);
            q->level[i % RES_COUNT] = i * 7 % 13 + rng_unit(&rng);
            q->lasts_s = rng_unit(&rng) * 1e5;
            q->of = i;
            q->sudden = i / 2;
            q->rise = rng_unit(&rng) * 1e6;
        }
        assert_int_equal(snapshot_build(&inv, &a, &s, &err), 0);
        char *first = dump(&s);
        assert_true((strstr(first, "\"correlation\"") != NULL) == (seed > 2));
        assert_true((strstr(first, "\"quiet\"") != NULL) == (seed > 2));
        assert_true((strstr(first, "\"woken\"") != NULL) == (seed > 2));
        assert_true((strstr(first, "migration_rates") != NULL) == (seed > 1));
        assert_true((strstr(first, "forecast") != NULL) == (seed > 1));
        assert_int_equal(read_and_build(first, &a, &s, NULL, &err), 0);
        char *second = dump(&s);
        assert_string_equal(first, second);
        char *mixed = shuffled(first, seed);
        assert_int_equal(read_and_build(mixed, &a, &s, NULL, &err), 0);
        char *third = dump(&s);
        assert_string_equal(first, third);
        free(first);
        free(second);
        free(mixed);
        free(third);
        arena_release(&a);
    }
}

/* What a hypervisor calls things is not always UTF-8, nor harmless. */
static void test_odd_names(void **state)
{
    static const struct {
        const char *name, *written;
    } names[] = {
        {"plain", "\"plain\""},
        {"a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
        {"line\nbreak\ttab\x01\x7f", "\"line\\nbreak\\ttab\\u0001\\u007f\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff", "\"\xef\xbf\xbd\""},
        {"\xc3", "\"\xef\xbf\xbd\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    struct arena a = {0};
    struct snapshot s;
    struct err err = {0};

    (void)state;
    assert_int_equal(read_and_build(DOC(HOSTS), &a, &s, NULL, &err), 0);
    for (size_t i = 0; i < ELEMENTS(names); i++) {
        char expected[128];
        s.hosts[0].is.name = names[i].name;
        char *text = dump(&s);
        (void)snprintf(expected, sizeof expected, "\"name\": %s,", names[i].written);
        assert_non_null(strstr(text, expected));
        json_t *document = json_loads(text, 0, NULL);
        assert_non_null(document);
        json_decref(document);
        free(text);
    }
    arena_release(&a);
}

static void test_files(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct err err = {0};

    (void)state;
    assert_int_equal(snapshot_load("/nonexistent/x.json", &a, &s, NULL, &err), -ENOENT);
    assert_string_equal(err.text, "/nonexistent/x.json: cannot be opened: No such file or directory");
    assert_int_equal(snapshot_load("/", &a, &s, NULL, &err), -EISDIR);
    assert_int_equal(snapshot_load("/dev/null", &a, &s, NULL, &err), -EINVAL);
    assert_non_null(strstr(err.text, "/dev/null: /: line 1"));
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_offers_and_needs),
        cmocka_unit_test(test_default_failures),
        cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
