/* Measurements of others: answers of Prometheus to range queries, and tables with named columns. */
#include "unit.h"

#include "base/cleanup.h"
#include "sim/workload/trace.h"

#include <errno.h>
#include <string.h>

#define MATRIX(series) "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" series "]}}"
#define SERIES(labels, values) "{\"metric\":{" labels "},\"values\":[" values "]}"
#define WEB "\"domain\":\"web\""

static struct trace_columns prometheus(enum trace_unit unit)
{
    return (struct trace_columns){
        .vm = "domain",
        .header = true,
        .time_unit_s = 1,
        .from_s = UNKNOWN,
        .of = {[TRACE_CPU] = {.given = true, .path = "cpu.json", .unit = unit}},
    };
}

static struct trace_columns table(enum trace_unit cpu, enum trace_unit mem)
{
    return (struct trace_columns){
        .vm = "vm",
        .time = "time",
        .time_unit_s = 1,
        .delimiter = ',',
        .header = true,
        .from_s = UNKNOWN,
        .of = {[TRACE_CPU] = {true, "t.csv", "cpu", cpu}, [TRACE_MEM] = {true, "t.csv", "mem", mem}},
    };
}

static int read_set(const struct trace_columns *c, enum trace_format format, const char *first,
                    const char *second, struct arena *a, struct trace_set *ret, struct err *err)
{
    struct trace_texts texts = {.a = a};

    trace_texts_add(&texts, c->of[TRACE_CPU].path, first, strlen(first));
    if (second)
        trace_texts_add(&texts, c->of[TRACE_MEM].path, second, strlen(second));
    return trace_set_read_columns(c, format, &texts, a, ret, err);
}

static struct trace_set good(const struct trace_columns *c, enum trace_format format, const char *first,
                             const char *second, struct arena *a)
{
    struct trace_set set = {0};
    struct err err = {0};

    if (read_set(c, format, first, second, a, &set, &err) < 0)
        fail_msg("%s", err.text);
    return set;
}

static void assert_trace(const struct trace *t, uint32_t n, const double *times, const double *values)
{
    assert_int_equal(t->n, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_within(t->time_s[i], times[i], 1e-9);
        assert_within(t->value[i], values[i], 1e-9);
    }
}

/* ---- Prometheus ---- */

/* Several figures from several answers: one set, with one beginning. What is no number is left out. */
static void test_prometheus_figures(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_columns c = prometheus(TRACE_CORES);

    (void)state;
    c.of[TRACE_MEM] = (struct trace_column){true, "mem.json", NULL, TRACE_BYTES};
    struct trace_set s = good(&c, TRACE_PROMETHEUS,
                              MATRIX(SERIES(WEB, "[1060,\"1.5\"],[1120,\"NaN\"],[1180.5,\"2\"]") "," SERIES(
                                  "\"domain\":\"db\"", "[1060,\"+Inf\"],[1120,\"0\"]")),
                              MATRIX(SERIES(WEB, "[1000,\"1073741824\"]")), &a);

    assert_int_equal(s.n, 2);
    assert_true(s.from_s == 1000);
    assert_string_equal(s.vms[0].name, "db");
    assert_trace(&s.vms[0].of[RES_CPU], 1, (double[]){120}, (double[]){0});
    assert_int_equal(s.vms[0].of[RES_MEM].n, 0);
    assert_trace(&s.vms[1].of[RES_CPU], 2, (double[]){60, 180.5}, (double[]){1.5, 2});
    assert_trace(&s.vms[1].of[RES_MEM], 1, (double[]){0}, (double[]){1024});
    assert_string_equal(s.note, "2 figures are empty or no number");
}

/* A counter becomes cores; where it fell, it began anew. */
static void test_prometheus_counter(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct trace_columns c = prometheus(TRACE_SECONDS);
    struct trace_set s = good(
        &c, TRACE_PROMETHEUS,
        MATRIX(SERIES(WEB, "[0,\"100\"],[60,\"130\"],[120,\"190\"],[180,\"6\"],[240,\"36\"]")), NULL, &a);

    (void)state;
    assert_trace(&s.vms[0].of[RES_CPU], 3, (double[]){0, 60, 180}, (double[]){0.5, 1, 0.5});
}

