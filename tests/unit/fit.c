/* Pipelines: what expressions are refused and where, what the others are worth, request classes, and who
 * shares bitmaps. */
#include "unit.h"

#include "base/strbuf.h"
#include "core/fit/fit.h"
#include "model/expression.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                                                                 \
    "{\"format\":\"ballast-snapshot/1\",\"cluster\":\"c\",\"time\":\"2026-01-01T00:00:00Z\",\"hosts\":["
#define HOST(id, more)                                                                                       \
    "{\"id\":\"" id "\",\"state\":\"on\",\"cpu_mhz\":8000,\"cores\":4,\"mem_mb\":4096" more "}"
#define VM(id, more)                                                                                         \
    "{\"id\":\"" id "\",\"host\":\"h1\",\"state\":\"on\",\"vcpus\":2,\"mem_mb\":512,\"pipeline\":\"p\"" more \
    "}"

/* One host, one VM, three groups of the host, and one stage. */
#define FIRST                                                                                                \
    HOST("h1", ",\"traits\":[\"AVX\",\"SSE\"],\"labels\":{\"rack\":\"r7\"},\"networks\":[\"a\",\"b\"],"      \
               "\"attributes\":{\"tier\":3,\"gpu\":true,\"version\":\"6.2.10\",\"disks\":[\"ssd\",\"hdd\"]," \
               "\"n\":\"12\"}")
#define SECOND                                                                                               \
    VM("a", ",\"owner\":\"bank\",\"folder\":\"/prod/"                                                        \
            "db\",\"flavor\":{\"tier\":2},\"image\":{\"arch\":\"X86_64\"},"                                  \
            "\"hints\":{\"zone\":\"east\",\"same\":[\"SSE\",\"NEON\"]}")
#define GROUPS                                                                                               \
    "\"groups\":["                                                                                           \
    "{\"id\":\"z\",\"kind\":\"zone\",\"hosts\":[\"h1\"],\"meta\":{\"zone\":\"east\"}},"                      \
    "{\"id\":\"g1\",\"name\":\"fast\",\"kind\":\"aggregate\",\"hosts\":[\"h1\"],\"meta\":{\"limit\":\"8\","  \
    "\"owners\":\"bank, shop\"}},"                                                                           \
    "{\"id\":\"g2\",\"kind\":\"aggregate\",\"hosts\":[\"h1\"],\"meta\":{\"limit\":\"5\"}}]"
#define WITH(stage)                                                                                          \
    HEAD FIRST "],\"vms\":[" SECOND "]," GROUPS                                                              \
               ",\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\"," stage "}]}]}"

static int make(const char *text, struct arena *a, struct snapshot *ret, struct err *err)
{
    struct inventory inv;
    int r = snapshot_read_inventory(text, strlen(text), a, &inv, NULL, err);

    return r < 0 ? r : snapshot_build(&inv, a, ret, err);
}

