/* Loops of a thread pool: each item once, whatever the numbers of threads and items, also in a loop within a
 * loop, from several threads, and where threads cannot begin. */
#include "unit.h"

#include "base/thread_pool.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define ITEMS_MAX 5000

static atomic_int creatable = INT32_MAX; /* so many more threads can be created */
static atomic_int created;

/* Replaces libc's in this program. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;

    if (atomic_fetch_sub(&creatable, 1) <= 0)
        return EAGAIN;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    atomic_fetch_add(&created, 1);
    return real(thread, attr, run, arg);
}

/* A loop that counts how often each item is worked on. */
struct count {
    struct thread_pool *pool; /* of the loop within the loop; NULL: none */
    uint32_t grain;
    pthread_t caller;
    atomic_uint largest, elsewhere; /* the largest part; parts in other threads */
    unsigned char of[ITEMS_MAX];
};

static void raise_to(atomic_uint *most, unsigned is)
{
    unsigned before = atomic_load(most);

    while (is > before && !atomic_compare_exchange_weak(most, &before, is))
        continue;
}

static void count_inner(void *arg, uint32_t begin, uint32_t end)
{
    unsigned char *of = arg;

    for (uint32_t i = begin; i < end; i++)
        of[i]++;
}

static void count_items(void *arg, uint32_t begin, uint32_t end)
{
    struct count *c = arg;

    raise_to(&c->largest, end - begin);
    if (!pthread_equal(pthread_self(), c->caller))
        atomic_fetch_add(&c->elsewhere, 1);
    if (c->pool)
        parallel_for(c->pool, end - begin, 1, count_inner, c->of + begin);
    else
        count_inner(c->of, begin, end);
}

static void count(struct thread_pool *pool, uint32_t n, uint32_t grain, bool nested, struct count *ret)
{
    *ret = (struct count){.pool = nested ? pool : NULL, .grain = grain, .caller = pthread_self()};
    parallel_for(pool, n, grain, count_items, ret);
    for (uint32_t i = 0; i < ITEMS_MAX; i++)
        assert_int_equal(ret->of[i], i < n ? 1 : 0);
}

static const struct {
    int64_t threads;
    uint32_t n, grain;
    bool nested;
} cases[] = {
    {1, 10, 1, false},          {2, 0, 1, false},  {2, 1, 1, false},  {2, ITEMS_MAX, 1, false},
    {2, ITEMS_MAX, 7, false},   {8, 3, 1, false},  {8, 100, 1, true}, {2, 64, 16, true},
    {3, ITEMS_MAX, 999, false}, {2, 10, 0, false}, {64, 2, 1, false}, {2, ITEMS_MAX, UINT32_MAX, false},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct thread_pool *pool = thread_pool_new(cases[i].threads);
        for (int again = 0; again < 20; again++) {
            struct count c;
            count(pool, cases[i].n, cases[i].grain, cases[i].nested, &c);
            if (pool && cases[i].n > cases[i].grain)
                assert_true(atomic_load(&c.largest) <= (cases[i].grain > 0 ? cases[i].grain : 1));
        }
        thread_pool_free(pool);
    }
}

static void test_no_pool(void **state)
{
    struct count c;

    (void)state;
    assert_null(thread_pool_new(1));
    assert_null(thread_pool_new(0));
    assert_null(thread_pool_new(-5));
    count(NULL, 100, 1, true, &c);
    thread_pool_free(NULL);
}

/* Waits until the other thread works, too. */
static void meet(void *arg, uint32_t begin, uint32_t end)
{
    atomic_int *waits = arg;

    (void)begin;
    (void)end;
    atomic_fetch_sub(waits, 1);
    while (atomic_load(waits) > 0)
        (void)sched_yield();
}

static void test_works_at_the_same_time(void **state)
{
    struct thread_pool *pool = thread_pool_new(2);

    (void)state;
    for (int i = 0; i < 100; i++) {
        atomic_int waits = 2;
        parallel_for(pool, 2, 1, meet, &waits);
    }
    thread_pool_free(pool);
}

static void test_begins_no_thread_without_use(void **state)
{
    struct thread_pool *pool = thread_pool_new(4);
    struct count c;
    int before = atomic_load(&created);

    (void)state;
    count(pool, 100, 100, false, &c);
    assert_int_equal(atomic_load(&created), before);
    count(pool, 100, 10, false, &c);
    count(pool, 100, 10, false, &c);
    assert_int_equal(atomic_load(&created), before + 3);
    thread_pool_free(pool);
}

static void test_threads_cannot_begin(void **state)
{
    (void)state;
    for (int possible = 0; possible < 3; possible++) {
        struct thread_pool *pool = thread_pool_new(4);
        struct count c;
        int before = atomic_load(&created);

        atomic_store(&creatable, possible);
        for (int again = 0; again < 3; again++)
            count(pool, ITEMS_MAX, 1, false, &c);
        assert_int_equal(atomic_load(&created), before + possible);
        if (possible == 0)
            assert_int_equal(atomic_load(&c.elsewhere), 0);
        thread_pool_free(pool);
        atomic_store(&creatable, INT32_MAX);
    }
}

static void *count_often(void *arg)
{
    struct count c;

    for (int i = 0; i < 200; i++)
        count(arg, 1000, 1 + (uint32_t)i % 50, false, &c);
    return NULL;
}

static void test_several_callers(void **state)
{
    struct thread_pool *pool = thread_pool_new(3);
    pthread_t callers[3];

    (void)state;
    for (size_t i = 0; i < ELEMENTS(callers); i++)
        assert_int_equal(pthread_create(&callers[i], NULL, count_often, pool), 0);
    for (size_t i = 0; i < ELEMENTS(callers); i++)
        (void)pthread_join(callers[i], NULL);
    thread_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_no_pool),
        cmocka_unit_test(test_works_at_the_same_time),
        cmocka_unit_test(test_begins_no_thread_without_use),
        cmocka_unit_test(test_threads_cannot_begin),
        cmocka_unit_test(test_several_callers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
