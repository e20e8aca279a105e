/* power.c: the actuator's functions: chooses the host's entry, starts, polls and cancels. The steps are in
 * wake.c, standby.c and tell.c. */
#include "actuators/power/power.h"

#include "actuators/power/internal.h"
#include "actuators/power/kept_methods.h"
#include "base/xalloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the object ------------------------------------------------------------------------------ */

static void destroy(struct actuator *x)
{
    if (!x)
        return;
    if (x->inner)
        x->config->inner->destroy(x->inner);
    kept_methods_close(x->config->kept);
    free(x);
}

static int create(const struct source_config *cfg, struct actuator **ret, struct err *err)
{
    struct actuator *x = xcalloc(1, sizeof *x);

    x->config = cfg->shared;
    int r = x->config->inner ? x->config->inner->create(x->config->source, &x->inner, err) : 0;

    if (r < 0) {
        free(x);
        return r;
    }
    *ret = x;
    return 0;
}

static const struct power_host *find_by_name(const struct power_config *s, const char *word)
{
    for (size_t i = 0; word && i < s->n_hosts; i++) {
        if (strcmp(s->hosts[i].name, word) == 0)
            return &s->hosts[i];
    }
    return NULL;
}

static const struct power_host *find_entry(const struct actuator *x, const char *id, const char *name)
{
    const struct power_host *h = find_by_name(x->config, id);

    return h ? h : find_by_name(x->config, name);
}

static bool is_of_power(enum operation_kind operation)
{
    return operation == OPERATION_STANDBY || operation == OPERATION_WAKE;
}

/* The entry of a power request's host, by id, else by name.
 */
static const struct power_host *entry_of(const struct actuator *x, const struct operation *q)
{
    return is_of_power(q->kind) ? find_entry(x, q->host, q->host_name) : NULL;
}

/* ---- requests that go to the hypervisor's actuator ------------------------------------------- */

static int no_inner(const struct operation *q, struct err *err)
{
    if (is_of_power(q->kind))
        return err_set(err, -ENOTSUP, "host %s cannot be switched: it has no entry below power.hosts",
                       q->host);
    return err_set(err, -ENOTSUP, "this kind of source can only be looked at");
}

/* ---- check ----------------------------------------------------------------------------------- */

/* Before a standby: at least one method that can wake the host must answer, or the host might stay off for
 * good. No controller may say that the host is off already: that would be another machine's controller. */
static int check_waker(struct power_change *j, struct err *err)
{
    unsigned wakers = 0;
    unsigned asked = 0;

    for (unsigned i = 0; i < j->host->n_sequence; i++) {
        wakers += method_can(j, i, POWER_CAN_WAKE);
        asked += method_can(j, i, POWER_CAN_WAKE | POWER_CAN_TELL);
    }
    if (wakers == 0)
        return err_set(err, -ENOTSUP, "host %s has no method that could wake it", j->host->name);
    if (method_next(j, 0, POWER_CAN_TELL) == j->host->n_sequence)
        return 0;
    struct readings says;
    int r = methods_ask_chassis(j, true, &says, err);

    if (says.off < j->host->n_sequence)
        return err_set(
            err, -EPERM,
            "the controller of host %s (%s) says that the host is off, though it is on: it must be that "
            "of another machine",
            j->host->name, method_word(j, says.off));
    return r < 0 && wakers == asked ? r : 0; /* another method can wake, and cannot be tested beforehand */
}

/* Before a standby: at least one method that can shut the host down must answer. */
static int check_sleeper(struct power_change *j, struct err *err)
{
    struct err first = {0};

    for (unsigned i = 0; i < j->host->n_sequence; i++) {
        enum chassis is;
        struct err why = {0};

        if (!method_can(j, i, POWER_CAN_SHUT_DOWN))
            continue;
        if (j->sequence[i] == POWER_HYPERVISOR || !method_can(j, i, POWER_CAN_TELL) ||
            method_chassis(j, i, &is, &why) == 0)
            return 0;
        if (first.code == 0)
            first = why;
    }
    *err = first;
    return first.code;
}

/* The hypervisor's own check. Before a standby it must pass, whatever shuts the host down; before a wake only
 * where nothing else could wake the host: a hypervisor knows its own standby only, and says of a host that
 * another method switched off that it is not in standby. */
static int check_inner(struct power_change *j, unsigned first, unsigned need, struct err *err)
{
    const unsigned none = (unsigned)j->host->n_sequence;
    unsigned i = first;
    struct err why = {0};

    while (i < none && j->sequence[i] != POWER_HYPERVISOR)
        i = method_next(j, i + 1, need);
    bool only = i == first && method_next(j, i + 1, need) == none;

    if (j->q->kind == OPERATION_STANDBY && !only)
        return power_inner_allows(j, err);
    if (i == none)
        return 0;
    int r = j->x->config->inner->check(j->x->inner, j->q, &why);

    if (r == 0 || (r != -ENOENT && !only))
        return 0;
    *err = why;
    return r;
}