static const struct {
    const char *filter; /* with ' for " */
    bool is;
} values[] = {
    {"true", true},
    {"false", false},
    {"'$host.attributes.gpu'", true},
    {"'$host.attributes.tier'", false}, /* no truth */
    {"'$host.attributes.absent'", false},
    {"['and', true, '$host.attributes.gpu']", true},
    {"['and', true, '$host.attributes.absent']", false},
    {"['or', '$host.attributes.absent', true]", true},
    {"['or', false, '$host.attributes.tier']", false},
    {"['not', '$host.attributes.absent']", true},
    {"['not', true]", false},
    {"['=', ['if', '$host.attributes.gpu', 1, 2], 1]", true},
    {"['=', ['if', '$host.attributes.absent', 1, 2], 2]", true},
    {"['given', '$host.attributes.tier']", true},
    {"['given', '$host.attributes.absent']", false},
    {"['given', ['/', 1, 0]]", false},
    {"['given', ['*', 1e300, 1e300]]", false},
    {"['=', ['default', '$host.attributes.absent', '$vm.hints.absent', 7], 7]", true},
    {"['=', '$host.attributes.tier', 3]", true},
    {"['=', '$host.attributes.tier', '3']", false}, /* only the data can tell */
    {"['!=', '$host.attributes.tier', '3']", false},
    {"['!=', '$host.attributes.tier', 4]", true},
    {"['!=', '$host.attributes.absent', 4]", false},
    {"['=', '$host.attributes.gpu', true]", true},
    {"['<', '$vm.flavor.tier', '$host.attributes.tier']", true},
    {"['<', '$host.attributes.tier', '$host.attributes.tier']", false},
    {"['<=', '$host.attributes.tier', 3]", true},
    {"['>', '$host.cores', 4]", false},
    {"['>=', '$host.cores', 4]", true},
    {"['>=', '$host.attributes.absent', -1e9]", false},
    {"['s<', 'B', 'a']", true},
    {"['s<=', 'a', 'a']", true},
    {"['s>', 'a', 'a']", false},
    {"['s>=', '10', '9']", false},
    {"['i=', '$vm.image.arch', 'x86_64']", true},
    {"['=', '$vm.image.arch', 'x86_64']", false},
    {"['i=', 'a', 'ab']", false},
    {"['in', '$host.traits', 'AVX']", true},
    {"['in', 'AVX', '$host.traits']", true},
    {"['in', 'AV', '$host.traits']", false},
    {"['in', '$vm.hints.same', '$host.traits']", true},
    {"['in', '$host.attributes.tier', 1, 3]", true},
    {"['in', '$host.attributes.tier', 1, '3']", false},
    {"['in', '$vm.hints.absent', '$host.traits']", false},
    {"['in', '$host.id', 'h9', 'h10', 'h1', 'h']", true},
    {"['in', '$host.id', 'h9', 'h10', 'h12', 'h']", false},
    {"['in', '$host.id', 'z', '$vm.owner', 'a', 'h1']", true},
    {"['in', ['split', 'x, bank'], 'shop', 'bank', 'aid']", true},
    {"['in', ['split', 'x, ban'], 'shop', 'bank', 'aid']", false},
    {"['in', '$host.attributes.tier', '1', '3', 3]", true},
    {"['in', '$host.attributes.tier', '1', '3']", false},
    {"['in', 'b', 'a', 'b', 'c']", true},
    {"['in', '$$b', 'a', '$$b']", true},
    {"['has_all', '$host.traits', 'SSE', 'AVX', 'AVX']", true},
    {"['has_all', '$host.traits', 'SSE', 'NEON', 'AVX']", false},
    {"['has_all', '$host.attributes.absent', 'SSE', 'AVX']", false},
    {"['has_all', '$host.traits', 'AVX', 'SSE']", true},
    {"['has_all', '$host.traits', '$vm.hints.same']", false},
    {"['has_all', '$host.traits', ['split', 'SSE ,AVX']]", true},
    {"['has_all', '$host.traits', ['split', 'SSE,,AVX']]", false},
    {"['has_all', '$host.traits', '$vm.hints.absent']", false},
    {"['contains', '$vm.folder', 'prod']", true},
    {"['contains', '$vm.folder', 'prood']", false},
    {"['contains', '$vm.folder', '']", true},
    {"['starts_with', '$vm.folder', '/prod']", true},
    {"['starts_with', '/p', '/prod']", false},
    {"['ends_with', '$vm.folder', '/db']", true},
    {"['ends_with', 'b', 'db']", false},
    {"['version', '$host.attributes.version', '>=6.2.9, <7']", true},
    {"['version', '$host.attributes.version', '>6.2.10']", false},
    {"['version', '6', '==6.0.0']", true},
    {"['version', '06.010', '=6.10']", true},
    {"['version', '6.2-rc1', '>=6']", false},
    {"['version', '99999999999999999999999', '>99999999999999999999998']", true},
    {"['version', '$host.attributes.tier', '>=1']", false},
    {"['=', ['+', 1, 2, 3], 6]", true},
    {"['=', ['-', 1, 2], -1]", true},
    {"['=', ['*', '$host.cores', 2], 8]", true},
    {"['=', ['/', '$host.mem_mb', 1024], 4]", true},
    {"['=', ['min', 3, 1, 2], 1]", true},
    {"['=', ['max', 3, 1, 2], 3]", true},
    {"['=', ['+', 1, '$host.attributes.absent'], 1]", false},
    {"['=', ['number', '$host.attributes.n'], 12]", true},
    {"['given', ['number', '$host.attributes.version']]", false},
    {"['=', ['count', '$host.traits'], 2]", true},
    {"['=', ['count', ['split', 'a,b,c']], 3]", true},
    {"['given', ['count', '$vm.hints.absent']]", false},
    {"['any_group', 'zone', ['=', '$group.meta.zone', '$vm.hints.zone']]", true},
    {"['any_group', 'rack', true]", false},
    {"['all_groups', 'rack', false]", true},
    {"['all_groups', 'aggregate', ['given', '$group.meta.limit']]", true},
    {"['all_groups', 'aggregate', ['given', '$group.meta.owners']]", false},
    {"['any_group', 'aggregate', ['in', '$vm.owner', ['split', '$group.meta.owners']]]", true},
    {"['any_group', 'aggregate', ['=', '$group.name', 'fast']]", true},
    {"['=', ['groups', 'aggregate'], 2]", true},
    {"['=', ['least_of_groups', 'aggregate', ['number', '$group.meta.limit']], 5]", true},
    {"['=', ['most_of_groups', 'aggregate', ['number', '$group.meta.limit']], 8]", true},
    {"['given', ['least_of_groups', 'rack', 1]]", false},
    {"['=', '$host.labels.rack', 'r7']", true},
    {"['in', 'b', '$host.networks']", true},
    {"['given', '$host.datastores']", false},
    {"['=', '$$host', '$$host']", true},
    {"['=', '$vm.kind', 'normal']", true},
};