/* Each host that a VM was on reports a series of its own, in turn; sizes have their own answers. */
static void test_prometheus_moved(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_columns c = prometheus(TRACE_MHZ);

    (void)state;
    c.of[TRACE_CPU].name = "cpu_mhz";
    c.of[TRACE_VCPUS] = (struct trace_column){true, "cpu.json", "vcpus", TRACE_UNIT_NONE};
    struct trace_set s = good(
        &c, TRACE_PROMETHEUS,
        MATRIX(SERIES("\"__name__\":\"cpu_mhz\",\"host\":\"b\"," WEB, "[120,\"30\"],[180,\"40\"]") "," SERIES(
            "\"__name__\":\"cpu_mhz\",\"host\":\"a\"," WEB,
            "[0,\"10\"],[60,\"20\"]") "," SERIES("\"__name__\":\"vcpus\"," WEB, "[0,\"2\"],[60,\"4\"]")),
        NULL, &a);

    assert_int_equal(s.n, 1);
    assert_int_equal(s.vms[0].vcpus, 4);
    assert_trace(&s.vms[0].of[RES_CPU], 4, (double[]){0, 60, 120, 180}, (double[]){10, 20, 30, 40});
    assert_null(s.note);
}

/* Samples before the beginning: the last one holds. Gaps are named. */
static void test_from_and_gaps(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_columns c = prometheus(TRACE_MHZ);

    (void)state;
    c.from_s = 1767571300;
    struct trace_set s = good(&c, TRACE_PROMETHEUS,
                              MATRIX(SERIES(WEB, "[1767571200,\"1\"],[1767571260,\"2\"],[1767571320,\"3\"],"
                                                 "[1767571380,\"4\"],[1767573180,\"5\"]")),
                              NULL, &a);

    assert_trace(&s.vms[0].of[RES_CPU], 4, (double[]){0, 20, 80, 1880}, (double[]){2, 3, 4, 5});
    assert_string_equal(s.note,
                        "1 of 1 VMs have gaps, in which the value before the gap holds; the longest: VM "
                        "\"web\", 1800 s from 2026-01-05T00:03:00Z on");
}

/* A part of the data is missing, or may be: said before all else. */
static void test_warnings(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct trace_columns c = prometheus(TRACE_MHZ);

    (void)state;
    struct trace_set s =
        good(&c, TRACE_PROMETHEUS,
             "\xef\xbb\xbf{\"status\":\"success\",\"warnings\":[\"store esx7 timed out\",\"and more\"],"
             "\"data\":{\"resultType\":\"matrix\",\"result\":[" SERIES(
                 WEB, "[60,\"1\"],[0,\"3\"],[120,\"NaN\"]") "]}}",
             NULL, &a);

    assert_trace(&s.vms[0].of[RES_CPU], 2, (double[]){0, 60}, (double[]){3, 1});
    assert_string_equal(s.note,
                        "cpu.json: Prometheus warns: store esx7 timed out; 1 figures are empty or no number");
}

