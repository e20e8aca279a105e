/* After an upgrade, no memory is reclaimed before a person has confirmed the setting that allows it. */
#include "engine_world.h"

static const char *waits(void)
{
    struct engine_status st;

    engine_status(W->engine, &st);
    return st.unconfirmed;
}

static bool all_kept(void)
{
    const struct snapshot *s = engine_snapshot(W->engine);

    for (uint32_t i = 0; i < s->n_vms; i++)
        if (!s->vms[i].is.no_reclaim)
            return false;
    return s->n_vms > 0;
}

static void begin(struct world *w, double times, enum mem_admission by, bool upgraded)
{
    world_init(w, 2, 4);
    w->settings.policy.mem_overcommit = times;
    w->settings.policy.mem_admission = by;
    if (upgraded)
        (void)snprintf(w->reclaim_note, sizeof w->reclaim_note, "upgraded");
    world_begin_engine();
    world_run(3);
}

static void test_waits_until_confirmed(void **state)
{
    struct world w;
    struct err err = {0};

    (void)state;
    begin(&w, 2, MEM_ADMISSION_CONSUMED, true);
    assert_non_null(strstr(waits(), "mem_overcommit 2 has had no effect"));
    assert_non_null(strstr(waits(), "ballast confirm-setting mem_overcommit"));
    assert_true(all_kept());
    assert_int_equal(engine_confirm_setting(w.engine, "mem_admission", "ann", w.now, &err), -EINVAL);
    assert_non_null(
        strstr(err.text, "mem_admission waits for no confirmation; this setting does: mem_overcommit"));
    world_restart();
    world_run(3);
    assert_non_null(waits());
    assert_int_equal(engine_confirm_setting(w.engine, "mem_overcommit", "ann", w.now, &err), 0);
    assert_int_equal(w_count_events("configuration"), 1);
    assert_null(waits());
    world_run(120);
    assert_false(all_kept());
    assert_int_equal(engine_confirm_setting(w.engine, "mem_overcommit", "ann", w.now, &err), -EINVAL);
    world_restart();
    world_run(3);
    assert_null(waits());
    world_release();
}

static void test_other_setting(void **state)
{
    struct world w;
    struct err err = {0};

    (void)state;
    begin(&w, 1, MEM_ADMISSION_RESERVATION, true);
    assert_non_null(strstr(waits(), "mem_admission reservation has had no effect"));
    assert_true(all_kept());
    assert_int_equal(engine_confirm_setting(w.engine, "mem_admission", "ann", w.now, &err), 0);
    assert_null(waits());
    world_release();
}

/* A new store, or settings that reclaim nothing at the upgrade or since: nothing waits, then or later. */
static void test_nothing_to_confirm(void **state)
{
    struct world w;

    (void)state;
    begin(&w, 2, MEM_ADMISSION_CONSUMED, false);
    assert_null(waits());
    assert_false(all_kept());
    world_release();
    begin(&w, 1, MEM_ADMISSION_CONSUMED, true);
    assert_null(waits());
    assert_string_equal(w.reclaim_note, "");
    world_release();
    begin(&w, 2, MEM_ADMISSION_CONSUMED, true);
    assert_non_null(waits());
    w.settings.policy.mem_overcommit = 1;
    engine_configure(w.engine, &w.settings, w.now);
    assert_null(waits());
    w.settings.policy.mem_overcommit = 3;
    engine_configure(w.engine, &w.settings, w.now);
    world_run(120);
    assert_null(waits());
    assert_false(all_kept());
    world_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_until_confirmed),
        cmocka_unit_test(test_other_setting),
        cmocka_unit_test(test_nothing_to_confirm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