/* ' stands for ". */
static const char *quoted(struct arena *a, const char *format, const char *filter)
{
    char *text = arena_printf(a, format, filter);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return text;
}

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(values); i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};
        struct fit fit;

        if (make(quoted(&a, WITH("\"filter\":%s"), values[i].filter), &a, &s, &err) < 0)
            fail_msg("%s: %s", values[i].filter, err.text);
        fit_compile(&s, &a, &fit);
        for (int use = FIT_PLACE; use <= FIT_MOVE; use++)
            if (fit_refuses(&fit, (enum fit_use)use, 0, 0) == values[i].is)
                fail_msg("%s is %d", values[i].filter, !values[i].is);
        assert_false(fit_refuses(&fit, FIT_CORRECT, 0, 0)); /* by default it corrects nothing */
        const struct refusal *r = fit_refusal(&fit, FIT_MOVE, 0, 0, NULL, &a);
        if ((r == NULL) != values[i].is)
            fail_msg("%s: the refusal is wrong", values[i].filter);
        arena_release(&a);
    }
}

#define FILTER "/pipelines/0/stages/0/filter"

static const struct {
    const char *filter, *wrong;
} refused[] = {
    {"null", "/pipelines/0/stages/0: expected one of filter, count, score"},
    {"{}", FILTER ": an object, expected a number"},
    {"5", FILTER ": 5, expected a condition"},
    {"'text'", FILTER ": \"text\", expected a condition"},
    {"'$host.traits'", FILTER ": \"$host.traits\", expected a condition"},
    {"['+', 1, 2]", FILTER ": an array, expected a condition"},
    {"[]", FILTER ": an array, expected an operator and its operands"},
    {"['nor', true]", FILTER "/0: \"nor\", expected an operator"},
    {"[5]", FILTER "/0: 5, expected an operator"},
    {"['not']", FILTER ": \"not\" with 0 operands, expected 1"},
    {"['not', true, true]", FILTER ": \"not\" with 2 operands, expected 1"},
    {"['and']", FILTER ": \"and\" with 0 operands, expected 1 or more"},
    {"['and', 5]", FILTER "/1: 5, expected a condition"},
    {"['and', true, ['+', 1, 2]]", FILTER "/2: an array, expected a condition"},
    {"['<', 'a', 5]", FILTER "/1: \"a\", expected a number"},
    {"['<', '$host.traits', 5]", FILTER "/1: \"$host.traits\", expected a number"},
    {"['s<', 5, 'a']", FILTER "/1: 5, expected a text"},
    {"['=', 5, 'a']", FILTER ": an array, expected two values of one type"},
    {"['=', '$host.cores', '$vm.name']", FILTER ": an array, expected two values of one type"},
    {"['=', '$host.traits', 'AVX']", FILTER "/1: \"$host.traits\", expected a number, a text"},
    {"['version', '6', '>=x']", FILTER "/2: \">=x\", expected conditions on a version"},
    {"['version', '6', '']", FILTER "/2: \"\", expected conditions on a version"},
    {"['version', '6', '=>6']", FILTER "/2: \"=>6\", expected conditions on a version"},
    {"['given', '$host']", FILTER "/1: \"$host\", expected a variable"},
    {"['given', '$host.attributes.']", FILTER "/1: \"$host.attributes.\", expected a name"},
    {"['given', '$host.cores.x']", FILTER "/1: \"$host.cores.x\", expected a variable"},
    {"['given', '$group.id']", FILTER "/1: \"$group.id\", expected it in the second operand"},
    {"['any_group', 5, true]", FILTER "/1: 5, expected the kind of groups"},
    {"['any_group', '$vm.name', true]", FILTER "/1: \"$vm.name\", expected the kind of groups"},
    {"['any_group', 'zone', 5]", FILTER "/2: 5, expected a condition"},
    {"['any_group', 'a', ['any_group', 'b', true]]",
     FILTER "/2/0: \"any_group\", expected no operator of groups"},
    {"['any_group', '$group.name', true]", FILTER "/1: \"$group.name\", expected it in the second operand"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(refused); i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};

        if (make(quoted(&a, WITH("\"filter\":%s"), refused[i].filter), &a, &s, &err) == 0)
            fail_msg("%s is accepted", refused[i].filter);
        if (strncmp(err.text, refused[i].wrong, strlen(refused[i].wrong)) != 0)
            fail_msg("%s: %s", refused[i].filter, err.text);
        arena_release(&a);
    }
}