static const struct {
    const char *text, *sentence;
} wrong_answers[] = {
    {"", "cpu.json: is empty, expected what /api/v1/query_range answers"},
    {"<html>", "cpu.json:1: is no JSON"},
    {"[]", "cpu.json: there is no status, expected what /api/v1/query_range answers"},
    {"{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"parse error: unexpected end\"}",
     "cpu.json: Prometheus answered with an error: parse error: unexpected end"},
    {"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[]}}",
     "cpu.json: /data/resultType is \"vector\", expected \"matrix\": ask /api/v1/query_range"},
    {"{\"status\":\"success\"}", "cpu.json: /data/resultType is missing"},
    {"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\"}}", "cpu.json: /data/result is no list"},
    {MATRIX(""), "cpu.json: the answer has no sample, expected some"},
    {MATRIX("7"), "cpu.json: /data/result/0/metric: expected the labels of a series"},
    {MATRIX(SERIES("\"instance\":\"esx1\",\"job\":\"x\"", "[1,\"2\"]")),
     "cpu.json: /data/result/0/metric: there is no label \"domain\" with the VM, expected one of instance, "
     "job"},
    {MATRIX(SERIES("", "[1,\"2\"]")),
     "cpu.json: /data/result/0/metric: there is no label \"domain\" with the VM, "
     "expected one of no label at all"},
    {MATRIX("{\"metric\":{" WEB "},\"histograms\":[]}"),
     "cpu.json: /data/result/0: has no values, expected numbers, not histograms"},
    {MATRIX(SERIES(WEB, "[1,\"2\"],[1]")),
     "cpu.json: /data/result/0/values/1: expected [seconds, \"value\"]"},
    {MATRIX(SERIES(WEB, "[1,2]")), "cpu.json: /data/result/0/values/0: expected [seconds, \"value\"]"},
    {MATRIX(SERIES(WEB, "[-1,\"2\"]")), "cpu.json: /data/result/0/values/0: expected [seconds, \"value\"]"},
    {MATRIX(SERIES(WEB, "[1,\"-2\"]")),
     "cpu.json: /data/result/0/values/0: cpu is \"-2\", expected a number from 0 to 1e9"},
    {MATRIX(SERIES(WEB, "[1,\"many\"]")), "cpu.json: /data/result/0/values/0: cpu is \"many\""},
    {MATRIX(SERIES("\"vcpu\":\"0\"," WEB, "[1,\"2\"]") "," SERIES("\"vcpu\":\"1\"," WEB, "[1,\"2\"]")),
     "cpu.json: /data/result: several series have a value of VM \"web\" at 1, expected one: sum by (domain) "
     "(...) in the query adds them"},
};

static void test_wrong_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong_answers); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        const struct trace_columns c = prometheus(TRACE_MHZ);
        struct trace_set set;
        struct err err = {0};
        int r = read_set(&c, TRACE_PROMETHEUS, wrong_answers[i].text, NULL, &a, &set, &err);

        if (r != -EINVAL ||
            strncmp(err.text, wrong_answers[i].sentence, strlen(wrong_answers[i].sentence)) != 0)
            fail_msg("%s: %d, \"%s\"", wrong_answers[i].text, r, err.text);
    }
}

static void test_metric_is_not_there(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_columns c = prometheus(TRACE_MHZ);
    struct trace_set set;
    struct err err = {0};

    (void)state;
    c.of[TRACE_CPU].name = "used";
    assert_int_equal(read_set(&c, TRACE_PROMETHEUS, MATRIX(SERIES(WEB, "[1,\"2\"]")), NULL, &a, &set, &err),
                     -EINVAL);
    assert_string_equal(err.text,
                        "cpu.json: no sample is of the metric \"used\", expected some (after rate() or "
                        "sum() a series has no metric)");
    c.of[TRACE_CPU].name = NULL;
    c.from_s = 1767571200;
    assert_int_equal(read_set(&c, TRACE_PROMETHEUS, MATRIX(SERIES(WEB, "[1,\"2\"]")), NULL, &a, &set, &err),
                     -EINVAL);
    assert_string_equal(err.text,
                        "cpu.json: all samples are before 2026-01-05T00:00:00Z, expected some from then "
                        "on (from)");
}

/* ---- tables ---- */

/* Any order of columns and lines; quotes; dates with any offset, or seconds; empty figures; the later of two
 * lines for one time; a mark that spreadsheets put first. */
static void test_table(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct trace_columns c = table(TRACE_MHZ, TRACE_GIB);
    struct trace_set s = good(&c, TRACE_TABLE,
                              "\xef\xbb\xbfmem,cpu,\"vm\",other, time\r\n"
                              "1,100,web,x,2026-01-05T01:05:00+01:00\r\n"
                              "\n"
                              "2, 200 ,\"db, \"\"the\nbig\"\" one\",,1767571200\n"
                              ",90,web,x,1767571200\n"
                              "null,300,web,x,1767571500\n",
                              NULL, &a);

    (void)state;
    assert_int_equal(s.n, 2);
    assert_string_equal(s.vms[0].name, "db, \"the\nbig\" one");
    assert_trace(&s.vms[0].of[RES_MEM], 1, (double[]){0}, (double[]){2048});
    assert_trace(&s.vms[1].of[RES_CPU], 2, (double[]){0, 300}, (double[]){90, 300});
    assert_trace(&s.vms[1].of[RES_MEM], 1, (double[]){300}, (double[]){1024});
    assert_string_equal(s.note,
                        "2 figures are empty or no number; 1 samples have another value for their time on "
                        "a later line, which counts");
}

