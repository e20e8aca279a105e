/* Work in a process of its own: its answer or its error come back, and it ends at once when it is not wanted
 * or takes too much. */
#include "unit.h"

#include "base/cleanup.h"
#include "daemon/clients/apart.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONG_ANSWER (3 * 1000 * 1000)

static int long_answer(const void *ctx, struct strbuf *out, struct err *err)
{
    (void)err;
    for (int i = 0; i < LONG_ANSWER; i++)
        strbuf_add(out, ctx, 1);
    return 0;
}

static int refuse(const void *ctx, struct strbuf *out, struct err *err)
{
    strbuf_puts(out, "half");
    return err_set(err, -EINVAL, "not %s", (const char *)ctx);
}

static int take_memory(const void *ctx, struct strbuf *out, struct err *err)
{
    const size_t piece = (size_t)64 << 20;

    (void)ctx, (void)out, (void)err;
    for (size_t i = 0; i < 2 * APART_MEMORY_MB / 64; i++) {
        char *p = malloc(piece);

        if (!p)
            abort(); /* as xalloc.h does */
        memset(p, 1, piece);
    }
    return 0;
}

static _Noreturn int hang(const void *ctx, struct strbuf *out, struct err *err)
{
    (void)ctx, (void)out, (void)err;
    for (;;)
        (void)pause();
}

static void test_answers(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    const atomic_bool stop = false;
    struct err err = {0};

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    assert_int_equal(apart_run(long_answer, "x", &stop, &out, &err), 0);
    assert_int_equal(out.len, LONG_ANSWER);
    assert_int_equal(strspn(out.text, "x"), LONG_ANSWER);
    assert_int_equal(apart_run(refuse, "that", &stop, &out, &err), -EINVAL);
    assert_string_equal(err.text, "not that");
}

static void test_too_much_memory(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    const atomic_bool stop = false;
    struct err err = {0};

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    assert_int_equal(apart_run(take_memory, NULL, &stop, &out, &err), -EUSERS);
    assert_non_null(strstr(err.text, "memory"));
}

static atomic_bool unwanted;

static void *cancel(void *ctx)
{
    (void)ctx;
    (void)usleep(100 * 1000);
    atomic_store(&unwanted, true);
    return NULL;
}

static void test_not_wanted(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    struct err err = {0};
    pthread_t thread;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    assert_int_equal(pthread_create(&thread, NULL, cancel, NULL), 0);
    assert_int_equal(apart_run(hang, NULL, &unwanted, &out, &err), -ECANCELED);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_too_much_memory),
        cmocka_unit_test(test_not_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
