/* Placement keys that a VM gets at its start: fixed while it runs, copied from its host, over restarts. */
#include "engine_world.h"

#include "engine/knowledge/start_keys.h"
#include "overlay/overlay.h"

#define NUMBER(attribute, value)                                                                             \
    {                                                                                                        \
        .name = (attribute), .is = {.type = VALUE_NUMBER, .number = (value) }                                \
    }

static const char *const starter = "vm02";
static const char *const far_host = "h1";

/* What the configuration says of vm02 and of h1. */
static struct attribute hints[] = {NUMBER("key.ROLE", 1), NUMBER("zone", 5)};
static struct attribute keys[] = {NUMBER("key.SITE", 7), NUMBER("sticky.SITE", 25), NUMBER("key.PLAIN", 3)};
static const struct condition is_starter = {.names = {.items = &starter, .n = 1}};
static const struct condition is_far_host = {.names = {.items = &far_host, .n = 1}};
static const struct overlay_vms of_vm = {.vms = {&is_starter, 1}, .hints = {.items = hints, .n = 2}};
static const struct overlay_hosts of_host = {.hosts = {&is_far_host, 1},
                                             .attributes = {.items = keys, .n = 3}};
static const struct overlay overlay = {.vms = &of_vm, .n_vms = 1, .hosts = &of_host, .n_hosts = 1};

static void begin(struct world *w)
{
    hints[0].is.number = 1;
    keys[0].is.number = 7;
    world_init(w, 3, 4);
    w->settings.policy.automation = AUTOMATION_MANUAL;
    w->settings.overlay = &overlay;
    w->imbalance = w->target = 0.1;
    w->vms[2].off = true;
    w->places[0] = (struct world_move){.kind = ACTION_PLACE, .vm = 2, .to = 1, .priority = 1};
    w->n_places = 1;
    world_begin_engine();
    world_run(3);
}

static void place(struct world *w)
{
    const struct place_request q = {.vms = &starter, .n_vms = 1, .apply = true, .by = "tester"};
    uint64_t ticket;

    assert_int_equal(engine_place(w->engine, &q, w->now, &ticket, NULL), 0);
}

/* Its hint in the newest snapshot; -1: it has none. */
static double hint(const char *name)
{
    const struct snapshot *s = engine_snapshot(W->engine);
    const struct attributes *of = &s->vms[snapshot_find_vm(s, starter)].is.hints;

    for (uint32_t i = 0; i < of->n; i++) {
        if (strcmp(of->items[i].name, name) == 0)
            return of->items[i].is.number;
    }
    return -1;
}

static void check(double role, double copy, double weight)
{
    assert_float_equal(hint("key.ROLE"), role, 0);
    assert_float_equal(hint("copy.SITE"), copy, 0);
    assert_float_equal(hint("sticky.SITE"), weight, 0);
    assert_float_equal(hint("copy.PLAIN"), -1, 0);
    assert_float_equal(hint("zone"), 5, 0);
}

/* F11: the keys of a VM's start count until it is off; F6: a copy stays until the next start. */
static void test_from_start_to_stop(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    check(1, -1, -1);
    place(&w);
    world_run(100);
    assert_false(w.vms[2].off);
    hints[0].is.number = 2;
    keys[0].is.number = 8;
    world_run(100);
    check(1, 7, 25);
    w.vms[2].off = true;
    world_run(200);
    check(2, 7, 25);
    w.vms[2].off = false; /* by others: a start as well */
    world_run(200);
    hints[0].is.number = 3;
    world_run(100);
    check(2, 8, 25);
    world_release();
}

/* The service ends in every state, also while the VM starts. */
static void test_restart(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    world_restart();
    world_run(3);
    place(&w);
    world_run(4);
    world_restart();
    world_run(100);
    assert_false(w.vms[2].off);
    hints[0].is.number = 2;
    world_restart();
    world_run(100);
    check(1, 7, 25);
    w.vms[2].off = true;
    world_run(200);
    world_restart();
    world_run(100);
    check(2, 7, 25);
    world_release();
}

/* The VM ran before the service started: its present keys count. */
static void test_start_not_seen(void **state)
{
    struct world w;

    (void)state;
    hints[0].is.number = 1;
    world_init(&w, 3, 4);
    w.settings.overlay = &overlay;
    world_begin_engine();
    world_run(100);
    hints[0].is.number = 2;
    world_run(100);
    check(2, -1, -1);
    world_release();
}

/* The keys of another source are forgotten. */
static void test_forgotten(void **state)
{
    struct world w;

    (void)state;
    begin(&w);
    place(&w);
    world_run(100);
    check(1, 7, 25);
    w.settings.source = "another";
    world_restart();
    world_run(100);
    hints[0].is.number = 2;
    world_run(100);
    check(2, -1, -1);
    world_release();
}

/* ---- retention --------------------------------------------------------------------------------- */

/* The knowledge piece alone: the VM is seen off, the retention is applied, and the VM is seen running. The
 * key that it has then, while its present one is 2; 0: it keeps none. */
static double key_after(instant_s seen, instant_s ended_before, bool stored_between)
{
    const struct knowledge_ops *ops = &start_keys_ops;
    struct attribute hint = NUMBER("key.ROLE", 1);
    struct host host = {0};
    struct vm vm = {.is = {.id = starter, .state = VM_OFF, .hints = {&hint, 1}}, .host = IX_NONE};
    struct snapshot s = {.time = seen, .vms = &vm, .n_vms = 1, .hosts = &host, .n_hosts = 1};
    struct seen_vm now = {.is = {.id = starter, .state = VM_ON, .hints = {&hint, 1}}};
    struct inventory inv = {.vms = &now, .n_vms = 1};
    struct arena a = {0};
    void *piece = knowledge_piece_new(ops);

    ops->observe(piece, NULL, &s, &a);
    knowledge_piece_stored(ops, piece);
    ops->forget(piece, &(struct retention){.ended_before = ended_before}, seen);
    if (stored_between)
        knowledge_piece_stored(ops, piece);
    vm.is.state = VM_ON;
    vm.host = 0;
    ops->observe(piece, NULL, &s, &a);
    knowledge_piece_stored(ops, piece);
    hint.is.number = 2;
    ops->fill(piece, NULL, &inv, &a);
    double key = now.is.hints.n == 1 ? now.is.hints.items[0].is.number : -1;
    knowledge_piece_free(ops, piece);
    arena_release(&a);
    return key == 2 ? 0 : key;
}

static void test_retention(void **state)
{
    (void)state;
    assert_float_equal(key_after(1000, 500, true), 1, 0);   /* seen since, if only off */
    assert_float_equal(key_after(1000, 2000, true), 0, 0);  /* gone for long */
    assert_float_equal(key_after(1000, 2000, false), 1, 0); /* back before the store has dropped it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_start_to_stop), cmocka_unit_test(test_restart),
        cmocka_unit_test(test_start_not_seen),     cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_retention),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