static int make_nested(unsigned depth, unsigned width, struct err *err)
{
    struct arena a = {0};
    struct snapshot s;
    struct strbuf text;

    strbuf_init(&text, STRBUF_NO_LIMIT);
    for (unsigned i = 1; i < depth; i++)
        strbuf_puts(&text, "['not',");
    strbuf_puts(&text, "['and'");
    for (unsigned i = 0; i < width; i++)
        strbuf_puts(&text, ",true");
    for (unsigned i = 0; i < depth; i++)
        strbuf_puts(&text, "]");
    int r = make(quoted(&a, WITH("\"filter\":%s"), text.text), &a, &s, err);

    strbuf_release(&text);
    arena_release(&a);
    return r;
}

static void test_bounds(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(make_nested(EXPRESSION_DEPTH_MAX, 1, &err), 0);
    assert_true(make_nested(EXPRESSION_DEPTH_MAX + 1, 1, &err) < 0);
    assert_non_null(strstr(err.text, "too deep, expected at most 20"));
    assert_int_equal(make_nested(1, EXPRESSION_NODES_MAX - 1, &err), 0);
    assert_true(make_nested(1, EXPRESSION_NODES_MAX, &err) < 0);
    assert_non_null(strstr(err.text, "one entry too many"));
}

static const struct {
    const char *more, *wrong; /* after the hosts and VMs */
} objects[] = {
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[]},{\"name\":\"p\",\"stages\":[]}]",
     "/pipelines: \"p\" is the name of two"},
    {"\"pipelines\":[{\"name\":\"\",\"stages\":[]}]", "/pipelines/0/name: missing, empty"},
    {"\"pipelines\":[{\"name\":\"q\",\"stages\":[]}]", "/vms/0/pipeline: no pipeline has the name \"p\""},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":{}}]", "/pipelines/0/stages: an object, expected an array"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\"}]}]",
     "/pipelines/0/stages/0: expected one of filter, count, score"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"filter\":true},{\"name\":\"s\",\"filter\":"
     "true}]}]",
     "/pipelines/0/stages/1/name: the name of another stage"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"filter\":true,\"applies\":[\"correct\"]}]}"
     "]",
     "/pipelines/0/stages/0/applies: correct without move"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"filter\":true,\"applies\":[\"never\"]}]}]",
     "/pipelines/0/stages/0/applies/0: \"never\", expected place, move or correct"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"count\":1,\"bucket\":1}]}]",
     "/pipelines/0/stages/0: expected one of filter, count, score"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"filter\":true,\"needs\":\"numa\"}]}]",
     "/pipelines/0/stages/0: expected one of filter, count, score"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"needs\":\"cells\"}]}]",
     "/pipelines/0/stages/0/needs: \"cells\", expected numa or devices"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"needs\":\"numa\",\"applies\":[\"move\","
     "\"correct\"]}]}]",
     "/pipelines/0/stages/0/applies: correct without filter or count"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"filter\":true,\"limit\":1}]}]",
     "/pipelines/0/stages/0: limit, per, over or off without count"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"filter\":true,\"least\":1}]}]",
     "/pipelines/0/stages/0: normalise, multiplier, least or most"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"filter\":[\"=\",1,[\"most_of_hosts\",2]]}]"
     "}]",
     "/pipelines/0/stages/0: most_of_hosts or between_hosts, expected them in score only"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"score\":1,\"normalise\":\"rank\",\"most\":"
     "1}]}]",
     "/pipelines/0/stages/0: least and most are of minmax"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"score\":1,\"least\":2,\"most\":1}]}]",
     "/pipelines/0/stages/0: least and most, expected numbers"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"cut\":{\"from\":1,\"to\":2,\"steps\":1}}]}"
     "]",
     "/pipelines/0/stages/0/cut: expected from"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"cut\":{\"from\":2,\"to\":1,\"steps\":0}}]}"
     "]",
     "/pipelines/0/stages/0/cut: expected from"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"cut\":{\"from\":2,\"to\":1,\"steps\":2},"
     "\"applies\":[\"move\"]}]}]",
     "/pipelines/0/stages/0/applies: a cut or a pick"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"score\":1,\"applies\":[\"move\","
     "\"correct\"]}]}]",
     "/pipelines/0/stages/0/applies: correct without filter or count"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"count\":\"$host.cores\"}]}]",
     "/pipelines/0/stages/0/count: reads a host or its groups"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"count\":[\"groups\",\"zone\"]}]}]",
     "/pipelines/0/stages/0/count: reads a host or its groups"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"count\":1,\"per\":\"$host.traits\"}]}]",
     "/pipelines/0/stages/0/per: reads a host or its groups"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"count\":1,\"per\":3}]}]",
     "/pipelines/0/stages/0/per: 3, expected a text or texts"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"count\":1,\"over\":\"\"}]}]",
     "/pipelines/0/stages/0/over: empty or too long"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"count\":true}]}]",
     "/pipelines/0/stages/0/count: true, expected a number"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"filter\":[\"<\",\"$host.used.c\",1]}]}]",
     "/pipelines/0/stages/0/filter: reads a count that no stage before it has"},
    {"\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"score\":\"$host.used.c\"}]}]",
     "/pipelines/0/stages/0/score: reads a count that no stage before"},
    {"\"groups\":[{\"id\":\"g\",\"kind\":\"\",\"hosts\":[]}]", "/groups/0/kind: missing, empty"},
    {"\"groups\":[{\"id\":\"g\",\"kind\":\"k\",\"hosts\":[\"x\"]}]",
     "/groups/0/hosts/0: no object of /hosts"},
    {"\"groups\":[{\"id\":\"g\",\"kind\":\"k\",\"hosts\":[]},{\"id\":\"g\",\"kind\":\"k\",\"hosts\":[]}]",
     "/groups/1/id: \"g\" is the id of /groups/0"},
};

