/* alarm_tests.c: keeps the answers until clients have them. */
#include "daemon/alarms/alarm_tests.h"

#include <errno.h>

#define TICKET ((uint64_t)1 << 60)

static struct alarm_test *find(const struct alarm_tests *tests, uint64_t ticket)
{
    for (size_t i = 0; i < ALARM_TESTS_MAX; i++) {
        if (tests->list[i].ticket == ticket)
            return (struct alarm_test *)(uintptr_t)&tests->list[i];
    }
    return NULL;
}

uint64_t alarm_tests_begin(struct alarm_tests *tests)
{
    struct alarm_test *t = find(tests, 0);

    if (!t)
        return 0;
    *t = (struct alarm_test){.ticket = TICKET | ++tests->next};
    return t->ticket;
}

bool alarm_tests_owns(uint64_t ticket)
{
    return (ticket & ~(TICKET - 1)) == TICKET;
}

void alarm_tests_take(struct alarm_tests *tests, uint64_t ticket, const struct alarm_answer *answer)
{
    struct alarm_test *t = find(tests, ticket);

    if (!t)
        return;
    t->answer = *answer;
    t->done = true;
}

int alarm_tests_result(const struct alarm_tests *tests, uint64_t ticket, struct err *text)
{
    const struct alarm_test *t = find(tests, ticket);

    if (!t)
        return err_set(text, -ENOENT, "the result of the test is no longer kept");
    if (!t->done)
        return -EINPROGRESS;
    *text = t->answer.text;
    text->code = t->answer.code;
    return t->answer.code;
}

void alarm_tests_release(struct alarm_tests *tests, uint64_t ticket)
{
    struct alarm_test *t = find(tests, ticket);

    if (t)
        *t = (struct alarm_test){0};
}
