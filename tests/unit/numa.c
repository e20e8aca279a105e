/* NUMA cells and devices of hosts and VMs: read, written as read, refused where they cannot be right. */
#include "unit.h"

#include "base/strbuf.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "model/snapshot_read.h"

#include <string.h>

#define HEAD                                                                                                 \
    "{\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\",\"time\":\"2026-01-01T00:00:00Z\",\"hosts\":["
#define HOST                                                                                                 \
    "{\"id\":\"h\",\"state\":\"on\",\"cpu_mhz\":1000,\"cores\":4,\"mem_mb\":4096%s}],\"vms\":["              \
    "{\"id\":\"v\",\"host\":\"h\",\"state\":\"on\",\"vcpus\":2,\"mem_mb\":512%s}]}"

static int make(const char *host, const char *vm, struct arena *a, struct snapshot *ret, struct err *err)
{
    const char *text = arena_printf(a, HEAD HOST, host, vm);
    struct inventory inv;
    int r = snapshot_read_inventory(text, strlen(text), a, &inv, NULL, err);

    return r < 0 ? r : snapshot_build(&inv, a, ret, err);
}

/* Pages are sorted by size, properties by key; all else is as it was. */
static void test_round_trip(void **state)
{
    static const char host[] =
        ",\"numa\":[{\"id\":1,\"socket\":0,\"cpus\":4,\"dedicated\":2,\"mem_mb\":2048,\"cpu_ratio\":4,\"mem_"
        "ratio\":1.5,"
        "\"cpus_used_elsewhere\":1,\"dedicated_used_elsewhere\":1,\"mem_used_elsewhere_mb\":8,\"pages\":["
        "{\"size_kb\":2048,\"total\":10,\"used_elsewhere\":2},{\"size_kb\":4,\"total\":1000}]},"
        "{\"id\":0,\"cpus\":4,\"mem_mb\":2048}],\"device_pools\":[{\"id\":\"p\",\"count\":3,\"cell\":0,"
        "\"properties\":"
        "{\"vendor_id\":\"8086\",\"dev_type\":\"type-PF\"},\"on_request\":[\"dev_type\"]},{\"count\":0}]";
    static const char vm[] = ",\"numa\":[{\"cpus\":1,\"mem_mb\":256,\"pages\":\"large\",\"page_kb\":2048,"
                             "\"cell\":0,\"fixed\":true},"
                             "{\"dedicated\":1,\"mem_mb\":256}],\"device_requests\":[{\"count\":1,\"any_of\":"
                             "[{\"properties\":{\"vendor_id\":"
                             "\"8086\"}},{}],\"affinity\":\"required\",\"pool\":\"p\"}]";
    static const char *const written[] = {
        "\"numa\": [{\"id\": 1, \"socket\": 0, \"cpus\": 4, \"dedicated\": 2, \"mem_mb\": 2048, "
        "\"cpu_ratio\": 4, "
        "\"mem_ratio\": 1.5, \"cpus_used_elsewhere\": 1, \"dedicated_used_elsewhere\": 1, "
        "\"mem_used_elsewhere_mb\": 8, "
        "\"pages\": [{\"size_kb\": 4, \"total\": 1000}, {\"size_kb\": 2048, \"total\": 10, "
        "\"used_elsewhere\": 2}]}, "
        "{\"id\": 0, \"cpus\": 4, \"mem_mb\": 2048}]",
        "\"device_pools\": [{\"id\": \"p\", \"count\": 3, \"cell\": 0, \"properties\": {\"dev_type\": "
        "\"type-PF\", "
        "\"vendor_id\": \"8086\"}, \"on_request\": [\"dev_type\"]}, {\"count\": 0}]",
        "\"numa\": [{\"cpus\": 1, \"mem_mb\": 256, \"pages\": \"large\", \"page_kb\": 2048, \"cell\": 0, "
        "\"fixed\": true}, "
        "{\"dedicated\": 1, \"mem_mb\": 256}]",
        "\"device_requests\": [{\"count\": 1, \"any_of\": [{\"properties\": {\"vendor_id\": \"8086\"}}, {}], "
        "\"affinity\": "
        "\"required\", \"pool\": \"p\"}]"};
    struct arena a = {0};
    struct snapshot s;
    struct inventory inv;
    struct err err = {0};
    struct strbuf once, twice;

    (void)state;
    strbuf_init(&once, STRBUF_NO_LIMIT);
    strbuf_init(&twice, STRBUF_NO_LIMIT);
    if (make(host, vm, &a, &s, &err) < 0)
        fail_msg("%s", err.text);
    snapshot_dump(&s, &once);
    for (size_t i = 0; i < ELEMENTS(written); i++)
        if (!strstr(once.text, written[i]))
            fail_msg("%s is not in %s", written[i], once.text);
    assert_int_equal(snapshot_read_inventory(once.text, once.len, &a, &inv, NULL, &err), 0);
    assert_int_equal(snapshot_build(&inv, &a, &s, &err), 0);
    snapshot_dump(&s, &twice);
    assert_string_equal(once.text, twice.text);
    strbuf_release(&once);
    strbuf_release(&twice);
    arena_release(&a);
}