static void test_objects(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(objects); i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};
        const char *text =
            arena_printf(&a, "%s%s}", HEAD HOST("h1", "") "],\"vms\":[" VM("a", "") "],", objects[i].more);

        if (make(text, &a, &s, &err) == 0)
            fail_msg("%s is accepted", objects[i].more);
        if (strncmp(err.text, objects[i].wrong, strlen(objects[i].wrong)) != 0)
            fail_msg("%s: %s", objects[i].more, err.text);
        arena_release(&a);
    }
}

static const struct {
    const char *is, *wrong; /* the quantities of a host */
} quantities[] = {
    {"{\"disk\":1}", "/hosts/0/quantities/disk: 1, expected an object"},
    {"{\"disk\":{}}", "/hosts/0/quantities/disk/total: missing"},
    {"{\"disk\":{\"total\":-1}}", "/hosts/0/quantities/disk/total: -1, expected a number from 0"},
    {"{\"\":{\"total\":1}}", "/hosts/0/quantities: entry 0 has no name"},
    {"[]", "/hosts/0/quantities: an array, expected {NAME"},
};

static void test_quantities(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(quantities); i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};
        const char *text = arena_printf(&a, "%s,\"quantities\":%s}],\"vms\":[]}",
                                        HEAD "{\"id\":\"h1\",\"state\":\"on\",\"cpu_mhz\":1000,\"cores\":4,"
                                             "\"mem_mb\":4096",
                                        quantities[i].is);

        if (make(text, &a, &s, &err) == 0)
            fail_msg("%s is accepted", quantities[i].is);
        if (strncmp(err.text, quantities[i].wrong, strlen(quantities[i].wrong)) != 0)
            fail_msg("%s: %s", quantities[i].is, err.text);
        arena_release(&a);
    }
}

