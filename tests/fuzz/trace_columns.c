/* Measurements of others: the first byte chooses the format, a unit, the delimiter and whether there are
 * headings. The rest gives a message that names the file, or sorted samples that a workload can read. */
#include "sim/workload/trace.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(const struct trace *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (!(t->value[i] >= 0 && isfinite(t->value[i]) && t->time_s[i] >= 0) ||
            (i > 0 && t->time_s[i] <= t->time_s[i - 1]) || t->time_s[i] >= t->length_s)
            abort();
    }
}

static struct trace_columns columns_of(uint8_t how)
{
    bool header = how & 2;

    return (struct trace_columns){
        .vm = header ? "vm" : "1",
        .time = header ? "time" : "2",
        .time_unit_s = how & 4 ? 0.001 : 1,
        .delimiter = how & 8 ? ';' : ',',
        .header = header,
        .from_s = how & 16 ? 600 : UNKNOWN,
        .of =
            {
                [TRACE_CPU] = {true, "f", header ? "cpu" : "3", how & 32 ? TRACE_SECONDS : TRACE_CORES},
                [TRACE_MEM] = {how & 64, "f", header ? "mem" : "4", TRACE_BYTES},
                [TRACE_VCPUS] = {how & 128, "f", header ? "vcpus" : "5", TRACE_UNIT_NONE},
            },
    };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct trace_texts texts = {.a = &a};
    struct trace_set set;
    struct err err = {0};

    if (size == 0)
        return 0;
    struct trace_columns c = columns_of(data[0]);
    enum trace_format format = data[0] & 1 ? TRACE_PROMETHEUS : TRACE_TABLE;

    for (int part = 0; format == TRACE_PROMETHEUS && part < TRACE_PARTS; part++)
        c.of[part].name = NULL;
    trace_texts_add(&texts, "f", (const char *)data + 1, size - 1);
    int r = trace_set_read_columns(&c, format, &texts, &a, &set, &err);

    if (r < 0 && strncmp(err.text, "f:", 2) != 0)
        abort();
    for (uint32_t i = 0; r == 0 && i < set.n; i++) {
        if (i > 0 && strcmp(set.vms[i - 1].name, set.vms[i].name) >= 0)
            abort();
        for (int res = 0; res < RES_COUNT; res++)
            check(&set.vms[i].of[res]);
    }
    arena_release(&a);
    return 0;
}
