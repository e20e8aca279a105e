/* The worker threads of actuators and of meters: neither delays the other. */
#include "unit.h"

#include "daemon/threads/actuator_workers.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_MS 60000

struct actuator {
    int unused;
};

static sem_t hold; /* meters called "slow" wait for it */
static atomic_int made, gone;

static int create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    (void)cfg, (void)err;
    *ret = calloc(1, sizeof **ret);
    (void)atomic_fetch_add(&made, 1);
    return *ret ? 0 : -ENOMEM;
}

static void destroy(struct actuator *x)
{
    free(x);
    (void)atomic_fetch_add(&gone, 1);
}

static int check(struct actuator *x, const struct operation *request, struct err *err)
{
    (void)x, (void)err;
    return strcmp(request->host, "h") == 0 ? 0 : -ENOENT;
}

static int measure(struct actuator *x, const struct measurement *request, double *ret_w, struct err *err)
{
    (void)x;
    if (strcmp(request->host, "slow") == 0)
        (void)sem_wait(&hold);
    if (strcmp(request->host, "none") == 0)
        return err_set(err, -ENOTSUP, "no meter");
    *ret_w = 123;
    return 0;
}

static _Atomic instant_s started_at; /* by the last of several threads */
static atomic_bool was_proven;

static int start_slowly(struct actuator *x, const struct operation *request, char ret_task[TASK_NAME_MAX],
                        struct err *err)
{
    (void)x, (void)err;
    atomic_store(&started_at, request->power.now);
    atomic_store(&was_proven, request->power.proven_empty);
    (void)sem_wait(&hold);
    ret_task[0] = '\0';
    return 0;
}

static const struct actuator_ops slow_power = {.kind = "test",
                                               .create = create,
                                               .check = check,
                                               .start = start_slowly,
                                               .power_may_block = true,
                                               .destroy = destroy};
static const struct actuator_ops with_meters = {
    .kind = "test", .create = create, .check = check, .measure = measure, .destroy = destroy};
static const struct actuator_ops without = {
    .kind = "test", .create = create, .check = check, .destroy = destroy};

static struct news *next_news(struct queue *q)
{
    struct pollfd fd = {.fd = q->fd, .events = POLLIN};
    struct news *n = NULL;

    while (!(n = (struct news *)queue_pop(q)))
        assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
    return n;
}

static void start(const struct actuator_ops *ops, struct queue *news, struct actuators **ret)
{
    static const struct source_config cfg;
    struct err err = {0};

    assert_int_equal(queue_init(news, false), 0);
    assert_int_equal(actuator_workers_start(ops, &cfg, news, ret, &err), 0);
}

static int ask_meter(struct actuators *h, uint64_t id, const char *host)
{
    const struct job job = {.kind = JOB_MEASURE, .id = id, .measure = {.host = host}};
    struct err err = {0};

    return actuator_workers_port.submit(h, &job, &err);
}

static void stop(struct actuators *h, struct queue *news)
{
    assert_int_equal(actuator_workers_stop(h, time(NULL) + PATIENCE_MS / 1000), 0);
    actuator_workers_free(h);
    queue_release(news, thread_results_free);
    assert_int_equal(atomic_load(&made), atomic_load(&gone));
}

/* All that may be asked at a time hang; jobs of other kinds are carried out all the same. Then they come to
 * an end. */
