/* power_world.h: for the tests of actuators/power: a host, scripted power methods and a scripted actuator
 * of the source. */
#ifndef BALLAST_TESTS_UNIT_POWER_WORLD_H
#define BALLAST_TESTS_UNIT_POWER_WORLD_H

#include "unit.h"

#include "actuators/power/power.h"
#include "actuators/power/power_task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the methods do, and what was asked of them ------------------------------------------ */

struct fake {
    int wake, shut_down, cut, chassis, watts; /* what they answer */
    int identify;
    const char *uuid, *mark; /* of the controller; NULL: none */
    bool moves;              /* a call that is taken changes the chassis */
    bool hears;              /* and one whose answer is lost does, too */
    enum chassis says;       /* of the chassis, whatever it is; unknown: the truth */
};

static struct fake fakes[POWER_METHOD_COUNT];
static enum chassis chassis_is;
__attribute__((unused)) static unsigned chassis_reads;
static bool os_hangs; /* it does not go down when it is asked to */
static double watts_are;
static int64_t clock_is_ms, look_takes_ms, call_takes_ms, identify_takes_ms;
static char asked[512]; /* "ipmi.wake redfish.wake ..." */

static const char *const words[POWER_METHOD_COUNT] = {"hypervisor", "ipmi", "redfish", "wol"};

struct power_method {
    enum power_method_kind kind;
};

/* What happens right before each call of a method or of the source that an event may come before. */
static void (*before_call)(const char *what);

static void call(const char *what)
{
    if (before_call)
        before_call(what);
}

static void note(const char *who, const char *what)
{
    size_t n = strlen(asked);

    (void)snprintf(asked + n, sizeof asked - n, "%s%s.%s", n ? " " : "", who, what);
}

static int make(enum power_method_kind kind, struct power_method **ret)
{
    struct power_method *m = calloc(1, sizeof *m);

    m->kind = kind;
    *ret = m;
    return 0;
}

static int answer(const struct power_method *m, const char *what, int code, enum chassis then,
                  struct err *err)
{
    const struct fake *f = &fakes[m->kind];

    call(what);
    note(words[m->kind], what);
    clock_is_ms += call_takes_ms;
    if (f->moves && (code == 0 || f->hears))
        chassis_is = then;
    return code < 0 ? err_set(err, code, "%s says no to %s", words[m->kind], what) : 0;
}

static int fake_wake(struct power_method *m, struct err *err)
{
    return answer(m, "wake", fakes[m->kind].wake, CHASSIS_ON, err);
}

/* What identify() reported a moment ago comes with each request that ends a workload. */
static void check_only(const struct power_method *m, const struct controller_identity *only)
{
    const struct fake *f = &fakes[m->kind];

    assert_non_null(only);
    assert_string_equal(only->uuid, f->uuid ? f->uuid : "");
    assert_string_equal(only->mark, f->mark ? f->mark : "");
}

static int fake_shut_down(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    check_only(m, only);
    return answer(m, "down", fakes[m->kind].shut_down, os_hangs ? CHASSIS_ON : CHASSIS_OFF, err);
}

static int fake_cut(struct power_method *m, const struct controller_identity *only, struct err *err)
{
    check_only(m, only);
    return answer(m, "cut", fakes[m->kind].cut, CHASSIS_OFF, err);
}

static int fake_chassis(struct power_method *m, enum chassis *ret, struct err *err)
{
    call("chassis");
    clock_is_ms += look_takes_ms;
    chassis_reads++;
    if (fakes[m->kind].chassis < 0)
        return err_set(err, fakes[m->kind].chassis, "%s is deaf", words[m->kind]);
    *ret = fakes[m->kind].says != CHASSIS_UNKNOWN ? fakes[m->kind].says : chassis_is;
    return 0;
}

static int fake_watts(struct power_method *m, double *ret, struct err *err)
{
    if (fakes[m->kind].watts < 0)
        return err_set(err, fakes[m->kind].watts, "%s has no figure", words[m->kind]);
    *ret = watts_are;
    return 0;
}

static int fake_identify(struct power_method *m, struct controller_identity *ret, struct err *err)
{
    const struct fake *f = &fakes[m->kind];

    call("identify");
    clock_is_ms += identify_takes_ms;
    if (f->identify < 0)
        return err_set(err, f->identify, "%s is deaf", words[m->kind]);
    *ret = (struct controller_identity){0};
    (void)snprintf(ret->uuid, sizeof ret->uuid, "%s", f->uuid ? f->uuid : "");
    (void)snprintf(ret->mark, sizeof ret->mark, "%s", f->mark ? f->mark : "");
    return 0;
}

