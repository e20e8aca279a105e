/* The report page of a simulation: its data can be read back and is as large as it should be, series are
 * downsampled without losing a peak, names cannot end the script element, and plain tables are well-formed.
 * The drawn page is tests/peers/test_report_page.py's. */
#include "unit.h"

#include "sim/report/downsample.h"
#include "sim/report/report.h"
#include "sim_report_world.h"

#include <errno.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DATA_MAX 1200000
#define BEFORE "<p>before</p><script type=\"application/json\" id=\"data\">"
#define AFTER "</script><p>after</p>"
#define TABLE_ROWS 25

struct page_of {
    struct arena a;
    struct strbuf out;
};

/* compared: with a second run, without power. built: within a page, or plain. */
static void make_page(struct page_of *p, const struct report_world *world, bool compared, bool built)
{
    struct report_world other = *world;
    struct simulation runs[2];

    *p = (struct page_of){0};
    strbuf_init(&p->out, STRBUF_NO_LIMIT);
    other.seed++;
    other.power = false;
    report_world_make(world, &p->a, &runs[0]);
    report_world_make(&other, &p->a, &runs[1]);
    const struct run_set a = {.label = "a<b", .runs = &runs[0], .n = 1};
    const struct run_set b = {.label = "b&c", .runs = &runs[1], .n = 1};
    assert_int_equal(report_html(&a, compared ? &b : NULL, built ? BEFORE AFTER : NULL, &p->out), 0);
}

static void release_page(struct page_of *p)
{
    strbuf_release(&p->out);
    arena_release(&p->a);
}

/* What the page embeds, read back. */
static json_t *read_data(const struct page_of *p)
{
    size_t before = strlen(BEFORE);
    size_t after = strlen(AFTER);
    json_error_t error;

    assert_true(p->out.len > before + after);
    assert_memory_equal(p->out.text, BEFORE, before);
    assert_string_equal(p->out.text + p->out.len - after, AFTER);
    json_t *data =
        json_loadb(p->out.text + before, p->out.len - before - after, JSON_REJECT_DUPLICATES, &error);
    if (!data)
        fail_msg("line %d: %s", error.line, error.text);
    assert_string_equal(json_string_value(json_object_get(data, "format")), "ballast-report/1");
    return data;
}

static size_t length(const json_t *object, const char *key)
{
    const json_t *list = json_object_get(object, key);

    assert_true(json_is_array(list));
    return json_array_size(list);
}

/* Numbers or null, as many as there are times. */
static void check_curve(const json_t *curve, size_t n_times)
{
    assert_non_null(curve);
    assert_int_equal(length(curve, "v"), n_times);
    assert_int_equal(length(curve, "at"), TABLE_ROWS);
    for (size_t i = 0; i < n_times; i++) {
        const json_t *v = json_array_get(json_object_get(curve, "v"), i);
        assert_true(json_is_number(v) || json_is_null(v));
    }
}

static void check_load(const json_t *load, size_t n_hosts, size_t n_times)
{
    static const char *const band[] = {"lowest", "median", "highest"};
    size_t a_line = (size_t)json_integer_value(json_object_get(load, "hosts_a_line"));
    const json_t *cells = json_object_get(load, "cells");

    for (size_t i = 0; i < ELEMENTS(band); i++)
        check_curve(json_object_get(load, band[i]), n_times);
    assert_true(a_line >= 1);
    assert_int_equal(length(load, "cells"), (n_hosts + a_line - 1) / a_line);
    for (size_t i = 0; i < json_array_size(cells); i++) {
        const char *line = json_string_value(json_array_get(cells, i));
        assert_int_equal(strlen(line), strlen(json_string_value(json_array_get(cells, 0))));
        assert_int_equal(strspn(line, "0123456789abcdef"), strlen(line));
    }
    assert_int_equal(length(load, "mean"), n_hosts);
    assert_int_equal(length(load, "most"), n_hosts);
    assert_int_equal(length(load, "on_percent"), n_hosts);
}