static int check_own(struct power_change *j, struct err *err)
{
    bool down = j->q->kind == OPERATION_STANDBY;
    unsigned need = down ? POWER_CAN_SHUT_DOWN : POWER_CAN_WAKE;
    unsigned first = method_next(j, 0, need);

    if (first == j->host->n_sequence)
        return err_set(err, -ENOTSUP, "host %s has no method to be %s by", j->host->name,
                       down ? "shut down" : "woken");
    int r = j->q->power.ahead ? 0 : check_inner(j, first, need, err);

    if (r < 0 || !down)
        return r;
    if ((r = power_identity_check_all(j, err)) < 0 || (r = check_sleeper(j, err)) < 0)
        return r;
    return check_waker(j, err);
}

static int check(struct actuator *x, const struct operation *q, struct err *err)
{
    const struct power_host *h = entry_of(x, q);
    struct power_change j = power_change_of(x, h, q);

    if (h)
        return check_own(&j, err);
    if (is_of_power(q->kind) && q->power.ahead) /* no controller of its own */
        return 0;
    return x->inner ? x->config->inner->check(x->inner, q, err) : no_inner(q, err);
}

/* ---- start, poll, cancel --------------------------------------------------------------------- */

/* Calls no method yet: the caller stores the name first, which says when the first call is due. So a lost
 * answer of start() cannot hide a running operation. */
static int start(struct actuator *x, const struct operation *q, char ret_task[TASK_NAME_MAX], struct err *err)
{
    const struct power_host *h = entry_of(x, q);

    if (!h)
        return x->inner ? x->config->inner->start(x->inner, q, ret_task, err) : no_inner(q, err);
    const struct power_change j = power_change_of(x, h, q);
    struct power_task c = {.phase = PHASE_ASK, .began = q->power.now, .since = q->power.now};

    if (q->only_adopt)
        return err_set(err, -ESRCH, "no power method of host %s was called", h->name);
    if (strlen(h->name) > ENTRY_NAME_MAX)
        return err_set(err, -EINVAL, "the name of host %.40s... is too long", h->name);
    memcpy(c.entry, h->name, strlen(h->name));
    power_change_sign(&j, &c);
    return power_task_write(&c, ret_task, err);
}

static int poll_own(struct actuator *x, const struct operation *q, const char *task,
                    struct task_progress *ret, struct err *err)
{
    struct outcome out = {.state = TASK_RUNNING, .percent = -1};
    char name[TASK_NAME_MAX] = "";
    struct power_task c;
    int r = power_task_read(task, &c, err);

    if (r < 0)
        return r;
    struct power_change j = power_change_of(x, find_by_name(x->config, c.entry), q);

    j.c = c;
    power_change_begin(&j);
    /* in the future: the clock was set back; do not wait for hours */
    j.c.began = j.c.began < q->power.now ? j.c.began : q->power.now;
    j.c.since = j.c.since < q->power.now ? j.c.since : q->power.now;
    *ret = (struct task_progress){.state = TASK_FAILED, .percent = -1, .gone = true};
    if (!j.host || j.c.method > j.host->n_sequence ||
        (j.c.phase != PHASE_ASK && j.c.phase != PHASE_CUT && j.c.method == j.host->n_sequence)) {
        (void)err_set(&ret->why, -ENOENT, "the configuration no longer says how host %s is switched",
                      j.c.entry);
        return 0;
    }
    if ((j.c.phase == PHASE_INNER || j.c.phase == PHASE_TELL || j.c.phase == PHASE_TOLD) && !x->inner) {
        (void)err_set(&ret->why, -ENOENT, "the source cannot be asked any more how far host %s is",
                      j.c.entry);
        return 0;
    }
    if (q->kind == OPERATION_WAKE) {
        wake_continue(&j);
        wake_step(&j, &out);
    } else {
        standby_step(&j, &out);
    }
    if (out.interrupted) /* the next process repeats the call */
        return err_set(err, -ECANCELED, "%s", out.why.text);
    if (out.state == TASK_RUNNING && (r = power_task_write(&j.c, name, err)) < 0)
        return r;
    *ret =
        (struct task_progress){.state = out.state, .percent = out.percent, .gone = out.gone, .why = out.why};
    ret->maintenance = out.maintenance;
    ret->refused = out.state == TASK_FAILED && j.c.may_have_acted == 0;
    if (q->kind == OPERATION_WAKE) {
        ret->may_have_woken = j.c.may_have_acted;
        ret->failed = out.failed;
    }
    if (out.state == TASK_RUNNING && q->kind == OPERATION_WAKE) {
        ret->waits_since = wake_since(&j);
        ret->method = method_waking(&j);
    }
    if (out.state == TASK_RUNNING && strcmp(name, task) != 0)
        memcpy(ret->task, name, sizeof name);
    return 0;
}

