/* Passwords that a controller refuses: how often they are sent, by wakes, readings of the chassis and meters,
 * and by all workers together. */
#include "power_world.h"

#include "base/cleanup.h"
#include "net/http.h"
#include "net/login_guards.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MINUTE_MS INT64_C(60000)

static void begin_guarded(struct actuators_world *w, const char *order, enum operation_kind operation)
{
    begin(w, order, operation, false);
    clock_is_ms = 0;
    w->setup.logins = login_guards_new();
    w->host.ipmi.address = "10.0.0.5";
    w->host.ipmi.username = "admin";
    w->host.ipmi.password = "old";
    w->host.redfish.url = "https://10.0.0.5";
    w->host.redfish.username = "admin";
    w->host.redfish.password = "old";
}

static void end_guarded(struct actuators_world *w)
{
    login_guards_free(w->setup.logins);
    end(w);
}

static int count(const char *what)
{
    int n = 0;

    for (const char *c = asked; (c = strstr(c, what)); c++)
        n++;
    return n;
}

static int measured(struct actuators_world *w, struct err *err)
{
    double watts = 0;

    *err = (struct err){0};
    return w->ops.measure(w->x, &(struct measurement){.host = "host-1", .host_name = "esx1"}, &watts, err);
}

/* The meter is asked every minute for four hours: each pause is twice as long, up to 15 min. */
static void test_meter(void **state)
{
    struct actuators_world w;
    struct err err = {0};
    int sent = 0;

    (void)state;
    begin_guarded(&w, "i", OPERATION_WAKE);
    fakes[POWER_IPMI].watts = -EACCES;
    for (int minute = 0; minute < 240; minute++) {
        assert_int_equal(measured(&w, &err), -EACCES);
        sent += strstr(err.text, "has no figure") != NULL; /* the controller's own words */
        clock_is_ms += MINUTE_MS;
    }
    assert_int_equal(sent, 4 + (240 - 15) / 15 + 0);
    assert_non_null(strstr(err.text, "ipmi admin@10.0.0.5: the password was refused"));
    assert_null(strstr(err.text, "old")); /* no secret */
    end_guarded(&w);
}

/* What the meter learned holds for the wake: it goes to the next method at once, and says why. */
static void test_wake_after_meter(void **state)
{
    struct actuators_world w;
    struct err err = {0};

    (void)state;
    begin_guarded(&w, "ir", OPERATION_WAKE);
    fakes[POWER_IPMI].watts = -EACCES;
    fakes[POWER_REDFISH].watts = -ENOTSUP;
    assert_int_equal(measured(&w, &err), -EACCES);
    start(&w);
    (void)run_until(&w, 60);
    assert_int_equal(count("ipmi.wake"), 0);
    assert_int_equal(count("redfish.wake"), 1);
    assert_non_null(strstr(w.why, "the next try is in 60 s"));
    end_guarded(&w);
}

/* Another password is sent at once, a key that the controller wants beside it is part of it, and so is the
 * same password after a reload. */
static void test_at_once(void **state)
{
    struct actuators_world w;
    struct err err = {0};
    struct login_pause *list;
    CLEANUP(arena_releasep) struct arena a = {0};

    (void)state;
    begin_guarded(&w, "i", OPERATION_WAKE);
    fakes[POWER_IPMI].watts = -EACCES;
    assert_int_equal(measured(&w, &err), -EACCES);
    fakes[POWER_IPMI].watts = 0;
    assert_int_equal(measured(&w, &err), -EACCES); /* not asked */
    assert_int_equal(login_guards_paused(w.setup.logins, clock_is_ms, &a, &list), 1);
    assert_string_equal(list[0].account, "ipmi admin@10.0.0.5");
    assert_int_equal(list[0].left_s, 60);
    w.host.ipmi.password = "new";
    assert_int_equal(measured(&w, &err), 0);
    assert_int_equal(login_guards_paused(w.setup.logins, clock_is_ms, &a, &list), 0);
    fakes[POWER_IPMI].watts = -EACCES;
    assert_int_equal(measured(&w, &err), -EACCES);
    fakes[POWER_IPMI].watts = 0;
    assert_int_equal(measured(&w, &err), -EACCES);
    w.host.ipmi.k_g = "key";
    assert_int_equal(measured(&w, &err), 0);
    fakes[POWER_IPMI].watts = -EACCES;
    assert_int_equal(measured(&w, &err), -EACCES);
    fakes[POWER_IPMI].watts = 0;
    assert_int_equal(measured(&w, &err), -EACCES);
    login_guards_forget(w.setup.logins);
    assert_int_equal(measured(&w, &err), 0);
    end_guarded(&w);
}

