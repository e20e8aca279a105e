/* The objects of power methods between calls: one a host and method, renewed with the configuration, never
 * used by two threads. */
#include "unit.h"

#include "actuators/power/kept_methods.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct power_method {
    int number;
};

static atomic_int made, destroyed;
static atomic_bool broken;

static int make(const struct power_host *host, struct power_method **ret, struct err *err)
{
    (void)host;
    if (atomic_load(&broken))
        return err_set(err, -EINVAL, "broken");
    *ret = calloc(1, sizeof **ret);
    (*ret)->number = atomic_fetch_add(&made, 1) + 1;
    return 0;
}

static void destroy(struct power_method *m)
{
    atomic_fetch_add(&destroyed, 1);
    free(m);
}

static const struct power_method_ops one = {.create = make, .destroy = destroy};
static const struct power_method_ops other = {.create = make, .destroy = destroy};

static int number_of(struct kept_methods *k, const struct power_method_ops *ops, const struct power_host *h)
{
    struct power_method *m = NULL;
    struct err err;
    int r = kept_methods_take(k, ops, h, &m, &err);

    if (r < 0)
        return r;
    int number = m->number;
    kept_methods_give(k, ops, m);
    return number;
}

static int begin(void **state)
{
    (void)state;
    atomic_store(&made, 0);
    atomic_store(&destroyed, 0);
    atomic_store(&broken, false);
    return 0;
}

static void test_keeps(void **state)
{
    const struct power_host a = {.name = "a"}, b = {.name = "b"}, a_reloaded = {.name = "a"};
    struct kept_methods *k = kept_methods_new();

    (void)state;
    assert_int_equal(number_of(k, &one, &a), 1);
    assert_int_equal(number_of(k, &one, &b), 2);
    assert_int_equal(number_of(k, &other, &a), 3);
    assert_int_equal(number_of(k, &one, &a), 1);
    assert_int_equal(atomic_load(&destroyed), 0);
    assert_int_equal(number_of(k, &one, &a_reloaded), 4);
    assert_int_equal(atomic_load(&destroyed), 1);
    kept_methods_close(k); /* the service goes on */
    assert_int_equal(atomic_load(&destroyed), 1);
    kept_methods_free(k);
    assert_int_equal(atomic_load(&destroyed), 4);
    assert_int_equal(number_of(NULL, &one, &a), 5); /* for one call */
    assert_int_equal(atomic_load(&destroyed), 5);
}

/* An object that cannot be made is tried anew by the next call. */
static void test_cannot_be_made(void **state)
{
    const struct power_host a = {.name = "a"};
    struct kept_methods *k = kept_methods_new();

    (void)state;
    atomic_store(&broken, true);
    assert_int_equal(number_of(k, &one, &a), -EINVAL);
    atomic_store(&broken, false);
    assert_int_equal(number_of(k, &one, &a), 1);
    kept_methods_free(k);
    assert_int_equal(atomic_load(&destroyed), 1);
}

struct user {
    struct kept_methods *k;
    const struct power_host *host;
    atomic_int *inside;
    int worst;
};

static void *use_often(void *ctx)
{
    struct user *u = ctx;

    for (int i = 0; i < 200; i++) {
        struct power_method *m = NULL;
        struct err err;
        assert_int_equal(kept_methods_take(u->k, &one, u->host, &m, &err), 0);
        int inside = atomic_fetch_add(u->inside, 1) + 1;
        u->worst = inside > u->worst ? inside : u->worst;
        (void)usleep(20);
        atomic_fetch_sub(u->inside, 1);
        kept_methods_give(u->k, &one, m);
    }
    return NULL;
}

static void test_one_at_a_time(void **state)
{
    const struct power_host a = {.name = "a", .timeout_s = 60};
    struct kept_methods *k = kept_methods_new();
    atomic_int inside = 0;
    struct user users[4];
    pthread_t threads[ELEMENTS(users)];

    (void)state;
    for (size_t i = 0; i < ELEMENTS(users); i++) {
        users[i] = (struct user){k, &a, &inside, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, use_often, &users[i]), 0);
    }
    for (size_t i = 0; i < ELEMENTS(users); i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(users[i].worst, 1);
    }
    assert_int_equal(atomic_load(&made), 1);
    kept_methods_free(k);
}

/* While an object is in use, another call waits only so long, and not at all once the service stops; then
 * the object is closed as soon as it is given back. */
static void test_in_use(void **state)
{
    atomic_bool stop = false;
    const struct power_host a = {.name = "a", .timeout_s = 0, .stop = &stop};
    struct kept_methods *k = kept_methods_new();
    struct power_method *m = NULL, *second = NULL;
    struct err err;

    (void)state;
    assert_int_equal(kept_methods_take(k, &one, &a, &m, &err), 0);
    assert_int_equal(kept_methods_take(k, &one, &a, &second, &err), -EBUSY);
    atomic_store(&stop, true);
    assert_int_equal(kept_methods_take(k, &one, &a, &second, &err), -ECANCELED);
    kept_methods_close(k);
    assert_int_equal(atomic_load(&destroyed), 0);
    kept_methods_give(k, &one, m);
    kept_methods_close(k);
    assert_int_equal(atomic_load(&destroyed), 1);
    kept_methods_free(k);
    assert_int_equal(atomic_load(&destroyed), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_keeps, begin),
        cmocka_unit_test_setup(test_cannot_be_made, begin),
        cmocka_unit_test_setup(test_one_at_a_time, begin),
        cmocka_unit_test_setup(test_in_use, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