static void check_run(const json_t *run, size_t n_hosts, size_t n_points)
{
    size_t n_times = length(run, "t_s");
    const char *name;
    json_t *curve;

    assert_true(n_points > 720 ? n_times <= 720 : n_times == n_points);
    for (size_t i = 1; i < n_times; i++)
        assert_true(json_number_value(json_array_get(json_object_get(run, "t_s"), i)) >
                    json_number_value(json_array_get(json_object_get(run, "t_s"), i - 1)));
    json_object_foreach(json_object_get(run, "curves"), name, curve) check_curve(curve, n_times);
    assert_true(length(run, "pools") <= 8);
    assert_int_equal(length(run, "hosts"), n_hosts);
    if (n_points == 0) {
        assert_true(json_is_null(json_object_get(run, "load")));
        return;
    }
    check_load(json_object_get(json_object_get(run, "load"), "cpu"), n_hosts, n_times);
    check_load(json_object_get(json_object_get(run, "load"), "mem"), n_hosts, n_times);
}

static const struct {
    struct report_world world;
    bool compared;
} pages[] = {
    {{.hosts = 8, .pools = 2, .points = 1441, .power = true, .scale = 1}, false},
    {{.hosts = 8, .pools = 2, .points = 1441, .power = true, .scale = 1}, true},
    {{.hosts = 1, .pools = 0, .points = 1, .power = false, .scale = 1}, false},
    {{.hosts = 3, .pools = 0, .points = 0, .power = true, .scale = 1}, false},
    {{.hosts = 3, .pools = 30, .points = 50, .power = true, .wild = true, .scale = 1}, true},
    {{.hosts = 1000, .pools = 12, .points = 3001, .power = true, .scale = 1}, true},
};

static void test_data(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(pages); i++) {
        struct page_of p;
        make_page(&p, &pages[i].world, pages[i].compared, true);
        assert_in_range(p.out.len, 1, DATA_MAX);
        json_t *data = read_data(&p);
        const json_t *runs = json_object_get(data, "runs");
        assert_int_equal(json_array_size(runs), pages[i].compared ? 2 : 1);
        for (size_t r = 0; r < json_array_size(runs); r++)
            check_run(json_array_get(runs, r), pages[i].world.hosts, pages[i].world.points);
        assert_true(length(data, "tiles") > 0);
        assert_true(length(data, "tables") >= 2);
        json_decref(data);
        release_page(&p);
    }
}

/* Numbers that are none, and what would be fetched. */
static const char *const never[] = {">nan", ">-nan", ">inf", "http:", "https:", "url(", "<script", "<img"};

static void test_plain_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(pages); i++) {
        struct page_of p;
        make_page(&p, &pages[i].world, pages[i].compared, false);
        for (size_t k = 0; k < ELEMENTS(never); k++)
            assert_null(strstr(p.out.text, never[k]));
        char *head = strstr(p.out.text, "<!DOCTYPE html>"); /* the rest is XML as well */
        assert_ptr_equal(head, p.out.text);
        xmlDoc *doc =
            xmlReadMemory(p.out.text, (int)p.out.len, "page", NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
        assert_non_null(doc);
        xmlFreeDoc(doc);
        release_page(&p);
    }
    xmlCleanupParser();
}

/* Names are text wherever they stand: none ends the script element, and all come back as they were. */
static void test_wild_names(void **state)
{
    const struct report_world world = {
        .hosts = 2, .pools = 2, .points = 20, .power = true, .wild = true, .scale = 1};
    struct page_of p;

    (void)state;
    make_page(&p, &world, true, true);
    const char *data = p.out.text + strlen(BEFORE);
    assert_ptr_equal(strchr(data, '<'), p.out.text + p.out.len - strlen(AFTER));
    json_t *read = read_data(&p);
    const json_t *host =
        json_array_get(json_object_get(json_array_get(json_object_get(read, "runs"), 0), "hosts"), 0);
    assert_non_null(strstr(json_string_value(host), "<b>&"));
    json_decref(read);
    release_page(&p);

    make_page(&p, &world, true, false);
    assert_null(strstr(p.out.text, "<b>&"));
    assert_non_null(strstr(p.out.text, "&lt;b&gt;&amp;"));
    assert_non_null(strstr(p.out.text, "a&lt;b"));
    release_page(&p);
}

