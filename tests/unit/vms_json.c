/* VMs to be placed: refusals with their messages, ignored fields, and the resulting cluster. */
#include "unit.h"

#include "base/strbuf.h"
#include "model/snapshot_build.h"
#include "model/vms_json.h"

#include <errno.h>
#include <string.h>

/* v1 runs, v2 is off, v3 suspended, v4 is a secondary that is off and knows no primary. */
static const char cluster_text[] =
    "{\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\",\"time\":\"2026-01-01T00:00:00Z\",\"hosts\":["
    "{\"id\":\"h1\",\"state\":\"on\",\"cpu_mhz\":1000,\"cores\":2,\"mem_mb\":4096},"
    "{\"id\":\"h2\",\"state\":\"on\",\"cpu_mhz\":1000,\"cores\":2,\"mem_mb\":4096}],\"vms\":["
    "{\"id\":\"v1\",\"host\":\"h1\",\"state\":\"on\",\"vcpus\":1,\"mem_mb\":512,\"cpu\":{\"demand\":7}},"
    "{\"id\":\"v2\",\"host\":\"h2\",\"state\":\"off\",\"vcpus\":1,\"mem_mb\":512},"
    "{\"id\":\"v3\",\"state\":\"suspended\",\"vcpus\":1,\"mem_mb\":512},"
    "{\"id\":\"v4\",\"state\":\"off\",\"vcpus\":1,\"mem_mb\":512,\"kind\":\"ft_secondary\"}],"
    "\"pools\":[{\"id\":\"p1\"}],\"migrations\":[{\"vm\":\"v1\",\"from\":\"h1\",\"to\":\"h2\"}],"
    "\"rules\":[{\"id\":\"r1\",\"kind\":\"vm-host-affine\",\"vms\":[\"v2\"],\"hosts\":[\"h1\",\"h2\"]}],"
    "\"ha\":{\"policy\":\"dedicated\",\"failover_hosts\":[\"h2\"]}}";

#define NEW(more) "{\"id\":\"n1\",\"vcpus\":2,\"mem_mb\":1024" more "}"
#define PRIMARY(peer) "{\"id\":\"a\",\"vcpus\":1,\"mem_mb\":64,\"kind\":\"ft_primary\"" peer "}"
#define SECONDARY(peer) "{\"id\":\"b\",\"vcpus\":1,\"mem_mb\":64,\"kind\":\"ft_secondary\"" peer "}"
#define PEER(id) ",\"ft_peer\":\"" id "\""

