/* What pipelines compile to: lists of constant texts as one node, and counters that stages share. */
#include "unit.h"

#include "base/strbuf.h"
#include "core/fit/fit.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <string.h>

/* A host, two VMs in groups, and these pipelines; ' stands for ". */
#define CLOUD                                                                                                \
    "{'format':'ballast-snapshot/1','cluster':'c','time':'2026-01-01T00:00:00Z','hosts':["                   \
    "{'id':'h1','state':'on','cpu_mhz':8000,'cores':4,'mem_mb':4096}],'vms':["                               \
    "{'id':'a','host':'h1','state':'on','vcpus':2,'mem_mb':512,'pipeline':'p','groups':['x','y']},"          \
    "{'id':'b','host':'h1','state':'on','vcpus':2,'mem_mb':512,'pipeline':'p','groups':['y']}],"             \
    "'pipelines':[%s]}"

static void make(struct arena *a, const char *pipelines, struct snapshot *ret)
{
    struct inventory inv;
    struct err err = {0};
    char *text = arena_printf(a, CLOUD, pipelines);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    if (snapshot_read_inventory(text, strlen(text), a, &inv, NULL, &err) < 0 ||
        snapshot_build(&inv, a, ret, &err) < 0)
        fail_msg("%s", err.text);
}

/* As many as there are hosts. */
static void test_many_members(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct strbuf text;
    struct fit fit;

    (void)state;
    for (unsigned last = 0; last < 2; last++) {
        strbuf_init(&text, STRBUF_NO_LIMIT);
        strbuf_puts(&text, "{'name':'p','stages':[{'name':'s','filter':['in','$host.id'");
        for (unsigned i = 3000; i > 0; i--)
            strbuf_printf(&text, ",'host-%u'", i);
        strbuf_puts(&text, last ? ",'h1']}]}" : "]}]}");
        make(&a, text.text, &s);
        strbuf_release(&text);
        assert_int_equal(s.stages[0].is.filter.n, 3);
        assert_int_equal(s.stages[0].is.filter.nodes[2].is.texts.n, 3000 + last);
        fit_compile(&s, &a, &fit);
        assert_int_equal(fit_refuses(&fit, FIT_PLACE, 0, 0), !last);
        strbuf_init(&text, STRBUF_NO_LIMIT);
        snapshot_dump(&s, &text); /* as they were written */
        assert_non_null(strstr(text.text, "[\"in\", \"$host.id\", \"host-3000\", \"host-2999\""));
        strbuf_release(&text);
    }
    arena_release(&a);
}

#define COUNT "'count':['+','$vm.vcpus',1],'per':'$vm.groups'"

/* Whatever their pipeline and limit. */
static void test_shared_counters(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct fit fit;

    (void)state;
    make(&a,
         "{'name':'p','stages':[{'name':'c'," COUNT ",'limit':4}]},"
         "{'name':'q','stages':[{'name':'d'," COUNT ",'limit':5},{'name':'e'," COUNT "},{'name':'f'," COUNT
         ",'off':true}]}",
         &s);
    fit_compile(&s, &a, &fit);
    assert_int_equal(fit.counts.n_measures, 2);
    assert_int_equal(fit.counts.n_counters, 4); /* x and y, with and without VMs that are off */
    assert_int_equal(fit.counts.shares_from[2], 6);
    assert_int_equal(fit.counts.measure_of[0], fit.counts.measure_of[2]);
    assert_int_equal(fit.counts.bounds_from[2], 2);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_members),
        cmocka_unit_test(test_shared_counters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