#define TIER "{\"name\":\"tier\",\"filter\":[\">=\",\"$host.attributes.tier\",\"$vm.flavor.tier\"]}"
#define PLACED "{\"name\":\"avx\",\"filter\":[\"in\",\"AVX\",\"$host.traits\"],\"applies\":[\"place\"]}"

/* VMs that ask for the same share their bitmaps; a stage binds only the uses that it applies to; the stages'
 * counts.
 */
static void test_classes(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct err err = {0};
    struct fit fit;
    const struct stage_left *left;
    const uint64_t all = 7;

    (void)state;
    if (make(
            HEAD
                HOST("h1", ",\"attributes\":{\"tier\":1}") "," HOST("h2", ",\"attributes\":{\"tier\":2}") "," HOST(
                    "h3",
                    ",\"traits\":[\"AVX\"],\"attributes\":{\"tier\":"
                    "1}") "],\"vms\":[" VM("a",
                                           ",\"flavor\":{\"tier\":"
                                           "2}") "," VM("b",
                                                        ",\"flavor\""
                                                        ":{\"tier\":"
                                                        "2,"
                                                        "\"other\":"
                                                        "1}") "," VM("c",
                                                                     ",\"flavor"
                                                                     "\":{"
                                                                     "\"tier\":"
                                                                     "1}") "," VM("d", "") "],\"pipelines\":["
                                                                                           "{\"name\":\"p\","
                                                                                           "\"stages\":[" TIER
                                                                                           "," PLACED "]}]}",
            &a, &s, &err) < 0)
        fail_msg("%s", err.text);
    fit_compile(&s, &a, &fit);
    assert_int_equal(fit.n_classes, 3);
    assert_ptr_equal(fit_hosts(&fit, FIT_MOVE, 0), fit_hosts(&fit, FIT_MOVE, 1));
    assert_int_equal(fit_hosts(&fit, FIT_MOVE, 0)[0], 2);
    assert_int_equal(fit_hosts(&fit, FIT_PLACE, 0)[0], 0);
    assert_null(fit_hosts(&fit, FIT_MOVE, 2)); /* all hosts */
    assert_int_equal(fit_hosts(&fit, FIT_PLACE, 2)[0], 4);
    assert_int_equal(fit_hosts(&fit, FIT_MOVE, 3)[0], 0); /* it asks for nothing that could be compared */
    assert_null(fit_hosts(&fit, FIT_CORRECT, 0));
    assert_int_equal(fit_hosts_left(&fit, FIT_PLACE, 0, &all, NULL, &a, &left), 2);
    assert_true(left[0].hosts == 1 && left[1].hosts == 0);
    assert_int_equal(fit_hosts_left(&fit, FIT_MOVE, 0, &all, NULL, &a, &left), 1);
    const struct refusal *r = fit_refusal(&fit, FIT_MOVE, 0, 0, NULL, &a);
    assert_true(r && r->stage == 0 && r->n_values == 2 && r->values[0].is.number == 1 &&
                r->values[1].is.number == 2);
    arena_release(&a);
}