static const struct {
    const char *text;
    const char *wrong; /* what the complaint begins with; NULL: it is accepted */
} cases[] = {
    {"[]", NULL},
    {"[" NEW("") "]", NULL},
    {"[{\"id\":\"v2\"}," NEW("") ",{\"id\":\"v3\"}]", NULL},
    {"[" NEW(",\"host\":null,\"state\":\"off\",\"cpu\":{\"demand\":0,\"limit\":null}") "]", NULL},
    {"[" NEW(",\"pool\":\"p1\",\"compatible_hosts\":[\"h2\"],\"labels\":{\"a\":\"b\"},"
             "\"cpu\":{\"reservation\":5},\"mem\":{\"reservation\":1024,\"shares\":1}") "]",
     NULL},
    {"[" PRIMARY(PEER("b")) "," SECONDARY(PEER("a")) "]", NULL},
    {"[{\"id\":\"v2\",\"vcpus\":\"many\",\"host\":\"nowhere\"}]", NULL}, /* nothing else is read of it */
    /* not a list of VMs */
    {"", "/: line 1, column 0: "},
    {"[{\"id\":\"n1\",\"id\":\"n2\"}]", "/0/id: line 1, column 13: given twice"},
    {"{}", "/: an object, expected an array of VM objects"},
    {"{\"vms\":[]}", "/: an object, expected an array of VM objects"},
    {"[7]", "/0: 7, expected an object"},
    {"[" NEW("") ",null]", "/1: null, expected an object"},
    {"[{}]", "/0/id: missing, expected"},
    {"[{\"id\":5}]", "/0/id: 5, expected a string"},
    {"[{\"id\":\"\",\"vcpus\":2,\"mem_mb\":1024}]", "/0/id: missing or empty"},
    /* one that is wrong, counted as the file counts */
    {"[{\"id\":\"v2\"}," NEW(",\"pool\":\"p9\"") "]", "/1/pool: no object of /pools has the id \"p9\""},
    {"[{\"id\":\"n\"}]", "/0/vcpus: missing"},
    {"[{\"id\":\"n\",\"vcpus\":1}]", "/0/mem_mb: missing"},
    {"[" NEW(",\"vcpuz\":1,\"name\":5") "]", "/0/name: 5, expected a string"},
    {"[{\"id\":\"n\",\"vcpus\":0,\"mem_mb\":1}]", "/0/vcpus: 0, expected 1 or more"},
    {"[{\"id\":\"n\",\"vcpus\":1,\"mem_mb\":-1}]", "/0/mem_mb: -1 is negative"},
    {"[" NEW(",\"compatible_hosts\":[\"h1\",\"h7\"]") "]", "/0/compatible_hosts/1: no object of /hosts"},
    {"[" NEW(",\"mem\":{\"reservation\":1025}") "]", "/0/mem/reservation: 1025 is above the configured size"},
    {"[" NEW(",\"cpu\":{\"demand\":\"x\"}") "]", "/0/cpu/demand: \"x\", expected a number"},
    {"[" NEW(",\"cpu\":5") "]", "/0/cpu: 5, expected an object"},
    {"[" NEW(",\"state\":\"asleep\"") "]", "/0/state: \"asleep\", expected on, off or suspended"},
    {"[" NEW(",\"host\":\"h1\"") "]", "/0/host: given, expected none"},
    /* which VM is meant */
    {"[{\"id\":\"v1\"}]", "/0/id: \"v1\" runs already, expected a VM that is off, suspended or new"},
    {"[" NEW("") ",{\"id\":\"v2\"}," NEW("") "]", "/2/id: \"n1\" is the id of /0 already"},
    {"[{\"id\":\"v2\"},{\"id\":\"v2\"}]", "/1/id: \"v2\" is the id of /0 already"},
    /* pairs */
    {"[" PRIMARY("") "]", "/0/ft_peer: missing, expected the id of the other half"},
    {"[" PRIMARY(PEER("b")) "]", "/0/ft_peer: no object of /vms has the id \"b\""},
    {"[" PRIMARY(PEER("b")) "," SECONDARY("") "]", NULL}, /* one of the two says it */
    {"[" SECONDARY("") "," PRIMARY(PEER("b")) "]", NULL},
    {"[" PRIMARY(PEER("v4")) "]", NULL}, /* the other half is off */
    {"[" PRIMARY(PEER("b")) "," SECONDARY(PEER("c")) "]", "/1/ft_peer: no object of /vms has the id \"c\""},
    {"[" SECONDARY("") "," PRIMARY("") "]", "/0/ft_peer: missing, expected the id of the other half"},
    {"[" PRIMARY(PEER("v2")) "]", "/0/ft_peer: \"v2\" is of kind \"normal\", expected ft_secondary"},
    {"[" NEW(PEER("v2")) "]", "/0/ft_peer: given though the kind is \"normal\""},
};

static void make_cluster(struct arena *a, struct snapshot *ret)
{
    struct inventory inv;
    struct err err = {0};

    assert_int_equal(snapshot_read_inventory(cluster_text, strlen(cluster_text), a, &inv, NULL, &err), 0);
    assert_int_equal(snapshot_build(&inv, a, ret, &err), 0);
}

static void test_refused(void **state)
{
    struct arena a = {0};
    struct snapshot cluster;

    (void)state;
    make_cluster(&a, &cluster);
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct vms_to_place v = {.n = 77};
        struct err err = {0};
        int r = vms_read(cases[i].text, strlen(cases[i].text), &cluster, &a, &v, NULL, &err);
        if (r != (cases[i].wrong ? -EINVAL : 0) ||
            (cases[i].wrong && strncmp(err.text, cases[i].wrong, strlen(cases[i].wrong)) != 0))
            fail_msg("%s: %d, %s", cases[i].text, r, err.text);
        if (cases[i].wrong)
            assert_int_equal(v.n, 77); /* untouched */
    }
    arena_release(&a);
}

