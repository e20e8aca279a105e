/* The report page of a simulation: well-formed, without outside resources, with names escaped; series
 * downsampled without losing a peak; images that can be read. */
#include "unit.h"

#include "sim/report/chart.h"
#include "sim/report/downsample.h"
#include "sim/report/png.h"
#include "sim/report/report.h"
#include "sim_report_world.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PAGE_MAX 1000000

struct page_of {
    struct arena a;
    struct strbuf out;
};

/* compared: with a second run, without power. */
static void make_page(struct page_of *p, const struct report_world *world, bool compared)
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
    report_html(&a, compared ? &b : NULL, &p->out);
}

static void release_page(struct page_of *p)
{
    strbuf_release(&p->out);
    arena_release(&p->a);
}

/* The page as a tree. It is written as XML would have it too, but for the script, which is taken out. */
static xmlDoc *parse(struct page_of *p)
{
    char *script = strstr(p->out.text, "<script>");
    char *end = strstr(p->out.text, "</script>");

    assert_non_null(script);
    assert_non_null(end);
    assert_null(strstr(end + 1, "<script"));
    memset(script, ' ', (size_t)(end - script) + strlen("</script>"));
    xmlDoc *doc = xmlReadMemory(p->out.text, (int)p->out.len, "page", NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    assert_non_null(doc);
    return doc;
}

static size_t count(const xmlNode *n, const char *name)
{
    size_t found = 0;

    for (; n; n = n->next)
        found += (strcmp((const char *)n->name, name) == 0) + count(n->children, name);
    return found;
}

static const struct {
    struct report_world world;
    bool compared;
    size_t figures;
} pages[] = {
    {{.hosts = 8, .pools = 2, .points = 1441, .power = true, .scale = 1}, false, 12},
    {{.hosts = 8, .pools = 2, .points = 1441, .power = true, .scale = 1}, true, 20},
    {{.hosts = 1, .pools = 0, .points = 1, .power = false, .scale = 1}, false, 10},
    {{.hosts = 3, .pools = 0, .points = 0, .power = true, .scale = 1}, false, 0},
    {{.hosts = 3, .pools = 30, .points = 50, .power = true, .wild = true, .scale = 1}, false, 12},
    {{.hosts = 800, .pools = 12, .points = 2017, .power = true, .scale = 1}, true, 20},
};

/* Numbers that are none, and what would be fetched. (An image has commas and blanks before it only.) */
static const char *const never[] = {",nan", ",-nan", " nan",   ">nan", ",inf",
                                    ">inf", "http:", "https:", "url("};

static void test_pages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(pages); i++) {
        struct page_of p;
        make_page(&p, &pages[i].world, pages[i].compared);
        assert_true(p.out.len < PAGE_MAX);
        for (size_t k = 0; k < ELEMENTS(never); k++)
            assert_null(strstr(p.out.text, never[k]));
        xmlDoc *doc = parse(&p);
        const xmlNode *root = xmlDocGetRootElement(doc);
        assert_int_equal(count(root, "figure"), pages[i].figures);
        xmlFreeDoc(doc);
        release_page(&p);
    }
    xmlCleanupParser();
}

/* What names bring along is text. */
static void test_wild_names(void **state)
{
    const struct report_world world = {
        .hosts = 2, .pools = 2, .points = 20, .power = true, .wild = true, .scale = 1};
    struct page_of p;

    (void)state;
    make_page(&p, &world, true);
    assert_null(strstr(p.out.text, "<b>&"));
    assert_non_null(strstr(p.out.text, "&lt;b&gt;&amp;&quot;&#39;&lt;/script&gt;?"));
    assert_non_null(strstr(p.out.text, "a&lt;b"));
    release_page(&p);
}

static void test_same_again(void **state)
{
    const struct report_world world = {.hosts = 5, .pools = 3, .points = 500, .power = true, .scale = 1};
    struct page_of p;
    struct page_of q;

    (void)state;
    make_page(&p, &world, true);
    make_page(&q, &world, true);
    assert_string_equal(p.out.text, q.out.text);
    release_page(&p);
    release_page(&q);
}

enum { POINTS = 10000, BUCKETS = 100, SPIKE = 4711, GAP_FROM = 6000, GAP_TO = 6500 };

static void test_thin(void **state)
{
    static double t[POINTS];
    static double v[POINTS];
    struct arena a = {0};
    size_t n;

    (void)state;
    for (size_t i = 0; i < POINTS; i++) {
        t[i] = (double)i;
        v[i] = i >= GAP_FROM && i < GAP_TO ? NAN : i == SPIKE ? 99 : (double)(i % 7);
    }
    const struct dot *dots = downsample(t, v, POINTS, BUCKETS, &a, &n);
    assert_true(n <= 2 * BUCKETS);
    size_t spikes = 0;
    size_t gaps = 0;
    for (size_t i = 0; i < n; i++) {
        spikes += dots[i].v == 99 && dots[i].t == SPIKE;
        gaps += isnan(dots[i].v) ? 1 : 0;
        assert_true(i == 0 || dots[i].t > dots[i - 1].t);
    }
    assert_int_equal(spikes, 1);
    assert_in_range(gaps, 4, 6);                           /* of five buckets */
    dots = downsample(t, v, 2 * BUCKETS, BUCKETS, &a, &n); /* short enough */
    assert_int_equal(n, 2 * BUCKETS);
    assert_true(dots[8].v == 1);
    arena_release(&a);
}

