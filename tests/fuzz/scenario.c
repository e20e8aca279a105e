/* Scenario files: any bytes give a message with a place, or a scenario that can be simulated, with valid
 * objects and finite demand. Reading twice gives the same scenario. */
#include "sim/scenario/scenario.h"
#include "base/strbuf.h"
#include "model/snapshot_json.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 50, VMS = 200 };

static void walk(const struct vm_model *v)
{
    for (int r = 0; r < RES_COUNT; r++) {
        double t = 0;
        for (int i = 0; i < STEPS && isfinite(t); i++) {
            struct workload_value w = workload_at(&v->of[r], t);
            if (!(w.value >= 0 && w.value <= v->of[r].max && isfinite(w.value)) || !(w.until_s > t))
                abort();
            t = w.until_s;
        }
    }
    if (!(v->arrives_s >= 0) || !v->share_class)
        abort();
}

static void check(const struct scenario *s)
{
    for (uint32_t i = 0; i < s->initial.n_vms && i < VMS; i++)
        walk(&s->vms[i]);
    for (uint32_t i = 0; i < s->initial.n_hosts; i++) {
        if (s->hosts[i].n_watts < 2 || s->hosts[i].n_watts > POWER_POINTS_MAX)
            abort();
    }
    for (uint32_t i = 0; i < s->n_faults; i++) {
        if ((i > 0 && s->faults[i].at_s < s->faults[i - 1].at_s) ||
            (s->faults[i].host != IX_NONE && s->faults[i].host >= s->initial.n_hosts) ||
            (s->faults[i].vm != IX_NONE && s->faults[i].vm >= s->initial.n_vms))
            abort();
    }
    for (uint32_t i = 0; i < s->n_operations; i++) {
        if (s->operations[i].kind == SCRIPT_SET ? !s->operations[i].key
                                                : s->operations[i].host >= s->initial.n_hosts)
            abort();
    }
}

static void dump(const struct scenario *s, struct strbuf *out)
{
    strbuf_init(out, STRBUF_NO_LIMIT);
    snapshot_dump(&s->initial, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct scenario_override overrides[] = {{"dpm.target", "50"}, {"vms.0.count", "2"}};
    const struct scenario_options options = {.overrides = overrides, .n_overrides = 2};
    struct arena a = {0};
    struct scenario s, again;
    struct err err = {0};
    int r = scenario_parse("f", (const char *)data, size, NULL, &a, &s, &err);

    if (r < 0 && strncmp(err.text, "f:", 2) != 0)
        abort();
    if (r == 0) {
        struct strbuf one, two;
        check(&s);
        if (scenario_parse("f", (const char *)data, size, NULL, &a, &again, &err) < 0)
            abort();
        dump(&s, &one);
        dump(&again, &two);
        if (strcmp(one.text, two.text) != 0)
            abort();
        strbuf_release(&one);
        strbuf_release(&two);
    }
    if (scenario_parse("f", (const char *)data, size, &options, &a, &s, &err) == 0)
        check(&s);
    arena_release(&a);
    return 0;
}