static int poll(struct actuator *x, const struct operation *q, const char *task, struct task_progress *ret,
                struct err *err)
{
    if (is_of_power(q->kind) && power_task_is(task))
        return poll_own(x, q, task, ret, err);
    return x->inner ? x->config->inner->poll(x->inner, q, task, ret, err) : no_inner(q, err);
}

static int cancel(struct actuator *x, const struct operation *q, const char *task, struct err *err)
{
    struct power_task c;

    if (!is_of_power(q->kind) || !power_task_is(task))
        return x->inner ? x->config->inner->cancel(x->inner, q, task, err) : no_inner(q, err);
    int r = power_task_read(task, &c, err);

    if (r < 0)
        return r;
    if (c.phase == PHASE_TOLD && x->inner)
        return tell_cancel(x, q, c.inner, err);
    if (c.phase == PHASE_INNER && x->inner)
        return x->config->inner->cancel(x->inner, q, c.inner, err);
    return err_set(err, -ENOTSUP, "what host %s was asked for cannot be taken back", c.entry);
}

/* ---- the remaining functions ----------------------------------------------------------------- */

static int apply_settings(struct actuator *x, const struct pool_settings *q, struct err *err)
{
    return x->config->inner->apply_settings(x->inner, q, err);
}

static int measure_by(const struct actuator *x, const struct power_method_ops *ops,
                      const struct power_host *h, bool on, double *ret_w, struct err *err)
{
    struct method_answer answer;
    int r = method_call(x->config, h, ops, CALL_WATTS, NULL, &answer, err);
    const double w = answer.watts;

    if (r == 0 && w == 0 && on)
        return err_set(err, -EPROTO, "the power meter of host %s reads 0 W although the host is on", h->name);
    if (r == 0 && !(isfinite(w) && w >= 0))
        return err_set(err, -EPROTO, "the power meter of host %s reports an impossible reading", h->name);
    if (r == 0)
        *ret_w = w;
    return r;
}

/* -ENOTSUP only if all methods say so: one that does not answer now may have a meter. */
static int measure(struct actuator *x, const struct measurement *q, double *ret_w, struct err *err)
{
    const struct power_host *h = find_entry(x, q->host, q->host_name);
    const struct actuator_ops *inner = x->config->inner;
    int worst = err_set(err, -ENOTSUP, "host %s has no meter that could be asked",
                        q->host_name ? q->host_name : q->host);

    for (size_t i = 0; h && i < h->n_sequence; i++) {
        const struct power_method_ops *ops = x->config->methods[h->sequence[i]];
        struct err why = {0};

        if (h->sequence[i] == POWER_HYPERVISOR || !ops || !(ops->can & POWER_CAN_MEASURE))
            continue;
        int r = measure_by(x, ops, h, q->on, ret_w, &why);

        if (r == 0)
            return 0;
        if (r != -ENOTSUP) {
            worst = r;
            if (err)
                *err = why;
        }
    }
    if (inner && inner->measure) {
        struct err why = {0};
        int r = inner->measure(x->inner, q, ret_w, &why);

        if (r == 0)
            return 0;
        if (r != -ENOTSUP && worst == -ENOTSUP) {
            worst = r;
            if (err)
                *err = why;
        }
    }
    return worst;
}

static int identify(struct actuator *x, const struct identification *q, struct identity_report *ret,
                    struct err *err)
{
    const struct power_change j = power_change_of(x, find_entry(x, q->host, q->host_name), NULL);

    if (!j.host)
        return err_set(err, -ENOTSUP, "host %s has no entry below power.hosts", q->host);
    return power_identity_report(&j, &q->machine, ret, err);
}

void power_actuator(const struct power_config *config, struct actuator_ops *ret)
{
    bool meters = config->inner && config->inner->measure;
    unsigned operations = config->inner ? config->inner->operations : 0;

    for (int i = 0; i < POWER_METHOD_COUNT; i++)
        meters = meters || (i != POWER_HYPERVISOR && config->methods[i] &&
                            (config->methods[i]->can & POWER_CAN_MEASURE));
    *ret = (struct actuator_ops){
        .kind = config->inner ? config->inner->kind : "none",
        .operations = operations,
        .power_may_block = true,
        .create = create,
        .check = check,
        .start = start,
        .poll = poll,
        .cancel = cancel,
        .apply_settings = config->inner && config->inner->apply_settings ? apply_settings : NULL,
        .measure = meters ? measure : NULL,
        .identify = identify,
        .destroy = destroy,
    };
}
