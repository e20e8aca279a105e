/* Trace files: the first byte chooses the format. The rest gives a message with a line, or sorted samples
 * that a workload can read. */
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

static void walk(const struct trace *t, bool linear)
{
    const struct workload w = {.kind = WORKLOAD_TRACE,
                               .trace = t,
                               .scale = 1,
                               .max = 1e9,
                               .step_s = 60,
                               .linear = linear,
                               .repeat = linear};
    double at = 0;

    for (int i = 0; i < 100 && isfinite(at); i++) {
        struct workload_value v = workload_at(&w, at);
        if (!(v.value >= 0 && v.value <= 1e9) || !(v.until_s > at))
            abort();
        at = v.until_s;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct trace_set set;
    struct err err = {0};

    if (size == 0)
        return 0;
    enum trace_format format = (enum trace_format)(data[0] % TRACE_PROMETHEUS);
    struct trace_texts texts = {.a = &a};

    trace_texts_add(&texts, "f", (const char *)data + 1, size - 1);
    int r = trace_set_read("f", format, UNKNOWN, &texts, &a, &set, &err);

    if (r < 0 && strncmp(err.text, "f:", 2) != 0)
        abort();
    for (uint32_t i = 0; r == 0 && i < set.n; i++) {
        if (i > 0 && strcmp(set.vms[i - 1].name, set.vms[i].name) >= 0)
            abort();
        for (int res = 0; res < RES_COUNT; res++) {
            check(&set.vms[i].of[res]);
            walk(&set.vms[i].of[res], false);
            walk(&set.vms[i].of[res], true);
        }
    }
    arena_release(&a);
    return 0;
}
