/* Pipelines in scenarios, and the score of VMs on their hosts. */
#include "unit.h"

#include "sim/run/simulate.h"

#include <math.h>

static double score_of(const struct scenario *s, struct arena *a)
{
    struct simulation ret;
    struct err err = {0};

    if (simulate(s, NULL, a, &ret, &err) < 0)
        fail_msg("%s", err.text);
    return ret.metrics.score_mean;
}

/* Pipelines are read, and the cluster keeps them: a fast, a fair and a slow host, each with a VM that wants
 * the fast one. */
static void test_score(void **state)
{
    static const char text[] =
        "duration_s: 600\n"
        "ballast: false\n"
        "pipelines: [{name: fast, stages: [{name: speed, score: $host.attributes.ghz}]}]\n"
        "hosts:\n"
        "  - {name: h, count: 3, cores: 8, core_mhz: 2500, mem_mb: 65536,\n"
        "     cycle: [{attributes: {ghz: 3.5}}, {attributes: {ghz: 3}}, {attributes: {ghz: 2.5}}]}\n"
        "vms:\n"
        "  - {name: v, count: 3, vcpus: 2, mem_mb: 4096, pipeline: fast, at: spread,\n"
        "     workload: {cpu: {kind: constant, level: 500}}}\n"
        "  - {name: w, vcpus: 2, mem_mb: 4096, workload: {cpu: {kind: constant, level: 500}}}\n";
    struct arena a = {0};
    struct scenario s;
    struct err err = {0};

    (void)state;
    if (scenario_parse("text", text, sizeof text - 1, NULL, &a, &s, &err) < 0)
        fail_msg("%s", err.text);
    assert_float_equal(score_of(&s, &a), (1 + 0.5 + 0) / 3, 1e-9);
    s.initial.n_pipelines = 0; /* nobody has one */
    for (uint32_t i = 0; i < s.initial.n_vms; i++)
        s.initial.vms[i].pipeline = IX_NONE;
    assert_true(isnan(score_of(&s, &a)));
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
