/* numa_fields.c: the tables of NUMA cells and devices, as those of snapshot_fields.c. */
#include "model/numa.h"
#include "model/snapshot_field_macros.h"

static const char *const page_words[] = {[NUMA_PAGES_BY_SIZE] = "", /* absent */
                                         [NUMA_PAGES_SMALL] = "small",
                                         [NUMA_PAGES_LARGE] = "large",
                                         [NUMA_PAGES_ANY] = "any",
                                         NULL};

static const char *const affinity_words[] = {[DEVICE_PREFERRED] = "", /* absent */
                                             [DEVICE_LEGACY] = "legacy",
                                             [DEVICE_REQUIRED] = "required",
                                             [DEVICE_SOCKET] = "socket",
                                             NULL};

/* clang-format off */
#define S struct numa_pages
static SCHEMA(numa_pages_schema, "pages of a NUMA cell",
    F("size_kb", FIELD_COUNT, size_kb, REQ),
    F("total", FIELD_COUNT, total, REQ),
    F("used_elsewhere", FIELD_COUNT, used_elsewhere, OPT),
);
#undef S

#define S struct numa_cell
SCHEMA(numa_cell_schema, "NUMA cell of a host",
    F("id", FIELD_COUNT, id, REQ),
    GIVEN("socket", FIELD_COUNT, socket),
    F("cpus", FIELD_COUNT, cpus, REQ),
    F("dedicated", FIELD_COUNT, dedicated, OPT),
    F("mem_mb", FIELD_COUNT, mem_mb, REQ),
    GIVEN("cpu_ratio", FIELD_NUMBER, cpu_ratio),
    GIVEN("mem_ratio", FIELD_NUMBER, mem_ratio),
    F("cpus_used_elsewhere", FIELD_COUNT, cpus_used_elsewhere, OPT),
    F("dedicated_used_elsewhere", FIELD_COUNT, dedicated_used_elsewhere, OPT),
    F("mem_used_elsewhere_mb", FIELD_COUNT, mem_used_elsewhere_mb, OPT),
    ROWS("pages", pages, numa_pages_schema, struct numa_pages, NUMA_PAGES_MAX, OPT, "the pages of each size"),
);
#undef S

#define S struct vm_numa_cell
SCHEMA(vm_numa_cell_schema, "NUMA cell of a vm",
    F("cpus", FIELD_COUNT, cpus, OPT),
    F("dedicated", FIELD_COUNT, dedicated, OPT),
    F("mem_mb", FIELD_COUNT, mem_mb, REQ),
    W("pages", pages, page_words, OPT),
    F("page_kb", FIELD_COUNT, page_kb, OPT),
    GIVEN("cell", FIELD_COUNT, cell),
    F("fixed", FIELD_BOOL, fixed, OPT),
);
#undef S

#define S struct device_pool
SCHEMA(device_pool_schema, "device pool of a host",
    F("id", FIELD_TEXT, id, OPT),
    F("count", FIELD_COUNT, count, REQ),
    GIVEN("cell", FIELD_COUNT, cell),
    F("properties", FIELD_LABELS, properties, OPT),
    F("on_request", FIELD_IDS, on_request, OPT),
);
#undef S

#define S struct device_spec
static SCHEMA(device_spec_schema, "alternative of a device request",
    F("properties", FIELD_LABELS, properties, OPT),
);
#undef S

#define S struct device_request
SCHEMA(device_request_schema, "device request of a vm",
    F("count", FIELD_COUNT, count, REQ),
    ROWS("any_of", any_of, device_spec_schema, struct device_spec, DEVICE_REQUESTS_MAX, REQ,
         "the alternatives"),
    W("affinity", affinity, affinity_words, OPT),
    F("pool", FIELD_TEXT, pool, OPT),
);
#undef S
/* clang-format on */
