/* What is read of small histories that are written by hand: VMs that are off for a time, vanish and come,
 * times in which the service did not run; once from looks, once from the means that they become. */
#include "store_place.h"

#include "backtest/recording.h"
#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>

#define START 1767571200 /* 2026-01-05T00:00:00Z, where four hours begin */
#define MINUTE 60
#define NEVER 100000

static const char snapshot[] =
    "{\"format\": \"ballast-snapshot/1\", \"cluster\": \"c\", \"time\": \"2026-01-05T00:00:00Z\","
    " \"hosts\": [{\"id\": \"h1\", \"name\": \"h1\", \"state\": \"on\", \"cpu_mhz\": 10000, \"cores\": 4,"
    " \"mem_mb\": 16384}], \"vms\": [], \"pools\": [], \"rules\": []}";

/* Minutes from START on. The service is down from 180 to 360. */
#define DOWN 180
#define UP 360
#define END 495

static const struct vm_life {
    const char *id;
    struct {
        int from, until;
        double cpu;
    } on[3];
    const char *rows; /* minute:MHz of each row */
    int first, last;
} lives[] = {
    {"after", {{0, 180, 20}, {420, NEVER, 20}}, "0:20 360:0 420:20 495:20", 0, 495},
    {"before", {{0, 150, 30}, {405, NEVER, 30}}, "0:30 150:0 405:30 495:30", 0, 495},
    {"gone", {{0, 105, 40}}, "0:40", 0, 105},
    {"idle", {{0, NEVER, 0}}, "0:0 495:0", 0, 495},
    {"naps", {{0, 60, 300}, {120, NEVER, 300}}, "0:300 60:0 120:300 495:300", 0, 495},
    {"new", {{375, NEVER, 50}}, "375:50 495:50", 375, 495},
    {"over", {{0, 180, 60}, {360, NEVER, 70}}, "0:60 360:70 495:70", 0, 495},
    {"short", {{0, 31, 80}, {39, NEVER, 80}}, "0:80 495:80", 0, 495},
    {"steady", {{0, 60, 100}, {60, NEVER, 200}}, "0:100 60:200 495:200", 0, 495},
};

static struct look_object vm_at(const struct vm_life *v, double cpu)
{
    struct look_object o = {.kind = LOOK_VM, .id = v->id};

    for (int f = 0; f < look_figure_count; f++)
        o.of[f] = UNKNOWN;
    o.of[LOOK_CPU_DEMAND] = cpu;
    o.of[LOOK_MEM_DEMAND] = 512;
    return o;
}

/* The look at the end of the minute. */
static void put_minute(struct store *s, int minute)
{
    struct look_object objects[ELEMENTS(lives)];
    struct look look = {.time = START + (minute + 1) * MINUTE, .covers_s = MINUTE, .objects = objects};
    struct err err = {0};

    for (size_t i = 0; i < ELEMENTS(lives); i++)
        for (size_t k = 0; k < ELEMENTS(lives[i].on); k++)
            if (minute >= lives[i].on[k].from && minute < lives[i].on[k].until)
                objects[look.n++] = vm_at(&lives[i], lives[i].on[k].cpu);
    assert_int_equal(store_sqlite.begin(s, &err), 0);
    assert_int_equal(store_sqlite.put_look(s, &look, &err), 0);
    assert_int_equal(store_sqlite.commit(s, &err), 0);
}

static void put_minutes(struct store *s, int from, int until)
{
    for (int i = from; i < until; i++)
        put_minute(s, i);
}

static void put_pass(struct store *s)
{
    const struct pass_record pass = {.id = 1,
                                     .time = START,
                                     .trigger = "interval",
                                     .imbalance_before = UNKNOWN,
                                     .imbalance_after = UNKNOWN,
                                     .target = UNKNOWN,
                                     .snapshot = snapshot,
                                     .plan = "{}"};
    struct err err = {0};

    assert_int_equal(store_sqlite.put(s, &(struct record){RECORD_PASS, .pass = &pass}, &err), 0);
}

static const char *rows_of(const char *samples, const char *id, struct arena *a)
{
    const char *list = "";

    for (const char *line = strchr(samples, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        int64_t time;
        char vm[16];
        double cpu, mem;

        assert_int_equal(sscanf(line, "%" SCNd64 ",%15[^,],%lf,%lf", &time, vm, &cpu, &mem), 4);
        assert_true((time - START) % MINUTE == 0);
        if (strcmp(vm, id) == 0)
            list = arena_printf(a, "%s%s%d:%g", list, *list ? " " : "", (int)((time - START) / MINUTE), cpu);
    }
    return list;
}

static void check(const struct place *p, instant_s look_s, int means)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct recording r;
    struct store *s;
    struct err err = {0};

    if (store_open_to_read(p->state, &s, &err) < 0 ||
        recording_read(s, START, START + END * MINUTE, &a, &r, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(r.from, START);
    assert_int_equal(r.until, START + END * MINUTE);
    assert_int_equal(r.look_s, look_s);
    assert_within(r.means_s, means * MINUTE, 0);
    assert_within(r.unseen_s, (UP - DOWN) * MINUTE, 0);
    assert_int_equal(r.n_vms, ELEMENTS(lives));
    assert_int_equal(r.times_off, 3);
    for (size_t i = 0; i < ELEMENTS(lives); i++) {
        const struct recorded_vm *v = recording_find_vm(&r, lives[i].id);

        assert_non_null(v);
        assert_string_equal(rows_of(r.samples, lives[i].id, &a), lives[i].rows);
        assert_int_equal(v->first, START + lives[i].first * MINUTE);
        assert_int_equal(v->last, START + lives[i].last * MINUTE);
    }
    store_close(s);
}

static void test_by_hand(void **state)
{
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    put_pass(s);
    put_minutes(s, 0, DOWN);
    put_minutes(s, UP, END);
    check(&p, MINUTE, 0);
    put_minutes(s, END, END + 20 * 60); /* the first hours are means, and their looks are gone */
    check(&p, MINUTE, DOWN);
    put_minutes(s, END + 20 * 60, END + 34 * 60); /* all of it is */
    check(&p, 0, END - (UP - DOWN));
    store_close(s);
    remove_all(p.dir);
}

/* A service that ended right after its pass: what was not seen begins there. */
static void test_gap_at_the_beginning(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;
    struct recording r;
    struct err err = {0};

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    put_pass(s);
    assert_int_equal(recording_read(s, START, START + END * MINUTE, &a, &r, &err), -ENOENT);
    assert_string_equal(err.text, "no demand of VMs is recorded since 2026-01-05T00:00:00Z, expected some");
    put_minutes(s, UP, END);
    assert_int_equal(recording_read(s, START, START + END * MINUTE, &a, &r, &err), 0);
    assert_within(r.unseen_s, UP * MINUTE, 0);
    assert_string_equal(rows_of(r.samples, "over", &a), "360:70 495:70");
    store_close(s);
    remove_all(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_gap_at_the_beginning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
