/* The energy account: power samples in, energy per hour out. */
#include "unit.h"

#include "engine/knowledge/energy_account.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOUR ((instant_s)1000 * ENERGY_HOUR_S) /* where the clock begins: at a full hour */
#define LONGEST_S 300
#define ROWS 32

/* ---- a store of a few rows ------------------------------------------------------------------- */

struct store {
    struct energy_record rows[ROWS];
    char hosts[ROWS][16];
    int n, puts;
};

static int put(struct store *s, const struct record *record, struct err *err)
{
    const struct energy_record *r = record->energy;

    int i = 0;

    (void)err;
    while (i < s->n && (s->rows[i].time != r->time || strcmp(s->hosts[i], r->host) != 0))
        i++;
    assert_true(i < ROWS);
    s->n += i == s->n;
    s->puts++;
    s->rows[i] = *r;
    (void)snprintf(s->hosts[i], sizeof s->hosts[i], "%s", r->host);
    s->rows[i].host = s->hosts[i];
    return 0;
}

static const struct store_ops ops = {.put = put};

static const struct energy_record *row(const struct store *s, const char *host, instant_s time)
{
    for (int i = 0; i < s->n; i++) {
        if (s->rows[i].time == time && strcmp(s->hosts[i], host) == 0)
            return &s->rows[i];
    }
    fail_msg("no row of \"%s\" at %lld", host, (long long)time);
    return NULL;
}

static void keep(struct energy *x, struct store *s)
{
    struct err err;

    assert_int_equal(knowledge_piece_persist(&energy_ops, x, &ops, s, &err), 0);
    knowledge_piece_stored(&energy_ops, x);
    assert_false(knowledge_piece_is_dirty(&energy_ops, x));
}

static struct energy_sample awake(double watts, double all_on_w)
{
    return (struct energy_sample){.host = "h", .phase = ENERGY_AWAKE, .watts = watts, .all_on_w = all_on_w};
}

static void look(struct energy *x, struct energy_sample is, instant_s at)
{
    energy_account_add_samples(x, &is, 1, at, LONGEST_S);
}

#define assert_near(a, b) assert_within((a), (b), 1e-9)

/* ---- what two looks add ---------------------------------------------------------------------- */

/* Two looks a minute apart. W s, per host. */
static const struct {
    const char *name;
    enum energy_phase before, now;
    double watts_before, watts, all_on_before, all_on;
    double used, all_on_sum, asleep_s, unknown_s;
} spans[] = {
    {"the later one counts", ENERGY_AWAKE, ENERGY_AWAKE, 100, 160, 110, 150, 160 * 60, 150 * 60, 0, 0},
    {"it went to sleep, nobody knows when", ENERGY_AWAKE, ENERGY_ASLEEP, 100, 10, 110, 120, 110 * 30,
     120 * 60, 30, 0},
    {"it boots", ENERGY_ASLEEP, ENERGY_BOOTING, 10, 200, 120, 130, 210 * 30, 130 * 60, 30, 0},
    {"it was lost", ENERGY_AWAKE, ENERGY_UNSEEN, 100, UNKNOWN, 120, UNKNOWN, 100 * 30, 120 * 30, 0, 30},
    {"it has come back", ENERGY_UNSEEN, ENERGY_AWAKE, UNKNOWN, 100, UNKNOWN, 120, 100 * 30, 120 * 30, 0, 30},
    {"a host without figures", ENERGY_AWAKE, ENERGY_AWAKE, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 0, 0, 0, 60},
};

