/* Traces: each format, missing samples, and each error with its line. */
#include "unit.h"

#include "base/cleanup.h"
#include "sim/workload/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define BITBRAINS_HEAD "ts_s;cores;cpu_cap_mhz;cpu_used_mhz;mem_cap_kb;mem_used_kb\n"

/* Reads a text as if it stood in the file. */
static int read_as(const char *file, enum trace_format format, const char *text, struct arena *a,
                   struct trace_set *ret, struct err *err)
{
    struct trace_texts texts = {.a = a};

    trace_texts_add(&texts, file, text, strlen(text));
    return trace_set_read(file, format, UNKNOWN, &texts, a, ret, err);
}

static struct trace_set parse(struct arena *a, enum trace_format format, const char *text)
{
    struct trace_set set = {0};
    struct err err = {0};

    if (read_as("dir/web.csv", format, text, a, &set, &err) < 0)
        fail_msg("%s", err.text);
    return set;
}

static void assert_trace(const struct trace *t, uint32_t n, const double *times, const double *values)
{
    assert_int_equal(t->n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_true(t->time_s[i] == times[i] && t->value[i] == values[i]);
}

static void test_planetlab(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_set s = parse(&a, TRACE_PLANETLAB, "12\n0\n100\n");

    (void)state;
    assert_int_equal(s.n, 1);
    assert_string_equal(s.vms[0].name, "web");
    assert_trace(&s.vms[0].of[RES_CPU], 3, (double[]){0, 300, 600}, (double[]){12, 0, 100});
    assert_int_equal(s.vms[0].of[RES_MEM].n, 0);
    assert_true(s.vms[0].of[RES_CPU].length_s == 900);
}

/* Times from the first one; the later of two at a time counts; the most of cores and memory is its size. */
static void test_bitbrains(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_set s = parse(&a, TRACE_BITBRAINS,
                               BITBRAINS_HEAD "1000;2;5852.0;747.11;8388608;1048576\n"
                                              "1300;2;5852.0;100;8388608;0\n"
                                              "1300;2;5852.0;200;8388608;2048\n"
                                              "2200;4;11704;;16777216;2048\r\n");

    (void)state;
    assert_int_equal(s.n, 1);
    assert_trace(&s.vms[0].of[RES_CPU], 2, (double[]){0, 300}, (double[]){747.11, 200});
    assert_trace(&s.vms[0].of[RES_MEM], 3, (double[]){0, 300, 1200}, (double[]){1024, 2, 2});
    assert_int_equal(s.vms[0].vcpus, 4);
    assert_true(s.vms[0].cpu_mhz == 11704 && s.vms[0].mem_mb == 16384);
    assert_int_equal(parse(&a, TRACE_BITBRAINS, BITBRAINS_HEAD).n, 0);
    assert_int_equal(parse(&a, TRACE_BITBRAINS, BITBRAINS_HEAD "1000;0;0;0;0;0\n").n, 0);
    assert_int_equal(parse(&a, TRACE_BITBRAINS, "").n, 0);
}

static void test_csv(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_set s = parse(&a, TRACE_CSV, "time_s,value\n60, 5\n120,\n180,7.5\n\n");

    (void)state;
    assert_trace(&s.vms[0].of[RES_CPU], 2, (double[]){60, 180}, (double[]){5, 7.5});
    assert_trace(&s.vms[0].of[RES_MEM], 2, (double[]){60, 180}, (double[]){5, 7.5});
    assert_true(s.vms[0].of[RES_CPU].length_s == 300);
}

/* As spreadsheets write it: a byte order mark, which is not a part of the first line, and CR LF. */
static void test_mark(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_set s = parse(&a, TRACE_CSV,
                               "\xef\xbb\xbf"
                               "0,5\r\n60,6\r\n");

    (void)state;
    assert_trace(&s.vms[0].of[RES_CPU], 2, (double[]){0, 60}, (double[]){5, 6});
    s = parse(&a, TRACE_RECORDED,
              "\xef\xbb\xbf"
              "time,vm,cpu_mhz,mem_mb\r\n1000,web,5,\r\n1060,web,6,7");
    assert_trace(&s.vms[0].of[RES_CPU], 2, (double[]){0, 60}, (double[]){5, 6});
    s = parse(&a, TRACE_PLANETLAB,
              "\xef\xbb\xbf"
              "7\r\n");
    assert_trace(&s.vms[0].of[RES_CPU], 1, (double[]){0}, (double[]){7});
}

/* Many VMs in one file, in any order; dates or seconds; names with commas; what is not known is left out. */
static void test_recorded(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct trace_set s = parse(&a, TRACE_RECORDED,
                               "time,vm,cpu_mhz,mem_mb\n"
                               "2026-01-05T00:05:00Z,web,200,1024\n"
                               "2026-01-05T00:05:00Z,db, the big one,4000,\n"
                               "2026-01-05T00:00:00Z,web,100,1000\n"
                               "1767571800,web,300,1048\n");

    (void)state;
    assert_int_equal(s.n, 2);
    assert_string_equal(s.vms[0].name, "db, the big one");
    assert_trace(&s.vms[0].of[RES_CPU], 1, (double[]){300}, (double[]){4000});
    assert_int_equal(s.vms[0].of[RES_MEM].n, 0);
    assert_trace(&s.vms[1].of[RES_CPU], 3, (double[]){0, 300, 600}, (double[]){100, 200, 300});
    assert_true(s.vms[0].of[RES_CPU].length_s == 900 && s.vms[1].of[RES_CPU].length_s == 900);
}

static const struct {
    enum trace_format format;
    const char *text, *sentence;
} wrong[] = {
    {TRACE_PLANETLAB, "1\nten\n", "w:2: the line is \"ten\", expected a percentage from 0 to 100"},
    {TRACE_PLANETLAB, "1\n101\n", "w:2: the line is \"101\""},
    {TRACE_PLANETLAB, "-1\n", "w:1: the line is \"-1\""},
    {TRACE_PLANETLAB, "nan\n", "w:1: the line is \"nan\""},
    {TRACE_BITBRAINS, BITBRAINS_HEAD "1;2;3\n", "w:2: the line has not 6 fields, expected ts_s;cores"},
    {TRACE_BITBRAINS, BITBRAINS_HEAD "1;2;3;4;5;6;7\n", "w:2: the line has not 6 fields"},
    {TRACE_BITBRAINS, BITBRAINS_HEAD "x;2;3;4;5;6\n", "w:2: the time is \"x\", expected seconds"},
    {TRACE_BITBRAINS, BITBRAINS_HEAD "1;-2;3;4;5;6\n", "w:2: the number of cores is \"-2\""},
    {TRACE_BITBRAINS, BITBRAINS_HEAD "1;2;3;1e99;5;6\n",
     "w:2: the CPU used is \"1e99\", expected a number from 0 to 1e9"},
    {TRACE_BITBRAINS, BITBRAINS_HEAD "300;2;3;4;5;6\n0;2;3;4;5;6\n",
     "w:3: the time 0 is before that of the line above"},
    {TRACE_CSV, "time_s,value\n1\n", "w:2: the line has not 2 fields, expected time_s,value"},
    {TRACE_CSV, "time_s,value\ntime_s,value\n", "w:2: the time is \"time_s\", expected seconds"},
    {TRACE_CSV, "1,inf\n", "w:1: the value is \"inf\""},
    {TRACE_RECORDED, "1,web,5\n", "w:1: the line has not 4 fields, expected time,vm,cpu_mhz,mem_mb"},
    {TRACE_RECORDED, "1,web,5,6\nlater,web,5,6\n",
     "w:2: the time is \"later\", expected a date, or seconds since 1970"},
    {TRACE_CSV, "1o,5\n60,6\n", "w:1: the time is \"1o\", expected seconds"},
    {TRACE_CSV, "time_s;value\n1;2\n", "w:1: the line has not 2 fields"},
    {TRACE_RECORDED, "2026-13-05T00:00:00Z,web,5,6\n",
     "w:1: the time is \"2026-13-05T00:00:00Z\", expected a date, or seconds since 1970"},
    {TRACE_RECORDED, "1,,5,6\n", "w:1: the VM is \"\", expected its id"},
    {TRACE_RECORDED, "1,web,-5,6\n", "w:1: cpu_mhz is \"-5\""},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct trace_set set;
        struct err err = {0};
        int r = read_as("w", wrong[i].format, wrong[i].text, &a, &set, &err);
        if (r != -EINVAL || strncmp(err.text, wrong[i].sentence, strlen(wrong[i].sentence)) != 0)
            fail_msg("\"%s\": %d, \"%s\"", wrong[i].text, r, err.text);
    }
}