/* The other side has more hosts and goes on longer: its curves are within the plots, too. */
static void test_larger_side(void **state)
{
    const struct report_world small = {.hosts = 2, .points = 20, .scale = 1},
                              large = {8, .points = 60, .scale = 1};
    struct page_of p = {0};
    struct simulation runs[2];

    (void)state;
    strbuf_init(&p.out, STRBUF_NO_LIMIT);
    report_world_make(&small, &p.a, &runs[0]);
    report_world_make(&large, &p.a, &runs[1]);
    const struct run_set a = {.label = "a", .runs = &runs[0], .n = 1};
    const struct run_set b = {.label = "b", .runs = &runs[1], .n = 1};

    report_html(&a, &b, &p.out);
    assert_null(strstr(p.out.text, ",-")); /* above the plot */
    for (const char *at = p.out.text; (at = strstr(at, "\"line s1\" data-name")); at++) {
        const char *end = strstr(at, "/>");

        while (end[-1] != 'L')
            end--;
        assert_true(strtod(end, NULL) <= 1000); /* behind it */
    }
    release_page(&p);
}

static void test_round_up(void **state)
{
    static const struct {
        double v, up;
    } cases[] = {{0, 1},   {-5, 1},  {1, 1},          {1.01, 1.2},  {7, 8},
                 {32, 32}, {33, 40}, {0.0301, 0.032}, {1810, 2000}, {9e6, 1e7}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++)
        assert_true(fabs(axis_round_up(cases[i].v) - cases[i].up) < 1e-9 * cases[i].up);
    assert_true(axis_count_up(0) == 4 && axis_count_up(3) == 4 && axis_count_up(5) == 8);
    assert_true(axis_count_up(10) == 12 && axis_count_up(32) == 32 && axis_count_up(267) == 320);
}

static size_t base64(const char *text, unsigned char *ret)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;

    for (; *text && *text != '='; text += 4) {
        unsigned v = 0;
        size_t given = strcspn(text, "=") < 4 ? strcspn(text, "=") : 4;
        for (size_t i = 0; i < 4; i++)
            v = v << 6 | (i < given ? (unsigned)(strchr(digits, text[i]) - digits) : 0);
        for (size_t i = 0; i + 1 < given; i++)
            ret[n++] = (unsigned char)(v >> (16 - 8 * i));
        if (given < 4)
            break;
    }
    return n;
}

/* Three by two pixels, read back: chunks in their order with the right sums, the pixels as they were. */
static void test_png(void **state)
{
    static const uint8_t pixels[] = {0, 1, 2, 2, 1, 0};
    static const uint8_t palette[][3] = {{0, 0, 0}, {255, 0, 0}, {0, 0, 255}};
    static const char *const order[] = {"IHDR", "PLTE", "tRNS", "IDAT", "IEND"};
    static const unsigned char rows[] = {0, 0, 1, 2, 0, 2, 1, 0};
    unsigned char bytes[512];
    unsigned char unpacked[64];
    struct strbuf out;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    png_put_data_url(&(struct png){3, 2, pixels, palette, 3}, &out);
    const char *comma = strchr(out.text, ',');
    assert_non_null(comma);
    size_t n = base64(comma + 1, bytes);
    size_t at = 8;
    for (size_t i = 0; i < ELEMENTS(order); i++) {
        const unsigned char *c = bytes + at;
        size_t len = (size_t)c[0] << 24 | (size_t)c[1] << 16 | (size_t)c[2] << 8 | c[3];
        assert_true(at + 12 + len <= n);
        assert_memory_equal(c + 4, order[i], 4);
        const unsigned char *sum = c + 8 + len;
        uLong crc = (uLong)sum[0] << 24 | (uLong)sum[1] << 16 | (uLong)sum[2] << 8 | sum[3];
        assert_true(crc32(0, c + 4, (uInt)len + 4) == crc);
        uLongf room = sizeof unpacked;
        if (strcmp(order[i], "IDAT") == 0) {
            assert_int_equal(uncompress(unpacked, &room, c + 8, (uLong)len), Z_OK);
            assert_int_equal(room, sizeof rows);
            assert_memory_equal(unpacked, rows, sizeof rows);
        }
        at += 12 + len;
    }
    assert_int_equal(at, n);
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages), cmocka_unit_test(test_wild_names),  cmocka_unit_test(test_same_again),
        cmocka_unit_test(test_thin),  cmocka_unit_test(test_larger_side), cmocka_unit_test(test_round_up),
        cmocka_unit_test(test_png),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