static void test_spans(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(spans); i++) {
        struct energy *x = knowledge_piece_new(&energy_ops);
        struct store s = {0};
        struct energy_sample before = awake(spans[i].watts_before, spans[i].all_on_before);
        struct energy_sample now = awake(spans[i].watts, spans[i].all_on);

        print_message("  %s\n", spans[i].name);
        before.phase = spans[i].before;
        before.wanted[RES_CPU] = 7000; /* of a time that is over */
        now.phase = spans[i].now;
        now.wanted[RES_CPU] = 1000;
        now.unmet[RES_CPU] = 200;
        now.unmet[RES_MEM] = 5;
        look(x, before, HOUR + 600);
        keep(x, &s);
        assert_int_equal(s.n, 0);
        look(x, now, HOUR + 660);
        keep(x, &s);
        const struct energy_record *r = row(&s, "h", HOUR);

        assert_near(r->used_wh * 3600, spans[i].used);
        assert_near(r->all_on_wh * 3600, spans[i].all_on_sum);
        assert_near(r->asleep_s, spans[i].asleep_s);
        assert_near(r->unknown_s, spans[i].unknown_s);
        assert_near(r->span_s, 60);
        assert_near(r->host_s, 60);
        assert_near(r->wanted[RES_CPU], 60 * 1000);
        assert_near(r->unmet[RES_CPU], 60 * 200);
        assert_near(r->unmet[RES_MEM], 60 * 5);
        assert_int_equal(r->until, HOUR + 660);
        knowledge_piece_free(&energy_ops, x);
    }
}

/* What is accounted in an hour of looks `every` seconds, with a gap in the middle. */
static const struct {
    const char *name;
    instant_s every, gap_s;
    double span_s;
} gaps[] = {
    {"none", 60, 0, 3600},
    {"as long as is allowed", 60, LONGEST_S, 3600},
    {"a look longer: all of it is unknown", 60, LONGEST_S + 60, 3600 - (LONGEST_S + 60)},
    {"half an hour", 60, 1800, 1800},
};

static void test_gaps(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(gaps); i++) {
        struct energy *x = knowledge_piece_new(&energy_ops);
        struct store s = {0};
        double used = 0;

        print_message("  %s\n", gaps[i].name);
        for (instant_s t = 0; t < 3600; t += gaps[i].every) {
            if (t > 1200 && t < 1200 + gaps[i].gap_s)
                continue;
            look(x, awake(100, 100), HOUR + t);
            keep(x, &s);
        }
        look(x, awake(100, 100), HOUR + 3600);
        keep(x, &s);
        for (int k = 0; k < s.n; k++)
            used += strcmp(s.hosts[k], "h") == 0 ? s.rows[k].used_wh : 0;
        const struct energy_record *r = row(&s, "h", HOUR);

        assert_near(r->span_s, gaps[i].span_s);
        assert_near(row(&s, "", HOUR)->span_s, gaps[i].span_s);
        assert_near(used, r->span_s * 100 / 3600);
        knowledge_piece_free(&energy_ops, x);
    }
}

/* Over a full hour each gets its part, and nothing is there twice. */
static void test_hours(void **state)
{
    struct energy *x = knowledge_piece_new(&energy_ops);
    struct store s = {0};
    struct energy_sample slept = awake(10, 150);

    (void)state;
    look(x, awake(120, 150), HOUR + 3600 - 100);
    slept.phase = ENERGY_ASLEEP;
    look(x, slept, HOUR + 3600 + 60); /* 80 s of each, the change 20 s before the hour */
    keep(x, &s);
    assert_near(row(&s, "h", HOUR)->used_wh * 3600, 80 * 120 + 20 * 10);
    assert_near(row(&s, "h", HOUR)->asleep_s, 20);
    assert_near(row(&s, "h", HOUR + 3600)->used_wh * 3600, 60 * 10);
    assert_near(row(&s, "h", HOUR + 3600)->span_s, 60);
    assert_near(row(&s, "", HOUR)->all_on_wh * 3600, 100 * 150);
    assert_near(row(&s, "", HOUR)->span_s, 100);
    assert_int_equal(row(&s, "h", HOUR)->until, HOUR + 3600);
    int puts = s.puts;

    look(x, slept, HOUR + 3600 + 120); /* the hour that is over is not written again */
    keep(x, &s);
    assert_int_equal(s.puts, puts + 2);
    knowledge_piece_free(&energy_ops, x);
}

/* The cluster is the sum of its hosts; its time is not. */
static void test_cluster(void **state)
{
    struct energy *x = knowledge_piece_new(&energy_ops);
    struct store s = {0};
    struct energy_sample both[] = {awake(100, 90), awake(20, 90)};

    (void)state;
    both[1].host = "i";
    both[1].phase = ENERGY_ASLEEP;
    both[1].measured = true;
    for (instant_s t = 0; t <= 120; t += 60)
        energy_account_add_samples(x, both, 2, HOUR + t, LONGEST_S);
    keep(x, &s);
    const struct energy_record *all = row(&s, "", HOUR);

    assert_near(all->used_wh * 3600, 120 * 120);
    assert_near(all->all_on_wh * 3600, 180 * 120);
    assert_near(all->span_s, 120);
    assert_near(all->host_s, 240);
    assert_near(all->asleep_s, 120);
    assert_near(all->measured_s, 120);
    knowledge_piece_free(&energy_ops, x);
}