/* Only a refusal counts: a controller that is silent, busy or answers nonsense is asked again. */
static void test_other_errors(void **state)
{
    static const int codes[] = {-ETIMEDOUT, -EBUSY, -EPROTO, -ECONNREFUSED, -EPERM};
    struct actuators_world w;
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(codes); i++) {
        begin_guarded(&w, "i", OPERATION_WAKE);
        fakes[POWER_IPMI].watts = codes[i];
        assert_int_equal(measured(&w, &err), codes[i]);
        fakes[POWER_IPMI].watts = 0;
        assert_int_equal(measured(&w, &err), 0);
        end_guarded(&w);
    }
}

/* Before a standby the chassis is read: a controller that refuses the login keeps the host on, and hears of
 * it once. */
static void test_check(void **state)
{
    struct actuators_world w;
    struct err err = {0};

    (void)state;
    begin_guarded(&w, "i", OPERATION_STANDBY);
    fakes[POWER_IPMI].chassis = -EACCES;
    assert_int_equal(w.ops.check(w.x, &w.q, &err), -EACCES);
    assert_non_null(strstr(err.text, "is deaf"));
    fakes[POWER_IPMI].chassis = 0;
    for (int i = 0; i < 20; i++)
        assert_int_equal(w.ops.check(w.x, &w.q, &err), -EACCES);
    assert_null(strstr(err.text, "is deaf"));
    clock_is_ms += MINUTE_MS;
    assert_int_equal(w.ops.check(w.x, &w.q, &err), 0);
    end_guarded(&w);
}

/* ---- several threads -------------------------------------------------------------------------- */

#define THREADS 8

static atomic_int sent_together;
static int answers_with;

static int slow_watts(struct power_method *m, double *ret, struct err *err)
{
    (void)m;
    atomic_fetch_add(&sent_together, 1);
    (void)usleep(50000);
    *ret = 100;
    return answers_with < 0 ? err_set(err, answers_with, "no") : 0;
}

static int64_t still(void)
{
    return 0;
}

static void *one_worker(void *arg)
{
    struct actuators_world *w = arg;
    struct actuator *x = NULL;
    struct err err = {0};
    double watts = 0;

    if (w->ops.create(&w->cfg, &x, &err) < 0)
        return NULL;
    (void)w->ops.measure(x, &(struct measurement){.host = "host-1", .host_name = "esx1"}, &watts, &err);
    w->ops.destroy(x);
    return NULL;
}

static int sent_by_all(struct actuators_world *w)
{
    pthread_t threads[THREADS];

    atomic_store(&sent_together, 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, one_worker, w), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    return atomic_load(&sent_together);
}

/* Of workers that begin at the same moment only one sends a wrong password. One that was accepted is sent by
 * all of them together: none waits for a slow answer to another. */
static void test_threads(void **state)
{
    struct actuators_world w;
    struct power_method_ops slow = fake_ipmi;

    (void)state;
    slow.watts = slow_watts;
    begin_guarded(&w, "i", OPERATION_WAKE);
    w.setup.methods[POWER_IPMI] = &slow;
    w.setup.clock_ms = still;
    answers_with = -EACCES;
    assert_int_equal(sent_by_all(&w), 1);
    w.host.ipmi.password = "new";
    answers_with = 0;
    assert_int_equal(sent_by_all(&w), THREADS);
    int64_t began_ms = net_now_ms();

    assert_int_equal(sent_by_all(&w), THREADS);
    assert_true(net_now_ms() - began_ms < THREADS * 50); /* not one after the other */
    end_guarded(&w);
}