static void test_meters_hang(void **state)
{
    const struct job job = {.kind = JOB_CHECK, .id = 7, .operation = {.uid = "u", .host = "h"}};
    struct queue news;
    struct actuators *h;
    struct err err = {0};
    unsigned seen = 0;

    (void)state;
    assert_int_equal(sem_init(&hold, 0, 0), 0);
    start(&with_meters, &news, &h);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(ask_meter(h, i, "slow"), 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(actuator_workers_port.submit(h, &job, &err), 0);
        struct news *n = next_news(&news);

        assert_int_equal(n->kind, NEWS_JOB_RESULT);
        assert_true(n->job->id == 7 && n->result.code == 0);
        thread_results_free(&n->item);
    }
    for (int i = 0; i < 4; i++)
        (void)sem_post(&hold);
    for (int i = 0; i < 4; i++) {
        struct news *n = next_news(&news);

        assert_int_equal(n->job->kind, JOB_MEASURE);
        assert_string_equal(n->job->measure.host, "slow");
        assert_true(n->result.code == 0 && n->result.watts > 122 && n->result.watts < 124);
        seen |= 1u << n->job->id;
        thread_results_free(&n->item);
    }
    assert_int_equal(seen, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
    stop(h, &news);
    (void)sem_destroy(&hold);
}

static void test_answers(void **state)
{
    struct queue news;
    struct actuators *h;

    (void)state;
    start(&with_meters, &news, &h);
    assert_int_equal(ask_meter(h, 9, "none"), 0);
    struct news *n = next_news(&news);

    assert_int_equal(n->result.code, -ENOTSUP);
    assert_int_equal(n->job->id, 9);
    thread_results_free(&n->item);
    stop(h, &news);
}

/* Where there are no meters nobody waits for them, and none can be asked. */
static void test_without_meters(void **state)
{
    struct queue news;
    struct actuators *h;
    int before = atomic_load(&made);

    (void)state;
    start(&without, &news, &h);
    assert_int_equal(atomic_load(&made) - before, 4);
    assert_int_equal(ask_meter(h, 1, "h"), -ENOTSUP);
    stop(h, &news);
    start(NULL, &news, &h);
    assert_int_equal(ask_meter(h, 1, "h"), -ENOTSUP);
    stop(h, &news);
}

/* What waited for a thread is told how late it is by then. */
static void test_waits_for_a_thread(void **state)
{
    enum { SWITCHERS = 8, LATE_S = 2 };
    const struct timespec late = {.tv_sec = LATE_S, .tv_nsec = 100000000};
    const struct job job = {.kind = JOB_START,
                            .id = 7,
                            .operation = {.uid = "u",
                                          .kind = OPERATION_STANDBY,
                                          .host = "h",
                                          .power = {.now = 1000, .proven_empty = true}}};
    struct queue news;
    struct actuators *h;
    struct err err = {0};

    (void)state;
    assert_int_equal(sem_init(&hold, 0, 0), 0);
    start(&slow_power, &news, &h);
    for (int i = 0; i < SWITCHERS + 1; i++)
        assert_int_equal(actuator_workers_port.submit(h, &job, &err), 0);
    (void)nanosleep(&late, NULL);
    for (int i = 0; i < SWITCHERS; i++)
        (void)sem_post(&hold);
    for (int i = 0; i < SWITCHERS; i++)
        thread_results_free(&next_news(&news)->item);
    (void)sem_post(&hold);
    thread_results_free(&next_news(&news)->item); /* the last one began when another was over */
    assert_true(atomic_load(&started_at) >= 1000 + LATE_S && atomic_load(&started_at) < 1000 + LATE_S + 30);
    assert_true(atomic_load(&was_proven));
    stop(h, &news);
    (void)sem_destroy(&hold);
}

static int create_never(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    (void)cfg, (void)ret;
    return err_set(err, -EINVAL, "the configuration is wrong");
}

static const struct actuator_ops broken = {
    .kind = "test", .create = create_never, .check = check, .measure = measure, .destroy = destroy};

/* Functions that come with a reload: what is under way ends as it began, what comes is theirs, with threads
 * that there were none of; and where none can be made of them, the old ones stay. */
static void test_change(void **state)
{
    static const struct source_config other;
    const struct job job = {.kind = JOB_CHECK, .id = 7, .operation = {.uid = "u", .host = "h"}};
    struct queue news;
    struct actuators *h;
    struct err err = {0};

    (void)state;
    assert_int_equal(sem_init(&hold, 0, 0), 0);
    start(&without, &news, &h);
    assert_int_equal(actuator_workers_change(h, &broken, &other, &err), -EINVAL);
    assert_int_equal(ask_meter(h, 1, "h"), -ENOTSUP);
    int before = atomic_load(&made);

    assert_int_equal(actuator_workers_change(h, &with_meters, &other, &err), 0);
    assert_int_equal(atomic_load(&made) - before, 4);
    assert_int_equal(ask_meter(h, 1, "slow"), 0); /* under way */
    assert_int_equal(actuator_workers_port.submit(h, &job, &err), 0);
    struct news *n = next_news(&news);

    assert_int_equal(n->result.code, 0);
    assert_int_equal(atomic_load(&made) - before, 5); /* one worker's is made anew */
    thread_results_free(&n->item);
    assert_int_equal(actuator_workers_change(h, &broken, &other, &err), 0); /* its threads run already */
    assert_int_equal(actuator_workers_port.submit(h, &job, &err), 0);
    n = next_news(&news);
    assert_true(n->kind == NEWS_JOB_RESULT && n->job->id == 7 && n->result.code == -EINVAL);
    assert_string_equal(n->result.err.text, "the configuration is wrong");
    thread_results_free(&n->item);
    (void)sem_post(&hold);
    n = next_news(&news);
    assert_true(n->job->kind == JOB_MEASURE && n->result.code == 0);
    thread_results_free(&n->item);
    assert_int_equal(actuator_workers_change(h, NULL, &other, &err), 0);
    assert_int_equal(actuator_workers_port.submit(h, &job, &err), -ENOTSUP);
    stop(h, &news);
    (void)sem_destroy(&hold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meters_hang),    cmocka_unit_test(test_answers),
        cmocka_unit_test(test_without_meters), cmocka_unit_test(test_waits_for_a_thread),
        cmocka_unit_test(test_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