/* ---- what a restart finds -------------------------------------------------------------------- */

/* Killed after any look: at most what was not stored is lost, and what was is not there twice. */
static void test_killed(void **state)
{
    struct energy *x = knowledge_piece_new(&energy_ops);
    struct store s = {0};

    (void)state;
    for (instant_s t = 0; t <= 2 * 3600; t += 60) {
        look(x, awake(100, 150), HOUR + t);
        if (t % 420 != 0)
            keep(x, &s);
        if (t % 300 == 0) { /* sometimes right after a look that was not stored */
            knowledge_piece_free(&energy_ops, x);
            x = knowledge_piece_new(&energy_ops);
            energy_ops.recall(x, &(struct stored){.energy = s.rows, .n_energy = (size_t)s.n}, HOUR + t);
        }
    }
    keep(x, &s);
    double used = row(&s, "h", HOUR)->used_wh + row(&s, "h", HOUR + 3600)->used_wh;
    double span = row(&s, "h", HOUR)->span_s + row(&s, "h", HOUR + 3600)->span_s;

    assert_near(used, span * 100 / 3600);
    assert_near(span, 7200 - 60); /* until the first row there is nothing that a restart could begin with */
    knowledge_piece_free(&energy_ops, x);
}

/* The clock was set back by two hours while the service was down. */
static void test_clock_set_back(void **state)
{
    struct energy *x = knowledge_piece_new(&energy_ops);
    struct store s = {0};

    (void)state;
    look(x, awake(100, 100), HOUR + 7200);
    look(x, awake(100, 100), HOUR + 7260);
    keep(x, &s);
    knowledge_piece_free(&energy_ops, x);
    x = knowledge_piece_new(&energy_ops);
    energy_ops.recall(x, &(struct stored){.energy = s.rows, .n_energy = (size_t)s.n}, HOUR + 60);
    for (instant_s t = 60; t <= 7320; t += 60)
        look(x, awake(100, 100), HOUR + t);
    keep(x, &s);
    assert_near(row(&s, "h", HOUR)->span_s, 3540);
    assert_near(row(&s, "h", HOUR + 7200)->span_s, 60 + 120); /* that time was there twice */
    knowledge_piece_free(&energy_ops, x);
}

/* A look that is no later than the last one adds nothing. */
static void test_no_time(void **state)
{
    struct energy *x = knowledge_piece_new(&energy_ops);
    struct store s = {0};

    (void)state;
    look(x, awake(100, 100), HOUR + 60);
    look(x, awake(100, 100), HOUR + 60);
    look(x, awake(100, 100), HOUR);
    keep(x, &s);
    assert_int_equal(s.n, 0);
    look(x, awake(100, 100), HOUR + 61);
    keep(x, &s);
    assert_near(row(&s, "h", HOUR)->span_s, 1);
    knowledge_piece_free(&energy_ops, x);
}

/* A store that fails: what it has not taken is kept for the next try. */
static int refuse(struct store *s, const struct record *record, struct err *err)
{

    (void)s, (void)record;
    return err_set(err, -EIO, "the disk is full");
}

static void test_store_fails(void **state)
{
    static const struct store_ops full = {.put = refuse};
    struct energy *x = knowledge_piece_new(&energy_ops);
    struct store s = {0};
    struct err err;

    (void)state;
    for (instant_s t = 0; t <= 3 * 3600; t += 60) {
        look(x, awake(100, 100), HOUR + t);
        assert_int_equal(t == 0 ? 0 : knowledge_piece_persist(&energy_ops, x, &full, &s, &err),
                         t == 0 ? 0 : -EIO);
        assert_true(knowledge_piece_is_dirty(&energy_ops, x));
    }
    energy_ops.forget(x, &(struct retention){.energy_before = INT64_MAX},
                      0); /* not what the store does not have */
    keep(x, &s);
    for (instant_s h = 0; h < 3; h++)
        assert_near(row(&s, "h", HOUR + h * 3600)->used_wh, 100);
    knowledge_piece_free(&energy_ops, x);
}