static void fake_destroy(struct power_method *m)
{
    free(m);
}

#define METHOD(name, KIND, CAN)                                                                              \
    static int name##_create(const struct power_host *host, struct power_method **ret, struct err *err)      \
    {                                                                                                        \
        (void)host, (void)err;                                                                               \
        return make(KIND, ret);                                                                              \
    }                                                                                                        \
    static const struct power_method_ops name = {.kind = (KIND),                                             \
                                                 .can = (CAN),                                               \
                                                 .create = name##_create,                                    \
                                                 .chassis = fake_chassis,                                    \
                                                 .wake = fake_wake,                                          \
                                                 .shut_down = fake_shut_down,                                \
                                                 .cut = fake_cut,                                            \
                                                 .watts = fake_watts,                                        \
                                                 .identify = fake_identify,                                  \
                                                 .destroy = fake_destroy};

#define ALL                                                                                                  \
    (POWER_CAN_WAKE | POWER_CAN_SHUT_DOWN | POWER_CAN_CUT | POWER_CAN_TELL | POWER_CAN_MEASURE |             \
     POWER_CAN_IDENTIFY)
#define UUID "4c4c4544-0042-5110-8036-b6c04f593132" /* of the host */
METHOD(fake_ipmi, POWER_IPMI, ALL)
METHOD(fake_redfish, POWER_REDFISH, ALL)
METHOD(fake_wol, POWER_WOL, POWER_CAN_WAKE)

/* ---- the source's own ------------------------------------------------------------------------- */

static struct {
    int check, start, poll;
    int64_t check_takes_ms;
    int own; /* check() of a standby that it would do itself, where that of a controller is 0 */
    struct task_progress progress;
    int starts;
    bool in_maintenance, enters; /* the host; a task of others brings it there */
    int enter;                   /* what the request to enter it answers */
    struct task_progress entering;
    int cancels;
} inner;

static int inner_create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    (void)cfg, (void)err;
    *ret = (struct actuator *)&inner;
    return 0;
}

static int inner_check(struct actuator *x, const struct operation *q, struct err *err)
{
    (void)x;
    call("check");
    int r = inner.check == 0 && !q->power.by_controller ? inner.own : inner.check;

    clock_is_ms += inner.check_takes_ms;
    return r < 0 ? err_set(err, r, "the source says no") : 0;
}

static int inner_enter(const struct operation *q, char ret[TASK_NAME_MAX], struct err *err)
{
    if (!q->only_adopt)
        note("hypervisor", "enter");
    if (inner.enter < 0 && inner.enter != -ECONNRESET)
        return err_set(err, inner.enter, "the source lets it not enter");
    if (inner.in_maintenance)
        return err_set(err, -ESTALE, "in maintenance already");
    if (q->only_adopt && !inner.enters)
        return err_set(err, -ESRCH, "no task");
    inner.enters = true;
    inner.in_maintenance = inner.enter == -ECONNRESET;
    if (inner.enter == -ECONNRESET && !q->only_adopt)
        return err_set(err, inner.enter, "the answer is lost");
    (void)snprintf(ret, TASK_NAME_MAX, "task 16");
    return 0;
}

static int inner_start(struct actuator *x, const struct operation *q, char ret[TASK_NAME_MAX],
                       struct err *err)
{
    (void)x;
    call(q->only_adopt ? "adopt" : "enter");
    if (q->kind == OPERATION_ENTER_MAINTENANCE)
        return inner_enter(q, ret, err);
    note("hypervisor", "start");
    inner.starts++;
    if (inner.start < 0)
        return err_set(err, inner.start, "the source does not begin");
    (void)snprintf(ret, TASK_NAME_MAX, "task 17");
    return 0;
}

static int inner_poll(struct actuator *x, const struct operation *q, const char *task,
                      struct task_progress *ret, struct err *err)
{
    (void)x;
    call("poll");
    assert_string_equal(task, q->kind == OPERATION_ENTER_MAINTENANCE ? "task 16" : "task 17");
    if (inner.poll < 0)
        return err_set(err, inner.poll, "the source is deaf");
    *ret = q->kind == OPERATION_ENTER_MAINTENANCE ? inner.entering : inner.progress;
    inner.in_maintenance = inner.in_maintenance || (inner.enters && inner.entering.state == TASK_SUCCEEDED);
    return 0;
}

static int inner_cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    (void)x, (void)err;
    assert_string_equal(task, q->kind == OPERATION_ENTER_MAINTENANCE ? "task 16" : "task 17");
    inner.cancels++;
    return 0;
}

static void inner_destroy(struct actuator *x)
{
    (void)x;
}