#define CELL "{\"id\":0,\"cpus\":1,\"mem_mb\":1"

static const struct {
    const char *host, *vm, *wrong;
} cases[] = {
    {",\"numa\":{}", "", "/hosts/0/numa: an object, expected an array"},
    {",\"numa\":[{\"cpus\":1,\"mem_mb\":1}]", "", "/hosts/0/numa/0/id: missing"},
    {",\"numa\":[{\"id\":-1,\"cpus\":1,\"mem_mb\":1}]", "", "/hosts/0/numa/0/id: -1"},
    {",\"numa\":[" CELL "}," CELL "}]", "", "/hosts/0/numa/1/id: the id of another cell"},
    {",\"numa\":[" CELL ",\"cpu_ratio\":-1}]", "", "/hosts/0/numa/0/cpu_ratio: no ratio"},
    {",\"numa\":[" CELL ",\"mem_ratio\":1e9}]", "", "/hosts/0/numa/0/mem_ratio: no ratio"},
    {",\"numa\":[{\"id\":0,\"cpus\":1,\"mem_mb\":2000000000}]", "", "/hosts/0/numa/0/mem_mb: absurd"},
    {",\"numa\":[" CELL ",\"pages\":[{\"size_kb\":0,\"total\":1}]}]", "",
     "/hosts/0/numa/0/pages: a size of 0"},
    {",\"numa\":[" CELL ",\"pages\":[{\"size_kb\":4,\"total\":1},{\"size_kb\":4,\"total\":1}]}]", "",
     "/hosts/0/numa: pages of 4 KiB are given twice"},
    {",\"device_pools\":[{}]", "", "/hosts/0/device_pools/0/count: missing"},
    {",\"device_pools\":[{\"id\":\"a\",\"count\":1},{\"id\":\"a\",\"count\":1}]", "",
     "/hosts/0/device_pools/1/id: the id of another pool"},
    {",\"device_pools\":[{\"count\":1,\"properties\":{\"\":\"a\"}}]", "",
     "/hosts/0/device_pools/0/properties: expected texts"},
    {"", ",\"numa\":[{}]", "/vms/0/numa/0/mem_mb: missing"},
    {"", ",\"numa\":[{\"mem_mb\":1,\"pages\":\"huge\"}]",
     "/vms/0/numa/0/pages: \"huge\", expected small, large or any"},
    {"", ",\"numa\":[{\"mem_mb\":1,\"fixed\":true}]", "/vms/0/numa/0/fixed: without cell"},
    {"", ",\"numa\":[{\"mem_mb\":1,\"cell\":0},{\"mem_mb\":1,\"cell\":0}]",
     "/vms/0/numa/1/cell: the cell of another"},
    {"", ",\"device_requests\":[{\"count\":0,\"any_of\":[{}]}]",
     "/vms/0/device_requests/0/count: expected 1"},
    {"", ",\"device_requests\":[{\"count\":1,\"any_of\":[]}]",
     "/vms/0/device_requests/0/any_of: expected 1 to 64"},
    {"", ",\"device_requests\":[{\"count\":1,\"any_of\":[{}],\"affinity\":\"near\"}]",
     "/vms/0/device_requests/0/affinity: \"near\", expected"},
    {"", ",\"device_requests\":[{\"count\":1,\"any_of\":[{}],\"pool\":\"\"}]",
     "/vms/0/device_requests/0/pool: empty or too long"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};

        if (make(cases[i].host, cases[i].vm, &a, &s, &err) == 0)
            fail_msg("%s%s is accepted", cases[i].host, cases[i].vm);
        if (strncmp(err.text, cases[i].wrong, strlen(cases[i].wrong)) != 0)
            fail_msg("%s%s: %s", cases[i].host, cases[i].vm, err.text);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