/* Without headings columns have numbers; milliseconds; another delimiter; sizes. */
static void test_table_without_header(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_columns c = table(TRACE_PERCENT, TRACE_KIB);

    (void)state;
    c.header = false;
    c.delimiter = '\t';
    c.time_unit_s = 0.001;
    c.vm = "1";
    c.time = "2";
    c.of[TRACE_CPU].name = "3";
    c.of[TRACE_MEM].name = "4";
    c.of[TRACE_VCPUS] = (struct trace_column){true, "t.csv", "5", TRACE_UNIT_NONE};
    c.of[TRACE_MEM_SIZE] = (struct trace_column){true, "t.csv", "6", TRACE_MIB};
    struct trace_set s =
        good(&c, TRACE_TABLE, "web\t60000\t50\t1024\t2\t4096\nweb\t0\t10\t2048\t4\t4096", NULL, &a);

    assert_int_equal(s.n, 1);
    assert_trace(&s.vms[0].of[RES_CPU], 2, (double[]){0, 60}, (double[]){10, 50});
    assert_trace(&s.vms[0].of[RES_MEM], 2, (double[]){0, 60}, (double[]){2, 1});
    assert_int_equal(s.vms[0].vcpus, 4);
    assert_true(s.vms[0].mem_mb == 4096);
}

#define HEAD "time,vm,cpu,mem\n"

static const struct {
    const char *text, *sentence;
} wrong_tables[] = {
    {"", "t.csv:1: there is no line, expected the names of the columns"},
    {"time,VM,cpu,mem\n",
     "t.csv:1: there is no column \"vm\" (vm), expected one of \"time\", \"VM\", \"cpu\", \"mem\""},
    {"time,vm,cpu,cpu,mem\n", "t.csv:1: two columns are called \"cpu\", expected one"},
    {HEAD "1,web,5\n", "t.csv:2: the line has 3 fields, expected mem in field 4"},
    {HEAD "\n1,,5,6\n", "t.csv:3: the VM is \"\", expected its id or name"},
    {HEAD "later,web,5,6\n", "t.csv:2: the time is \"later\", expected seconds since 1970, or a date"},
    {HEAD "1767571200000,web,5,6\n", "t.csv:2: the time is \"1767571200000\", expected seconds since 1970"},
    {HEAD "1,web,-5,6\n", "t.csv:2: cpu is \"-5\", expected a number from 0 to 1e9, or nothing"},
    {HEAD "1,web,\"1,5\",6\n", "t.csv:2: cpu is \"1,5\""},
    {HEAD "1,web,5,1e16\n", "t.csv:2: mem is \"1e16\", expected a number from 0 to 1e9 MiB, or nothing"},
    {HEAD "1,\"web,5,6\n", "t.csv:2: a quote is not closed, expected \" at the end of the field"},
    {HEAD "1,\"a\nb\",5,6\n2,\"web\"x,5,6\n", "t.csv:4: text follows a quote, expected the delimiter"},
};

static void test_wrong_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong_tables); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        const struct trace_columns c = table(TRACE_MHZ, TRACE_BYTES);
        struct trace_set set;
        struct err err = {0};
        int r = read_set(&c, TRACE_TABLE, wrong_tables[i].text, NULL, &a, &set, &err);

        if (r != -EINVAL ||
            strncmp(err.text, wrong_tables[i].sentence, strlen(wrong_tables[i].sentence)) != 0)
            fail_msg("%s: %d, \"%s\"", wrong_tables[i].text, r, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prometheus_figures),
        cmocka_unit_test(test_prometheus_counter),
        cmocka_unit_test(test_prometheus_moved),
        cmocka_unit_test(test_from_and_gaps),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_wrong_answers),
        cmocka_unit_test(test_metric_is_not_there),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_table_without_header),
        cmocka_unit_test(test_wrong_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