static struct actuator_ops inner_ops = {
    .kind = "inner",
    .create = inner_create,
    .check = inner_check,
    .start = inner_start,
    .poll = inner_poll,
    .cancel = inner_cancel,
    .destroy = inner_destroy,
};

/* ---- a world ---------------------------------------------------------------------------------- */

#define BEGIN 1000000
#define BOOTS_S 900 /* patience */

struct actuators_world {
    enum power_method_kind sequence[POWER_METHOD_COUNT];
    struct power_host host;
    struct power_config setup;
    struct actuator_ops ops;
    struct source_config cfg;
    struct actuator *x;
    struct operation q;
    char task[TASK_NAME_MAX];
    char why[4096]; /* all that was said */
};

static int64_t fake_clock_ms(void)
{
    return clock_is_ms;
}

static void begin(struct actuators_world *w, const char *order, enum operation_kind operation, bool hard_off)
{
    *w = (struct actuators_world){0};
    for (int i = 0; i < POWER_METHOD_COUNT; i++)
        fakes[i] = (struct fake){.moves = true, .uuid = UUID};
    memset(&inner, 0, sizeof inner);
    inner.progress = (struct task_progress){.state = TASK_RUNNING, .percent = 10};
    inner.entering = (struct task_progress){.state = TASK_SUCCEEDED, .percent = 100};
    inner_ops.operations = 1u << OPERATION_MIGRATE | 1u << OPERATION_STANDBY | 1u << OPERATION_WAKE;
    before_call = NULL;
    asked[0] = '\0';
    os_hangs = false;
    look_takes_ms = call_takes_ms = identify_takes_ms = 0;
    chassis_is = operation == OPERATION_WAKE ? CHASSIS_OFF : CHASSIS_ON;
    w->host =
        (struct power_host){.name = "esx1", .sequence = w->sequence, .timeout_s = 5, .hard_off = hard_off};
    for (const char *c = order; *c; c++)
        w->sequence[w->host.n_sequence++] = *c == 'i'   ? POWER_IPMI
                                            : *c == 'r' ? POWER_REDFISH
                                            : *c == 'w' ? POWER_WOL
                                                        : POWER_HYPERVISOR;
    w->setup = (struct power_config){
        .inner = &inner_ops,
        .hosts = &w->host,
        .n_hosts = 1,
        .methods = {[POWER_IPMI] = &fake_ipmi, [POWER_REDFISH] = &fake_redfish, [POWER_WOL] = &fake_wol},
        .clock_ms = fake_clock_ms,
        .life = "one"};
    power_actuator(&w->setup, &w->ops);
    w->cfg.shared = &w->setup;
    assert_int_equal(w->ops.create(&w->cfg, &w->x, NULL), 0);
    w->q = (struct operation){.uid = "u",
                              .kind = operation,
                              .host = "host-1",
                              .host_name = "esx1",
                              .power = {.now = BEGIN,
                                        .patience_s = BOOTS_S,
                                        .proven_empty = operation == OPERATION_STANDBY,
                                        .machine = {.hardware_uuid = UUID}}};
}

static void end(struct actuators_world *w)
{
    w->ops.destroy(w->x);
}

/* Another worker: all that it has is the name of the task. */
static void another_worker(struct actuators_world *w)
{
    w->ops.destroy(w->x);
    assert_int_equal(w->ops.create(&w->cfg, &w->x, NULL), 0);
}

__attribute__((unused)) static void another_process(struct actuators_world *w)
{
    w->setup.life = strcmp(w->setup.life, "one") == 0 ? "two" : "one";
    another_worker(w);
}

/* Polls each second until it ends or until the time is over. */
static struct task_progress run_until(struct actuators_world *w, instant_s end_at)
{
    struct task_progress p = {.state = TASK_RUNNING};

    while (p.state == TASK_RUNNING && w->q.power.now <= BEGIN + end_at) {
        struct err err = {0};
        size_t n = strlen(w->why);

        another_worker(w);
        memset(&p, 0, sizeof p);
        const int64_t before_ms = clock_is_ms;

        assert_int_equal(w->ops.poll(w->x, &w->q, w->task, &p, &err), 0);
        w->q.power.now += (clock_is_ms - before_ms) / 1000;
        if (p.task[0])
            (void)snprintf(w->task, sizeof w->task, "%s", p.task);
        if (p.why.text[0])
            (void)snprintf(w->why + n, sizeof w->why - n, "[%s]", p.why.text);
        w->q.power.now++;
    }
    return p;
}

static void start(struct actuators_world *w)
{
    struct err err = {0};

    assert_int_equal(w->ops.start(w->x, &w->q, w->task, &err), 0);
    assert_string_equal(asked, ""); /* its name is stored first */
}

#endif
