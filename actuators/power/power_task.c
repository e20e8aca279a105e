/* power_task.c: writes the state of a power operation into its task's name, and reads it back. */
#include "actuators/power/power_task.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char mark[] = "p1 ";
enum {
    ACCEPTED = 1,
    REPLY_LOST = 2,
    CONTROLLERS_DISAGREE = 4,
    ASKED_AGAIN = 8,
    ANSWERED_LAST = 16,
    TOLD = 16 * ANSWERED_LAST,
    LOOKS = 2 * TOLD,
    LOOKS_END = LOOKS * (POWER_LOOKS_MAX + 1),
    MAY_HAVE_ACTED = 1 << 24,
    SETTINGS_SHIFT = 24 + WAKE_METHODS,
    LIFE_SHIFT = SETTINGS_SHIFT + 16,
    MARKS_BITS = LIFE_SHIFT + 16
};

_Static_assert((int)LOOKS_END <= (int)MAY_HAVE_ACTED, "the marks overlap");

#define METHODS_MAX 16u

static const char phases[] = {PHASE_TELL,  PHASE_TOLD,  PHASE_ASK, PHASE_ASKED,
                              PHASE_RISEN, PHASE_INNER, PHASE_CUT, PHASE_CUT_ASKED};

bool power_task_is(const char *task)
{
    return task && strncmp(task, mark, strlen(mark)) == 0;
}

int power_task_read(const char *task, struct power_task *ret, struct err *err)
{
    struct power_task c = {0};
    char phase = 0;
    uint64_t marks = 0;
    int len = 0;
    int at = 0;

    if (!power_task_is(task) ||
        sscanf(task, "p1 %c %u %" SCNu64 " %" SCNd64 " %" SCNd64 " %d:%n", &phase, &c.method, &marks,
               &c.began, &c.since, &len, &at) != 6 ||
        at == 0 || !memchr(phases, phase, sizeof phases) || c.method >= METHODS_MAX || marks >> MARKS_BITS ||
        marks % MAY_HAVE_ACTED >= LOOKS_END || len < 0 || len > ENTRY_NAME_MAX ||
        strlen(task + at) < (size_t)len)
        return err_set(err, -EINVAL, "\"%.80s\" is not the name of a task of hosts being switched", task);
    memcpy(c.entry, task + at, (size_t)len);
    const char *rest = task + at + len;

    if (rest[0] == ' ')
        (void)snprintf(c.inner, sizeof c.inner, "%s", rest + 1);
    c.phase = (enum phase)phase;
    c.accepted = marks & ACCEPTED;
    c.reply_lost = marks & REPLY_LOST;
    c.controllers_disagree = marks & CONTROLLERS_DISAGREE;
    c.asked_again = marks & ASKED_AGAIN;
    c.told = marks & TOLD;
    c.looks = (unsigned)(marks % MAY_HAVE_ACTED / LOOKS);
    c.answered_last = marks / ANSWERED_LAST % METHODS_MAX;
    c.may_have_acted = marks / MAY_HAVE_ACTED % (1u << WAKE_METHODS);
    c.settings = marks >> SETTINGS_SHIFT & POWER_TASK_MARK_MAX;
    c.life = marks >> LIFE_SHIFT & POWER_TASK_MARK_MAX;
    *ret = c;
    return 0;
}

int power_task_write(const struct power_task *c, char ret[TASK_NAME_MAX], struct err *err)
{
    bool inner = (c->phase == PHASE_INNER || c->phase == PHASE_CUT || c->phase == PHASE_TELL ||
                  c->phase == PHASE_TOLD) &&
                 c->inner[0];
    uint64_t marks = (c->accepted ? ACCEPTED : 0) | (c->reply_lost ? REPLY_LOST : 0) |
                     (c->controllers_disagree ? CONTROLLERS_DISAGREE : 0) |
                     (c->asked_again ? ASKED_AGAIN : 0) | (c->told ? TOLD : 0) |
                     c->answered_last * ANSWERED_LAST | c->looks * LOOKS |
                     c->may_have_acted * MAY_HAVE_ACTED | (uint64_t)c->settings << SETTINGS_SHIFT |
                     (uint64_t)c->life << LIFE_SHIFT;
    int n = snprintf(ret, TASK_NAME_MAX, "p1 %c %u %" PRIu64 " %" PRId64 " %" PRId64 " %zu:%s%s%s",
                     (char)c->phase, c->method, marks, c->began, c->since, strlen(c->entry), c->entry,
                     inner ? " " : "", inner ? c->inner : "");

    if (n < 0 || n >= TASK_NAME_MAX)
        return err_set(err, -ENAMETOOLONG, "the hypervisor's name of its task is too long to be kept");
    return 0;
}