/* Written and read again, the pipelines are the same. */
static void test_round_trip(void **state)
{
    struct arena a = {0};
    struct snapshot s;
    struct err err = {0};
    struct strbuf text[2];

    (void)state;
    for (size_t i = 0; i < ELEMENTS(values); i++) {
        strbuf_init(&text[0], STRBUF_NO_LIMIT);
        strbuf_init(&text[1], STRBUF_NO_LIMIT);
        if (make(quoted(&a, WITH("\"filter\":%s,\"applies\":[\"move\",\"correct\"]"), values[i].filter), &a,
                 &s, &err) < 0)
            fail_msg("%s", err.text);
        snapshot_dump(&s, &text[0]);
        assert_non_null(strstr(text[0].text, "\"applies\": [\"move\", \"correct\"]"));
        assert_non_null(strstr(text[0].text, "\"flavor\": {\"tier\": 2}"));
        assert_non_null(strstr(text[0].text, "\"owners\": \"bank, shop\""));
        if (make(text[0].text, &a, &s, &err) < 0)
            fail_msg("%s: %s", values[i].filter, err.text);
        snapshot_dump(&s, &text[1]);
        assert_string_equal(text[0].text, text[1].text);
        strbuf_release(&text[0]);
        strbuf_release(&text[1]);
    }
    arena_release(&a);
}

/* Each other kind of stage, quantities and groups of VMs: written as read. */
static void test_all_round_trip(void **state)
{
    static const char text[] = HEAD HOST(
        "h1",
        ",\"quantities\":{\"disk\":{\"total\":100,\"reserved\":2,"
        "\"ratio\":1.5}}") "],\"vms\":[" VM("a", ",\"groups\":[\"web\"]") "],\"pipelines\":[{\"name\":\"p\","
                                                                          "\"stages\":["
                                                                          "{\"name\":\"c\",\"count\":1,"
                                                                          "\"limit\":\"$host."
                                                                          "quantities.disk\",\"per\":\"$vm."
                                                                          "groups\",\"over\":"
                                                                          "\"zone\"},"
                                                                          "{\"name\":\"s\",\"score\":\"$host."
                                                                          "left.c\","
                                                                          "\"normalise\":\"minmax\","
                                                                          "\"multiplier\":2,\"least\":0},"
                                                                          "{\"name\":\"t\",\"cut\":{\"from\":"
                                                                          "2,\"to\":1,\"steps\":"
                                                                          "3}},{\"name\":\"b\",\"bucket\":\"$"
                                                                          "host.cores\"},"
                                                                          "{\"name\":\"p\",\"pick\":{"
                                                                          "\"subset\":2,\"shuffle\":true,"
                                                                          "\"seed\":7}}]}]}";
    static const char *const written[] = {
        "\"quantities\": {\"disk\": {\"total\": 100, \"reserved\": 2, \"ratio\": 1.5, \"used_elsewhere\": "
        "0}}",
        "\"groups\": [\"web\"]",
        "\"count\": 1, \"limit\": \"$host.quantities.disk\", \"per\": \"$vm.groups\", \"over\": \"zone\"",
        "\"score\": \"$host.left.c\", \"normalise\": \"minmax\", \"multiplier\": 2, \"least\": 0",
        "\"cut\": {\"from\": 2, \"to\": 1, \"steps\": 3}",
        "\"bucket\": \"$host.cores\"",
        "\"pick\": {\"subset\": 2, \"shuffle\": true, \"seed\": 7}"};
    struct arena a = {0};
    struct snapshot s;
    struct err err = {0};
    struct strbuf once;
    struct strbuf twice;

    (void)state;
    strbuf_init(&once, STRBUF_NO_LIMIT);
    strbuf_init(&twice, STRBUF_NO_LIMIT);
    if (make(text, &a, &s, &err) < 0)
        fail_msg("%s", err.text);
    snapshot_dump(&s, &once);
    for (size_t i = 0; i < ELEMENTS(written); i++)
        if (!strstr(once.text, written[i]))
            fail_msg("%s is not in %s", written[i], once.text);
    assert_int_equal(make(once.text, &a, &s, &err), 0);
    snapshot_dump(&s, &twice);
    assert_string_equal(once.text, twice.text);
    strbuf_release(&once);
    strbuf_release(&twice);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounds),     cmocka_unit_test(test_objects),
        cmocka_unit_test(test_quantities), cmocka_unit_test(test_classes),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_all_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
