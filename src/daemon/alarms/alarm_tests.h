/* alarm_tests.h: tests of targets that clients wait for. All zero: none. */
#ifndef BALLAST_DAEMON_ALARMS_ALARM_TESTS_H
#define BALLAST_DAEMON_ALARMS_ALARM_TESTS_H

#include "alarm/attempt.h"

#include <stdbool.h>

#define ALARM_TESTS_MAX 16

struct alarm_tests {
    struct alarm_test {
        uint64_t ticket; /* 0: free */
        bool done;
        struct alarm_answer answer;
    } list[ALARM_TESTS_MAX];
    uint64_t next; /* number of the last test */
};

/* A ticket for a new test, 0: too many are under way. */
uint64_t alarm_tests_begin(struct alarm_tests *tests);
bool alarm_tests_owns(uint64_t ticket);

void alarm_tests_take(struct alarm_tests *tests, uint64_t ticket, const struct alarm_answer *answer);

/* -EINPROGRESS; -ENOENT. Else its answer's code, and the answer as *text. */
int alarm_tests_result(const struct alarm_tests *tests, uint64_t ticket, struct err *text);
void alarm_tests_release(struct alarm_tests *tests, uint64_t ticket);

#endif