/* The scale is a moving average of an hour, and outlives a restart. */
static void test_scale(void **state)
{
    struct energy *x = knowledge_piece_new(&energy_ops);
    struct store s = {0};

    (void)state;
    assert_true(isnan(energy_account_scale(x, "h")));
    energy_account_learn_scale(x, "h", 1.5, HOUR);
    assert_near(energy_account_scale(x, "h"), 1.5);
    energy_account_learn_scale(x, "h", 1.1, HOUR + 900);
    assert_near(energy_account_scale(x, "h"), 1.4);
    energy_account_learn_scale(x, "h", 2, HOUR + 9000);
    assert_near(energy_account_scale(x, "h"), 2);
    look(x, awake(100, 100), HOUR + 9000);
    look(x, awake(100, 100), HOUR + 9060);
    keep(x, &s);
    knowledge_piece_free(&energy_ops, x);
    x = knowledge_piece_new(&energy_ops);
    energy_ops.recall(x, &(struct stored){.energy = s.rows, .n_energy = (size_t)s.n}, HOUR + 9060);
    assert_near(energy_account_scale(x, "h"), 2);
    knowledge_piece_free(&energy_ops, x);
}

/* A new process first books what a model says, for the time before it; the meter's first reading corrects
 * that, unless the host's phase has changed. What lies in an hour that is stored and over stays as it is. */
static const struct {
    const char *name;
    instant_s killed, back;
    enum energy_phase phase_read;
    double used_wh, of_the_hour_before_wh, estimated_s;
} guesses[] = {
    {"read", 600, 720, ENERGY_BOOTING, (10 * 600 + 10 * 180) / 3600.0, 0, 120},
    {"in another phase", 600, 720, ENERGY_ASLEEP, (10 * 600 + 100 * 120 + (100 + 10) * 30) / 3600.0, 0, 150},
    {"over the end of an hour", 3540, 3660, ENERGY_BOOTING, (10 * 60 + 10 * 60) / 3600.0,
     (10 * 3540 + 10 * 60) / 3600.0, 60},
};

static void test_guess_is_corrected(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(guesses); i++) {
        struct energy *x = knowledge_piece_new(&energy_ops);
        struct store s = {0};
        struct energy_sample is = {
            .host = "h", .phase = ENERGY_BOOTING, .watts = 10, .all_on_w = 120, .measured = true};

        print_message("  %s\n", guesses[i].name);
        energy_account_learn_scale(x, "h", 1, HOUR);
        for (instant_s t = 0; t <= guesses[i].killed; t += 60)
            look(x, is, HOUR + t);
        keep(x, &s);
        knowledge_piece_free(&energy_ops, x);

        x = knowledge_piece_new(&energy_ops);
        energy_ops.recall(x, &(struct stored){.energy = s.rows, .n_energy = (size_t)s.n},
                          HOUR + guesses[i].back);
        is.measured = false;
        is.watts = 100;
        look(x, is, HOUR + guesses[i].back);
        is.measured = true;
        is.watts = 10;
        is.phase = guesses[i].phase_read;
        look(x, is, HOUR + guesses[i].back + 60);
        is.watts = 50; /* it is corrected once only */
        look(x, is, HOUR + guesses[i].back + 60);
        keep(x, &s);
        const bool next = guesses[i].of_the_hour_before_wh > 0;
        const struct energy_record *r = row(&s, "h", next ? HOUR + 3600 : HOUR);

        assert_near(r->used_wh, guesses[i].used_wh);
        assert_near(row(&s, "", r->time)->used_wh, guesses[i].used_wh);
        if (next)
            assert_near(row(&s, "h", HOUR)->used_wh, guesses[i].of_the_hour_before_wh);
        assert_near(r->host_s - r->measured_s, guesses[i].estimated_s);
        knowledge_piece_free(&energy_ops, x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),   cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_hours),   cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_killed),  cmocka_unit_test(test_clock_set_back),
        cmocka_unit_test(test_no_time), cmocka_unit_test(test_store_fails),
        cmocka_unit_test(test_scale),   cmocka_unit_test(test_guess_is_corrected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