/* The console never makes the first try with a password, and pauses on its own: a wake is not delayed by it.
 */
static void test_console(void **state)
{
    struct actuators_world w;
    struct err err = {0};
    int opened = 0;

    (void)state;
    begin_guarded(&w, "i", OPERATION_WAKE);
    assert_int_equal(power_console_begin(&w.setup, &w.host, &err), -EAGAIN);
    fakes[POWER_IPMI].watts = -EACCES;
    assert_int_equal(measured(&w, &err), -EACCES);
    assert_int_equal(power_console_begin(&w.setup, &w.host, &err), -EAGAIN);
    assert_non_null(strstr(err.text, "once an IPMI login at 10.0.0.5 has worked"));
    clock_is_ms += MINUTE_MS;
    fakes[POWER_IPMI].watts = 0;
    assert_int_equal(measured(&w, &err), 0);
    for (int second = 0; second < 1800; second += 15) { /* the console is refused, though IPMI is not */
        int r = power_console_begin(&w.setup, &w.host, &err);

        assert_true(r == 0 || r == -EACCES);
        assert_null(strstr(err.text, "old"));
        assert_true(r == 0 || strstr(err.text, "console admin@10.0.0.5: the password was refused"));
        opened += r == 0;
        if (r == 0)
            power_console_result(&w.setup, &w.host, -EACCES);
        assert_int_equal(measured(&w, &err), 0);
        clock_is_ms += 15000;
    }
    assert_int_equal(opened, 5); /* at 0, 60, 180, 420, 900 s */
    clock_is_ms += 15 * MINUTE_MS;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(power_console_begin(&w.setup, &w.host, &err), 0);
        power_console_result(&w.setup, &w.host, i == 0 ? -EPIPE : 0);
    }
    w.host.n_sequence = 0; /* only the console uses IPMI: it has to try by itself */
    w.host.ipmi.password = "new";
    assert_int_equal(power_console_begin(&w.setup, &w.host, &err), 0);
    end_guarded(&w);
}

/* Entries of a multi-node chassis share one guard however its address is written. */
static void test_one_way_of_writing(void **state)
{
    static const char *const same[] = {"https://BMC.example", "https://bmc.example/",
                                       "https://bmc.example:443/redfish/v1"};
    struct actuators_world w;
    struct err err = {0};
    int sent = 0;

    (void)state;
    begin_guarded(&w, "r", OPERATION_WAKE);
    fakes[POWER_REDFISH].watts = -EACCES;
    for (size_t i = 0; i < ELEMENTS(same); i++) {
        w.host.redfish.url = same[i];
        assert_int_equal(measured(&w, &err), -EACCES);
        sent += strstr(err.text, "has no figure") != NULL;
    }
    assert_int_equal(sent, 1);
    assert_non_null(strstr(err.text, "redfish admin@bmc.example: the password was refused"));
    end_guarded(&w);
}

/* A host without an IPMI controller has no console, whatever power.defaults says of consoles. */
static void test_no_console(void **state)
{
    struct actuators_world w;
    struct err err = {0};

    (void)state;
    begin_guarded(&w, "r", OPERATION_WAKE);
    w.host.ipmi.console = true;
    w.host.ipmi.address = NULL;
    assert_int_equal(power_console_begin(&w.setup, &w.host, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "has no IPMI controller"));
    end_guarded(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meter),      cmocka_unit_test(test_wake_after_meter),
        cmocka_unit_test(test_at_once),    cmocka_unit_test(test_other_errors),
        cmocka_unit_test(test_check),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_console),    cmocka_unit_test(test_one_way_of_writing),
        cmocka_unit_test(test_no_console),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
