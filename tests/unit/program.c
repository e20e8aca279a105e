/* A program that hangs, floods, fails, vanishes or does not exist ends in time, and its output is bounded.
 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LONG_US INT64_C(60000000)
#define SHORT_US INT64_C(300000)

static int run(const char *script, const void *input, size_t len, size_t most, int64_t us,
               const atomic_bool *stop, struct program_result *ret)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const struct program p = {.argv = argv,
                              .input = input,
                              .input_len = len,
                              .output_max = most,
                              .deadline_us = clock_us(CLOCK_MONOTONIC) + us,
                              .stop = stop};

    return program_run(&p, ret);
}

static void test_what_it_reads_and_says(void **state)
{
    static char input[300000]; /* more than a pipe takes */
    struct program_result r;

    (void)state;
    memset(input, 'x', sizeof input);
    assert_int_equal(run("wc -c; echo first >&2; printf ' last\\001one\\n\\n' >&2; exit 7", input,
                         sizeof input, 100, LONG_US, NULL, &r),
                     0);
    char line[PROGRAM_LINE_MAX];

    assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 7);
    assert_int_equal(strtol(r.output.text, NULL, 10), sizeof input);
    program_last_line(&r.errors, line, sizeof line);
    assert_string_equal(line, " last one");
    program_result_release(&r);
    /* it need not read */
    assert_int_equal(run("exit 0", input, sizeof input, 0, LONG_US, NULL, &r), 0);
    assert_true(r.status == 0 && r.output.len == 0);
    program_result_release(&r);
}

static void test_floods(void **state)
{
    struct program_result r;

    (void)state;
    assert_int_equal(run("yes & yes >&2", NULL, 0, 1000, SHORT_US, NULL, &r), -ETIMEDOUT);
    assert_true(r.output.overflow && r.output.len <= 1000);
    assert_true(r.errors.len <= PROGRAM_ERRORS_MAX && r.errors.len > 0);
    program_result_release(&r);
}

static void test_ends_in_time(void **state)
{
    atomic_bool stop = true;
    struct program_result r;
    int64_t begun = clock_us(CLOCK_MONOTONIC);

    (void)state;
    assert_int_equal(run("trap '' TERM; sleep 60 & wait", NULL, 0, 0, SHORT_US, NULL, &r), -ETIMEDOUT);
    assert_true(WIFSIGNALED(r.status));
    program_result_release(&r);
    assert_int_equal(run("sleep 60", NULL, 0, 0, LONG_US, &stop, &r), -ECANCELED);
    program_result_release(&r);
    /* a process left in the background, with the pipes open, is not waited for */
    assert_int_equal(run("sleep 2 & exit 3", NULL, 0, 100, LONG_US, NULL, &r), 0);
    assert_int_equal(WEXITSTATUS(r.status), 3);
    program_result_release(&r);
    assert_true(clock_us(CLOCK_MONOTONIC) - begun < LONG_US);
}

static void test_not_started(void **state)
{
    static const char *const argv[] = {"/nonexistent/program", NULL};
    static const char *const folder[] = {"/", NULL};
    struct program_result r;

    (void)state;
    assert_int_equal(program_run(&(struct program){.argv = argv, .deadline_us = INT64_MAX}, &r), -ENOENT);
    program_result_release(&r);
    assert_int_equal(program_run(&(struct program){.argv = folder, .deadline_us = INT64_MAX}, &r), -EACCES);
    program_result_release(&r);
}

/* A line that is too long ends with a whole letter. */
static void test_last_line(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
    char line[8];

    (void)state;
    strbuf_puts(&text, "first\n\xc3\xa4\xe2\x82\xac\n\n");
    for (size_t size = 1; size <= 6; size++) {
        program_last_line(&text, line, size);
        assert_string_equal(line, size < 3 ? "" : size < 6 ? "\xc3\xa4" : "\xc3\xa4\xe2\x82\xac");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_it_reads_and_says),
                                       cmocka_unit_test(test_floods), cmocka_unit_test(test_ends_in_time),
                                       cmocka_unit_test(test_not_started), cmocka_unit_test(test_last_line)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
