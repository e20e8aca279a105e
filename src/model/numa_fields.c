/* numa_fields.c: the tables of NUMA cells and devices, as those of snapshot_fields.c. */
#include "model/numa.h"

#include "schema/reader.h"

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

#define SCHEMA(name, text, array) const struct schema name = SCHEMA_OF(text, array)
#define REQ FIELD_REQUIRED
#define OPT (FIELD_NULLABLE | FIELD_OPTIONAL)

/* S is the struct that holds the fields of the next table. */
#define F(n, t, member, fl)                                                                                  \
    {                                                                                                        \
        .name = (n), .type = (t), .offset = offsetof(S, member), .flags = (fl)                               \
    }
#define W(n, member, list)                                                                                   \
    {                                                                                                        \
        .name = (n), .type = FIELD_WORD, .offset = offsetof(S, member), .flags = OPT, .words = (list)        \
    }
#define ROWS(n, member, of, type_of_row, most, fl, text)                                                     \
    {                                                                                                        \
        .name = (n), .type = FIELD_ROWS, .offset = offsetof(S, member), .inner = &(of),                      \
        .size = sizeof(type_of_row), .max = (most), .flags = (fl), .meaning = (text)                         \
    }
#define COUNT_GIVEN(n, member)                                                                               \
    {                                                                                                        \
        .name = (n), .type = FIELD_COUNT, .offset = offsetof(S, member), .flags = OPT,                       \
        .given = offsetof(S, member##_given)                                                                 \
    }
#define NUMBER_GIVEN(n, member)                                                                              \
    {                                                                                                        \
        .name = (n), .type = FIELD_NUMBER, .offset = offsetof(S, member), .flags = OPT,                      \
        .given = offsetof(S, member##_given)                                                                 \
    }
/* clang-format off */
#define S struct numa_pages
static const struct field numa_pages_fields[] = {
    F("size_kb", FIELD_COUNT, size_kb, REQ),
    F("total", FIELD_COUNT, total, REQ),
    F("used_elsewhere", FIELD_COUNT, used_elsewhere, OPT),
};
static SCHEMA(numa_pages_schema, "pages of a NUMA cell", numa_pages_fields);
#undef S

#define S struct numa_cell
static const struct field numa_cell_fields[] = {
    F("id", FIELD_COUNT, id, REQ),
    COUNT_GIVEN("socket", socket),
    F("cpus", FIELD_COUNT, cpus, REQ),
    F("dedicated", FIELD_COUNT, dedicated, OPT),
    F("mem_mb", FIELD_COUNT, mem_mb, REQ),
    NUMBER_GIVEN("cpu_ratio", cpu_ratio),
    NUMBER_GIVEN("mem_ratio", mem_ratio),
    F("cpus_used_elsewhere", FIELD_COUNT, cpus_used_elsewhere, OPT),
    F("dedicated_used_elsewhere", FIELD_COUNT, dedicated_used_elsewhere, OPT),
    F("mem_used_elsewhere_mb", FIELD_COUNT, mem_used_elsewhere_mb, OPT),
    ROWS("pages", pages, numa_pages_schema, struct numa_pages, NUMA_PAGES_MAX, OPT, "the pages of each size"),
};
SCHEMA(numa_cell_schema, "NUMA cell of a host", numa_cell_fields);
#undef S

#define S struct vm_numa_cell
static const struct field vm_numa_cell_fields[] = {
    F("cpus", FIELD_COUNT, cpus, OPT),
    F("dedicated", FIELD_COUNT, dedicated, OPT),
    F("mem_mb", FIELD_COUNT, mem_mb, REQ),
    W("pages", pages, page_words),
    F("page_kb", FIELD_COUNT, page_kb, OPT),
    COUNT_GIVEN("cell", cell),
    F("fixed", FIELD_BOOL, fixed, OPT),
};
SCHEMA(vm_numa_cell_schema, "NUMA cell of a vm", vm_numa_cell_fields);
#undef S

#define S struct device_pool
static const struct field device_pool_fields[] = {
    F("id", FIELD_TEXT, id, OPT),
    F("count", FIELD_COUNT, count, REQ),
    COUNT_GIVEN("cell", cell),
    F("properties", FIELD_LABELS, properties, OPT),
    F("on_request", FIELD_IDS, on_request, OPT),
};
SCHEMA(device_pool_schema, "device pool of a host", device_pool_fields);
#undef S

#define S struct device_spec
static const struct field device_spec_fields[] = {
    F("properties", FIELD_LABELS, properties, OPT),
};
static SCHEMA(device_spec_schema, "alternative of a device request", device_spec_fields);
#undef S

#define S struct device_request
static const struct field device_request_fields[] = {
    F("count", FIELD_COUNT, count, REQ),
    ROWS("any_of", any_of, device_spec_schema, struct device_spec, DEVICE_REQUESTS_MAX, REQ,
         "the alternatives"),
    W("affinity", affinity, affinity_words),
    F("pool", FIELD_TEXT, pool, OPT),
};
SCHEMA(device_request_schema, "device request of a vm", device_request_fields);
#undef S
/* clang-format on */