static const char mixed[] =
    "[{\"id\":\"v3\",\"name\":\"other\"},"
    "{\"id\":\"n0\",\"vcpus\":4,\"mem_mb\":2048,\"state\":\"on\",\"pool\":\"p1\",\"stable_s\":5,"
    "\"last_migrated\":\"2025-12-31T23:59:00Z\",\"dirty_mb_s\":3,\"demand_unknown\":true,\"colour\":\"red\","
    "\"cpu\":{\"demand\":900,\"reservation\":100},\"mem\":{\"demand\":1,\"consumed\":2,\"overhead\":64},"
    "\"windows\":{\"5m\":{\"cpu\":{\"mean\":5,\"max\":9}}}},"
    "{\"id\":\"v2\"},"
    "{\"id\":\"m\",\"vcpus\":1,\"mem_mb\":64,\"state\":\"suspended\",\"mem\":{\"demand\":1}}]";

/* The new VMs are off, use nothing yet, and keep what they were configured with. */
static void test_added(void **state)
{
    static const char *const ids[] = {"v3", "n0", "v2", "m"};
    struct arena a = {0};
    struct snapshot cluster;
    struct vms_to_place v;
    struct unknown_fields unknown = {0};
    struct err err = {0};

    (void)state;
    make_cluster(&a, &cluster);
    assert_int_equal(vms_read(mixed, strlen(mixed), &cluster, &a, &v, &unknown, &err), 0);
    assert_int_equal(v.n, ELEMENTS(ids));
    for (uint32_t i = 0; i < v.n; i++)
        assert_string_equal(v.snap.vms[v.vms[i]].is.id, ids[i]); /* in the file's order */
    assert_int_equal(v.snap.n_vms, 6);
    assert_int_equal(cluster.n_vms, 4);
    assert_string_equal(v.snap.vms[v.vms[0]].is.name, "v3"); /* not what the file says */
    assert_int_equal(v.snap.vms[v.vms[0]].is.state, VM_SUSPENDED);
    const struct vm *n0 = &v.snap.vms[v.vms[1]];
    assert_int_equal(n0->is.state, VM_OFF);
    assert_int_equal(n0->host, IX_NONE);
    assert_int_equal(n0->pool, 0);
    assert_true(n0->is.alloc[RES_CPU].reservation == 100 && n0->is.overhead_mb == 64);
    assert_true(n0->is.demand[RES_CPU] == 0 && n0->is.demand[RES_MEM] == 0 && !n0->is.demand_unknown);
    assert_true(n0->is.window[WINDOW_5M][RES_CPU].max == 0 && n0->is.consumed_mb == 2048);
    assert_true(isnan(n0->is.stable_s) && isnan(n0->is.dirty_mb_s) && n0->is.last_migrated == 0);
    assert_int_equal(v.snap.vms[v.vms[3]].is.state, VM_OFF);
    assert_int_equal(unknown.n, 1);
    assert_string_equal(unknown.items[0].pointer, "/1/colour");
    assert_string_equal(vms_json_ignored_text(&v, VMS_IGNORED_KNOWN, &a),
                        "/0: a VM of the snapshot, what else is said of it is ignored");
    assert_string_equal(vms_json_ignored_text(&v, VMS_IGNORED_STATE, &a),
                        "/1: its state is ignored, a new VM is off until it is placed (as in 1 more)");
    assert_non_null(strstr(vms_json_ignored_text(&v, VMS_IGNORED_DEMAND, &a), "/1: what it uses is ignored"));
    arena_release(&a);
}

/* With nothing added the cluster comes out as it went in, to the last byte. */
static void test_nothing_lost(void **state)
{
    struct arena a = {0};
    struct snapshot cluster;
    struct vms_to_place v;
    struct strbuf text[2];
    struct err err = {0};

    (void)state;
    make_cluster(&a, &cluster);
    assert_int_equal(vms_read("[{\"id\":\"v2\"}]", 13, &cluster, &a, &v, NULL, &err), 0);
    for (int i = 0; i < 2; i++)
        strbuf_init(&text[i], STRBUF_NO_LIMIT);
    snapshot_dump(&cluster, &text[0]);
    snapshot_dump(&v.snap, &text[1]);
    assert_string_equal(text[0].text, text[1].text);
    for (int i = 0; i < VMS_IGNORED_COUNT; i++)
        assert_null(vms_json_ignored_text(&v, (enum vms_ignored)i, &a));
    for (int i = 0; i < 2; i++)
        strbuf_release(&text[i]);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_added),
        cmocka_unit_test(test_nothing_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