struct folder {
    char path[64];
};

static void put(const struct folder *f, const char *name, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", f->path, name);
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void take(const struct folder *f, const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", f->path, name);
    (void)remove(path);
}

static struct folder new_folder(void)
{
    struct folder f = {"/tmp/ballast-traces-XXXXXX"};

    assert_non_null(mkdtemp(f.path));
    return f;
}

/* By name; what is hidden or no file is passed over, an empty file is no VM. */
static void test_folder(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct folder f = new_folder();
    struct trace_set s = {0};
    struct err err = {0};
    char sub[128];

    (void)state;
    (void)snprintf(sub, sizeof sub, "%s/sub", f.path);
    assert_int_equal(mkdir(sub, 0700), 0);
    put(&f, "10.csv", "0,1\n60,2\n");
    put(&f, "2", "0,3\n");
    put(&f, "empty", "");
    put(&f, ".hidden", "no trace");
    assert_int_equal(trace_set_read(f.path, TRACE_CSV, UNKNOWN, NULL, &a, &s, &err), 0);
    assert_int_equal(s.n, 2);
    assert_string_equal(s.vms[0].name, "10");
    assert_string_equal(s.vms[1].name, "2");
    put(&f, "10", "0,1\n");
    assert_int_equal(trace_set_read(f.path, TRACE_CSV, UNKNOWN, NULL, &a, &s, &err), -EINVAL);
    assert_non_null(strstr(err.text, "two files are of a VM called \"10\""));
    for (size_t i = 0; i < 5; i++)
        take(&f, (const char *const[]){"10.csv", "10", "2", "empty", ".hidden"}[i]);
    (void)remove(sub);
    assert_int_equal(trace_set_read(f.path, TRACE_CSV, UNKNOWN, NULL, &a, &s, &err), 0);
    assert_int_equal(s.n, 0);
    assert_int_equal(remove(f.path), 0);
    assert_int_equal(trace_set_read(f.path, TRACE_CSV, UNKNOWN, NULL, &a, &s, &err), -ENOENT);
}

/* Parts that overlap, as an hourly export gives them. */
static void test_parts(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct folder f = new_folder();
    struct trace_set s = {0};
    struct err err = {0};

    (void)state;
    put(&f, "a.csv", "0,web,1,1\n300,web,2,2\n");
    put(&f, "b.csv", "300,web,2,2\n600,web,3,3\n");
    assert_int_equal(trace_set_read(f.path, TRACE_RECORDED, UNKNOWN, NULL, &a, &s, &err), 0);
    assert_int_equal(s.n, 1);
    assert_trace(&s.vms[0].of[RES_CPU], 3, (double[]){0, 300, 600}, (double[]){1, 2, 3});
    take(&f, "a.csv");
    take(&f, "b.csv");
    assert_int_equal(remove(f.path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planetlab), cmocka_unit_test(test_bitbrains), cmocka_unit_test(test_csv),
        cmocka_unit_test(test_mark),      cmocka_unit_test(test_recorded),  cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_folder),    cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
