/* The guard of a source's logins: pauses after refusals, another password at once, one login at a time. */
#include "unit.h"

#include "net/http.h"
#include "net/login_guard.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define MINUTE_MS INT64_C(60000)

static struct login_guard *make(void)
{
    return login_guard_new(false);
}

/* One login at `now`; returns what begin() returned, and the pause in *ret_s. */
static int try(struct login_guard *g, const char *password, bool right, int64_t now_ms, int64_t *ret_s)
{
    int r = login_guard_begin(g, password, now_ms, now_ms + 1000, NULL, ret_s);

    if (r == 0)
        *ret_s = login_guard_end(g, password, right, !right, now_ms);
    return r;
}

static void test_pauses_grow(void **state)
{
    static const int64_t minutes[] = {1, 2, 4, 8, 15, 15, 15};
    struct login_guard *g = make();
    int64_t now = 1000;
    int64_t s = 0;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(minutes); i++) {
        assert_int_equal(try(g, "old", false, now, &s), 0);
        assert_int_equal(s, minutes[i] * 60);
        assert_int_equal(try(g, "old", true, now + 500, &s), -EACCES);
        assert_int_equal(s, minutes[i] * 60);
        assert_int_equal(try(g, "old", true, now + minutes[i] * MINUTE_MS - 1, &s), -EACCES);
        assert_int_equal(s, 1);
        now += minutes[i] * MINUTE_MS;
    }
    login_guard_free(g);
}

static void test_another_password(void **state)
{
    struct login_guard *g = make();
    int64_t s = 0;

    (void)state;
    assert_int_equal(try(g, "old", false, 0, &s), 0);
    assert_int_equal(try(g, "wrong too", false, 1, &s), 0); /* another one, at once ... */
    assert_int_equal(s, 120);                               /* ... but guessing does not reset the pause */
    assert_int_equal(try(g, "new", true, 2, &s), 0);
    assert_int_equal(s, 0);
    assert_int_equal(try(g, "wrong too", false, 3, &s), 0); /* a login that worked forgets it all */
    assert_int_equal(s, 60);
    login_guard_free(g);
}

/* Neither accepted nor refused: the peer could not be reached, so nothing is known of the password. */
static void test_unreachable(void **state)
{
    struct login_guard *g = make();
    int64_t s = 0;

    (void)state;
    assert_int_equal(try(g, "old", false, 0, &s), 0);
    assert_int_equal(login_guard_begin(g, "old", MINUTE_MS, MINUTE_MS, NULL, &s), 0);
    assert_int_equal(login_guard_end(g, "old", false, false, MINUTE_MS), 0);
    assert_int_equal(try(g, "old", false, MINUTE_MS, &s), 0);
    assert_int_equal(s, 120);
    login_guard_free(g);
}

#define THREADS 5

struct crowd {
    struct login_guard *g;
    atomic_int sent, refused;
};

static void *log_in(void *arg)
{
    struct crowd *c = arg;
    int64_t left = 0;
    int64_t now = net_now_ms();
    int r = login_guard_begin(c->g, "wrong", now, now + 60000, NULL, &left);

    if (r == 0) {
        atomic_fetch_add(&c->sent, 1);
        (void)usleep(50000);
        (void)login_guard_end(c->g, "wrong", false, true, net_now_ms());
    } else if (r == -EACCES) {
        atomic_fetch_add(&c->refused, 1);
    }
    return NULL;
}

/* Collector and workers at once send one wrong password, not five. */
static void test_at_once(void **state)
{
    struct crowd c = {.g = make()};
    pthread_t threads[THREADS];

    (void)state;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_in, &c), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&c.sent), 1);
    assert_int_equal(atomic_load(&c.refused), THREADS - 1);
    login_guard_free(c.g);
}

/* A login that hangs holds the others no longer than their own deadline, or than the service runs. */
static void test_waiting_ends(void **state)
{
    struct login_guard *g = make();
    atomic_bool stop = true;
    int64_t left = 0;

    (void)state;
    assert_int_equal(login_guard_begin(g, "a", 0, 1000, NULL, &left), 0);
    assert_int_equal(login_guard_begin(g, "a", 0, 300, NULL, &left), -ETIMEDOUT);
    assert_int_equal(login_guard_begin(g, "a", 0, 60000, &stop, &left), -ECANCELED);
    assert_int_equal(login_guard_end(g, "a", true, false, 0), 0);
    login_guard_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pauses_grow),  cmocka_unit_test(test_another_password),
        cmocka_unit_test(test_unreachable),  cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_waiting_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