/* The ends of lines that JSON allows in a string and a script does not. */
static void test_line_separators(void **state)
{
    const struct report_world world = {.hosts = 1, .points = 2, .scale = 1};
    struct arena a = {0};
    struct simulation run;
    struct strbuf out;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    report_world_make(&world, &a, &run);
    struct scenario named = *run.scenario;
    named.name = "a\xe2\x80\xa8"
                 "b\xe2\x80\xa9"
                 "c\xe2\x82\xac<";
    run.scenario = &named;
    const struct run_set set = {.label = "", .runs = &run, .n = 1};
    assert_int_equal(report_html(&set, NULL, BEFORE AFTER, &out), 0);
    assert_non_null(strstr(out.text, "\"a\\u2028b\\u2029c\xe2\x82\xac\\u003c\""));
    strbuf_clear(&out);
    assert_int_equal(report_html(&set, NULL, "<html>no place for data</html>", &out), -EINVAL);
    assert_int_equal(out.len, 0);
    strbuf_release(&out);
    arena_release(&a);
}

static void test_same_again(void **state)
{
    const struct report_world world = {.hosts = 5, .pools = 3, .points = 500, .power = true, .scale = 1};
    struct page_of p;
    struct page_of q;

    (void)state;
    for (int built = 0; built < 2; built++) {
        make_page(&p, &world, true, built);
        make_page(&q, &world, true, built);
        assert_string_equal(p.out.text, q.out.text);
        release_page(&p);
        release_page(&q);
    }
}

enum { POINTS = 10000, BUCKETS = 100, SPIKE = 4711, GAP_FROM = 6000, GAP_TO = 6500 };

static void test_downsample(void **state)
{
    static double t[POINTS];
    static double v[POINTS];
    static double kept[2 * BUCKETS];
    struct arena a = {0};
    struct downsample d;

    (void)state;
    for (size_t i = 0; i < POINTS; i++) {
        t[i] = (double)i;
        v[i] = i >= GAP_FROM && i < GAP_TO ? NAN : i == SPIKE ? 99 : (double)(i % 7);
    }
    downsample_init(&d, t, POINTS, BUCKETS, &a);
    assert_in_range(d.n_kept, 1, 2 * BUCKETS);
    downsample_reduce(&d, v, kept);
    size_t spikes = 0;
    size_t gaps = 0;
    for (size_t i = 0; i < d.n_kept; i++) {
        spikes += kept[i] == 99 && fabs(d.t[i] - SPIKE) <= (double)POINTS / BUCKETS;
        gaps += isnan(kept[i]) ? 1 : 0;
        assert_true(i == 0 || d.t[i] > d.t[i - 1]);
    }
    assert_int_equal(spikes, 1);
    assert_in_range(gaps, 8, 12); /* of five buckets */
    assert_true(d.t[0] == 0 && d.t[d.n_kept - 1] == POINTS - 1);
    downsample_init(&d, t, 2 * BUCKETS, BUCKETS, &a); /* short enough */
    downsample_reduce(&d, v, kept);
    assert_int_equal(d.n_kept, 2 * BUCKETS);
    assert_memory_equal(kept, v, 2 * BUCKETS * sizeof *v);
    downsample_init(&d, t, 0, BUCKETS, &a);
    assert_int_equal(d.n_kept, 0);
    arena_release(&a);
}

/* The other side has more hosts, other pools, and goes on longer. */
static void test_larger_side(void **state)
{
    const struct report_world small = {.hosts = 2, .pools = 3, .points = 20, .scale = 1},
                              large = {8, .points = 60, .scale = 1};
    struct page_of p = {0};
    struct simulation runs[2];

    (void)state;
    strbuf_init(&p.out, STRBUF_NO_LIMIT);
    report_world_make(&small, &p.a, &runs[0]);
    report_world_make(&large, &p.a, &runs[1]);
    const struct run_set a = {.label = "a", .runs = &runs[0], .n = 1};
    const struct run_set b = {.label = "b", .runs = &runs[1], .n = 1};

    assert_int_equal(report_html(&a, &b, BEFORE AFTER, &p.out), 0);
    json_t *data = read_data(&p);
    const json_t *list = json_object_get(data, "runs");
    check_run(json_array_get(list, 0), 2, 20);
    check_run(json_array_get(list, 1), 8, 60);
    assert_int_equal(length(json_array_get(list, 0), "pools"), 3);
    assert_int_equal(length(json_array_get(list, 1), "pools"), 0);
    double to_s = json_number_value(json_object_get(data, "to_s"));
    assert_true(to_s >= runs[1].series[59].t_s);
    json_decref(data);
    release_page(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),        cmocka_unit_test(test_plain_tables),
        cmocka_unit_test(test_wild_names),  cmocka_unit_test(test_line_separators),
        cmocka_unit_test(test_same_again),  cmocka_unit_test(test_downsample),
        cmocka_unit_test(test_larger_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
