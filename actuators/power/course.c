#include "actuators/power/course.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char mark[] = "p1 ";
enum { HOPE = 1, DOUBT = 2, SPLIT = 4, TELLER = 16, MARKS_MAX = 16 * TELLER };

#define METHODS_MAX 16u

static const char phases[] = {PHASE_ASK, PHASE_ASKED, PHASE_RISEN, PHASE_INNER, PHASE_CUT, PHASE_CUT_ASKED};

bool course_is(const char *task)
{
    return task && strncmp(task, mark, strlen(mark)) == 0;
}

int course_read(const char *task, struct course *ret, struct err *err)
{
    struct course c = {0};
    char phase = 0;
    unsigned marks = 0;
    int len = 0;
    int at = 0;

    if (!course_is(task) ||
        sscanf(task, "p1 %c %u %u %" SCNd64 " %" SCNd64 " %d:%n", &phase, &c.method, &marks, &c.began,
               &c.since, &len, &at) != 6 ||
        at == 0 || !memchr(phases, phase, sizeof phases) || c.method >= METHODS_MAX || marks >= MARKS_MAX ||
        len < 0 || len > ENTRY_NAME_MAX || strlen(task + at) < (size_t)len)
        return err_set(err, -EINVAL, "\"%.80s\" is not the name of a task of hosts being switched", task);
    memcpy(c.entry, task + at, (size_t)len);
    const char *rest = task + at + len;

    if (rest[0] == ' ')
        (void)snprintf(c.inner, sizeof c.inner, "%s", rest + 1);
    c.phase = (enum phase)phase;
    c.hope = marks & HOPE;
    c.doubt = marks & DOUBT;
    c.split = marks & SPLIT;
    c.teller = marks / TELLER;
    *ret = c;
    return 0;
}

int course_write(const struct course *c, char ret[TASK_NAME_MAX], struct err *err)
{
    bool inner = (c->phase == PHASE_INNER || c->phase == PHASE_CUT) && c->inner[0];
    unsigned marks =
        (c->hope ? HOPE : 0) | (c->doubt ? DOUBT : 0) | (c->split ? SPLIT : 0) | c->teller * TELLER;
    int n = snprintf(ret, TASK_NAME_MAX, "p1 %c %u %u %" PRId64 " %" PRId64 " %zu:%s%s%s", (char)c->phase,
                     c->method, marks, c->began, c->since, strlen(c->entry), c->entry, inner ? " " : "",
                     inner ? c->inner : "");

    if (n < 0 || n >= TASK_NAME_MAX)
        return err_set(err, -ENAMETOOLONG, "the hypervisor's name of its task is too long to be kept");
    return 0;
}
